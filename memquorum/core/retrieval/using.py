"""Reads the uses that a reader reports: memories that it took from a list, a file or a cache, or read by key (SPEC A,
Alg. 2). 2)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from memquorum.core import ids, names
from memquorum.core.api.requests import UsesRequest
from memquorum.core.records import USES_MOST, AccessRecorded
from memquorum.core.retrieval.query import BadRequest, read_body, read_event_id, read_namespace, read_speaker

MINUTE_S = 60.0


class ReportedUse(Struct, frozen=True):
    """Memories that an agent used. `event_id`: the request's own, if it has one; who repeats it counts once."""

    namespace: str
    agent: str
    memory_ids: tuple[str, ...]
    event_id: str | None = None


def read_uses(body: bytes) -> ReportedUse:
    """The uses that a JSON body tells of. Raises BadRequest and names the field."""
    asked = read_body(body, UsesRequest)
    if not 1 <= len(asked.memory_ids) <= USES_MOST:
        raise BadRequest("too_many", "memory_ids", f"{len(asked.memory_ids)} ids; 1 to {USES_MOST} are told at a time")
    found = tuple(dict.fromkeys(map(names.uuid, asked.memory_ids)))
    if None in found:
        raise BadRequest("bad_id", "memory_ids", "one is not a UUID; send ids of memories")
    return ReportedUse(
        read_namespace(asked.namespace), read_speaker(asked.agent), tuple(filter(None, found)),
        None if asked.event_id is None else read_event_id(asked.event_id),
    )  # fmt: skip


def accesses(told: ReportedUse, event_id: str) -> list[AccessRecorded]:
    """Returns one use of all the memories, or an empty list if there are no memories. It carries no time: intake dates
    it."""
    if not told.memory_ids:
        return []
    return [AccessRecorded(told.agent, told.memory_ids, told.namespace, ids.use_event_id(told.agent, event_id))]


class Lately:
    """Limits reported uses: one use of a memory by each agent counts in a minute, and at most so many uses of an API
    key.

    An agent that reads the same entry at each turn keeps it alive by one use as well as by a hundred. One for a
    process.
    """

    def __init__(self, most: int) -> None:
        """`most`: uses of one key in a minute, and memories that are kept in mind."""
        self._most = most
        self._counted: dict[tuple[str, str, str], float] = {}
        self._spent: dict[str, tuple[float, int]] = {}

    def spend(self, key: str, uses: int, now_s: float) -> bool:
        """Whether a key may tell of so many uses more in this minute; if so they are spent."""
        since, spent = self._spent.get(key, (now_s, 0))
        if now_s >= since + MINUTE_S:
            since, spent = now_s, 0
        if spent + uses > self._most:
            return False
        self._spent.pop(key, None)
        self._spent[key] = since, spent + uses
        _shorten(self._spent, self._most)
        return True

    def new(self, namespace: str, agent: str, memory_ids: Sequence[str], now_s: float) -> tuple[str, ...]:
        """Those of the memories that this agent has not used within a minute; they are used now."""
        found = tuple(one for one in memory_ids if self._counted.get((namespace, agent, one), now_s) <= now_s)
        for one in found:
            self._counted.pop((namespace, agent, one), None)
            self._counted[namespace, agent, one] = now_s + MINUTE_S
        _shorten(self._counted, self._most)
        return found


def _shorten(kept: dict, most: int) -> None:  # type: ignore[type-arg]
    while len(kept) > most:
        kept.pop(next(iter(kept)))
