"""What all processes share: Kafka clients with safe settings, reading of topics and groups.

1. `loop`: clients, headers and a clean stop; `group_membership`: a place in a group that is lost ends the process;
   `reach`: clients that notice when all brokers are lost; `stall_watch`: which shard stands still;
2. `partition`: a topic from its beginning; `accepted_past`, `journals`, `published` and `ticks`: what the accepted
   stream and the journal's topic tell; `own_clock`: to hold a shard's time against;
3. `strangers`: whose record it is, where nobody signs; `spans`: which trace it belongs to.
"""
