"""Adapters of the storage ports, and the SQL they run.

1. `queries`: the named statements of queries.sql; `sql_fragments`: what they select and let through; `arrays`,
   `copying`: how parameters and many rows are sent; `connection` and `pool`: connections for one and for many;
   `migrate`, `database_logins`;
2. the writer's store: `store`, `standing`, `cursors`, `living`, `keys_to_destroy`, `profile_rows`; `followed`: how far
   a vault has followed;
3. the stages' and the consolidator's: `schedule`, `session_reads`, `stored_orders`, `neighbourhoods`, `encodings`,
   `rewarded`; `looking`: one moment, in which `rehearsal_reads` look again and `trial_reads` try; `rollup_rows` and
   `rollup_reads`: how rows become sentences and a log; `generals`: what experience promoted; `comparisons`: what a
   model is asked to compare;
4. the service's: `reads`, with what it finds: `found_reads`, `found_rows`, `told`, `explain_rows`, `order_rows`,
   `preview_rows`, `receipt_rows`, `erasure_rows`, `session_rows`, `decision_rows`, `admission_rows`, `report_rows`;
   `erasure_reads`: the part about erasures; `event_reads`: what became of events; `listed_reads`: what is listed for
   people; `experience_reads`: what was admitted, and finished tasks; `past_reads`: what was replaced; `profile_reads`:
   profiles of subjects; `outcomes`: waiting for events; `cached`: for the cache; `crowds` and `crowd_reads`: namespaces
   with indexes of their own;
5. the vault: `vault`;
6. a member's own files: `signstate`; `sign_state_moves` between processes that share its shards; `view`, with
   `view_tables`, `view_statements`, `view_rows`, `view_weights`, `view_families` and `view_experience`;
   `view_holdings`: what namespaces hold, by `view_holding_statements`; `view_rankings`: in which order it goes, and
   `view_shelf`: how a vote reads that;
7. the operator's: `audit_rows`; `kept_rebuilds` that a rebuild kept; `sweeping`: what was deleted goes from the files.
"""
