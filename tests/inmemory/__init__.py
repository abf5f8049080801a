"""The ports of the store and the vault in memory, for tests that need no database.

`store` is the store of the journal, with `budgets`, `comparisons`, `rehearsals`, `sessions` and `trials`; `vault` keeps
keys. The contract tests hold them and the adapters of Postgres (`db`) to the same behaviour.
"""
