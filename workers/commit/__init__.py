"""The commit process applies everything that happens to the shards and journals it (DESIGN 8, 14).

1. `worker`: the loop, a transaction for each batch; `line`: one shard, what has arrived there and what is applied
   next;
2. what is done between batches: `erasing`, an order to erase; `recalling`, opening what is restored; `lapsing`,
   goals that nobody spoke of; `destruction`, keys whose time is over, and `destroyer`, so that a vault that is put
   back revives none of them; `experience`, what metrics tell of that;
3. `outbox`: from the store to the topic, with signed heads.
"""
