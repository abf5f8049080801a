"""The subjects of votes, the ballots, and the decisions that follow from them. Modules, in reading order:

1. `kinds`: the kinds of proposals, as data: predicate, score, outcome rule, effect;
2. `nomination`: when an epoch opens and which memories it proposes; orders and requests get epochs of their own:
   `configuring` (another membership or policy), `asking` (an erasure to attest, a request to restore or forget);
3. `columns`: the encoding of a ballot;
4. `grounds`: the facts that a member votes by; `centred`: how near a memory is to its own agents' episodes; `evidence`:
   the grounds of a vote to promote; `doubting`: the contradiction model that a member may ask where the rules find
   none;
5. `judging`: one member's opinions on proposals; `crowding`: its order of a shard over its capacity;
6. `tally`: counts ballots into decisions;
7. `preview`: the votes that a policy would lead to on the memories that are alive now.
"""
