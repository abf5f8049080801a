"""The worker `verifier`: tries memories on finished tasks, for the verifiers whose keys it has (SPEC E).

`candidate_schedule` schedules the namespaces; `visiting` reads the data of trials; `verifier_turn` runs the trials that
are due, within a budget of time; `worker` publishes the results, signed by the drawn verifier, and the commit worker
journals them by its rule (`memquorum.core.journal.trials`).
"""
