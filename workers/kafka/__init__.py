"""The parts that all processes share: Kafka clients with safe settings, and readers of topics and groups.

1. `loop`: clients, headers and a clean stop; `group_membership`: ends the process if its place in a group is lost;
  `reach`: clients that notice the loss of all brokers; `stall_watch`: reports shards that wait for a score; `together`:
  runs several loops in one process;
2. `partition`: reads a topic from its beginning; `scored_offsets`: the progress of scoring; `accepted_past`,
  `journals`, `published` and `ticks`: read facts from the accepted stream and the journal's topic; `own_clock`: a clock
  to compare a shard's time with;
3. `strangers`: finds the writer of unsigned records; `spans`: finds the trace of a record.
"""
