"""The replica process is a member: it follows the streams, judges, votes and decides (DESIGN 10 to 14).

1. `worker`: one loop for all shards; `replica_topics`: the two clients that it reads by;
2. `seat`: the member in one shard, with its consensus core; `configuration_role`: its key and the messages it signed
  there;
3. `stream_follower`: the accepted stream into the member's view; `casting`, `judge`, `room` and `repeated_trials`: from
   the core's question to a ballot;
4. `catchup`: takes missed decisions; `accuser`: reports faulty members; `second_process`: another of this member;
  `vote_telemetry`: spans and numbers.
"""
