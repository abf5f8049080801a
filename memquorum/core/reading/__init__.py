"""Reads language, in ten languages: words, lists of them, and what a text is by these alone.

1. `normal`: Unicode's forms in linear time; `words`: words as lists have them; `lists`: word lists by language,
   from the files beside it; `memo`: what was read of words before; `sentences`: where the sentences of a text lie,
   and `passages`: the windows of them that a long text is read in;
2. `assertion`: whether a text asserts what it says; `talk`: whether a text is small talk; `orders`: whether it
   only asks to forget something; `unkept`: whether it asks that it be not remembered; `times`: which time a question
   asks about.

Every function takes any text, raises on none, and reads a bounded number of characters (`docs/texts.md`).
"""
