"""Stream processors (Faust): decode, call the core, encode.

1. `app` makes the processors and runs them; `stage`: what they share, arrivals in and outputs out; `batching`: how
   arrivals come together; `waiting`: how long a rebalance waits for them;
2. `salience`: every accepted episode gets an outcome. `pictures`: what surrounds it; `encoding`: texts to vectors;
   `known`: those that need no encoder; `crashes`: texts that kill the process; `recall`: what agents did before it
   began; `worths`: what was heard in each namespace; `learned`: what is in force of what was learned from use;
   `assignments`: whether a later process has taken over;
3. `decay`: what has crossed the threshold at a tick;
4. `sessions`: which sessions are over; `rewards`: what entries of the journal gave agents;
5. `nomination`: what a shard is to vote on. `caps`: how much of a namespace may go; `budgets`: what is too much of one;
   `alike`: which summaries say the same; `orders` and `configurations`: which order or request comes first, and by
   which configuration a shard votes.
"""
