"""Applies orders to reclassify to the rows: the memory that one names, and all that was made of it.

A memory states facets (`core.facets`), at its birth or by the latest order about it. Its limits of use follow from
these and from those of the memories that it was made of. So a raise travels to all that was made of it, and a
lowering only as far as no other source holds it up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import asdict, replace

from memquorum.core import facets
from memquorum.core.avro import Codec
from memquorum.core.facets import Facets, Kept, Stated
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.erasures import NotTheOrder
from memquorum.core.journal.rows import Change, Rows
from memquorum.core.orders.reclassify import RECLASSIFICATION, restated
from memquorum.core.records import Reclassed, ReclassificationOrdered, Reclassified
from memquorum.core.tiers import GONE

MOST = 10_000
"""The most memories that one order may reach; an order about a memory of which more were made changes nothing."""


class Family(Struct, frozen=True):
    """A memory and all that was made of it, directly or not: what each states, and the memories that it was made of.

    Empty where the memory does not exist, or where more than `MOST` were made of it."""

    stated: Mapping[str, Stated] = {}
    sources: Mapping[str, Sequence[str]] = {}

    @property
    def memory_ids(self) -> frozenset[str]:
        """All of them, and what they were made of."""
        return frozenset(self.stated).union(*self.sources.values())


def judged(rows: Rows, order: ReclassificationOrdered, family: Family) -> Reclassified:
    """Returns what an order does, without the order itself and its time."""
    memory = rows.memories.get(order.memory_id)
    before = family.stated.get(order.memory_id)
    if memory is None or memory.namespace != order.namespace or memory.tier == GONE or before is None:
        return Reclassified(b"", 0, False)
    after = restated(order, before)
    held = spread(rows.memories, {**family.stated, order.memory_id: after}, family.sources)
    groups: dict[Facets, list[str]] = {}
    for memory_id in sorted(held):
        if held[memory_id] != of(rows.memories[memory_id]):
            groups.setdefault(replace(held[memory_id], type=""), []).append(memory_id)
    changed = tuple(
        Reclassed(tuple(memory_ids), one.sensitivity_ppm, one.purposes, one.jurisdictions)
        for one, memory_ids in sorted(groups.items(), key=lambda item: item[1][0])
    )
    return Reclassified(b"", 0, True, after.sensitivity_ppm, after.purposes, after.jurisdiction, changed)


def spread(
    memories: Mapping[str, Kept], stated: Mapping[str, Stated], sources: Mapping[str, Sequence[str]]
) -> dict[str, Facets]:
    """Returns what holds for memories that state something and were made of `sources`. `memories`: what holds for
    sources that are not among them."""
    found = {own: facets.held(said) for own, said in stated.items()}
    # A source is older than what was made of it: as many rounds as the longest line of descent. Two summaries that
    # became one may be in a circle, which ends as nothing gets freer from one round to the next.
    for _ in range(len(stated) + 1):
        before = dict(found)
        for own, said in stated.items():
            known = (found.get(one) or memories.get(one) for one in sources.get(own, ()))
            found[own] = facets.held(said, [one for one in known if one is not None])
        if found == before:
            break
    return found


def states_now(before: Stated, detail: Reclassified) -> Stated:
    """Returns what a memory states after an entry about it that took effect."""
    return Stated(before.type, detail.sensitivity_ppm, detail.purposes, detail.jurisdiction, before.made)


def of(memory: Kept) -> Facets:
    """Returns the facets of a row of a memory."""
    return Facets(getattr(memory, "type", ""), memory.sensitivity_ppm, memory.purposes, memory.jurisdictions)


def do_reclassified(codec: Codec, genesis: Genesis, rows: Rows, change: Change, detail: Reclassified) -> Change:
    """The rows after an order to reclassify. Raises BadOrder if the signer had no right to give it, NotTheOrder if the
    entry is about another order or changes memories of another namespace."""
    entry = change.entry
    _, order = RECLASSIFICATION.opened(codec, genesis, detail.order)
    if (entry.event_id, entry.namespace, entry.memory_id) != (order.order_id, order.namespace, order.memory_id):
        raise NotTheOrder(f"order {order.order_id} about {order.memory_id}, not {entry.event_id}")
    if not detail.applied and detail.changed:
        raise NotTheOrder(f"order {order.order_id} took no effect, and changes memories")
    changed = []
    for one in detail.changed:
        for memory_id in one.memory_ids:
            memory = rows.memories[memory_id]
            if memory.namespace != order.namespace:
                raise NotTheOrder(f"order {order.order_id} changes {memory_id} of another namespace")
            holds = {name: value for name, value in asdict(one).items() if name != "memory_ids"}
            changed.append(replace(memory, **holds))
    return change.plus(*changed)
