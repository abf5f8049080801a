"""Computes an agent's reward for its effect on the fleet's memory: SPEC B's memory reward (R_memory).

It follows from a journal entry and the rows before it, like every other row. The system does not act on a reward: a
training program takes it, with the weight `WEIGHT`, as one part of its own reward.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from memquorum.core.journal.decisions import passed
from memquorum.core.journal.rows import Change, Memory, Provenance, Reward, Rows
from memquorum.core.policy import Policy
from memquorum.core.records import APPLIED, Accessed, Decided, Stored
from memquorum.core.tiers import LONG_TERM
from memquorum.core.vote.kinds import RAISES
from memquorum.core.vote.tally import KEPT

USED = "used"
"""The agent used a long-term memory: SPEC B's cache hit, since the cache holds promoted claims."""
PROMOTED = "promoted"
"""A memory that the agent recorded was promoted to long-term memory."""
REPEATED = "repeated"
"""The agent repeated a long-term memory: it worked out what it could have read."""
REFUSED = "refused"
"""The promotion of a memory that the agent recorded failed more often than it is retried (`promote.retries_max`): given
once."""

AMOUNTS_PPM: Mapping[str, int] = MappingProxyType(
    {USED: 300_000, PROMOTED: 500_000, REPEATED: -200_000, REFUSED: -100_000}
)
"""The value of each cause, in millionths."""
WEIGHT_PPM = 100_000
"""w_m: how much the sum weighs beside an agent's other rewards, in millionths."""


def rewards_of(rows: Rows, change: Change, detail: Any, policy: Policy) -> tuple[Reward, ...]:
    """Returns the rewards for an entry, from the rows before it."""
    if isinstance(detail, Accessed):
        used = (rows.memories.get(one) for one in detail.those(APPLIED))
        return tuple(_reward(change, one, USED, detail.agent) for one in used if one is not None and _consolidated(one))
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
        if result.kind not in RAISES.values():
            continue
        for memory_id in result.memory_ids:
            memory, strength = rows.memories.get(memory_id), rows.strengths.get(memory_id)
            if memory is None or strength is None:
                continue
            if passed(result):
                yield _reward(change, memory, PROMOTED, memory.agent)
            elif result.outcome == KEPT and strength.kept.get(result.kind, 0) == policy.promote.retries_max:
                yield _reward(change, memory, REFUSED, memory.agent)


def _consolidated(memory: Memory | None) -> bool:
    return memory is not None and memory.tier == LONG_TERM


def _reward(change: Change, memory: Memory, kind: str, agent: str) -> Reward:
    entry = change.entry
    return Reward(entry.shard, entry.seq, memory.namespace, agent, memory.id, kind, AMOUNTS_PPM[kind], entry.as_of)
