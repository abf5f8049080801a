"""Recomputes the digests of finished tasks in Postgres from everything that a trial of one reads: same bytes, same
digest.

The texts themselves are compared with the journal's commitments (`workers.audit.contents`); this detects a vector, or a
row beside them, that changed since the task was let in.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from memquorum.core.audit.findings import Findings, Kind
from memquorum.core.journal.contexts import context
from memquorum.core.journal.rows import Memory, TaskRow

Stored = tuple[bytes, Memory, TaskRow, str, bytes]
"""The digest that is kept, the task's rows, its texts, and its vector as little-endian float16."""


def check(stored: Iterable[Stored], shards: Sequence[int]) -> dict[int, Findings]:
    """Computes every digest again, by shard. Its count is `contexts`."""
    found = {shard: Findings(shard) for shard in shards}
    for digest, memory, task, content, vector in stored:
        if memory.shard not in found:
            continue  # the auditor reports rows of other shards
        findings = found[memory.shard]
        findings.counts.contexts += 1
        try:
            follows: Any = context(memory, task, content, vector).digest
        except ValueError as error:
            follows = f"none: {error}"
        if follows != digest:
            where = f"table experience, memory_id {memory.id}"
            told = follows.hex() if isinstance(follows, bytes) else follows
            findings.add(Kind.CONTENT_ALTERED, task.seq, where, told, digest.hex())
    return found
