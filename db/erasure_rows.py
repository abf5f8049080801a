"""Reads the memories that an order to erase names, and the orders that were carried out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import psycopg
from msgspec import Struct

from db.queries import QUERIES
from memquorum.core import ids, names
from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.journal.anew import fates
from memquorum.core.journal.naming import Alike
from memquorum.core.journal.tombstones import Tombstone
from memquorum.core.journal.withheld import Again, again
from memquorum.core.orders import aged
from memquorum.core.orders.erase import AGE, AGENT, MEMORY, NAMESPACE, NAMING_MOST, SOURCE, SUBJECT
from memquorum.core.records import ErasedEpisode

_SAID = {AGENT: "agent", SUBJECT: "subject", SOURCE: "source"}


class Named(Struct, frozen=True):
    """An episode that an order names, by its own memory id. `because`: the one that it was made of, or repeated, where
    that is why; `agent` and `created` of a memory alone."""

    episode: ErasedEpisode
    agent: str | None
    created: int | None
    because: str | None


class Staying(Struct, frozen=True):
    """A memory that says the same as what an order takes, and why it stays."""

    memory_id: str
    agent: str
    created: int
    why: str


class Naming(Struct, frozen=True):
    """A memory that an order does not take and that may have the name of whom it erases; with all that is kept of it in
    words."""

    memory_id: str
    agent: str
    created: int
    told: str


class Old(Struct, frozen=True):
    """The number of memories of a namespace and a type that are too old, and when the oldest occurred, in
    milliseconds."""

    namespace: str
    type: str
    count: int
    oldest: int


class _Row(Struct, frozen=True):
    """The columns of a memory that decide if a summary is made again."""

    id: str
    tier: str
    sealed_until: int | None
    made_by: str | None
    renews: str | None
    told_by: str | None


class _Memory(Struct, frozen=True):
    agent: str
    subject: str
    source: str | None
    tier: str
    created: int


def taken(
    connection: psycopg.Connection, namespace: str, selector: str, value: str, *, sight: Sight | None = None
) -> list[Named]:
    """Returns the episodes that an erasure would take and whose keys still exist, by id. One snapshot where the
    caller's transaction is REPEATABLE READ. With a `sight` nothing out of it is found."""
    seen_by(connection, sight)
    if selector == MEMORY:
        roots = [value]
    else:
        roots = list(named(connection, namespace, selector, value))
        if selector == AGE:
            spared = _spared(connection, namespace)
            roots = [own for own in roots if own not in spared]
    taken = with_family(connection, namespace, roots, selector)
    remain = connection.execute(QUERIES["erasure_found"], {"namespace": namespace, "ids": list(taken)}).fetchall()
    summaries = _summaries(connection, namespace, taken)
    sent: dict[str, list[str]] = dict(
        connection.execute(QUERIES["erasure_recipients"], {"namespace": namespace, "ids": list(taken)})
    )
    return [
        Named(
            ErasedEpisode(memory_id, was, commitment, summaries.get(memory_id), tuple(sent.get(memory_id, ()))),
            agent,
            created,
            taken[memory_id],
        )
        for memory_id, was, commitment, agent, created in remain
    ]


def named(connection: psycopg.Connection, namespace: str, selector: str, value: str) -> dict[str, str]:
    """Returns the episodes that an order of this selector names by their fields, gone ones too: the event id of each,
    by its own memory id."""
    said: dict[str, Any] = dict.fromkeys((*_SAID.values(), "types", "before", "summaries"))
    if selector == AGE:
        age = aged.read(value)
        said |= {"types": list(age.types), "before": age.before, "summaries": CONSOLIDATOR}
    elif selector != NAMESPACE:
        said[_SAID[selector]] = value
    rows = connection.execute(QUERIES["erasure_roots"], {"namespace": namespace} | said)
    return {ids.memory_id(namespace, event_id): event_id for (event_id,) in rows}


def _summaries(connection: psycopg.Connection, namespace: str, taken: Mapping[str, str | None]) -> dict[str, str]:
    """Returns the fate of each summary among the memories taken; see core/journal/anew."""
    made_of: dict[str, list[str]] = {}
    memories: dict[str, _Row] = {}
    as_of = 0
    for own, parent, *row, at in connection.execute(
        QUERIES["erasure_summaries"], {"namespace": namespace, "ids": list(taken)}
    ):
        as_of, one = at, _Row(*row)
        memories[one.id] = one
        if parent is not None and one.id == parent:
            made_of.setdefault(own, []).append(parent)
    roots = {own for own, because in taken.items() if because is None}
    # Memories that were erased before are not among the rows, so none are passed.
    return fates(taken, roots, memories, made_of, (), as_of=as_of)


def namespaces(connection: psycopg.Connection, *, sight: Sight | None = None) -> list[str]:
    """All namespaces that ever held a memory."""
    seen_by(connection, sight)
    return [name for (name,) in connection.execute(QUERIES["retention_namespaces"])]


def old(
    connection: psycopg.Connection,
    shard: int,
    asked: Sequence[tuple[str, str, int]],
    *,
    all: bool = True,
    sight: Sight | None = None,
) -> list[Old]:
    """Returns the counts of memories of a shard that are too old, without those that a hold spares. `asked`: namespace,
    type, and the time before which that is. Without `all` one is enough of each, and the counts say no more than
    that."""
    seen_by(connection, sight)
    spaces, types, befores = map(list, zip(*asked, strict=True)) if asked else ([], [], [])
    wanted = {"shard": shard, "namespaces": spaces, "types": types, "befores": befores, "most": None if all else 1}
    return [Old(*row) for row in connection.execute(QUERIES["retention_old"], wanted)]


def seen_by(connection: psycopg.Connection, sight: Sight | None) -> None:
    """Lets the rest of the transaction see nothing out of a sight, where there is one."""
    if sight is not None:
        connection.execute(QUERIES["as_tenant"])
        connection.execute(QUERIES["sight"], {"namespaces": sight.text, "purpose": sight.purpose})


def _spared(connection: psycopg.Connection, namespace: str) -> set[str]:
    """Returns the memories that an order by age leaves, however old: those on hold, and all that they were made of."""
    return {own for (own,) in connection.execute(QUERIES["erasure_spared"], {"namespace": namespace})}


def staying(
    connection: psycopg.Connection,
    namespace: str,
    selector: str,
    value: str,
    taken: Sequence[str],
    *,
    sight: Sight | None = None,
) -> list[Staying]:
    """Returns the memories that say the same as those taken and that stay, by id, each with the reason; by age, those
    that are as old and stay."""
    if selector == NAMESPACE or not (taken or selector == AGE):
        return []
    seen_by(connection, sight)
    if selector == AGE:
        # A memory that was repeated later has a later age, and needs no reason.
        named = aged.read(value)
        wanted = {"ids": sorted(_spared(connection, namespace)), "types": list(named.types), "before": named.before}
        return [
            Staying(*row) for row in connection.execute(QUERIES["erasure_held_back"], wanted | {"namespace": namespace})
        ]
    alike, memories, _ = _alike(connection, namespace, taken)
    reasons = alike.staying(set(taken), memories, selector)
    return [Staying(own, memories[own].agent, memories[own].created, why) for own, why in sorted(reasons.items())]


def mentions(
    connection: psycopg.Connection, namespace: str, name: str, but: Sequence[str], *, sight: Sight | None = None
) -> list[Naming]:
    """Returns what stays and may have a name in its words, oldest first, but for these ids; `NAMING_MOST` at most.
    Sealed memories cannot be read."""
    seen_by(connection, sight)
    written = dict.fromkeys(form for one in names.spellings(name) for form in (one, one.lower(), one.upper()))
    wanted = {"namespace": namespace, "names": list(written), "ids": list(but), "most": NAMING_MOST}
    return [Naming(*row) for row in connection.execute(QUERIES["erasure_naming"], wanted)]


def _alike(
    connection: psycopg.Connection, namespace: str, taken: Iterable[str]
) -> tuple[Alike, dict[str, _Memory], set[str]]:
    """Returns the groups that say the same as the memories taken, over any number of repetitions, the memories among
    them, and those that were erased before."""
    rows = connection.execute(QUERIES["erasure_alike"], {"namespace": namespace, "ids": list(taken)}).fetchall()
    alike = Alike()
    for child, parent, agent, _ in rows:
        alike.add(child, parent, agent)
    known = sorted({own for child, parent, *_ in rows for own in (child, parent)})
    said = connection.execute(QUERIES["erasure_said"], {"namespace": namespace, "ids": known})
    return alike, {own: _Memory(*marks) for own, *marks in said}, {child for child, *_, erased in rows if erased}


def with_family(
    connection: psycopg.Connection, namespace: str, roots: Sequence[str], selector: str
) -> dict[str, str | None]:
    """The roots and all that goes with them, each with that because of which it does; core/journal/naming says what
    does. An order for a whole namespace already has all memories as roots, and one by age takes only their families."""
    taken: dict[str, str | None] = {}
    more: dict[str, str | None] = dict.fromkeys(roots)
    while more:
        rows = connection.execute(QUERIES["erasure_family"], {"namespace": namespace, "ids": list(more)})
        family = {memory_id: because or more[memory_id] for memory_id, because in rows}
        taken = family | taken
        if selector in (NAMESPACE, AGE):
            break
        alike, memories, erased = _alike(connection, namespace, taken)
        more = dict(alike.unsupported(taken, memories, erased, selector == SUBJECT))
    return taken


def to_order_again(connection: psycopg.Connection, codec: Codec) -> list[Again]:
    """The withheld orders that nobody has given again."""
    entries = [entry for (entry,) in connection.execute(QUERIES["withheld"])]
    if not entries:
        return []
    done = [one for orders in tombstones(connection).values() for one in orders]
    return again(codec, entries, done, {memory_id for (memory_id,) in connection.execute(QUERIES["held"])})


def tombstones(connection: psycopg.Connection) -> dict[int, list[Tombstone]]:
    """The orders that were carried out, by shard."""
    known: dict[int, list[Tombstone]] = {}
    for shard, *order in connection.execute(QUERIES["tombstones"]):
        known.setdefault(shard, []).append(Tombstone(*order))
    return known
