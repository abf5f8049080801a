"""What an agent is given for what it does to the fleet's memory: SPEC B's memory reward (R_memory).

It follows from a journal entry and the rows before it, like every other row. Nothing acts on a reward: whoever trains
agents takes it, with the weight `WEIGHT`, as one part of a reward of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from memquorum.core.journal.decisions import passed
from memquorum.core.journal.rows import Change, Memory, Provenance, Reward, Rows
from memquorum.core.policy import Policy
from memquorum.core.records import Accessed, Decided, Stored
from memquorum.core.tiers import LONG_TERM
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.tally import KEPT

USED = "used"
"""It used what is in long-term memory: SPEC B's cache hit, for what the cache holds of a claim is what was promoted."""
PROMOTED = "promoted"
"""What it recorded was promoted to long-term memory."""
REPEATED = "repeated"
"""It said again what is in long-term memory: it worked out what it could have read."""
REFUSED = "refused"
"""What it recorded failed its promotion once more than it is tried again (`promote.retries_max`): given once."""

AMOUNTS_PPM: Mapping[str, int] = MappingProxyType(
    {USED: 300_000, PROMOTED: 500_000, REPEATED: -200_000, REFUSED: -100_000}
)
"""What each is worth, in millionths."""
WEIGHT_PPM = 100_000
"""w_m: how much the sum weighs beside an agent's other rewards, in millionths."""


def given(rows: Rows, change: Change, detail: Any, policy: Policy) -> tuple[Reward, ...]:
    """What an entry gives, by the rows before it."""
    if isinstance(detail, Accessed):
        memory = rows.memories.get(change.entry.memory_id or "")
        used = detail.applied and change.entry.effect == "accessed" and _consolidated(memory)
        return (_reward(change, memory, USED, detail.agent),) if used and memory is not None else ()
    if isinstance(detail, Stored):
        return tuple(_repeated(rows, change, detail))
    if isinstance(detail, Decided):
        return tuple(_decided(rows, change, detail, policy))
    return ()


def _repeated(rows: Rows, change: Change, detail: Stored) -> Iterable[Reward]:
    """A summary says again what its sources say, and is no work that reading would have spared."""
    if detail.summary is not None:
        return
    for one in change.of(Provenance):
        memory = rows.memories.get(one.parent)
        if one.echo and memory is not None and _consolidated(memory):
            yield _reward(change, memory, REPEATED, detail.agent)


def _decided(rows: Rows, change: Change, detail: Decided, policy: Policy) -> Iterable[Reward]:
    for result in detail.results:
        kind = KINDS[result.kind]
        if kind.retries is None:  # of all kinds one raises what members hold to be true, and is tried again
            continue
        for memory_id in result.memory_ids:
            memory, strength = rows.memories.get(memory_id), rows.strengths.get(memory_id)
            if memory is None or strength is None:
                continue
            if passed(result):
                yield _reward(change, memory, PROMOTED, memory.agent)
            elif result.outcome == KEPT and strength.kept.get(kind.name, 0) == kind.retries(policy):
                yield _reward(change, memory, REFUSED, memory.agent)


def _consolidated(memory: Memory | None) -> bool:
    return memory is not None and memory.tier == LONG_TERM


def _reward(change: Change, memory: Memory, kind: str, agent: str) -> Reward:
    entry = change.entry
    return Reward(entry.shard, entry.seq, memory.namespace, agent, memory.id, kind, AMOUNTS_PPM[kind], entry.as_of)
