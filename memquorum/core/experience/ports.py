"""The port by which verifiers read what they try candidates on; `db/trial_reads.py` adapts it.

Whatever may be asked for is bounded by a page, by a namespace's tasks, or by the names that are given.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from memquorum.core.experience.bench import PlacedTask
from memquorum.core.experience.context import Context
from memquorum.core.experience.rounds import Round
from memquorum.core.experience.uses import UseFeedback
from memquorum.core.experience.view import Held


class Untried(Struct, frozen=True):
    """A memory that is alive and whose way into experience is open. `created`: when it was said, in milliseconds;
    `accepted_offset`: where it stands in the accepted stream; `after`: the epoch of the vote that last did not admit
    it, 0 without one; `vector`: by `encoder`, little-endian float16; `sources`: the finished tasks of its namespace
    that it was made of, in the order of their ids; `rejections`: how often verifiers agreed that it helps too little,
    and `rejected`: the epoch as of which they did last, 0 without one; `corrects`: whether it contradicted another
    memory when it was stored, or took its place; `own`: the finished tasks that the session was in
    which it was said, or what it was made of, in the order of their ids."""

    memory_id: str
    created: int
    accepted_offset: int
    after: int
    encoder: str
    vector: bytes
    sources: tuple[str, ...]
    rejections: int = 0
    rejected: int = 0
    corrects: bool = False
    own: tuple[str, ...] = ()


class Admitted(Struct, frozen=True):
    """A memory that was admitted and can be read. `epoch`: of the decision that admitted it; its weight is the one that
    it was admitted with: trials use none that moved (decision 127). `united`: the epoch from which on another alive
    memory stands for it; None without one."""

    memory: Held
    epoch: int
    united: int | None = None


class VerifierStatistics(Struct, frozen=True):
    """The statistics of a verifier about a memory as of the decision of the epoch `position`, as `Statistics` write
    them."""

    memory_id: str
    position: int
    verifier: str
    statistics: bytes


class Standing(Struct, frozen=True):
    """The position of a shard: its last epoch, the end of its journal, and the journal's sequence of its last trial, 0
    without one."""

    shard: int
    epoch: int
    seq: int
    told: int


class News(Struct, frozen=True):
    """Memories that are new or stand otherwise since a sequence of the journal, and some that are named."""

    since: int
    named: frozenset[str] = frozenset()


class TrialLook(Protocol):
    """The store at one moment, as a verifier sees it. Every method raises StoreUnavailable."""

    def shards(self) -> list[Standing]:
        """Returns the position of each shard, in the order of their numbers."""
        ...

    def configured(self, shards: int) -> dict[int, list[tuple[bytes, tuple[bytes, ...]]]]:
        """Tells, by shard, the decisions that changed its configuration, in order, each as (pre-prepare, commits)."""
        ...

    def rounds(self, shard: int, after: int) -> list[Round]:
        """A shard's decisions of later epochs than one, in their order."""
        ...

    def namespaces(self, shard: int, least: int) -> list[str]:
        """A shard's namespaces that have at least so many tasks that succeeded and stand, in the order of their
        names."""
        ...

    def standing(self, namespace: str) -> tuple[int, int]:
        """Returns how many tasks of a namespace succeeded and stand, and the place of the last of them in the accepted
        stream: if neither has changed, they are the same tasks."""
        ...

    def places(self, namespace: str) -> list[PlacedTask]:
        """A namespace's tasks that succeeded and stand, in the order of the accepted stream."""
        ...

    def contexts(self, task_ids: Collection[str]) -> list[Context]:
        """Those of the tasks that stand, each with its texts and its vector; in any order."""
        ...

    def feedback(self, task_ids: Collection[str]) -> Mapping[str, Mapping[str, Sequence[UseFeedback]]]:
        """Returns what agents say about the memories that tasks were given, by task and by memory, in the order of the
        accepted stream; tasks without feedback are left out."""
        ...

    def untried(
        self, namespace: str, after: tuple[int, str] | None, most: int, news: News | None = None,
        until: Sequence[int] | None = None,
    ) -> list[Untried]:  # fmt: skip
        """So many of a namespace's memories that are alive and neither admitted nor to be voted on, by (created, id),
        behind these; None: from the first on. `news`: those alone that it tells of. `until`: of what stands
        as rejected, and was rejected once, twice and so on, that alone whose last trial was as of no later epoch; None:
        all."""
        ...

    def named(self, memory_ids: Collection[str]) -> list[tuple[str, Untried]]:
        """Those of the memories that `untried` would tell, each with its namespace, by (created, id)."""
        ...

    def texts(self, memory_ids: Collection[str]) -> dict[str, str]:
        """The texts of those of the memories that are alive."""
        ...

    def told(self, memory_ids: Collection[str]) -> list[VerifierStatistics]:
        """Returns the statistics of verifiers about the memories, in the order of the journal."""
        ...

    def differing(self, shard: int, since: int, most: int) -> list[str]:
        """So many of the shard's memories that are not settled, of which more than one thing was told as of the same
        decision, and something after a sequence of the journal."""
        ...

    def admitted(self, namespace: str) -> list[Admitted]:
        """Returns the admitted and alive memories of a namespace, whatever their weight, in the order of the ids."""
        ...


class Trials(Protocol):
    """The data that verifiers try candidates on."""

    def look(self, patience_ms: int) -> AbstractContextManager[TrialLook]:
        """Holds one moment of the store, in which no question takes longer than `patience_ms`. Raises
        StoreUnavailable."""
        ...

    def close(self) -> None:
        """Lets the connection go."""
        ...
