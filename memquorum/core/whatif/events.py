"""What happened in a namespace, as a replay needs it: ids, times, weights and features, and no content.

Times are milliseconds since the epoch by the shard's time. A `Course` has its events in the order in which they
happened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from memquorum.core.budgets.items import Item
from memquorum.core.whatif.vectors import Numbers, Vectors


class Came(Struct, frozen=True, tag=True):
    """A memory was stored."""

    at: int
    item: Item


class Used(Struct, frozen=True, tag=True):
    """A memory was used: read, or (`read` is false) said again, which asks for nothing. `when`: by whoever used it."""

    at: int
    memory_id: str
    when: int
    read: bool = True


class Linked(Struct, frozen=True, tag=True):
    """Something was made of a memory, or says otherwise: so central it is now."""

    at: int
    memory_id: str
    centrality_ppm: int


class Asked(Struct, frozen=True, tag=True):
    """The memory was asked something, and these were the answer. `query`: the number of its vector in the course's
    `queries`; None where nobody can ask it again."""

    at: int
    answered: tuple[str, ...]
    query: int | None = None


class Guarded(Struct, frozen=True, tag=True):
    """A memory may not go from now on for a reason (`budgets.items`), or may again (None)."""

    at: int
    memory_id: str
    why: str | None


class Ended(Struct, frozen=True, tag=True):
    """A memory is gone whatever the policy: superseded, or (`erased`) by an order to erase."""

    at: int
    memory_id: str
    erased: bool = False


class SummedUp(Struct, frozen=True, tag=True):
    """A summary took the place of its sources."""

    at: int
    item: Item
    sources: tuple[str, ...]


class Voted(Struct, frozen=True, tag=True):
    """The fleet's own vote let a memory go."""

    at: int
    memory_id: str


class Back(Struct, frozen=True, tag=True):
    """A memory that had been forgotten came back by a vote."""

    at: int
    memory_id: str


class Epoch(Struct, frozen=True, tag=True):
    """An epoch: what is over its budget lets go."""

    at: int


Event = Came | Used | Linked | Asked | Guarded | Ended | SummedUp | Voted | Back | Epoch


class Course(Struct, frozen=True):
    """A namespace from its beginning. `vectors`: of the memories that a key opens still; `queries`: what was asked."""

    namespace: str
    events: Sequence[Event]
    vectors: Vectors
    queries: Mapping[int, Numbers] = {}
