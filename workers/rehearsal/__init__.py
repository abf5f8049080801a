"""The worker `rehearsal`: looks at memories again while the machine has nothing else to do (SPEC B, Alg. 15).

`idle` says when that is; `looking` draws memories and judges them, within a budget of time; `worker` publishes what was
found of each, signed, and the commit worker applies it by its rule (`memquorum.core.journal.rehearsals`).
"""
