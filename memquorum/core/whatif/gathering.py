"""Reads a shard's journal and its query log as the events of its namespaces, without content.

A memory weighs a quarter of its characters, rounded up: the weight in a budget, if the text has one byte a character.
The text itself may be gone, so it is not weighed. The nearness of a memory to active goals is not known here, and
counts as 0.

Events are in the journal's order and have its time, before the first tick the time that the publisher gave. A query is
placed by its time. A use that a logged answer explains (the same agent and memory, at about the same time) belongs to
that query, and is no read of its own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import linking
from memquorum.core.avro import Codec
from memquorum.core.budgets.items import HELD, LONG_TERM, NEEDED, PINNED, Item, accesses_ppm
from memquorum.core.budgets.weighing import ORDINARY
from memquorum.core.experience import abstract
from memquorum.core.facets import Facets, facets
from memquorum.core.journal.decisions import passed
from memquorum.core.linking import REQUIRES
from memquorum.core.orders.protect import ENDS, HOLD, PIN, kind_of
from memquorum.core.policy import Policy
from memquorum.core.reading.tokens import TOKEN_BYTES
from memquorum.core.records import (
    Accessed,
    Decided,
    Erased,
    JournalEntry,
    Lapsed,
    Protected,
    ProtectionOrdered,
    QueryAsked,
    Result,
    Signed,
    Stored,
)
from memquorum.core.vote.kinds import KINDS, LETS_GO, RAISES
from memquorum.core.vote.kinds.kind import laid_over
from memquorum.core.whatif.events import (
    Asked,
    Back,
    Came,
    Ended,
    Epoch,
    Event,
    Guarded,
    Linked,
    SummedUp,
    Used,
    Voted,
)

SAME_MS = 60_000
"""The time around a logged answer within which a use belongs to it."""

TOLD: Mapping[str, type[Struct]] = {
    "stored": Stored,
    "drafted": Stored,
    "reinforced": Stored,
    "cleared": Stored,
    "accessed": Accessed,
    "asked": Accessed,
    "decided": Decided,
    "protected": Protected,
    "lapsed": Lapsed,
    "erased": Erased,
}
"""The effects of a journal that a replay reads, each with the type of its detail."""


class _Query(Struct, frozen=True):
    """A query of the log, without its text."""

    at: int
    agent: str
    answered: tuple[str, ...]
    event_id: str


class _Space(Struct):
    """A namespace in progress. `uses`: indices of events that are reads, by agent and memory."""

    events: list[Event] = []
    agents: dict[int, str] = {}
    queries: list[_Query] = []


class Gathered:
    """The events of one shard. Take all of its journal, in order, and its query log; then ask for the events."""

    def __init__(self, codec: Codec, policy: Policy, namespace: str | None = None) -> None:
        """`policy`: gives the interval at which budgets are checked, and the namespaces whose summaries leave their
        sources alone."""
        self._codec, self._policy, self._only = codec, policy, namespace
        self._spaces: dict[str, _Space] = defaultdict(_Space)
        self._epochs: list[int] = []
        self._now = 0
        self._facets: dict[str, Facets] = {}
        self._forms = set[str]()
        self._drafts: dict[str, tuple[Item, tuple[str, ...]]] = {}
        self._links: dict[str, int] = defaultdict(int)
        self._protections: dict[str, set[str]] = defaultdict(set)
        self._promoted: set[str] = set()
        # The namespace of each memory.
        self._homes: dict[str, str] = {}
        self._takes: Mapping[str, Callable[[JournalEntry, Any], None]] = {
            "stored": self._stored, "drafted": self._drafted, "reinforced": self._reinforced,
            "cleared": self._cleared,
            "accessed": self._accessed, "asked": self._accessed, "decided": self._decided,
            "protected": self._protected, "lapsed": self._lapsed, "erased": self._erased,
        }  # fmt: skip

    def take(self, entry: JournalEntry) -> None:
        """Takes the next entry of the journal. Raises DecodeError."""
        self._now = max(self._now, entry.as_of)
        if entry.effect == "ticked":
            if not self._epochs or self._now - self._epochs[-1] >= self._policy.budget.every_ms:
                self._epochs.append(self._now)
            return
        kind = TOLD.get(entry.effect)
        if kind is None or (self._only is not None and entry.namespace not in (None, self._only)):
            return
        self._takes[entry.effect](entry, self._codec.decode_as(kind, entry.detail))

    def ask(self, asked: QueryAsked) -> None:
        """Takes a query of the log."""
        if asked.memory_ids and self._only in (None, asked.namespace):
            told = _Query(asked.asked_at, asked.agent, asked.memory_ids, asked.event_id)
            self._spaces[asked.namespace].queries.append(told)

    @property
    def memories(self) -> Collection[str]:
        """All memories that ever came."""
        return self._homes.keys()

    def of(self, namespace: str) -> Iterator[str]:
        """Yields all memories that ever came to a namespace."""
        return (memory_id for memory_id, home in self._homes.items() if home == namespace)

    def namespaces(self) -> Iterator[tuple[str, Sequence[Event], Mapping[int, str]]]:
        """Yields each namespace: its events in order, and the event ids of its queries by number."""
        # All namespaces of a shard have the same epochs.
        epochs = [Epoch(at) for at in self._epochs]
        for name in sorted(self._spaces):
            space = self._spaces[name]
            found: list[tuple[int, int, int, Event]] = [(one.at, 1, at, one) for at, one in enumerate(space.events)]
            queries = sorted(space.queries, key=lambda one: (one.at, one.event_id))
            explained = _explained(space, queries)
            found = [one for one in found if one[2] not in explained]
            found += [(one.at, 2, at, Asked(one.at, one.answered, at)) for at, one in enumerate(queries)]
            found += [(one.at, 3, n, one) for n, one in enumerate(epochs)]
            found.sort(key=lambda one: one[:3])
            if any(isinstance(one[3], Came | SummedUp) for one in found):
                yield name, [one[3] for one in found], {at: one.event_id for at, one in enumerate(queries)}

    def _put(self, namespace: str, event: Event) -> int:
        self._spaces[namespace].events.append(event)
        return len(self._spaces[namespace].events) - 1

    def _at(self, said: int) -> int:
        """Returns the time of a new event: the shard's, or the publisher's before the first tick."""
        if self._now == 0:
            return said
        return self._now

    def _item(self, entry: JournalEntry, detail: Stored) -> Item:
        memory_id = entry.memory_id or ""
        sources = [self._facets[one] for one in detail.derives_from if one in self._facets]
        self._facets[memory_id] = held = facets(detail, sources)
        weight = max(1, -(-detail.characters // TOKEN_BYTES))
        return Item(
            memory_id, held.type, weight, detail.occurred_at, detail.occurred_at,
            sensitivity_ppm=held.sensitivity_ppm,
            worth=weight * ORDINARY if detail.worth_ppm is None else detail.worth_ppm,
            novelty_ppm=detail.novelty_ppm or 0,
            needs=(*detail.derives_from, *(other for kind, other in self._linked(entry, detail) if kind == REQUIRES)),
        )  # fmt: skip

    def _stored(self, entry: JournalEntry, detail: Stored) -> None:
        namespace, memory_id = entry.namespace or "", entry.memory_id or ""
        at = self._at(detail.occurred_at)
        self._homes[memory_id] = namespace
        item = self._item(entry, detail)
        self._put(namespace, Came(at, replace(item, needs=tuple(one for one in item.needs if one in self._homes))))
        linked = dict.fromkeys(other for _, other in self._linked(entry, detail))
        for other in dict.fromkeys((*detail.derives_from, *detail.contradicts, *linked)):
            self._link(namespace, at, other)
        for other in detail.superseded:
            self._put(namespace, Ended(at, other))

    def _linked(self, entry: JournalEntry, detail: Stored) -> list[tuple[str, str]]:
        namespace = entry.namespace or ""
        there = {one for one in linking.targets(namespace, detail.links) if self._homes.get(one) == namespace}
        return linking.resolved_links(entry.memory_id or "", namespace, detail.links, there)

    def _link(self, namespace: str, at: int, memory_id: str) -> None:
        if memory_id in self._homes:
            self._links[memory_id] += 1
            self._put(namespace, Linked(at, memory_id, accesses_ppm(self._links[memory_id])))

    def _drafted(self, entry: JournalEntry, detail: Stored) -> None:
        if abstract.made(detail.summary):
            # These reads do not ask for experience, so they never find a general form.
            self._forms.add(entry.memory_id or "")
            return
        self._homes[entry.memory_id or ""] = entry.namespace or ""
        # A summary replaces its sources, which rest: it needs none of them.
        self._drafts[entry.memory_id or ""] = replace(self._item(entry, detail), needs=()), detail.derives_from

    def _reinforced(self, entry: JournalEntry, detail: Stored) -> None:
        at = self._at(detail.occurred_at)
        self._put(entry.namespace or "", Used(at, entry.memory_id or "", detail.occurred_at, read=False))

    def _cleared(self, entry: JournalEntry, detail: Stored) -> None:
        for other in detail.superseded:
            self._put(entry.namespace or "", Ended(self._at(detail.occurred_at), other))

    def _accessed(self, entry: JournalEntry, detail: Accessed) -> None:
        namespace, at = entry.namespace or "", self._at(detail.accessed_at)
        for one in detail.used:
            if one.memory_id not in self._forms:
                place = self._put(namespace, Used(at, one.memory_id, detail.accessed_at))
                self._spaces[namespace].agents[place] = detail.agent

    def _decided(self, entry: JournalEntry, detail: Decided) -> None:
        for result in detail.results:
            home = self._homes.get(result.memory_ids[0]) if result.memory_ids else None
            if home is not None and passed(result) and self._only in (None, home):
                self._ended(home, result)

    def _ended(self, home: str, result: Result) -> None:
        """Notes the result of a vote."""
        kind = KINDS[result.kind]
        first, *others = result.memory_ids
        if first in self._drafts:
            # The only vote on a draft is whether it replaces its sources.
            item, _ = self._drafts.pop(first)
            strict = laid_over(home, self._policy)
            self._put(home, SummedUp(self._now, item, () if strict else tuple(others)))
        elif kind.seals and not kind.spares:
            self._put(home, Voted(self._now, first))
        elif kind.revives:
            for memory_id in kind.revived(result.memory_ids):
                self._put(home, Back(self._now, memory_id))
        elif kind.seals:
            for memory_id in others:
                self._put(home, Ended(self._now, memory_id))
        elif result.kind in RAISES.values():
            self._promoted.add(first)
            self._guard(home, first)
        elif result.kind in LETS_GO.values():
            self._promoted.discard(first)
            self._guard(home, first)

    def _protected(self, entry: JournalEntry, detail: Protected) -> None:
        if not detail.applied:
            return
        order = self._codec.decode_as(ProtectionOrdered, self._codec.decode_as(Signed, detail.order).body)
        stands, kind = self._protections[order.memory_id], kind_of(order)
        (stands.discard if order.action in ENDS else stands.add)(kind)
        self._guard(entry.namespace or "", order.memory_id)

    def _lapsed(self, entry: JournalEntry, detail: Lapsed) -> None:
        for memory_id in detail.memory_ids:
            self._protections[memory_id].discard(detail.kind)
            self._guard(entry.namespace or "", memory_id)

    def _guard(self, namespace: str, memory_id: str) -> None:
        stands = self._protections[memory_id]
        why = HELD if HOLD in stands else PINNED if PIN in stands else NEEDED if stands else None
        if why is None and memory_id in self._promoted:
            why = LONG_TERM
        self._put(namespace, Guarded(self._now, memory_id, why))

    def _erased(self, entry: JournalEntry, detail: Erased) -> None:
        for one in detail.episodes:
            home = self._homes.get(one.memory_id)
            if home is not None:
                self._put(home, Ended(self._now, one.memory_id, erased=True))


def _explained(space: _Space, queries: Sequence[_Query]) -> set[int]:
    """Returns the indices of uses that a logged answer explains; each answer explains one use of each of its
    memories."""
    left: dict[tuple[str, str], list[int]] = defaultdict(list)
    for one in queries:
        for memory_id in one.answered:
            left[one.agent, memory_id].append(one.at)
    found = set()
    for place, agent in space.agents.items():
        used = space.events[place]
        assert isinstance(used, Used)
        times = left.get((agent, used.memory_id), [])
        near = next((at for at in times if abs(at - used.when) <= SAME_MS), None)
        if near is not None:
            times.remove(near)
            found.add(place)
    return found
