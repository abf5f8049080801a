"""Finds the memories that an explicit write replaces: those in its slot, and those that it names (infra/decisions/0070,
0072).

A later explicit write with the same path and key supersedes the earlier one without a vote where both are the same
agent's, and the earlier one is in short-term memory and nothing keeps it; another agent's too, where an API key grants
that (infra/decisions/0075). The memories that it may not supersede so, and those that it names by id, it contradicts:
members vote on that. The commit worker chooses the memories, and the entry names them; commit, rebuild and audit check
them again by the shard's own rows.

A write of nothing takes from its slot by the same rule, and becomes no memory (infra/decisions/0117).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Protocol

from msgspec.structs import replace

from memquorum.core.journal.protections import pins
from memquorum.core.journal.rows import Change, Emptied, Memory, Rows, Strength
from memquorum.core.records import Stored
from memquorum.core.records.episodes import Said
from memquorum.core.salience import CLEARED
from memquorum.core.tiers import ALIVE, SHORT_TERM, SUPERSEDED

EMPTY, CONTESTED = "empty", "contested"
"""The outcomes of a write that clears, besides `CLEARED`: the slot was empty; the slot is still filled."""
CLEARINGS = (CLEARED, EMPTY, CONTESTED)


class Filling(Protocol):
    """A statement that may fill a slot: an episode, or a memory."""

    @property
    def explicit(self) -> bool:
        """True if it is an explicit write."""

    @property
    def slot(self) -> str | None:
        """The keyed digest of path and key."""


def slot(namespace: str, said: Filling) -> tuple[str, str] | None:
    """Returns the slot that an episode fills, as namespace and keyed digest of path and key; None if it fills none."""
    return (namespace, said.slot) if said.explicit and said.slot is not None else None


def filling(rows: Rows, namespace: str, said: Said) -> list[Memory]:
    """The memories that fill the slot of an episode now, the oldest first."""
    if slot(namespace, said) is None:
        return []
    found = (m for m in rows.memories.values() if m.tier in ALIVE and m.explicit)
    return sorted((m for m in found if (m.namespace, m.slot) == (namespace, said.slot)), key=lambda m: m.seq)


def gives_way(rows: Rows, memory: Memory | None, namespace: str, said: Said) -> bool:
    """Whether a memory gives way to an episode without a vote.

    A promoted memory gives way only to its own agent's write that clears it: that destroys nothing, and a vote can
    restore it.
    """
    named = memory is not None and said.clears and memory.id in said.supersedes
    return (
        memory is not None
        and (_withdrawn(rows, memory, namespace, said) if named else _yields(memory, namespace, said))
        and memory.said <= said.said_at
        and not pins(rows.protected, memory.id)
    )


def _yields(memory: Memory, namespace: str, said: Said) -> bool:
    """True if the memory is in the same slot and the writer may replace it."""
    return (
        memory.explicit
        and (memory.namespace, memory.slot) == slot(namespace, said)
        and (memory.agent == said.agent or said.granted is not None)
        and memory.tier in (ALIVE if said.clears else (SHORT_TERM,))
    )


def _withdrawn(rows: Rows, memory: Memory, namespace: str, said: Said) -> bool:
    """True if an agent withdraws a statement that it alone has made and that no vote has promoted."""
    strength = rows.strengths.get(memory.id)
    return (
        said.explicit
        and (memory.namespace, memory.agent, memory.tier) == (namespace, said.agent, SHORT_TERM)
        and strength is not None
        and strength.reinforced == 0
    )


def giving_way(rows: Rows, namespace: str, said: Said, *, proven: bool) -> tuple[str, ...]:
    """The memories that an episode speaks of (`spoken_of`) and that give way to it without a vote."""
    there = spoken_of(rows, namespace, said)
    return tuple(m.id for m in there if proven and gives_way(rows, m, namespace, said))


def spoken_of(rows: Rows, namespace: str, said: Said) -> list[Memory]:
    """The memories that fill the slot of an episode, the oldest first; of a write of nothing, also those that it
    names."""
    there = filling(rows, namespace, said)
    return there + [rows.memories[i] for i in named(rows, namespace, said)] if said.clears else there


def named(rows: Rows, namespace: str, said: Said) -> tuple[str, ...]:
    """The memories that an episode names to take the place of, of those that are alive in its namespace."""
    return tuple(i for i in said.supersedes if i in rows.strengths and rows.memories[i].namespace == namespace)


def superseding(rows: Rows, namespace: str, detail: Stored, *, proven: bool) -> Stored:
    """The detail of an episode that is stored, with what it supersedes, and with what it contradicts: first what it
    names, then what fills its slot.

    `proven`: the agent itself said so, where signatures are required.
    """
    gone = giving_way(rows, namespace, detail, proven=proven)
    said = named(rows, namespace, detail) if proven else ()
    contested = dict.fromkeys((*said, *(m.id for m in filling(rows, namespace, detail)), *detail.contradicts))
    return replace(detail, superseded=gone, contradicts=tuple(i for i in contested if i not in gone))


def clearing(rows: Rows, namespace: str, detail: Stored, *, proven: bool) -> Stored:
    """The detail of a write of nothing, with what gives way to it, what stays, and its outcome.

    It takes of its slot what a write of something would take, and of what it names what its agent alone has said. The
    memories that stay are named in `contradicts`; no vote follows from that, because a write that clears makes no
    statement to vote on.
    """
    gone = giving_way(rows, namespace, detail, proven=proven)
    stays = tuple(m.id for m in spoken_of(rows, namespace, detail) if m.id not in gone)
    outcome = CONTESTED if stays else CLEARED if gone else EMPTY
    return replace(detail, superseded=gone, contradicts=stays, outcome=outcome)


def emptied(seq: int, namespace: str, detail: Stored) -> Emptied | None:
    """The slot that a write of nothing emptied, if it did: who says that nothing is to be there means what was there
    before, too. The entry `seq` says so."""
    filled = slot(namespace, detail)
    if filled is None or not (detail.superseded or detail.outcome == EMPTY):
        return None
    return Emptied(*filled, None if detail.granted is not None else detail.agent, seq)


def note_replaced(replaced: dict[str, str], change: Change, memories: Mapping[str, Memory]) -> None:
    """Takes a change into what reads of the past find: by memory that was replaced, the one that took its place."""
    for memory in change.of(Memory):
        replaced.pop(memory.id, None)
    replaced |= dict(change.replaced)
    if change.emptied is not None:
        for gone in [i for i in replaced if change.emptied.concerns(memories[i])]:
            del replaced[gone]


def ended(change: Change, rows: Rows, memory_ids: Iterable[str], *, by: str | None = None) -> Change:
    """The change with memories superseded by what it stores: they are served no more, and their keys are kept. `by`:
    the memory that takes their place; None where nothing does."""
    entry, gone = change.entry, [rows.memories[memory_id] for memory_id in memory_ids]
    after = (
        replace(memory, tier=SUPERSEDED, changed=entry.as_of, sealed_until=None, asks_after=None, seq=entry.seq)
        for memory in gone
    )
    return change.plus(
        *after,
        gone=(*change.gone, *((Strength, memory.id) for memory in gone)),
        replaced=() if by is None else tuple((memory.id, by) for memory in gone),
        state=replace(change.state, alive=change.state.alive - len(gone)),
    )
