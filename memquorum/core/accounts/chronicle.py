"""Tells journal entries of a namespace in sentences, for people who watch a fleet. They hold no content.

`accounts.tail` tells the same with places and numbers, for operators who read the topic. An entry that speaks of
several namespaces, as a decision does, is told by its counts in this one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from memquorum.core.accounts.tail import TRIED
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.orders.protect import GOAL
from memquorum.core.records import (
    APPLIED,
    Accessed,
    Assessed,
    Compared,
    Disclosed,
    Erased,
    JournalEntry,
    Lapsed,
    Patched,
    Profiled,
    Protected,
    ProtectionOrdered,
    Reclassified,
    Reencoded,
    Rehearsed,
    RestoreRequested,
    Signed,
    Stored,
    Tried,
    Withheld,
)
from memquorum.core.salience import CLEARED
from memquorum.core.showing.plurals import many

DECIDED = "decided"
EFFECTS = (
    "stored", "reinforced", "dropped", "drafted", "finished", "cleared", "contradicted", "repeated", "accessed",
    "asked", "assessed", "unfounded", "reencoded", "rehearsed", "tried", "patched", "compared", "disclosed", "profiled",
    "reclassified", "protected", "lapsed", "requested", "declined", "withheld", "erased", DECIDED,
)  # fmt: skip
"""The effects that a namespace's page of the journal can show."""
_EPISODES = {
    "stored": "recorded a memory",
    "reinforced": "said again what was known",
    "dropped": "recorded an episode that was not kept",
    "drafted": "made a summary that waits for its vote",
    "finished": "finished a task",
    "contradicted": "told another outcome of a task; the first one stands",
    "cleared": "cleared a slot",
}
_NO_EFFECT = "It had no effect"


class Line(Struct, frozen=True):
    """An entry of the journal as the store has it: `entry` is None for a decision, whose `outcomes` in the namespace
    say what it did."""

    seq: int
    as_of: int
    effect: str
    event_id: str
    memory_id: str | None
    entry: bytes | None
    epoch: int | None = None
    outcomes: Mapping[str, int] = {}


def told(codec: Codec, line: Line) -> tuple[str, str | None]:
    """Returns a sentence on an entry, and the agent who caused it, if one did."""
    if line.entry is None:
        return f"The members decided in epoch {line.epoch}: {_counts(line.outcomes)}.", None
    try:
        entry = codec.decode_as(JournalEntry, line.entry)
        return _told(codec, entry, codec.decode(entry.detail))
    except DecodeError:
        return f"{line.effect}: an entry that cannot be read; `memquorum admin audit verify` says more.", None


def memories(codec: Codec, line: Line) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the memories that an entry names, the first ones of many, and those that it took out of service for
    another one, or for a slot that was cleared."""
    own = () if line.memory_id is None else (line.memory_id,)
    if line.entry is None or line.effect not in _NAMING:
        return own, ()
    try:
        detail = codec.decode(codec.decode_as(JournalEntry, line.entry).detail)
    except DecodeError:
        return own, ()
    if isinstance(detail, Accessed):
        return own or tuple(one.memory_id for one in detail.used[:_NAMED]), ()
    if isinstance(detail, Erased):
        return own or tuple(one.memory_id for one in detail.episodes[:_NAMED]), ()
    return own, detail.superseded if isinstance(detail, Stored) else ()


_NAMING = frozenset({"accessed", "asked", "erased", "stored", "cleared"})
_NAMED = 10


def _counts(outcomes: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {outcome}" for outcome, count in sorted(outcomes.items())) or "nothing here"


def _told(codec: Codec, entry: JournalEntry, detail: object) -> tuple[str, str | None]:
    if entry.effect == "repeated":
        return "The same event came again, which changes nothing.", None
    if isinstance(detail, Stored):
        return _episode(entry.effect, detail), detail.agent
    if isinstance(detail, Accessed):
        return _use(entry.effect, detail), detail.agent
    if isinstance(detail, Assessed):
        counts = f"{len(detail.helped)} helped, {len(detail.did_not_help)} did not"
        return f"{detail.agent} told which memories of a task helped: {counts}.", detail.agent
    return _order(codec, entry, detail) or _upkeep(detail) or f"{entry.effect.capitalize()}.", None


def _episode(effect: str, detail: Stored) -> str:
    what = _EPISODES.get(effect, effect)
    if effect == "cleared" and detail.outcome != CLEARED:
        what = "asked to clear a slot"
    why = f" ({detail.outcome.replace('_', ' ')})" if effect == "dropped" else ""
    size = f": {many(detail.characters, 'character')}" if effect in ("stored", "reinforced") else ""
    return f"{detail.agent} {what}{why}{size}."


def _use(effect: str, detail: Accessed) -> str:
    used = len(detail.those(APPLIED))
    if effect == "asked":
        return f"{detail.agent} read a memory that was just forgotten; members vote on its return."
    late = len(detail.used) - used
    # It was forgotten, replaced or erased between the reading and the record of it.
    gone = "no longer in use when the record came"
    if not used:
        return f"{detail.agent} read {many(late, 'memory')}, not counted: {gone}."
    more = f"; {late} more not counted: {gone}" if late else ""
    return f"{detail.agent} read {many(used, 'memory')}{more}."


def _order(codec: Codec, entry: JournalEntry, detail: object) -> str | None:
    if isinstance(detail, Erased):
        return f"{many(len(detail.episodes), 'episode')} erased by an order: the keys are destroyed."
    if isinstance(detail, Withheld):
        return f"An erasure was withheld: {many(len(detail.held), 'memory')} of it held. Nothing was erased."
    if isinstance(detail, RestoreRequested):
        return "A request is to be voted on." if entry.effect == "requested" else "A request left nothing to vote on."
    if isinstance(detail, Lapsed):
        goal = detail.kind.removeprefix(GOAL)
        return f"The goal {goal!r} lapsed: it needs {many(len(detail.memory_ids), 'memory')} no more."
    if isinstance(detail, Reclassified):
        return _reclassified(detail)
    return _protection(codec, detail) if isinstance(detail, Protected) else None


def _reclassified(detail: Reclassified) -> str:
    if not detail.applied:
        return f"An order to reclassify a memory. {_NO_EFFECT}."
    changed = many(len(detail.memory_ids), "memory")
    return f"What a memory may be used for was changed: other limits hold for {changed}."


def _protection(codec: Codec, detail: Protected) -> str:
    try:
        order = codec.decode_as(ProtectionOrdered, codec.decode_as(Signed, detail.order).body)
    except DecodeError:
        return "An order that cannot be read."
    return f"{order.ordered_by}: {order.action}{'' if detail.applied else f'. {_NO_EFFECT}'}."


def _upkeep(detail: object) -> str | None:
    if isinstance(detail, Reencoded):
        return f"Encoded anew by {detail.encoder}."
    if isinstance(detail, Rehearsed):
        way = "more" if detail.after_ppm > detail.before_ppm else "less"
        return "A check of old memories left it as it is." if _same(detail) else f"After a check it matters {way}."
    if isinstance(detail, Tried):
        return f"A verifier tried it for experience: {TRIED.get(detail.status, detail.status)}."
    if isinstance(detail, Patched):
        return f"Roll-ups took up {many(len(detail.applied), 'sentence')}."
    if isinstance(detail, Compared):
        return f"A model compared {many(len(detail.applied), 'pair')} of memories."
    if isinstance(detail, Profiled):
        return "A profile of a subject was set."
    if isinstance(detail, Disclosed):
        return f"{many(len(detail.memory_ids), 'memory')} may be sent to {detail.recipient}."
    return None


def _same(detail: Rehearsed) -> bool:
    return detail.after_ppm == detail.before_ppm


def wanted(effects: Sequence[str] | None) -> tuple[list[str] | None, bool]:
    """Returns the effects to ask the journal for, None for all, and if decisions are wanted as well."""
    if effects is None:
        return None, True
    return [one for one in effects if one != DECIDED], DECIDED in effects
