"""The worker `rehearsal`: examines memories again while the machine is idle (SPEC B, Alg. 15).

`idle` measures that; `rehearsal_turn` draws memories and judges them, within a budget of time; `worker` publishes the
signed conclusions, and the commit worker applies them by its rule (`memquorum.core.journal.rehearsals`).
"""
