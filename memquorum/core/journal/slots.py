"""What an explicit write takes the place of: what fills its slot, and what it names (infra/decisions/0070, 0072).

A later explicit write with the same path and key supersedes the earlier one without a vote where both are the same
agent's, and the earlier one is in short-term memory and nothing keeps it; another agent's too, where an API key grants
that (infra/decisions/0075). What it may not supersede so, and what it names by id, it
contradicts: members vote on that. Whoever commits says which memories are which, and the entry names them; here it is
asked once more, of the shard's own rows, by whoever applies the entry, rebuilds or audits.

A write of nothing takes from its slot by the same rule, and becomes no memory (infra/decisions/0117).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from msgspec.structs import replace

from memquorum.core.journal.protections import pins
from memquorum.core.journal.rows import Change, Memory, Rows, Strength
from memquorum.core.records import Stored
from memquorum.core.records.episodes import Said
from memquorum.core.salience import CLEARED
from memquorum.core.tiers import ALIVE, SHORT_TERM, SUPERSEDED

EMPTY, CONTESTED = "empty", "contested"
"""What became of a write of nothing, beside `CLEARED`: nothing filled its slot; something fills it still."""
CLEARINGS = (CLEARED, EMPTY, CONTESTED)


class Filling(Protocol):
    """What may fill a slot: an episode, or a memory."""

    @property
    def explicit(self) -> bool:
        """Whether it is said on purpose."""

    @property
    def slot(self) -> str | None:
        """What stands for path and key."""


def slot(namespace: str, said: Filling) -> tuple[str, str] | None:
    """The slot that an episode fills, as namespace and what stands for path and key; None where it fills none."""
    return (namespace, said.slot) if said.explicit and said.slot is not None else None


def filling(rows: Rows, namespace: str, said: Said) -> list[Memory]:
    """The memories that fill the slot of an episode now, the oldest first."""
    if slot(namespace, said) is None:
        return []
    found = (m for m in rows.memories.values() if m.tier in ALIVE and m.explicit)
    return sorted((m for m in found if (m.namespace, m.slot) == (namespace, said.slot)), key=lambda m: m.seq)


def gives_way(rows: Rows, memory: Memory | None, namespace: str, said: Said) -> bool:
    """Whether a memory gives way to an episode without a vote.

    What was promoted gives way to no other word. That nothing is to be there its own agent may say of it, too: that
    destroys nothing, and who misses it has it back by a vote.
    """
    named = memory is not None and said.clears and memory.id in said.supersedes
    return (
        memory is not None
        and (_withdrawn(rows, memory, namespace, said) if named else _yields(memory, namespace, said))
        and memory.said <= said.said_at
        and not pins(rows.protected, memory.id)
    )


def _yields(memory: Memory, namespace: str, said: Said) -> bool:
    """Whether it is the same slot, and whoever speaks may take it."""
    return (
        memory.explicit
        and (memory.namespace, memory.slot) == slot(namespace, said)
        and (memory.agent == said.agent or said.granted is not None)
        and memory.tier in (ALIVE if said.clears else (SHORT_TERM,))
    )


def _withdrawn(rows: Rows, memory: Memory, namespace: str, said: Said) -> bool:
    """Whether an agent takes back what it alone has said, and nobody has voted for."""
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

    It takes of its slot what a write of something would take, and of what it names what its agent alone has said. What
    stays is named in `contradicts`; no vote follows from that, for there is nothing that members could hold against it.
    """
    gone = giving_way(rows, namespace, detail, proven=proven)
    stays = tuple(m.id for m in spoken_of(rows, namespace, detail) if m.id not in gone)
    outcome = CONTESTED if stays else CLEARED if gone else EMPTY
    return replace(detail, superseded=gone, contradicts=stays, outcome=outcome)


def ended(change: Change, rows: Rows, memory_ids: Iterable[str]) -> Change:
    """The change with memories superseded by what it stores: they are served no more, and their keys are kept."""
    entry, gone = change.entry, [rows.memories[memory_id] for memory_id in memory_ids]
    after = (
        replace(memory, tier=SUPERSEDED, changed=entry.as_of, sealed_until=None, asks_after=None, seq=entry.seq)
        for memory in gone
    )
    return change.plus(
        *after,
        gone=(*change.gone, *((Strength, memory.id) for memory in gone)),
        state=replace(change.state, alive=change.state.alive - len(gone)),
    )
