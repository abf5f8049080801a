"""Long-running processes on plain Kafka clients, a package for each: `intake`, `replica`, `commit`, `retrieval`.

`audit`, `rebuild` and `upkeep` are run by an operator; `kafka`: what all of them share.
"""
