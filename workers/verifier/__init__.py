"""The worker `verifier`: tries memories on finished tasks, for the verifiers whose keys it has (SPEC E).

`sweeping` says which namespace's candidates have their turn; `visiting` reads what a trial is made of; `trying` makes
the trials that are due, within a budget of time; `worker` publishes what was found of each, signed by the verifier that
was drawn, and the commit worker journals it by its rule (`memquorum.core.journal.trials`).
"""
