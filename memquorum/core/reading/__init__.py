"""Reads language: words, lists of them by language, what texts say, and whether two say the same.

1. Parts: `normal`, Unicode's forms in linear time; `words`, words as lists have them; `lists`, word lists by language,
   from the files beside it; `memo` and `once`, what was read before; `sentences`, where the sentences of a text lie,
   and `passages`, the windows of them that a long text is read in; `digits`, numbers in words and of any length;
   `negation`, what words negate; `persons`, whom a pronoun stands for; `tokens`, how long a text is; `moments`,
   whether it says of which time it speaks, and
   `times`, which time a question asks about;
2. One text: `assertion`, whether it asserts what it says; `talk`, whether it is small talk; `orders`, whether it only
   asks to forget something; `unkept`, whether it asks not to be remembered; `asking`, whether it only asks;
   `proceeding`, whether it says how to proceed; `topics`, of what a sentence speaks; `content`, the words that say what
   a text is about, with texts of any day to weigh them against; `matter`, its content in order, with names, numbers and
   values; `stated`, what numbers, times, names and negations it says; `written`, these in one way of writing;
3. Two texts: `sameness`, whether they are provably the same; `agreement`, what of one another may hold otherwise, by
   the words of `wording`; `conflict`, whether they contradict each other, by their `claims`; `allowing`, what they
   allow and forbid; `changing`, what somebody used, did or was and does no more; `correcting`, whether one corrects the
   other in words of no pattern, by their `outline`; `parsing`, a clause word by word; `claiming`, the words that they
   judge by; `meant`, what a text without a subject says was meant instead; `persons`, which one person a pronoun means;
   `opposing`, whether two sentences oppose each other part by part; `named`, whether their things have other names.

Every function takes any text, raises on none, and reads a bounded number of characters (`docs/use/texts.md`).
"""
