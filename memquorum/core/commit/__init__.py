"""How records become journal entries. Read in this order:

1. `spine`: the order of a shard: accepted records, each episode with its score; `answers`: which score counts;
2. `assembly`: pre-prepares and commits, collected until they prove a decision;
3. `applying`: what a record does in the shard as it is now, and which records are not followed; `ordering`: what an
   order or a request does.

What an entry then does to the rows: `core.journal.effects`.
"""
