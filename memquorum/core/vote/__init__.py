"""What is voted on, and what the votes come to. Read in this order:

1. `kinds`: what can be voted on, as data: predicate, score, rule of the outcome, effect;
2. `nomination`: when an epoch opens, and what it proposes; of orders and requests, in epochs of their own:
   `configuring` (another membership or policy), `asking` (an erasure to attest, a request to restore or forget);
3. `columns`: how a ballot is written and read;
4. `grounds`: what a member knows when it votes; `centred`: how near a memory is to its own agents' episodes;
   `evidence`: what of it counts when it votes to promote; `doubting`: which model it may ask where rules do not know;
5. `judging`: one member's opinions on proposals;
6. `tally`: what ballots decide;
7. `preview`: what a policy would do to what is alive now.
"""
