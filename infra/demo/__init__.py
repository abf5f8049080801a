"""The demo: publishes a scenario or any real log to an installation, and reports the results.

1. `demo_command`: runs the steps in order; `inputs` and `steps`: cut the log into records and steps; `cluster`: derives
  the policy from it;
2. `driver`: publishes a step and waits; `correction`: a fact and its correction; `session_demo`: a session and its
  summary; `rollup`: the sentences about one thing; `work`: tasks and feedback; `erasure`: one order; `screen`: shows
  the progress;
3. `entry_counts`: counts the results; `sums`: checks them; `stories` and `demo_report`: put them in words.
"""
