"""The demo: a scenario or any real log goes through the whole line, and the report shows what became of it.

1. `command`: what is done in which order; `inputs` and `steps`: the log as records, in steps; `cluster`: which
   policy suits it;
2. `driver`: publishes a step and waits; `correction`: a fact and what replaces it; `session`: what is left of
   one; `rollup`: what is said of one thing; `work`: tasks, and what helped in them; `erasure`: one order; `screen`:
   what is seen meanwhile;
3. `ledger`: what the line did; `sums`: that it adds up; `stories` and `report`: in words.
"""
