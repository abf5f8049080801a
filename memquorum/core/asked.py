"""Seals and opens the queries of agents, which are logged to learn from use, and says which key seals which query.

One key seals what an agent asked of a namespace on one day (UTC), so the vault grows with agents and days and not with
queries. An erasure of the agent destroys the keys of all its days. The key of the same day is not made again, so what
the agent still asks on that day is not logged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from memquorum.core import ids, sealing
from memquorum.core.records import QueryAsked

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEYS = "!asked"
"""The vault's namespace of these keys. '!' is no character of a namespace, so no memory has such a key."""
DAY_MS = 24 * 3600 * 1000
VECTOR_MOST = 8_192
# Vectors have unit length; the rest is rounding.
_NUMBER_MOST = 1.001


class QueryIntent(Struct, frozen=True):
    """A query that may come in, not yet sealed."""

    event_id: str
    namespace: str
    agent: str
    asked_at: int
    query: str
    memory_ids: tuple[str, ...]
    encoder: str | None
    vector: tuple[float, ...]

    @property
    def key_id(self) -> str:
        """The vault's id of the key that seals it."""
        return key_id(self.namespace, self.agent, self.asked_at)


def key_id(namespace: str, agent: str, asked_at: int) -> str:
    """The vault's id of the key of what an agent asked on the day of a time, in milliseconds since 1970."""
    return ids.memory_id(KEYS, f"{asked_at // DAY_MS}/{owner(namespace, agent)}")


def owner(namespace: str, agent: str = "") -> str:
    """The subject that the vault keeps an asker's keys under; without an agent, how those of a namespace begin."""
    return f"{namespace}/{agent}"


def sound(vector: tuple[float, ...]) -> bool:
    """Whether the numbers can be a vector of unit length; none at all can."""
    return len(vector) <= VECTOR_MOST and all(abs(number) <= _NUMBER_MOST for number in vector)


def seal(intent: QueryIntent, key: bytes, nonces: tuple[bytes, bytes]) -> QueryAsked:
    """The query as it goes into its topic. `nonces`: two fresh ones of 12 bytes, the second for the vector."""
    # Not at the top: the client, which checks what it sends by `core.intake`, would wait for numpy.
    import numpy as np

    whose = _whose(intent.namespace, intent.event_id)
    vector = np.array(intent.vector, np.float32)
    return QueryAsked(
        event_id=intent.event_id,
        namespace=intent.namespace,
        agent=intent.agent,
        asked_at=intent.asked_at,
        key_id=intent.key_id,
        sealed_query=sealing.seal_text(key, nonces[0], intent.query, whose),
        memory_ids=intent.memory_ids,
        encoder=intent.encoder,
        sealed_vector=sealing.seal_vector(key, nonces[1], vector, whose) if intent.vector else None,
    )


def opened(asked: QueryAsked, key: bytes) -> tuple[str, NDArray[np.float32] | None]:
    """The text and the vector of a query, shape (d,). Raises SealError."""
    whose = _whose(asked.namespace, asked.event_id)
    sealed = asked.sealed_vector
    vector = None if sealed is None else sealing.open_vector(key, sealed, whose)
    return sealing.open_text(key, asked.sealed_query, whose), vector


def _whose(namespace: str, event_id: str) -> str:
    return f"asked/{owner(namespace, event_id)}"
