"""A kind of proposal: everything in which forgetting, promoting and the other votes differ.

The consensus, the journal and the messages for people ask the kind, and know no kind by its name. A kind is one object
of a class of its own, in a file of this package; the class overrides what differs from its family (`families`).

Terms, scores and thresholds are integers in millionths. A score is a weighted sum of the terms divided by 1,000,000 and
rounded down; as thresholds are whole millionths too, rounding never changes on which side of one a score lies.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from memquorum.core.access import covers
from memquorum.core.budgets.least import BudgetPlace
from memquorum.core.late_numpy import np
from memquorum.core.policy import PPM, Policy, share
from memquorum.core.records import Proposal, Result
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts, Trialled
from memquorum.ports import Candidate

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNKNOWN = "unknown memory"
"""The reason of a decision without effect: the namespace has no such memory."""
UNREADABLE = "unreadable"
"""The reason of a decision without effect: the content to bring back could not be opened."""
GONE_ALREADY = "gone already"
"""The reason of a decision without effect: the memory was forgotten or erased before."""
RETAINED = "retained"
"""The reason of a decision without effect: the namespace keeps what it has against every vote."""
PROTECTED, TOUCHED = "protected", "touched since"
"""The reasons of a decision without effect: the memory is protected from being forgotten, or was used meanwhile."""

Named_contra = TypeVar("Named_contra", bound=Proposal | Result, contravariant=True)
"""The type of a record that names the memories of a vote."""
Terms = tuple[int, ...]
Together = tuple[MemoryFacts, ...]
"""A member's facts about the memories of one proposal, in the proposal's order."""
Columns: TypeAlias = "NDArray[np.int64]"
"""The terms of n opinions of one kind: a row for each term, shape (len(kind.terms), n)."""


class Term(Enum):
    """The range of a term of an opinion."""

    FLAG = "flag"
    """0 or PPM."""
    SHARE = "share"
    """0 to PPM."""
    DISTANCE = "distance"
    """A distance of vectors of unit length, 0 to 2 PPM. It comes last, no score depends on it, and ballots of earlier
    versions lack it."""
    CODE = "code"
    """A number that the kind checks."""
    TIME = "time"
    """Milliseconds since the epoch, which the kind checks."""

    @property
    def width(self) -> int:
        """The number of bytes that a ballot has for the term."""
        return 8 if self is Term.TIME else 4

    def wrong(self, name: str, value: int) -> str | None:
        """Returns what is wrong with a value, or None."""
        if self is Term.FLAG and value not in (0, PPM):
            return f"{name} {value} is neither 0 nor {PPM}"
        if self is Term.SHARE and not 0 <= value <= PPM:
            return f"{name} {value} lies outside 0..{PPM}"
        if self is Term.DISTANCE and not 0 <= value <= 2 * PPM:
            return f"{name} {value} lies outside 0..{2 * PPM}"
        return None

    def sound(self, values: NDArray[np.int64]) -> bool:
        """True if `wrong` finds nothing wrong with any of many values."""
        if self is Term.FLAG:
            return bool(((values == 0) | (values == PPM)).all())
        most = {Term.SHARE: PPM, Term.DISTANCE: 2 * PPM}.get(self)
        return most is None or bool(((values >= 0) & (values <= most)).all())


class Opinion(Struct, frozen=True):
    """One proposal, judged by one member: the score follows from the terms, and the vote from the score."""

    yes: bool
    score_ppm: int
    terms: Terms


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of a kind's gate for a proposal that has its quorum."""

    passed: bool
    reason: str
    """Reason code of the result."""
    confidence_ppm: int | None = None
    """Consolidated confidence, where the kind has one."""


@dataclass(frozen=True, slots=True)
class MemoryState:
    """The state of a memory at a decision. Times are milliseconds since the epoch, offsets those of the accepted
    stream."""

    tier: str
    alive: bool
    sealed_until: int | None = None
    touched: int = 0
    """The offset of the last record that used or repeated it."""
    protected: bool = False
    """True if an order keeps it from being forgotten."""
    pinned: bool = False
    """True if a pin or a goal keeps it; a hold keeps only its key."""
    opened: bool = False
    """True if its sealed content could be opened: set only where the decision brings the memory back."""
    namespace: str = ""
    memory_id: str = ""
    stub: bool = False
    """True if it rests sealed because of a summary that was erased, and the proposal's first memory replaces that
    summary."""
    rests: bool = False
    """True if members restored it, and the kind may not propose it yet."""
    admitted: bool = False
    """True if it has a weight in experience."""
    general: bool = False
    """True if the proposal's first memory is a general form of the second that waits for its vote."""
    refused: str | None = None
    """The reason for not rolling its weight back as the order asks; None if there is none, or no such order."""
    tried: bool = False
    """True if verifiers agree on the very statistics that the proposal holds, and no vote on them has been decided
    yet."""
    apart: bool = False
    """True if members restored it after this kind sealed it: the kind does that only once."""


@dataclass(frozen=True, slots=True)
class Fate:
    """The new state of a memory: the tier in which it is alive, or sealed until its key is destroyed."""

    tier: str
    confidence_ppm: int | None = None
    sealed_until: int | None = None
    asks: bool = True
    """For a sealed memory: whether a use that the shard reads late asks to restore it."""
    told_by: str | None = None
    """For a memory that is sealed because a summary stands for it: the summary's id."""


Fates = Sequence[Fate | None]
"""The new states of a proposal's memories, None for each that does not change."""


class Rests(Enum):
    """The rest of a memory that a vote of the kind kept: for some epochs the kind does not propose it again."""

    NEVER = "never"
    UNTIL_USED = "until used"
    """A use ends the rest: the vote was about the lack of use."""
    THROUGH_USE = "through use"
    """A use does not end the rest."""


@dataclass(frozen=True, slots=True)
class Plain:
    """The texts about a kind for people who know no formula: clauses without numbers, in which "it" is the memory."""

    asked: str
    """The subject of the vote; follows "voted on"."""
    agreed: str
    """The finding of the members who voted yes; follows "agreed that"."""
    proposed: Mapping[str, str] = field(default_factory=dict)
    """The reasons of the nomination, by reason code. `{unused}` stands for the time since the last use."""
    because: Callable[[Mapping[str, int], bool, Policy], str] | None = None
    """(terms, vote, policy) → a member's finding; None: the finding is not shown."""


@dataclass(frozen=True, slots=True)
class Words:
    """The texts about a kind for people. The mappings hold the kind's own reasons, by reason code."""

    aim: str
    """The action that the vote asks for, as an infinitive."""
    proposed: Mapping[str, str] = field(default_factory=dict)
    """The reasons of a nomination."""
    why: Mapping[str, str] = field(default_factory=dict)
    """The reasons of an outcome."""
    opinion: Callable[[Mapping[str, int], bool, int, Policy], str] | None = None
    """(terms, vote, score, policy) → a member's opinion; None: its terms and its score."""
    plain: Plain | None = None
    """The texts for people who know no formula; None: `aim` is shown instead."""
    question: str | None = None
    """The question of a vote on several memories. `{first}` and `{others}` stand for their names."""


def opinion_in_words(kind: Kind, terms: Mapping[str, int], vote: tuple[bool, int], policy: Policy) -> str:
    """Returns a member's opinion in words. `vote`: whether it voted yes, and its score."""
    yes, score = vote
    if kind.words.opinion is not None:
        return kind.words.opinion(terms, yes, score, policy)
    return f"{listed(terms)}: score {share(score)}: {'yes' if yes else 'no'}"


def listed(terms: Mapping[str, int]) -> str:
    """Lists terms by name, for people."""
    return ", ".join(f"{name} {share(value)}" for name, value in terms.items())


@dataclass(frozen=True, slots=True)
class Case:
    """The inputs of a judgement of one namespace's proposals, beside the facts about their memories."""

    context: MemberContext
    as_of: int
    policy: Policy
    grounds: Grounds


@dataclass(frozen=True, slots=True)
class Lookups:
    """The lookups of a member for one namespace's proposals of a kind, made where the kind asks for them."""

    places: Callable[[], Mapping[str, BudgetPlace]]
    """The places of memories in the member's own order of eviction."""
    trials: Callable[[], Mapping[str, Trialled]]
    """The results of the member's repeated trials, by memory."""
    held: Callable[[Iterable[str]], Collection[str]]
    """Returns those of some memories that are in experience."""
    rank_ppm: Callable[[str], int | None]
    """The rank of a memory's worth; None if its text cannot be read."""


class Experience(Protocol[Named_contra]):
    """The changes that votes make in experience."""

    def admit(self, named: Named_contra, passed: bool) -> None:
        """Lets the memory enter experience, or notes that members refused it."""

    def unite(self, named: Named_contra) -> None:
        """Lets the first memory stand in experience for the others."""

    def generalise(self, named: Named_contra) -> None:
        """Lets the first memory enter experience as the general form of the other."""

    def reweigh(self, named: Named_contra) -> None:
        """Gives the memory back the weight that it had at the version which the order names."""


class Kind(ABC):
    """One kind of proposal. All methods are pure and total over checked input."""

    name: str
    terms: Mapping[str, Term]
    """An opinion's terms, in their order."""
    outcome: str
    """The word for a passed vote: forgotten, promoted."""
    words: Words
    tiers: frozenset[str] = frozenset()
    """The tiers of the memories that the nomination stage proposes; empty if it proposes none."""
    share: Fraction = Fraction(0)
    """The share of an epoch's proposals that is reserved for it, as far as it needs them. The rest goes to the kinds
    that come first in `KINDS`."""
    takes: int = 1
    """The maximum number of memories, of one namespace, in a proposal; at least one."""
    spares: int = 0
    """The number of memories, from the first, that lose nothing by the decision: `void` is not asked about them."""
    rests: Rests = Rests.THROUGH_USE
    """The rest of a memory that was kept, before it is proposed again."""
    reads: bool = True
    """True if `judge` needs the memories' texts, sources and embeddings; otherwise they need not be opened."""
    claims: bool = False
    """True if a yes states that the first memory is true: of two that contradict each other a member does so for at
    most one."""
    weighs_scores: bool = False
    """True if a yes counts with its member's voice times its score."""
    seals: bool = False
    """True if it seals living memories."""
    capped: bool = False
    """True if its decisions count against the namespace's caps, and spare protected memories."""
    revives: bool = False
    """True if it brings sealed memories back, so their content has to be opened. A kind that spares memories brings
    back only those."""
    inherits: bool = False
    """True if a memory that comes back, or stays, takes over the times and accesses of the proposal's other
    memories."""
    ordered: bool = False
    """True if it is about an order: the nomination holds the order, and proposes nothing else."""
    about_memories: bool = True
    """True if a proposal names memories; otherwise it names an order, and a decision changes no memory."""

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a kind has no attribute to set; the kind {self.name!r} was to get {name!r}")

    def most(self, reason: str) -> int:
        """Returns how many memories a proposal for this reason may name, `takes` at most."""
        return self.takes

    def due(self, candidate: Candidate, as_of: int, policy: Policy) -> str | None:
        """Returns the reason code to nominate a memory of one of the kind's tiers with, or None."""
        return None

    @abstractmethod
    def judge(self, facts: Sequence[Together], case: Case) -> Sequence[Terms | None]:
        """Returns a member's terms for each proposal, by the facts about its memories; None where it cannot judge."""

    def completed(self, facts: Mapping[str, MemoryFacts], lookups: Lookups) -> Mapping[str, MemoryFacts]:
        """Returns the facts of memories with what `judge` needs beyond what the memories' own records say."""
        return facts

    def holds(self, proposal: Proposal, admitted: Callable[[str, str], bool]) -> bool | None:
        """Returns whether an order that the member has read holds; None where the member judges each memory.
        `admitted`: whether it has seen a namespace's memory admitted to experience."""
        return None

    def abstain(self, as_of: int) -> Terms:
        """Returns the terms of a member that cannot judge: they make the strongest possible 'no'."""
        return (0,) * len(self.terms)

    def yields(self, as_of: int) -> Terms:
        """Returns the terms of a member that has voted yes to another claim of the nomination, which contradicts this
        one's first memory."""
        return self.abstain(as_of)

    def check(self, terms: Terms, as_of: int, policy: Policy) -> str | None:
        """Returns what is wrong with a member's terms, or None. The number of terms is checked before."""
        wrong = (term.wrong(name, value) for (name, term), value in zip(self.terms.items(), terms, strict=False))
        return next(filter(None, wrong), None)

    def sound(self, terms: Columns, as_of: int, policy: Policy) -> bool:
        """True if `check` finds nothing wrong in any of many opinions' terms."""
        return all(term.sound(values) for term, values in zip(self.terms.values(), terms, strict=False))

    @abstractmethod
    def score(self, terms: Any, policy: Policy) -> Any:
        """Returns the score of terms; for columns the score of each opinion. Both use integers, so both are exact."""

    @abstractmethod
    def yes(self, score: Any, policy: Policy) -> Any:
        """True if the score is a yes; for many scores an array."""

    @abstractmethod
    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        """Returns the share of Σ w·c over all configured members that the yes-ballots must reach."""

    def votes(self, quorum: int, faulty: int) -> int:
        """Returns the number of distinct members that have to vote yes. `faulty`: how many may lie."""
        return quorum

    def gate(self, yes: Iterable[Opinion], quorum: int, policy: Policy) -> Verdict:
        """Returns the final verdict on a proposal with enough yes-ballots and weight, by the yes-opinions.

        Monotone: leaving yes-ballots out can turn a pass into a refusal, never the other way round; confidence only
        falls.
        """
        return Verdict(True, "quorum")

    def against(self, noes: Iterable[tuple[int, Opinion]]) -> int:
        """Returns the voice of the members that found the memory contradicted. `noes`: the no-opinions, each with its
        member's voice."""
        return 0

    def barred(self, namespace: str, policy: Policy) -> str | None:
        """Returns why no vote of the kind takes effect in a namespace, or None. Members vote no there."""
        return RETAINED if self.seals and covers(policy.consolidate.retained.split(), namespace) else None

    def absent(self, found: MemoryState, as_of: int) -> str | None:
        """Returns why the memory cannot be voted on, or None. It is the reason of the result, whatever the votes; one
        of a proposal's memories is enough."""
        return None if found.alive else GONE_ALREADY

    def void(self, found: MemoryState, nominated_at: int) -> str | None:
        """Returns why a passed decision must not be carried out, or None. One of a proposal's memories is enough.
        `nominated_at`: the accepted offset of the nomination."""
        return None

    def effect(self, found: Sequence[MemoryState], confidence_ppm: int | None, as_of: int, policy: Policy) -> Fates:
        """Returns the new state of each of the proposal's memories, None for one that does not change."""
        return [None for _ in found]

    def settle(  # noqa: B027
        self, named: Named_contra, passed: bool, experience: Experience[Named_contra]
    ) -> None:
        """Tells experience what it gains by the vote on `named`, unless the decision is void."""

    def scaled(self, policy: Policy) -> Policy:
        """Returns the policy with the scales that measure decay in this vote."""
        return policy

    @property
    def brings_back(self) -> bool:
        """True if it restores memories that members had agreed to forget."""
        return self.revives and self.ordered

    @property
    def supersedes(self) -> bool:
        """True if its first memory replaces others that it contradicts."""
        return self.seals and self.claims

    def taken(self, memory_ids: Sequence[str]) -> Sequence[str]:
        """Returns the proposal's memories that the decision is about, without those that it spares."""
        return memory_ids[self.spares :]

    def ended(self, outcome: str, memory_ids: Sequence[str], memory_id: str) -> str:
        """Returns the outcome of a vote in words, for one of its memories: some of them lose nothing by it."""
        others = self.taken(memory_ids)
        if memory_id in others or outcome != self.outcome:
            return outcome
        return f"the other{'s are' if len(others) > 1 else ' is'} {outcome}"

    def revived(self, memory_ids: Sequence[Any]) -> Sequence[Any]:
        """Returns the proposal's memories that come back if the vote passes."""
        return memory_ids[: self.spares or None] if self.revives else ()

    def eligible(self, candidate: Candidate, as_of: int, policy: Policy) -> str | None:
        """Returns the reason code to nominate a memory with, or None."""
        return self.due(candidate, as_of, policy) if candidate.tier in self.tiers else None


class InColumns(Kind):
    """A kind whose judgement of its one memory needs the last access, the rank of worth and the embedding alone."""

    @abstractmethod
    def fade(
        self,
        last_accesses: NDArray[np.int64],
        ranks: NDArray[np.int64],
        shares: NDArray[np.int64],
        as_of: int,
        policy: Policy,
    ) -> Columns:
        """Returns the terms of many opinions: the same as `judge`, far faster."""


def laid_over(namespace: str, policy: Policy) -> bool:
    """True if in a namespace a summary lies over its sources, and nothing is sealed for it."""
    given = policy.consolidate
    return covers((*given.strict.split(), *given.retained.split()), namespace)


def nth_highest(values: Sequence[int], n: int) -> int:
    """Returns the n-th highest value, 0 where there are fewer: leaving values out can only lower it."""
    return sorted(values, reverse=True)[n - 1] if len(values) >= n else 0
