"""Loads what concerns a person, or another thing that an erasure can name, for `core.accounts.reporting`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import psycopg

from db import erasure_rows, explain_rows, found_rows, order_rows
from db.queries import QUERIES
from memquorum.core import names
from memquorum.core.access import Sight, covers
from memquorum.core.accounts.explain import gated
from memquorum.core.accounts.reporting import ECHO, Asked, Event, Found, Place, Told
from memquorum.core.api.answers import Ordered, Subject
from memquorum.core.avro import Codec
from memquorum.core.contained import Failures
from memquorum.core.orders.erase import MEMORY
from memquorum.core.policy import Policy
from memquorum.core.retrieval.query import passes

_ORDERS_MOST = 100


class _Store:
    """One snapshot of the store, as a tenant sees it."""

    def __init__(self, connection: psycopg.Connection, codec: Codec, sight: Sight, failures: Failures) -> None:
        self._connection, self._codec, self._sight, self._failures = connection, codec, sight, failures

    def rows(self, name: str, **wanted: Any) -> list[tuple[Any, ...]]:
        """Returns the rows of a statement."""
        # An account ends as another role.
        erasure_rows.seen_by(self._connection, self._sight)
        return self._connection.execute(QUERIES[name], wanted).fetchall()

    def places(self, asked: Asked) -> list[Place]:
        """Returns everything that an erasure would take or took, by when it was first said."""
        erasure_rows.seen_by(self._connection, self._sight)
        named = self._named(asked)
        family = erasure_rows.with_family(self._connection, asked.namespace, list(named), asked.selector)
        events = [named.get(one) for one in family]
        found = self.rows("report_places", namespace=asked.namespace, ids=list(family), events=events)
        places = [
            Place(own, at, state, because, named.get(own), own in named or not made, whole)
            for own, at, state, made, whole in found
            for because in [family[own] or (whole if state == ECHO else None)]
        ]
        return sorted(places, key=lambda one: one.place)

    def _named(self, asked: Asked) -> dict[str, str | None]:
        """Returns the records that the selector names: the event id of each, by its own memory id."""
        if asked.selector == MEMORY:
            return {asked.value: None}
        found = dict[str, str | None]()
        for value in names.spellings(asked.value):
            found |= erasure_rows.named(self._connection, asked.namespace, asked.selector, value)
        return found

    def told(self, asked: Asked, one: Place, policy: Callable[[int], Policy]) -> Told | None:
        """Returns the data on one record; None if the limits of reading keep it back."""
        if one.state == ECHO:
            return Told(one)
        shown = self.rows("memory_shown", **found_rows.one_of(one.memory_id, asked.gates))
        facts = explain_rows.load(
            self._connection, self._codec, one.memory_id, self._sight, policy, gates=asked.gates,
            failures=self._failures,
        )  # fmt: skip
        if facts is not None and not passes(asked.gates, **gated(facts)):
            return None
        return Told(one, found_rows.shown(shown[0]) if shown else None, facts)

    def events(self, asked: Asked, places: list[Place]) -> dict[str, Event]:
        """Returns the origins of records, by their event ids."""
        wanted = [one.event_id for one in places if one.event_id is not None]
        found = self.rows("report_events", namespace=asked.namespace, events=wanted) if wanted else []
        return {event_id: Event(event_id, *rest) for event_id, *rest in found}

    def into(self, asked: Asked, places: list[Place]) -> Mapping[str, tuple[Subject, ...]]:
        """Returns what was made of each memory."""
        found: dict[str, tuple[Subject, ...]] = {}
        for parent, child, state in self.rows(
            "report_into", namespace=asked.namespace, ids=[one.memory_id for one in places]
        ):
            found[parent] = (*found.get(parent, ()), Subject(child, state))
        return found

    def end(self, shard: int) -> tuple[int, tuple[tuple[bytes, tuple[bytes, ...]], ...]]:
        """Returns the last entry of a shard's journal, and the decisions that changed its configuration."""
        self._connection.execute(QUERIES["as_accounts"])
        row = self._connection.execute(QUERIES["report_end"], {"shard": shard}).fetchone()
        orders = self._connection.execute(QUERIES["order_votes"], {"shard": shard})
        return (row[0] if row else 0), tuple((data, tuple(commits)) for *_, done, data, commits in orders if done)

    def orders(self, asked: Asked) -> tuple[Ordered, ...]:
        """Returns the latest orders to erase that name the same."""
        values = [asked.value] if asked.selector == MEMORY else list(names.spellings(asked.value))
        named = self.rows(
            "report_orders", namespace=asked.namespace, selector=asked.selector, values=values, most=_ORDERS_MOST
        )
        told = (
            order_rows.shown(self._codec, self.rows("order_shown", **order_rows.order_parameters(order_id)))
            for (order_id,) in named
        )
        return tuple(one for one in told if one is not None)


def load(
    connection: psycopg.Connection,
    codec: Codec,
    asked: Asked,
    sight: Sight,
    *,
    shard: int,
    policy: Callable[[int], Policy],
    failures: Failures,
) -> Found:
    """Loads a page, from one snapshot where the caller's transaction is REPEATABLE READ; nothing of what is out of
    sight. `shard`: of the namespace; `policy`: by which a shard judges."""
    if not covers(sight.namespaces, asked.namespace):
        return Found()  # row security would show none; each holds without the other
    store = _Store(connection, codec, sight, failures)
    times = store.rows("retention_times", shards=[shard])
    every = store.places(asked)
    listed = [one for one in every if asked.behind is None or one.place > asked.behind]
    page = listed[: asked.limit]
    whole = [one.whole for one in page if one.whole is not None]
    kept = {own for (own,) in store.rows("kept_back", ids=whole, **found_rows.filters_of(asked.gates))}
    shown = [one for one in page if one.whole not in kept]
    found = [told for told in (store.told(asked, one, policy) for one in shown) if told is not None]
    replaced = dict(
        store.rows("report_replaced", namespace=asked.namespace, ids=[one.place.memory_id for one in found])
    )
    orders = store.orders(asked) if asked.behind is None else ()
    events, into = store.events(asked, shown), store.into(asked, shown)
    ends, configured = store.end(shard) if asked.receipt else (0, ())
    return Found(
        as_of=times[0][1] if times else 0,
        records=len(every),
        own=frozenset(one.memory_id for one in every if one.own),
        told=tuple(found),
        kept_back=len(page) - len(found),
        events=events,
        into=into,
        replaced=replaced,
        orders=orders,
        behind=page[-1].place if len(listed) > len(page) else None,
        ends=ends,
        configured=configured,
    )
