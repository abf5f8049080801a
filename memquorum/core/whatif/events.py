"""The events of a namespace for a replay: ids, times, weights and features, without content.

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
    """A memory was used: read, or repeated (`read` is false), which is no request. `when`: the time that the user
    gave."""

    at: int
    memory_id: str
    when: int
    read: bool = True


class Linked(Struct, frozen=True, tag=True):
    """Another memory was made from it, or contradicts it: this is its new centrality."""

    at: int
    memory_id: str
    centrality_ppm: int


class Asked(Struct, frozen=True, tag=True):
    """A query was answered with these memories. `query`: the number of its vector in the course's `queries`; None where
    it cannot be asked again."""

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
    """A summary replaced its sources."""

    at: int
    item: Item
    sources: tuple[str, ...]


class Voted(Struct, frozen=True, tag=True):
    """The fleet's own vote forgot a memory."""

    at: int
    memory_id: str


class Back(Struct, frozen=True, tag=True):
    """A forgotten memory was restored by a vote."""

    at: int
    memory_id: str


class Epoch(Struct, frozen=True, tag=True):
    """An epoch: memories beyond the budget go."""

    at: int


Event = Came | Used | Linked | Asked | Guarded | Ended | SummedUp | Voted | Back | Epoch


class Course(Struct, frozen=True):
    """The history of a namespace from its beginning. `vectors`: of the memories whose key still exists; `queries`: the
    vectors of queries."""

    namespace: str
    events: Sequence[Event]
    vectors: Vectors
    queries: Mapping[int, Numbers] = {}
