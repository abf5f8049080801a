"""What a member knows when it votes, and the evidence it draws from that (SPEC B, Alg. 13; SPEC A, Alg. 3).

A member judges from its own view alone: the facts that it read itself from the accepted and scored streams, and the
recent episodes of its own agents. Nothing comes from other members, so that opinions stay independent. Evidence is in
millionths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memquorum.core.policy import PPM
from memquorum.ports import Vector

TOP = 3
"""Relevance is the mean over this many nearest episodes: one chance likeness does not save a memory."""


@dataclass(frozen=True, slots=True, eq=False)
class MemoryFacts:
    """What one member has read about one memory."""

    memory_id: str
    namespace: str
    agent: str
    created: int
    last_access: int
    """By this member's own reading of the accepted stream, milliseconds."""
    salience_ppm: int
    vector: Vector | None
    """None where the member cannot open the embedding (its key is gone): it then knows too little to judge."""
    reward_ppm: int | None = None
    confidence_ppm: int | None = None
    uncertainty_ppm: int | None = None
    reinforced: int = 0
    """How many later episodes repeated it."""
    text: str | None = None
    sourced: bool = True
    """Whether the member itself read the accepted episode that the memory was made of, commitment included."""


@dataclass(frozen=True, slots=True, eq=False)
class MemberContext:
    """The recent episodes of a member's own agents in one namespace, oldest first."""

    namespace: str
    memory_ids: tuple[str, ...] = ()
    vectors: NDArray[np.float32] | None = None
    """Shape (len(memory_ids), dimensions); None where there are none."""
    texts: tuple[str | None, ...] = ()

    @staticmethod
    def of(namespace: str, recent: Sequence[tuple[str, Vector, str | None]]) -> MemberContext:
        """From (memory id, vector, text or None) of each episode, oldest first.

        Raises ValueError where vectors differ in length.
        """
        if not recent:
            return MemberContext(namespace)
        ids, vectors, texts = zip(*recent, strict=True)
        return MemberContext(namespace, ids, np.stack(vectors), texts)


def cosines(facts: MemoryFacts, context: MemberContext) -> list[tuple[float, str | None]]:
    """(cosine, text) of every episode of the context, the memory itself excluded, in the context's order.

    Computed in float64 from the stored float16 values, so that the order of the context does not show in the result.
    """
    if facts.vector is None or context.vectors is None:
        return []
    mine = facts.vector.astype(np.float64)
    theirs = context.vectors.astype(np.float64)
    lengths = np.sqrt((theirs * theirs).sum(axis=1)) * np.sqrt((mine * mine).sum())
    dots = (theirs * mine).sum(axis=1)
    values = np.divide(dots, lengths, out=np.zeros_like(dots), where=lengths > 0)
    return [
        (float(value), text)
        for value, text, memory_id in zip(values, context.texts, context.memory_ids, strict=True)
        if memory_id != facts.memory_id
    ]


def relevance(facts: MemoryFacts, context: MemberContext) -> int:
    """R (Alg. 3, line 1): the mean of the three highest cosines to the member's recent episodes, within [0, 1].

    Fewer than three: the mean of what there is. None: 0, so that a member whose agents did nothing in this
    namespace has no use of its own for the memory and votes by decay alone.
    """
    best = sorted((value for value, _ in cosines(facts, context)), reverse=True)[:TOP]
    return to_ppm(sum(best) / len(best)) if best else 0


def to_ppm(value: float) -> int:
    """A number as millionths within [0, 1], rounded to the nearest."""
    return min(PPM, max(0, round(value * PPM)))


class Term(Protocol):
    """One term of the evidence: a pure function of what the member knows, in millionths within [0, 1]."""

    def __call__(self, facts: MemoryFacts, context: MemberContext, /) -> int:
        """The term for this memory."""
        ...


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence terms of a promotion (SPEC B, Alg. 13), each a port with a rule-based default."""

    bfs: Term
    """Graph consistency: how well the memory fits what the member knows around it."""
    grounded: Term
    """How well the memory is founded on sources."""
    consistency: Term
    """1 - the strongest contradiction."""
    uncertainty: Term
    """u_ep: how unsure the memory itself is."""


def rule_bfs(facts: MemoryFacts, context: MemberContext) -> int:
    """Half where the member knows nothing of the matter."""
    return PPM // 2


def rule_grounded(facts: MemoryFacts, context: MemberContext) -> int:
    """Half for a source, a quarter more for each of the first two repetitions; 0 without a source."""
    return min(PPM, PPM // 2 + facts.reinforced * (PPM // 4)) if facts.sourced else 0


def rule_consistency(facts: MemoryFacts, context: MemberContext) -> int:
    """1: no contradiction is known."""
    return PPM


def rule_uncertainty(facts: MemoryFacts, context: MemberContext) -> int:
    """What the episode said of itself: u_ep, else 1 - confidence, else one half."""
    if facts.uncertainty_ppm is not None:
        return facts.uncertainty_ppm
    return PPM // 2 if facts.confidence_ppm is None else PPM - facts.confidence_ppm


RULES = Evidence(rule_bfs, rule_grounded, rule_consistency, rule_uncertainty)
"""The defaults: rules, no model."""
