"""The intake process judges the records of agents and writes the accepted stream (DESIGN 4).

1. `worker`: the loop; `arrivals`: prepares records and encodes results; `outside_topics`: reads partitions and keeps
  positions; `ticking`: the timer of ticks; `event_owners`: owners of event ids; `registry`: a schema registry's client;
  `writing`: the producer;
2. `gate` and `stocktaking`: limits of namespaces, per minute and for all memories; `subjects`: what the profiles of
   subjects keep out;
3. `waiting_episodes`: records that wait for their turn; `offsets`: the offsets to commit;
4. `clearing` and `outside`: delete accepted records from the outside topics; `old_keys`: destroys keys of refused
  records, and of queries.
"""
