"""A member's opinion. Read in this order:

1. `kinds`: what can be voted on, as data: predicate, score, rule of the outcome, effect;
2. `evidence`: what a member knows when it votes, and what it concludes;
3. `judging`: one member's opinions on proposals.
"""
