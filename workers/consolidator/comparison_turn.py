"""Asks a model which statements of older memories a newer one overtakes: of whom it is asked, and what it answered.

Only what may be sent to the model's host is (`core.consolidation.leaving`), of both memories of a pair; and only pairs
that may speak of one matter are asked about (`core.showing.comparing`), each once.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from memquorum.core.consolidation.leaving import Gate
from memquorum.core.orders.compare import pair_digest
from memquorum.core.showing import comparing
from memquorum.core.showing.comparing import Verdict
from memquorum.ports import ComparableMemory, Comparisons
from workers.consolidator.chat import Chat

RELATED = 0.4
"""From this cosine on two memories may speak of one matter."""
OLDER_MOST = 4
"""The most older memories of a newer one, the nearest, that the model is asked about."""
_LOOKED_AT = 32
UNANSWERABLE = "unanswerable"
"""The reason for which a pair is left out: the endpoint fails on it again and again."""


class Around(Struct, frozen=True):
    """A memory, and those that it is compared with, the nearest first."""

    namespace: str
    newer: ComparableMemory
    older: tuple[ComparableMemory, ...]

    @property
    def memory_ids(self) -> tuple[str, ...]:
        """All of them."""
        return self.newer.memory_id, *(one.memory_id for one in self.older)


class Comparer:
    """Asks a model about pairs of memories, one request at a time."""

    def __init__(
        self, chat: Chat, gate: Gate, store: Comparisons, refused: Callable[[str, int], None] = lambda *_: None
    ) -> None:
        """`refused`: is told of answers that were refused, by reason."""
        self.name, self.recipient = chat.name, chat.recipient
        self._chat, self._gate, self._store, self._refused = chat, gate, store, refused

    @property
    def rests_s(self) -> float:
        """Returns the seconds for which the model is not asked after its last failure."""
        return self._chat.rests_s

    def close(self) -> None:
        """Lets the connections go; a request that is under way fails."""
        self._chat.close()
        self._store.close()

    def around(self, shard: int, memory_id: str) -> Around | None:
        """Finds the memories that a memory is compared with; None for none. Raises StoreUnavailable."""
        found = self._store.near(shard, memory_id, RELATED, _LOOKED_AT)
        if found is None:
            return None
        namespace, newer, near = found
        if self._gate.keeps(newer):
            return None
        older = [one for one in near if not self._gate.keeps(one) and comparing.comparable(newer.side, one.side)]
        digests = {one.memory_id: pair_digest(namespace, memory_id, one.memory_id) for one in older}
        known = self._store.answered(shard, tuple(digests.values())) if digests else frozenset()
        left = tuple(one for one in older[:OLDER_MOST] if digests[one.memory_id] not in known)
        return Around(namespace, newer, left) if left else None

    def disclosed(self, around: Around) -> frozenset[str]:
        """Returns the memories whose text may be sent. Raises StoreUnavailable."""
        return self._store.disclosed(self.recipient, around.memory_ids)

    def ask(self, newer: ComparableMemory, older: ComparableMemory) -> Verdict | None:
        """Asks the model about a pair; None for an answer that is refused. Raises ValueError for what may not leave
        the house, and SummariserUnavailable."""
        if self._gate.keeps(newer) or self._gate.keeps(older):
            raise ValueError("a memory that may not leave the house")
        self._chat.ready()
        count = len(comparing.asked_statements(older.side.text))
        question = comparing.question(newer.side, older.side)
        found = comparing.read(self._chat.ask(comparing.ASKED, question, comparing.answer_tokens(count)), count)
        if isinstance(found, Verdict):
            return found
        self._refused(found, 1)
        return None

    def left_out(self) -> None:
        """Notes that a pair was left out, on which the endpoint fails again and again."""
        self._refused(UNANSWERABLE, 1)
