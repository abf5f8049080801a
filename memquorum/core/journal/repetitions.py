"""Decides whether an episode is merged into the memory that it repeats, and what is noted otherwise.

The salience stage names the memory that an episode repeats. Commit, rebuild and audit check against the shard's own
rows that the two may be merged: a wrong claim of that stage merges nothing.
"""

from __future__ import annotations

from typing import Protocol

from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.journal.rows import Memory, Provenance, Rows
from memquorum.core.merging import marks, merges
from memquorum.core.records import JournalEntry, Stored
from memquorum.core.salience import REINFORCED
from memquorum.core.tiers import GONE


def reinforces(rows: Rows, namespace: str, detail: Stored) -> bool:
    """True if an episode only strengthens the memory that it repeats: that memory is alive, and the two may be merged.

    `rows`: with what it repeats, and with what it was made of.
    """
    memory = _repeated(rows, namespace, detail)
    if detail.outcome != REINFORCED or memory is None or memory.id not in rows.strengths:
        return False
    made_of = (rows.memories.get(parent) for parent in detail.derives_from)
    return merges(marks(detail, [one for one in made_of if one is not None and one.namespace == namespace]), memory)


def again(memory: Memory, detail: Stored) -> Memory:
    """Moves the time of a memory to that of an episode that strengthens it, if that is later.

    Only who said it may say it again: the same agent, in the same role where both name one. The subject and the source
    are the same, or the two would not be one memory (`core.merging`). A repetition by another agent supports the
    memory, but does not change when the first agent said it last. Entries of before times were recorded move nothing.
    """
    if detail.accepted_at is None or not speaks_again(memory, detail):
        return memory
    at = detail.said_at, detail.accepted_offset
    return replace(memory, said=at[0], said_offset=at[1]) if at > (memory.said, memory.said_offset) else memory


def speaks_again(memory: Speaking, saying: Speaking) -> bool:
    """Whether an episode is of the speaker of a memory that it repeats."""
    roles = {memory.role, saying.role} - {None}
    return memory.agent == saying.agent and len(roles) <= 1


class Speaking(Protocol):
    """A statement with its agent and role: an episode, or a memory."""

    @property
    def agent(self) -> str:
        """Who said it."""

    @property
    def role(self) -> str | None:
        """The role of the speaker in a conversation."""


def provenance(rows: Rows, entry: JournalEntry, detail: Stored) -> tuple[Provenance, ...]:
    """Returns the provenance rows of an episode: the sources that it names, and the memory that it repeats."""
    repeated = None if entry.effect == "dropped" else _repeated(rows, entry.namespace or "", detail)
    if repeated is None and not detail.derives_from:
        return ()
    namespace = entry.namespace or ""
    own = ids.memory_id(namespace, entry.event_id)
    follows = dict.fromkeys(detail.derives_from, True)
    if repeated is not None and repeated.tier != GONE:
        follows[repeated.id] = entry.effect == "reinforced" or repeated.id in follows
    follows.pop(own, None)
    if detail.retry:  # the first try has told what it was made of
        follows = {parent: goes for parent, goes in follows.items() if parent not in detail.derives_from}
    return tuple(
        Provenance(
            entry.shard, entry.seq, namespace, own, parent,
            repeated is not None and parent == repeated.id, goes, detail.agent,
        )
        for parent, goes in follows.items()
    )  # fmt: skip


def _repeated(rows: Rows, namespace: str, detail: Stored) -> Memory | None:
    memory = rows.memories.get(detail.reinforces or "")
    return memory if memory is not None and memory.namespace == namespace else None
