"""What a member knows when it votes, and the grounds it draws from that (SPEC B, Alg. 13; SPEC A, Alg. 3).

A member judges from its own view alone: the facts that it read itself from the accepted and scored streams, and the
recent episodes of its own agents. Nothing comes from other members, so that opinions stay independent. Grounds are in
millionths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from memquorum.core import merging
from memquorum.core.budgets.least import Place
from memquorum.core.contained import Failures
from memquorum.core.policy import PPM
from memquorum.core.reading.talk import says_nothing
from memquorum.core.records import Summary
from memquorum.core.text import conflict
from memquorum.core.text.agreement import LONGEST, Marks, marks
from memquorum.core.text.claims import LONG
from memquorum.core.text.conflict import Claims
from memquorum.core.text.content import content
from memquorum.core.vote.centred import Centred
from memquorum.ports import Vector

NEAR = 0.45
"""Cosine from which an episode speaks of the same matter as the memory: its neighbourhood, k = 1."""


class Trialled(Struct, frozen=True):
    """What a member makes of the statistics that a proposal to admit a memory holds.

    `held`: whether as many as have to, of those who were drawn, signed the very same, by the rules in force, and the
    context that the member tried again came out as they tell. `score_ppm`: their S, in millionths.
    """

    held: bool
    score_ppm: int


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
    witnessed: int = 0
    """How often another agent said the same, before it or after."""
    reads: int = 0
    """How often it was read later."""
    source: str | None = None
    """Where it says that it is from."""
    slot: str | None = None
    """What stands for the slot that it fills, on purpose."""
    supersedes: tuple[str, ...] = ()
    """The memories that it names to take the place of, on purpose."""
    accepted: int = 0
    """Where its episode stands in the accepted stream."""
    again: tuple[int, int] | None = None
    """When it was said last, and where that saying stands in the accepted stream; None: it was said once."""
    summary: Summary | None = None
    """What makes it a summary of others."""
    commitment: bytes = b""
    """The keyed commitment to its content, as it was accepted."""
    marks: merging.Marks | None = None
    """Whom it is about, from where, in which slot, and what binds its use."""
    rank_ppm: int | None = None
    """How its worth ranks (`core.worth`); None where the member cannot read the text, and what is told of its words."""
    place: Place | None = None
    """Where it stands in the member's own order of what goes, where that is asked."""
    admitted: bool = False
    """Whether it is in experience as far as the member knows, and nothing stands for it there; where that is asked."""
    trial: Trialled | None = None
    """Of one that is to be admitted to experience; None where the member cannot tell."""

    @property
    def said(self) -> tuple[int, int]:
        """When it was said last, and where in the accepted stream: of two of one moment the later one stands behind."""
        return self.again or (self.created, self.accepted)


def later(one: MemoryFacts, other: MemoryFacts) -> bool:
    """Whether the first was said after the other, as reads order them."""
    return (*one.said, one.memory_id) > (*other.said, other.memory_id)


def refills(newer: MemoryFacts, older: MemoryFacts) -> bool:
    """Whether the newer one fills on purpose a slot that another text fills: it says that this holds now."""
    return newer.slot is not None and newer.slot == older.slot and newer.text != older.text


def names(newer: MemoryFacts, older: MemoryFacts) -> bool:
    """Whether the newer one says by the other's id that it takes its place."""
    return older.memory_id in newer.supersedes and newer.text != older.text


class Heard(Struct, frozen=True, dict=True):
    """What a text says, read once to be held against others."""

    text: str
    stated: frozenset[str]
    """Stems of the words, numbers and names that it states something with: none of small talk and of what only asks."""
    claims: Claims

    @property
    def whole(self) -> bool:
        """Whether claims and marks are read of all of it: of a longer text nobody sees what it denies."""
        return len(self.text) <= min(LONG, LONGEST)

    @cached_property
    def marks(self) -> Marks:
        """What another text may hold otherwise: few are asked for it."""
        return marks(self.text)


class Around(Struct, frozen=True):
    """What the episodes near a memory make of it, in millionths: how strongly one of them contradicts it, how much one
    says the same, and the share of what the memory states that is found among them. `agree`, `differ`: how many do.
    `states`: whether it states anything."""

    conflict: int = 0
    support: int = 0
    found: int = 0
    agree: int = 0
    differ: int = 0
    states: bool = False


class MemberContext(Struct, frozen=True, eq=False):
    """The recent episodes of a member's own agents in one namespace; `of` makes it."""

    namespace: str
    memory_ids: tuple[str, ...] = ()
    texts: tuple[str | None, ...] = ()
    units: NDArray[np.float64] | None = None
    """Shape (len(memory_ids), dimensions), rows of unit length; None where there are no episodes."""
    said: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """Of an episode, its agent and when that was. What is not told of is another agent's, and later than a memory."""
    heard: MutableMapping[str, Heard] = field(default_factory=dict)
    """What texts say, by memory, read when first asked for: comparing costs little, reading 0.3 ms."""
    compared: dict[MemoryFacts, NDArray[np.float64]] = field(default_factory=dict)
    """Cosines to all episodes, of every memory that was compared; `compare` fills it."""
    around: dict[tuple[object, MemoryFacts, bool], Around] = field(default_factory=dict)
    """What a rule found around a memory, for the next term that asks; and whether disputes counted."""
    repeats: frozenset[str] = frozenset()
    """Those of the episodes that only repeat a memory."""
    centred: list[Centred] = field(default_factory=list)
    """The same, centred; made when first asked for."""
    doubts: conflict.Doubts | None = None
    """The model that the policy names, where the member has it."""
    failures: Failures = field(default_factory=Failures)
    """Takes the rules that failed on a text."""
    disputes: bool = True
    """Whether what contradicts a memory by the rules speaks against it in a vote to promote it."""

    @staticmethod
    def of(
        namespace: str,
        recent: Sequence[tuple[str, Vector, str | None]],
        said: Mapping[str, tuple[str, int]] | None = None,
        repeats: Iterable[str] = (),
        heard: MutableMapping[str, Heard] | None = None,
    ) -> MemberContext:
        """Makes it from (memory id, vector, text or None) of each episode; their order means nothing. `repeats`: those
        that only repeat a memory.

        `said`, `heard`: see there; who votes on the same episodes again passes the same `heard`, and it is added to.
        Raises ValueError where vectors differ in length.
        """
        heard = {} if heard is None else heard
        if not recent:
            return MemberContext(namespace, heard=heard)
        ids, vectors, texts = zip(*recent, strict=True)
        units = _units(np.stack(vectors))
        return MemberContext(namespace, ids, texts, units, said or {}, heard, repeats=frozenset(repeats))

    def compare(self, memories: Iterable[MemoryFacts]) -> None:
        """Compares many memories with the episodes at once: one product of matrices costs a tenth of theirs."""
        with_vector = [facts for facts in memories if facts.vector is not None]
        if self.units is None or not with_vector:
            return
        rows = np.array([facts.vector for facts in with_vector], np.float64)
        values = _cosines(rows, self.units)
        self.compared.update(zip(with_vector, values, strict=True))

    def shares(
        self, memory_ids: Sequence[str], vectors: NDArray[np.float32], ranks: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """The centred share of memories, of embeddings as the rows of `vectors`, as long as the context's. Where there
        are no two episodes to compare with, the rank of each stands for it: then R is the rank."""
        if self.units is None:
            return ranks
        if not self.centred:
            self.centred.append(Centred(self.memory_ids, self.units, self.repeats))
        (centred,) = self.centred
        return centred.shares_ppm(memory_ids, _units(vectors)) if centred.speaks else ranks

    def hear(self, memory_id: str, text: str | None) -> Heard | None:
        """What the text of a memory or an episode says, to whom it is open; None without one."""
        if text is None:
            return None
        known = self.heard.get(memory_id)
        if known is None or known.text != text:
            known = self.heard[memory_id] = hear(text)
        return known

    def claims(self, facts: MemoryFacts) -> Claims:
        """What a memory claims; nothing without a text."""
        heard = self.hear(facts.memory_id, facts.text)
        return conflict.read("") if heard is None else heard.claims


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


def to_ppm(value: float) -> int:
    """A number as millionths within [0, 1], rounded to the nearest."""
    return min(PPM, max(0, round(value * PPM)))


def hear(text: str) -> Heard:
    """What a text says."""
    stated = () if says_nothing(text) else content(text).stated
    return Heard(text, frozenset(stated), conflict.read(text))


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
    """The grounds of a vote to promote (SPEC B, Alg. 13): four ports, each replaceable alone. `core.vote.evidence` has
    those that members vote by."""

    bfs: Term
    """How well the memory fits what the member knows around it: support less conflict."""
    grounded: Term
    """How much of what the memory states is found elsewhere."""
    consistency: Term
    """1 - the strongest contradiction, by what was said when."""
    uncertainty: Term
    """u_ep: how unsure the memory is of itself."""
