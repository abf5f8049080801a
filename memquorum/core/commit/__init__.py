"""The way from records to journal entries. Modules, in reading order:

1. `spine`: the order of a shard: accepted records, each episode with its score; `answers`: chooses the score that
   counts;
2. `assembly`: pre-prepares and commits, collected until they prove a decision;
3. `applying`: the effect of a record in the current shard, and the records that are skipped; `ordering`: the effect of
   an order or a request.

`core.journal.effects` has the effect of an entry on the rows.
"""
