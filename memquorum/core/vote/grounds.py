"""What a member knows when it votes, and the grounds it draws from that (SPEC B, Alg. 13; SPEC A, Alg. 3).

A member judges from its own view alone: the facts that it read itself from the accepted and scored streams, and the
recent episodes of its own agents. Nothing comes from other members, so that opinions stay independent. Grounds are in
millionths.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from memquorum.core.policy import PPM
from memquorum.core.text.agreement import Reading, contradict, reading
from memquorum.ports import Vector

TOP = 3
"""Relevance is the mean over this many nearest episodes: one chance likeness does not save a memory."""
NEAR = 0.45
"""Cosine from which an episode speaks of the same matter as the memory: its neighbourhood, k = 1."""
ALIKE = 0.75
"""Cosine from which two texts make the same statement, so that another number or a negation contradicts it."""

_SOURCE, _REPETITION = 400_000, 300_000


class MemoryFacts(Struct, frozen=True, eq=False):
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


class MemberContext(Struct, frozen=True, eq=False):
    """The recent episodes of a member's own agents in one namespace; `of` makes it."""

    namespace: str
    memory_ids: tuple[str, ...] = ()
    texts: tuple[str | None, ...] = ()
    units: NDArray[np.float64] | None = None
    """Shape (len(memory_ids), dimensions), rows of unit length; None where there are no episodes."""
    readings: dict[int, Reading | None] = field(default_factory=dict)
    """Of `texts` by place, made when first asked for: comparing costs little, reading a text 0.1 ms."""
    compared: dict[MemoryFacts, NDArray[np.float64]] = field(default_factory=dict)
    """Cosines to all episodes, of every memory that was compared; `compare` fills it."""
    relevant: dict[MemoryFacts, int] = field(default_factory=dict)
    """`relevance` of the same."""
    around: dict[tuple[object, MemoryFacts], tuple[int, int]] = field(default_factory=dict)
    """What a rule found around a memory, for the second term that asks."""

    @staticmethod
    def of(namespace: str, recent: Sequence[tuple[str, Vector, str | None]]) -> MemberContext:
        """Makes it from (memory id, vector, text or None) of each episode; their order means nothing.

        Raises ValueError where vectors differ in length.
        """
        if not recent:
            return MemberContext(namespace)
        ids, vectors, texts = zip(*recent, strict=True)
        return MemberContext(namespace, ids, texts, _units(np.stack(vectors)))

    def compare(self, memories: Iterable[MemoryFacts]) -> None:
        """Compares many memories with the episodes at once: one product of matrices costs a tenth of theirs."""
        with_vector = [facts for facts in memories if facts.vector is not None]
        if self.units is None or not with_vector:
            return
        rows = np.array([facts.vector for facts in with_vector], np.float64)
        values = _cosines(rows, self.units)
        self.compared.update(zip(with_vector, values, strict=True))
        ppm = self._relevances([facts.memory_id for facts in with_vector], values)
        self.relevant.update(zip(with_vector, ppm.tolist(), strict=True))

    def relevances(self, memory_ids: Sequence[str], vectors: NDArray[np.float32]) -> NDArray[np.int64]:
        """`relevance` of memories, of embeddings as the rows of `vectors`: as long as the context's, if it has any."""
        if self.units is None or not memory_ids:
            return np.zeros(len(memory_ids), np.int64)
        return self._relevances(memory_ids, _cosines(vectors.astype(np.float64), self.units))

    def _relevances(self, memory_ids: Sequence[str], others: NDArray[np.float64]) -> NDArray[np.int64]:
        """The relevances by the cosines to all episodes, a row for each memory; none is near to itself."""
        held = frozenset(self.memory_ids)
        itself = [row for row, memory_id in enumerate(memory_ids) if memory_id in held]
        if itself:
            others = others.copy()
            for row in itself:
                others[row, [at == memory_ids[row] for at in self.memory_ids]] = -np.inf
        most = others.shape[1]
        highest = others if most <= TOP else np.partition(others, most - TOP, axis=1)[:, -TOP:]
        finite = np.isfinite(highest)
        # Sorted, so that the sum does not depend on how they were found.
        sums = np.sort(np.where(finite, highest, 0.0), axis=1).sum(axis=1)
        means = sums / np.maximum(finite.sum(axis=1), 1)
        ppm: NDArray[np.int64] = np.clip(np.rint(means * PPM), 0, PPM).astype(np.int64)
        return ppm

    def reading(self, at: int) -> Reading | None:
        """What the text at a place says; None without a text, or where it cannot be read."""
        if at not in self.readings:
            self.readings[at] = _read(self.texts[at])
        return self.readings[at]


def cosines(facts: MemoryFacts, context: MemberContext) -> tuple[NDArray[np.float64], Sequence[int]]:
    """The cosines to all episodes of the context but the memory itself, and their places in it.

    In float64: the stored values are float16, so millionths do not depend on the order of the sum.
    """
    if facts.vector is None or context.units is None:
        return np.zeros(0), []
    if facts not in context.compared:
        context.compare([facts])
    values = context.compared[facts]
    if facts.memory_id not in context.memory_ids:
        return values, range(len(values))
    others = [at for at, memory_id in enumerate(context.memory_ids) if memory_id != facts.memory_id]
    return values[others], others


def relevance(facts: MemoryFacts, context: MemberContext) -> int:
    """R (Alg. 3, line 1): the mean of the three highest cosines to the member's recent episodes, within [0, 1].

    Fewer than three: the mean of what there is. None: 0, so that a member whose agents did nothing in this
    namespace has no use of its own for the memory and votes by decay alone.
    """
    if facts.vector is None or context.units is None:
        return 0
    if facts not in context.relevant:
        context.compare([facts])
    return context.relevant[facts]


def to_ppm(value: float) -> int:
    """A number as millionths within [0, 1], rounded to the nearest."""
    return min(PPM, max(0, round(value * PPM)))


def _read(text: str | None) -> Reading | None:
    return None if text is None else reading(text)


def _cosines(rows: NDArray[np.float64], units: NDArray[np.float64]) -> NDArray[np.float64]:
    """The cosines of each row to each of the units; a row of zeros is like nothing."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1.0
    values: NDArray[np.float64] = (rows @ units.T) / lengths[:, None]
    return values


def _units(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """The rows at unit length; a row of zeros stays, and is like nothing."""
    rows = vectors.astype(np.float64)
    lengths = np.sqrt((rows * rows).sum(axis=1, keepdims=True))
    units: NDArray[np.float64] = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return units


class Term(Protocol):
    """One of the grounds: a pure function of what the member knows, in millionths within [0, 1]."""

    def __call__(self, facts: MemoryFacts, context: MemberContext, /) -> int:
        """The term for this memory."""
        ...


class Grounds(Struct, frozen=True):
    """The grounds of a vote to promote (SPEC B, Alg. 13): four ports, each replaceable alone."""

    bfs: Term
    """Graph consistency: how well the memory fits what the member knows around it."""
    grounded: Term
    """How well the memory is founded on sources."""
    consistency: Term
    """1 - the strongest contradiction."""
    uncertainty: Term
    """u_ep: how unsure the memory is of itself."""


def rules(contradict: Callable[[Reading, Reading], bool]) -> Grounds:
    """The default grounds: rules over similarity and text, no model. `contradict`: whether two like texts do.

    Weighed so that nothing is promoted on its own word: of a memory of which the member knows only that it was
    accepted, and that called itself certain, bfs is 0.5, grounded 0.4, consistency 1 and uncertainty 0, the score 0.59
    and the vote no. A repetition (0.645 at uncertainty ½) or a related episode of the member's own agents (from 0.63
    on) carries it over 0.60.
    """

    def around(facts: MemoryFacts, context: MemberContext) -> tuple[int, int]:
        """(conflict, support): the highest cosine of a nearby episode that contradicts the memory, and of another."""
        known = context.around.get((contradict, facts))
        if known is not None:
            return known
        values, places = cosines(facts, context)
        mine = _read(facts.text)
        conflict = support = 0.0
        for at in np.flatnonzero(values >= NEAR):
            value = float(values[at])
            theirs = context.reading(places[int(at)]) if value >= ALIKE else None
            if mine is not None and theirs is not None and contradict(mine, theirs):
                conflict = max(conflict, value)
            else:
                support = max(support, value)
        found = context.around[contradict, facts] = to_ppm(conflict), to_ppm(support)
        return found

    def bfs(facts: MemoryFacts, context: MemberContext) -> int:
        """Half for the absence of conflict, half for support."""
        conflict, support = around(facts, context)
        return (PPM - conflict + support) // 2

    def consistency(facts: MemoryFacts, context: MemberContext) -> int:
        return PPM - around(facts, context)[0]

    return Grounds(bfs, grounded, consistency, uncertainty)


def grounded(facts: MemoryFacts, _: MemberContext) -> int:
    """0 without a source: the member must have read the accepted episode, with commitment and publisher, itself.

    0.4 for the source, 0.3 more for each of the first two times that a later episode said the same.
    """
    if not facts.sourced or not facts.agent:
        return 0
    return min(PPM, _SOURCE + facts.reinforced * _REPETITION)


def uncertainty(facts: MemoryFacts, _: MemberContext) -> int:
    """What the episode said of itself: u_ep, else 1 - confidence, else one half."""
    if facts.uncertainty_ppm is not None:
        return facts.uncertainty_ppm
    return PPM // 2 if facts.confidence_ppm is None else PPM - facts.confidence_ppm


RULES = rules(contradict)
"""The grounds that a member votes by where nothing else was chosen."""
