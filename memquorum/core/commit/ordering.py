"""Judges orders and requests (erasures, protections, restores, patches, and others), and makes the journal entry.

Each is answered once, whatever the answer: a repetition is `repeated`, and changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.commit.applying import RecordPosition, apply_entry
from memquorum.core.journal import comparing, disclosures, inheriting, patching, protections, rollbacks
from memquorum.core.journal.effects import DELIVERED_AGAIN, Rules
from memquorum.core.journal.inheriting import Family
from memquorum.core.journal.naming import PART_MOST
from memquorum.core.journal.rows import Change, GoalDue, Guarded, Rows
from memquorum.core.orders.compare import COMPARE
from memquorum.core.orders.disclose import DISCLOSURE
from memquorum.core.orders.envelope import order_digest
from memquorum.core.orders.patch import PATCH
from memquorum.core.orders.profile import PROFILE
from memquorum.core.orders.protect import PROTECTION
from memquorum.core.orders.reclassify import RECLASSIFICATION
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import (
    Compared,
    Disclosed,
    Erased,
    ErasedEpisode,
    Lapsed,
    OrderAccepted,
    Patched,
    Profiled,
    Protected,
    Reclassified,
    RestoreRequested,
    Withheld,
)


def apply_erasure(
    rules: Rules, rows: Rows, place: RecordPosition, record: OrderAccepted, *, part: Part, residue_until: int
) -> Change:
    """Applies one entry of an order whose keys are destroyed; the vault destroys them before. An order without memories
    has one entry, too."""
    effect = DELIVERED_AGAIN if part.repeated else "erased"
    detail = Erased(record.order, record.accepted_at, part.number, part.parts, residue_until, part.episodes)
    return apply_entry(
        rules, rows, place, effect=effect, detail=detail, event_id=record.event_id, namespace=record.namespace
    )


def _protection(rules: Rules, rows: Rows, place: RecordPosition, record: OrderAccepted) -> Change:
    """Applies an order to protect a memory, or to end that."""
    signed, order = PROTECTION.opened(rules.codec, rules.genesis, record.order)
    repeated = order_digest(rules.codec, record.order) in rows.answered
    guarded = rows.guarded.get(order.namespace, Guarded())
    takes = protections.takes(rows, guarded, rules.genesis.policy.protection, signed.signer, order)
    applied = not repeated and takes
    detail = Protected(record.order, record.accepted_at, applied)
    return apply_entry(
        rules,
        rows,
        place,
        effect=DELIVERED_AGAIN if repeated else "protected",
        detail=detail,
        event_id=record.event_id,
        namespace=record.namespace,
        memory_id=order.memory_id,
    )


def apply_lapsed(rules: Rules, rows: Rows, goal: GoalDue) -> Change:
    """Applies the lapse of a goal that was neither ended nor declared again in the policy's time: it needs these
    memories no more."""
    state = rows.state
    place, event_id = RecordPosition(topics.JOURNAL, state.shard, state.seq), f"lapsed/{state.shard}/{state.seq}"
    detail = Lapsed(goal.kind, goal.used_at, goal.memory_ids)
    return apply_entry(rules, rows, place, effect="lapsed", detail=detail, event_id=event_id, namespace=goal.namespace)


def apply_withheld(
    rules: Rules, rows: Rows, place: RecordPosition, record: OrderAccepted, held: Sequence[str]
) -> Change:
    """Applies an order to erase that names held memories: it is not carried out, neither now nor after the release."""
    detail = Withheld(record.order, record.accepted_at, tuple(sorted(held)))
    return apply_entry(
        rules, rows, place, effect="withheld", detail=detail, event_id=record.event_id, namespace=record.namespace
    )


class Part(Struct, frozen=True):
    """The content of one entry of an order: its number of so many, from 0, and the episodes.

    `repeated`: the order was answered before, and changes nothing.
    """

    number: int
    parts: int
    episodes: tuple[ErasedEpisode, ...] = ()
    repeated: bool = False


def in_parts(found: Sequence[ErasedEpisode], most: int = PART_MOST) -> list[Part]:
    """Splits an order into entries of at most so many episodes each, by id; an order without episodes has one entry."""
    ordered = sorted(found, key=lambda one: one.memory_id)
    starts = range(0, len(ordered), most) or range(1)
    return [Part(at, len(starts), tuple(ordered[first : first + most])) for at, first in enumerate(starts)]


def _request(rules: Rules, rows: Rows, place: RecordPosition, record: OrderAccepted) -> Change:
    """Applies a request to restore, to forget, or to roll back a weight: it changes nothing before the vote."""
    _, order = REQUEST.opened(rules.codec, rules.genesis, record.order)
    effect, why = rollbacks.answered(rows, order)
    if order_digest(rules.codec, record.order) in rows.answered:
        effect, why = DELIVERED_AGAIN, ""
    detail, namespace = RestoreRequested(record.order, record.accepted_at, why), record.namespace
    return apply_entry(rules, rows, place, effect=effect, detail=detail, event_id=record.event_id, namespace=namespace)


def _patches(rules: Rules, rows: Rows, place: RecordPosition, record: OrderAccepted) -> Change:
    """Applies patches of roll-ups, without those whose memories are gone or that were applied before."""
    _, order = PATCH.opened(rules.codec, rules.genesis, record.order)
    repeated = order_digest(rules.codec, record.order) in rows.answered
    applied = () if repeated else patching.applicable(rows, order)
    detail, effect = Patched(record.order, record.accepted_at, applied), DELIVERED_AGAIN if repeated else "patched"
    return apply_entry(
        rules, rows, place, effect=effect, detail=detail, event_id=record.event_id, namespace=record.namespace
    )


def _disclosure(rules: Rules, rows: Rows, place: RecordPosition, record: OrderAccepted) -> Change:
    """Applies a notice of texts about to be sent, without memories that are gone."""
    _, order = DISCLOSURE.opened(rules.codec, rules.genesis, record.order)
    effect = DELIVERED_AGAIN if order_digest(rules.codec, record.order) in rows.answered else "disclosed"
    alive = disclosures.alive(order, rows.memories, rows.strengths)
    detail, namespace = Disclosed(record.order, record.accepted_at, order.recipient, alive), record.namespace
    return apply_entry(rules, rows, place, effect=effect, detail=detail, event_id=record.event_id, namespace=namespace)


def _profile(rules: Rules, rows: Rows, place: RecordPosition, record: OrderAccepted) -> Change:
    """Applies a profile of a subject: it takes the place of the one before."""
    effect = DELIVERED_AGAIN if order_digest(rules.codec, record.order) in rows.answered else "profiled"
    detail, namespace = Profiled(record.order, record.accepted_at, record.sealed), record.namespace
    return apply_entry(rules, rows, place, effect=effect, detail=detail, event_id=record.event_id, namespace=namespace)


def apply_reclassification(
    rules: Rules, rows: Rows, place: RecordPosition, record: OrderAccepted, family: Family
) -> Change:
    """Applies an order to reclassify a memory. `family`: it and what was made of it, all of them among the rows."""
    _, order = RECLASSIFICATION.opened(rules.codec, rules.genesis, record.order)
    repeated = order_digest(rules.codec, record.order) in rows.answered
    done = Reclassified(b"", 0, False) if repeated else inheriting.judged(rows, order, family)
    return apply_entry(
        rules,
        rows,
        place,
        effect=DELIVERED_AGAIN if repeated else "reclassified",
        detail=replace(done, order=record.order, accepted_at=record.accepted_at),
        event_id=record.event_id,
        namespace=record.namespace,
        memory_id=order.memory_id,
    )


def _comparisons(rules: Rules, rows: Rows, place: RecordPosition, record: OrderAccepted) -> Change:
    """Applies a model's comparisons of pairs of memories, without those that are gone or were compared before."""
    _, order = COMPARE.opened(rules.codec, rules.genesis, record.order)
    repeated = order_digest(rules.codec, record.order) in rows.answered
    applied = () if repeated else comparing.applicable(rows, order)
    detail, effect = Compared(record.order, record.accepted_at, applied), DELIVERED_AGAIN if repeated else "compared"
    return apply_entry(
        rules, rows, place, effect=effect, detail=detail, event_id=record.event_id, namespace=record.namespace
    )


_JUDGED: Mapping[str, Callable[[Rules, Rows, RecordPosition, OrderAccepted], Change]] = MappingProxyType(
    {
        PROTECTION.name: _protection,
        REQUEST.name: _request,
        PATCH.name: _patches,
        DISCLOSURE.name: _disclosure,
        PROFILE.name: _profile,
        COMPARE.name: _comparisons,
    }
)


def apply_order(rules: Rules, rows: Rows, place: RecordPosition, record: OrderAccepted) -> Change:
    """Applies one entry of an order together with other records; erasures have a transaction of their own."""
    judged = _JUDGED.get(record.kind)
    if judged is None:
        raise LookupError(f"there is no rule for orders of the kind {record.kind!r}: add one to _JUDGED")
    return judged(rules, rows, place, record)
