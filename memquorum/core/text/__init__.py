"""What texts say, without a model.

1. `sameness`: whether two are provably the same; `agreement`: what of one another may hold otherwise, by the words of
   `wording`;
2. `conflict`: whether two contradict each other, by their `claims`; `allowing`: what they allow and forbid;
   `changing`: what somebody used, did or was and does no more;
   `correcting`: whether one corrects the other in words of no pattern, by their `outline`; `parsing`: a clause word by
   word; `claiming`: the words that they judge by; `once`: what is found of one text is found once; `meant`: what a text
   without a subject says was meant instead;
3. `topics`: of what a sentence speaks; `content`: the words that say what a text is about;
   `ordinary`: texts of any day, to weigh them against; `asking`:
   whether it only asks; `moments`: whether it says of which time it speaks; `proceeding`: whether it says how to
   proceed;
4. `digits`: numbers of any length as normalised texts; `tokens`: how long a text is; for people: `plurals`, and
   `escaping` of what a terminal would obey; for models: `quoting`, how memories stand in a prompt;
   `comparing`: what a model is asked of two memories, and how its answer is read.
"""
