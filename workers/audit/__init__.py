"""The audit reads the topics of a cluster from their beginning and compares Postgres with them.

`auditor` runs it. Its parts: `audited_configurations`: the members that voted over time; `authors`: agents' signatures;
`contents`: compares texts with the journal's commitments; `task_digests`: the digests of finished tasks;
`worth_checks`: recomputes them from the texts; `erased_queries`: whether an erasure took its subject's queries;
`accusations`: the evidence that members have published. `sealed_batches` opens sealed data for authors, worths and
queries as far as the vault can.
"""
