"""A member's opinion. Read in this order:

1. `kinds`: what can be voted on, as data: predicate, score, rule of the outcome, effect;
2. `columns`: how a ballot is written and read;
3. `evidence`: what a member knows when it votes, and what it concludes;
4. `judging`: one member's opinions on proposals.
"""
