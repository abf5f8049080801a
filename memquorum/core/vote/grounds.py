"""The facts that a member votes by, and the grounds that follow from them (SPEC B, Alg. 13; SPEC A, Alg. 3).

A member judges by its own view alone: the facts that it read itself in the accepted and scored streams, and the recent
episodes of its own agents. It takes nothing from other members, so that opinions stay independent. Grounds are in
millionths.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from memquorum.core import merging
from memquorum.core.budgets.least import BudgetPlace
from memquorum.core.contained import Failures
from memquorum.core.late_numpy import np
from memquorum.core.policy import PPM
from memquorum.core.reading import conflict
from memquorum.core.reading.agreement import LONGEST, Marks, marks
from memquorum.core.reading.claims import LONG
from memquorum.core.reading.conflict import Claims
from memquorum.core.reading.content import content
from memquorum.core.reading.talk import says_nothing
from memquorum.core.records import Summary
from memquorum.core.vote.centred import Centred
from memquorum.ports import Vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR = 0.45
"""The cosine from which an episode is about the same matter as the memory: its neighbourhood, k = 1."""


class Trialled(Struct, frozen=True):
    """A member's finding on the trial statistics in a proposal to admit a memory.

    `held`: whether enough of the verifiers that were drawn signed the very same statistics, by the rules in force, and
    the context that the member tried again gave the same result. `score_ppm`: their S, in millionths.
    """

    held: bool
    score_ppm: int


class MemoryFacts(Struct, frozen=True, eq=False):
    """The facts that one member has read about one memory."""

    memory_id: str
    namespace: str
    agent: str
    created: int
    last_access: int
    """The last access that this member read in the accepted stream, milliseconds."""
    salience_ppm: int
    vector: Vector | None
    """None where the member cannot open the embedding (its key is gone): it then knows too little to judge."""
    reward_ppm: int | None = None
    confidence_ppm: int | None = None
    uncertainty_ppm: int | None = None
    reinforced: int = 0
    """The number of later episodes that repeated it."""
    text: str | None = None
    sourced: bool = True
    """True if the member itself read the accepted episode that the memory was made from, commitment included."""
    witnessed: int = 0
    """The number of times that another agent said the same, before or after it."""
    reads: int = 0
    """The number of later reads."""
    source: str | None = None
    """The source that it names."""
    slot: str | None = None
    """The digest of the slot that it fills on purpose."""
    supersedes: tuple[str, ...] = ()
    """The memories that it names to replace on purpose."""
    accepted: int = 0
    """The offset of its episode in the accepted stream."""
    again: tuple[int, int] | None = None
    """The time and the offset in the accepted stream of its latest repetition; None where it was said once."""
    summary: Summary | None = None
    """Its quotes and commitment, where it is a summary of other memories."""
    commitment: bytes = b""
    """The keyed commitment to its content, as it was accepted."""
    marks: merging.Marks | None = None
    """Its subject, source and slot, and the limits of its use."""
    rank_ppm: int | None = None
    """The rank of its worth (`core.worth`); None where the member cannot read the text or the record of its words."""
    place: BudgetPlace | None = None
    """Its place in the member's own order of eviction, where the vote needs it."""
    admitted: bool = False
    """True if it is in experience, as far as the member knows, and no other memory stands for it there; set where the
    vote needs it."""
    vouched: int = 0
    """The number of other agents that said the same and raise the confidence of its own (`evidence.most_vouchers`)."""
    trial: Trialled | None = None
    """The finding on its trials, for a vote to admit it to experience; None where the member cannot tell."""

    @property
    def said(self) -> tuple[int, int]:
        """The time and the offset when it was said last: at equal times the higher offset is later."""
        return self.again or (self.created, self.accepted)


def later(one: MemoryFacts, other: MemoryFacts) -> bool:
    """True if the first was said after the other, in the order of reads."""
    return (*one.said, one.memory_id) > (*other.said, other.memory_id)


def refills(newer: MemoryFacts, older: MemoryFacts) -> bool:
    """True if the newer one fills on purpose the slot of a different text: it states what holds now."""
    return newer.slot is not None and newer.slot == older.slot and newer.text != older.text


def names(newer: MemoryFacts, older: MemoryFacts) -> bool:
    """True if the newer one names the other's id to replace it."""
    return older.memory_id in newer.supersedes and newer.text != older.text


class Heard(Struct, frozen=True, dict=True):
    """The statements and claims of a text, read once for comparisons with others."""

    text: str
    stated: frozenset[str]
    """The stems of the words, numbers and names that it makes statements with; small talk and questions have none."""
    claims: Claims

    @property
    def whole(self) -> bool:
        """True if claims and marks are read from the whole text; negations in a longer text are not read."""
        return len(self.text) <= min(LONG, LONGEST)

    @cached_property
    def marks(self) -> Marks:
        """The details that another text may contradict (numbers, names, negations); computed on first use, as few texts
        need them."""
        return marks(self.text)


class Around(Struct, frozen=True):
    """The evidence about a memory in the episodes near it, in millionths: the strength of the strongest contradiction,
    the strongest support, and the share of its statements that they confirm. `agree`, `differ`: the numbers of such
    episodes. `states`: whether it states anything."""

    conflict: int = 0
    support: int = 0
    found: int = 0
    agree: int = 0
    differ: int = 0
    states: bool = False


class MemberContext(Struct, frozen=True, eq=False):
    """The recent episodes of a member's own agents in one namespace; built by `of`."""

    namespace: str
    memory_ids: tuple[str, ...] = ()
    texts: tuple[str | None, ...] = ()
    units: NDArray[np.float64] | None = None
    """Shape (len(memory_ids), dimensions), rows of unit length; None where there are no episodes."""
    said: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """The agent and the time of each episode. An episode without an entry counts as another agent's, and as later than
    a memory."""
    heard: MutableMapping[str, Heard] = field(default_factory=dict)
    """The texts as read for comparisons, by memory id; filled on first use: a comparison costs little, reading a text
    0.3 ms."""
    compared: dict[MemoryFacts, NDArray[np.float64]] = field(default_factory=dict)
    """The cosines to all episodes, for each memory that was compared; filled by `compare`."""
    around: dict[tuple[object, MemoryFacts, bool], Around] = field(default_factory=dict)
    """Cached evidence about a memory, by rule, memory and whether disputes count; the next term uses it again."""
    repeats: frozenset[str] = frozenset()
    """The ids of the episodes that only repeat a memory."""
    centred: list[Centred] = field(default_factory=list)
    """The episodes centred, as one item; built on first use."""
    doubts: conflict.Doubts | None = None
    """The contradiction model that the policy names, where the member has it."""
    failures: Failures = field(default_factory=Failures)
    """Records the rules that failed on a text."""
    disputes: bool = True
    """True if what contradicts a memory by the rules counts against it in a vote to promote it."""

    @staticmethod
    def of(
        namespace: str,
        recent: Sequence[tuple[str, Vector, str | None]],
        said: Mapping[str, tuple[str, int]] | None = None,
        repeats: Iterable[str] = (),
        heard: MutableMapping[str, Heard] | None = None,
    ) -> MemberContext:
        """Builds the context from (memory id, vector, text or None) of each episode, in any order. `repeats`: the ids
        of those that only repeat a memory.

        `said`, `heard`: as the fields of that name; a caller that votes on the same episodes again passes the same
        `heard`, and this adds to it. Raises ValueError where vectors differ in length.
        """
        heard = {} if heard is None else heard
        if not recent:
            return MemberContext(namespace, heard=heard)
        ids, vectors, texts = zip(*recent, strict=True)
        units = _units(np.stack(vectors))
        return MemberContext(namespace, ids, texts, units, said or {}, heard, repeats=frozenset(repeats))

    def compare(self, memories: Iterable[MemoryFacts]) -> None:
        """Compares many memories with the episodes at once: one matrix product costs a tenth of single comparisons."""
        with_vector = [facts for facts in memories if facts.vector is not None]
        if self.units is None or not with_vector:
            return
        rows = np.array([facts.vector for facts in with_vector], np.float64)
        values = _cosines(rows, self.units)
        self.compared.update(zip(with_vector, values, strict=True))

    def shares(
        self, memory_ids: Sequence[str], vectors: NDArray[np.float32], ranks: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Returns the centred share of each memory. `vectors`: their embeddings as rows, as long as the context's;
        `ranks`: returned in place of the shares where there are fewer than two episodes to compare with, so that R is
        the rank."""
        if self.units is None:
            return ranks
        if not self.centred:
            self.centred.append(Centred(self.memory_ids, self.units, self.repeats))
        (centred,) = self.centred
        return centred.shares_ppm(memory_ids, _units(vectors)) if centred.speaks else ranks

    def hear(self, memory_id: str, text: str | None) -> Heard | None:
        """Returns what the text of a memory or an episode states and claims; None where the member has no text."""
        if text is None:
            return None
        known = self.heard.get(memory_id)
        if known is None or known.text != text:
            known = self.heard[memory_id] = hear(text)
        return known

    def claims(self, facts: MemoryFacts) -> Claims:
        """Returns the claims of a memory; none without a text."""
        heard = self.hear(facts.memory_id, facts.text)
        return conflict.read("") if heard is None else heard.claims


def cosines(facts: MemoryFacts, context: MemberContext) -> tuple[NDArray[np.float64], Sequence[int]]:
    """Returns the cosines to all episodes of the context except the memory itself, and their indices in it."""
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
    """Reads the statements and claims of a text."""
    stated = () if says_nothing(text) else content(text).stated
    return Heard(text, frozenset(stated), conflict.read(text))


def _cosines(rows: NDArray[np.float64], units: NDArray[np.float64]) -> NDArray[np.float64]:
    """Returns the cosine of each row to each of the units; a row of zeros has cosine 0."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    lengths[lengths == 0] = 1.0
    values: NDArray[np.float64] = (rows @ units.T) / lengths[:, None]
    return values


def _units(vectors: NDArray[np.float32]) -> NDArray[np.float64]:
    """Scales the rows to unit length; a row of zeros stays zero."""
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
    the grounds that members vote by."""

    bfs: Term
    """The fit of the memory into its neighbourhood: support less conflict."""
    grounded: Term
    """The share of the memory's statements that is found elsewhere."""
    consistency: Term
    """1 - the strongest contradiction, weighed by which was said first."""
    uncertainty: Term
    """u_ep: how uncertain the memory is of itself."""
