"""Stream processors (Faust): decode, call the core, encode.

1. `faust_app` makes the processors and runs them; `stage`: what they share, arrivals in and outputs out; `batching`:
   how arrivals come together; `waiting`: how long a rebalance waits for them;
2. `salience_stage`: every accepted episode gets an outcome. `opened`: batches decoded and opened, the next one ahead
   of its turn; `pictures`: what surrounds an episode; `encoding`: texts to vectors; `known`: texts without encoder;
   `crashes`: texts that kill the process; `latest_episodes`: what agents did before it began; `word_worths`: what was
   heard in each namespace; `learned`: what is in force of what was learned from use; `assignments`: whether a later
   process has taken over;
3. `decay_stage`: what has crossed the threshold at a tick;
4. `session_stage`: which sessions are over; `reward_stage`: what entries of the journal gave agents;
5. `nomination_stage`: what a shard is to vote on. `candidates`: which memories it may be, within the caps;
   `budget_choice`: what is too much of a namespace, by `room_orders`: what namespaces hold, in order;
   `merge_candidates`: which summaries say the same; `order_queue` and
   `configuration_orders`: which order or request comes first, and by which configuration a shard votes.
"""
