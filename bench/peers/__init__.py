"""Memquorum beside others, in one run: mem0 with pgvector, LangGraph's PostgresStore, and bare pgvector as the floor.

Read in this order: `questions` (the texts and questions), `systems` (the others, each behind the same few calls),
`driver` (the process in which one of them runs), `ours` (the real line), `residue` (where a deleted text still lies),
`table` (figures and goals), `page` (docs/measured/peers.md), `__main__` (the command).
"""
