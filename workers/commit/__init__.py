"""The commit process applies everything that happens to the shards and journals it (DESIGN 8, 14).

1. `worker`: the loop, a transaction for each batch; `commit_shard`: one shard, what has arrived there and what is
   applied next;
2. what is done between batches: `erasure_turn`, an order to erase; `reclassification_turn`, an order to reclassify;
   `recalling`, opening what is restored; `lapsing`, goals that nobody spoke of; `destruction`, keys whose time is
   over, and `destroyer`, so that a vault that is put back revives none of them; `experience_metrics`, what metrics tell
   of the store;
3. `outbox`: from the store to the topic, with signed heads.
"""
