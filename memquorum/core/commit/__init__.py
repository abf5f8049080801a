"""How records become journal entries. Read in this order:

1. `spine`: the order of a shard: accepted records, each episode with its score;
2. `assembly`: pre-prepares and commits, collected until they prove a decision;
3. `applying`: what a record does in the shard as it is now; `ordering`: what an order or a request does;
4. `fitness`: which of these are not followed.
"""
