"""A kind of proposal as one object: whatever differs between forgetting, promoting and what else is voted on.

The consensus, the journal and the words that people read ask a kind, and know none by its name. Each has a file of its
own in this package, and stands in `KINDS`.

Terms, scores and thresholds are integers in millionths. A score is a weighted sum of the terms divided by 1,000,000 and
rounded down; as thresholds are whole millionths too, rounding never changes on which side of one a score lies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from memquorum.core.policy import PPM, Policy, share
from memquorum.core.tiers import SHORT_TERM
from memquorum.core.vote.grounds import Grounds, MemberContext, MemoryFacts
from memquorum.ports import Candidate

UNKNOWN = "unknown memory"
"""Why nothing was done: the namespace has no such memory."""
UNREADABLE = "unreadable"
"""Why nothing was done: what was to come back could not be opened."""

Terms = tuple[int, ...]
Together = tuple[MemoryFacts, ...]
"""What a member knows of the memories of one proposal, in their order."""
Columns = NDArray[np.int64]
"""The terms of n opinions of one kind: a row for each term, shape (len(kind.terms), n)."""


class Opinion(Struct, frozen=True):
    """One proposal, judged by one member: the score follows from the terms, and the vote from the score."""

    yes: bool
    score_ppm: int
    terms: Terms


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a kind's gate says of a proposal that has its quorum."""

    passed: bool
    reason: str
    """Reason code of the result."""
    confidence_ppm: int | None = None
    """Consolidated confidence, where the kind has one."""


@dataclass(frozen=True, slots=True)
class MemoryState:
    """A memory as a decision finds it. Times are milliseconds since the epoch, offsets those of the accepted stream."""

    tier: str
    alive: bool
    sealed_until: int | None = None
    touched: int = 0
    """The offset of the last record that used it or said it again."""
    protected: bool = False
    """Whether an order keeps it from being forgotten."""
    pinned: bool = False
    """Whether a pin or a goal does: a hold keeps its key alone."""
    opened: bool = False
    """Whether its sealed content could be opened: asked only where the decision brings it back."""
    namespace: str = ""
    memory_id: str = ""
    stub: bool = False
    """Whether it rests sealed because of a summary that was erased, in whose place the proposal's first memory was
    made."""
    rests: bool = False
    """Whether members brought it back, and the kind is not to propose it yet."""
    admitted: bool = False
    """Whether it has a weight in experience: asked only where the decision is about that."""
    tried: bool = False
    """Whether verifiers agree in the very statistics that the proposal holds, and it is not voted on yet."""
    apart: bool = False
    """Whether members brought it back from what the kind had done to it: the kind does that once."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What becomes of a memory: what it is alive in, or that it rests sealed until its key goes."""

    tier: str
    confidence_ppm: int | None = None
    sealed_until: int | None = None
    asks: bool = True
    """Of what rests sealed: whether a use of which the shard hears late asks for it back."""
    told_by: str | None = None
    """Of what rests sealed because a summary says what is to be kept of it: that summary."""


class Offered(Enum):
    """The memories from which a kind's proposals are taken."""

    UNUSED = "unused"
    """Those that decayed, that a full shard should let go, or that somebody wants to be forgotten."""
    SALIENT = "salient"
    """Those that are worth keeping."""
    CONTESTED = "contested"
    """Those that say otherwise than each other."""
    DRAFTED = "drafted"
    """A summary and the memories that it was made of."""
    ALIKE = "alike"
    """Summaries that say the same."""
    BEYOND = "beyond"
    """Those that are beyond a budget, as its policy has them go."""
    TRIED = "tried"
    """Those that verifiers agree help in tasks."""
    TWINS = "twins"
    """Those of experience that say the same."""
    GENERAL = "general"
    """A general form and the memory that it was made of."""
    NONE = "none"
    """Not the nomination service's choice: an order names them."""


class Rests(Enum):
    """Whether a memory that a vote of the kind has kept rests for some epochs before the kind proposes it again."""

    NEVER = "never"
    UNTIL_USED = "until used"
    """A use ends the rest: the vote was about nobody using it."""
    THROUGH_USE = "through use"
    """A use changes nothing of it."""


@dataclass(frozen=True, slots=True)
class Plain:
    """What people read of a kind who know no formula: clauses without numbers, in which "it" is the memory."""

    asked: str
    """What was voted on, after "voted on"."""
    agreed: str
    """What those agreed on who were for it, after "agreed that"."""
    proposed: Mapping[str, str] = field(default_factory=dict)
    """Why it was put to the vote, by the codes of reasons. `{unused}` stands for how long nobody had used it."""
    because: Callable[[Mapping[str, int], bool, Policy], str] | None = None
    """(terms, vote, policy) → what a member found; None: nothing is said of that."""


@dataclass(frozen=True, slots=True)
class Words:
    """What people read of a kind. Of reasons, by their codes, those that are the kind's own."""

    aim: str
    """What the vote asks: to do what?"""
    proposed: Mapping[str, str] = field(default_factory=dict)
    """Why a memory was proposed."""
    why: Mapping[str, str] = field(default_factory=dict)
    """Why it ended so."""
    opinion: Callable[[Mapping[str, int], bool, int, Policy], str] | None = None
    """(terms, vote, score, policy) → a member's opinion; None: its terms and its score."""
    plain: Plain | None = None
    """The same for people who know no formula; None: `aim` has to do."""


def opinion_in_words(kind: Kind, terms: Mapping[str, int], vote: tuple[bool, int], policy: Policy) -> str:
    """A member's opinion as people read it. `vote`: whether it is for it, and its score."""
    yes, score = vote
    if kind.words.opinion is not None:
        return kind.words.opinion(terms, yes, score, policy)
    return f"{listed(terms)}: score {share(score)}: {'yes' if yes else 'no'}"


def listed(terms: Mapping[str, int]) -> str:
    """Terms by name, as people read them."""
    return ", ".join(f"{name} {share(value)}" for name, value in terms.items())


@dataclass(frozen=True, slots=True, eq=False)
class Kind:
    """One kind of proposal. All functions are pure and total over checked input."""

    name: str
    terms: tuple[str, ...]
    """Names of an opinion's terms, in their order."""
    widths: tuple[int, ...]
    """How many bytes a ballot has for each."""
    due: Callable[[Candidate, int, Policy], str | None]
    """(candidate, as_of, policy) → the reason code to nominate it with, or None: the kind's predicate, of a memory in
    one of its `tiers`."""
    judge: Callable[[Sequence[Together], MemberContext, int, Policy, Grounds], Sequence[Terms | None]]
    """(facts of each proposal's memories, own context, as_of, policy, grounds) → a member's terms of each proposal, or
    None where it sees no ground to judge."""
    fade: Callable[[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int, Policy], Columns] | None
    """(last accesses, ranks of worth, shares, as_of, policy) → the terms of many opinions, where a judgement needs
    nothing else of its one memory: the same as `judge`, in a fraction of its time. None: it needs more."""
    abstain: Callable[[int], Terms]
    """(as_of) → the terms of a member that cannot judge: they make the strongest possible 'no'."""
    check: Callable[[Terms, int, Policy], str | None]
    """(terms, as_of, policy) → what cannot be true of somebody's terms, or None. Their number is already right."""
    sound: Callable[[Columns, int, Policy], bool]
    """(terms, as_of, policy) → whether `check` finds nothing wrong with any of many opinions' terms."""
    score: Callable[[Any, Policy], Any]
    """(terms, policy) → the score; of columns those of all their opinions. In whole numbers, so both are exact."""
    yes: Callable[[Any, Policy], Any]
    """(score, policy) → whether that is a yes; of many scores for each."""
    needed: Callable[[Policy], Fraction]
    """The share of Σ w·c over all configured members that the yes-ballots must reach."""
    gate: Callable[[Sequence[Opinion], int, Policy], Verdict] | None
    """(yes-opinions, q, policy) → the last word on a proposal with q or more yes-ballots and weight enough; None: that
    is enough.

    Monotone: leaving yes-ballots out can turn a pass into a refusal, never the other way round; confidence only falls.
    """
    outcome: str
    """How the result is called: forgotten, promoted."""
    words: Words
    reads: bool
    """Whether `judge` looks at the memory's text and source: what it does not look at need not be opened."""
    ranks: bool = False
    """Whether `judge`, which reads, also asks how each memory's worth ranks: else it is told of what is not read."""
    stands: bool = False
    """Whether `judge` asks where its one memory stands in the member's own order of what goes, and for nothing else."""
    yields: Callable[[int], Terms] | None = None
    """(as_of) → the terms of a member that is for another claim of the nomination, which its first memory contradicts;
    None: those of one that cannot judge."""
    offered: Offered = Offered.NONE
    takes: int = 1
    """How many memories of one namespace a proposal may name; one at least."""
    spares: int = 0
    """How many of these, the first, lose nothing by it: they are not asked whether it is void for them."""
    claims: bool = False
    """Whether a yes says that its first memory is true: a member says so of at most one of two that contradict."""
    weighs_scores: bool = False
    """Whether a yes weighs as much of its member's voice as its score says."""
    decays_in: str = SHORT_TERM
    """The tier by whose scales it measures decay."""
    tiers: frozenset[str] = frozenset()
    """Those whose memories it is about."""
    share: Fraction = Fraction(0)
    """The share of an epoch's proposals that is free for it, if it needs so many. What is left goes to who comes first
    in `KINDS`."""
    absent: Callable[[MemoryState, int], str | None] = lambda found, as_of: None
    """(memory, as_of) → why there is nothing to be voted on, or None: the reason of the result, however it was
    decided. One of a proposal's memories is enough."""
    void: Callable[[MemoryState, int], str | None] = lambda found, nominated_at: None
    """(memory, accepted offset that the nomination speaks of) → why what was decided must not be done, or None. One of
    a proposal's memories is enough."""
    effect: Callable[[Sequence[MemoryState], int | None, int, Policy], Sequence[Fate | None]] | None = None
    """(the proposal's memories, consolidated confidence, as_of, policy) → what becomes of each; None of one that stays
    as it is. None as a whole: it is about an order, and nothing becomes of any memory."""
    rests: Rests = Rests.NEVER
    """Whether a memory that was kept rests for some epochs before it is proposed again."""
    contradicted: Callable[[Opinion, int], bool] | None = None
    """(no-opinion, as_of) → whether it says that the memory is contradicted. None: a no of the kind never says so."""
    retries: Callable[[Policy], int] | None = None
    """(policy) → how often what was contradicted may be proposed again before it rests until it is used. None: it never
    does."""
    capped: bool = False
    """Whether what it takes of a namespace counts against the namespace's caps, and spares what is protected."""
    seals: bool = False
    """Whether it takes memories from those that are alive."""
    revives: bool = False
    """Whether it brings memories back that rest sealed: who carries it out has to open them. Of a kind that spares some
    these alone come back."""
    inherits: bool = False
    """Whether what comes back, or stays, takes over times and accesses of the proposal's others."""
    merges: bool = False
    """Whether what stays says the same as what goes: who erases what went erases what stayed for it."""
    admits: bool = False
    """Whether its one memory enters experience, of which the journal has the numbers."""
    unites: bool = False
    """Whether its first memory stands in experience for the others."""
    generalises: bool = False
    """Whether its first memory, which comes to life, enters experience as the general form of the other."""
    reweighs: bool = False
    """Whether its one memory weighs in experience what it did at the version that the order names."""
    attests: bool = False
    """Whether it says of an erasure that it was ordered."""
    configures: bool = False
    """Whether it makes another configuration."""
    ordered: bool = False
    """Whether it is about an order: then the nomination holds that, and proposes nothing else."""
    needed_in: Callable[[Policy, str], Fraction] | None = None
    """`needed` of one namespace, where a policy may name some in which it is more. None: it is the same in all."""
    votes: Callable[[int, int], int] = lambda quorum, faulty: quorum
    """(q, f) → how many distinct members have to say yes."""

    def __post_init__(self) -> None:
        wrong = _contradiction(self)
        if wrong is not None:
            raise ValueError(f"the kind {self.name!r} cannot be: {wrong}")

    @property
    def brings_back(self) -> bool:
        """Whether it brings back what members had let go."""
        return self.revives and self.ordered

    @property
    def supersedes(self) -> bool:
        """Whether its first memory takes the place of others that say otherwise."""
        return self.seals and self.spares > 0 and not self.revives and not self.merges

    def taken(self, memory_ids: Sequence[str]) -> Sequence[str]:
        """Those of a proposal's memories that it is against or for, and not only for the sake of others."""
        return memory_ids[self.spares :]

    def revived(self, memory_ids: Sequence[Any]) -> Sequence[Any]:
        """Those of a proposal's memories that come back where it is decided."""
        return memory_ids[: self.spares or None] if self.revives else ()

    def eligible(self, candidate: Candidate, as_of: int, policy: Policy) -> str | None:
        """The reason code to nominate a memory with, or None."""
        return self.due(candidate, as_of, policy) if candidate.tier in self.tiers else None


def _contradiction(kind: Kind) -> str | None:
    """What of a kind does not go together, or None."""
    about_order = kind.attests or kind.configures
    wrong = {
        "a ballot has a width for each term": len(kind.terms) != len(kind.widths),
        "what changes memories needs an effect": (kind.seals or kind.revives) and kind.effect is None,
        "it takes memories from the living, or brings them back": kind.seals and kind.revives and not kind.spares,
        "what is merged goes, and something stays": kind.merges and not (kind.seals and kind.spares),
        "caps count what is taken from the living": kind.capped and not kind.seals,
        "it speaks of an order alone": about_order and (not kind.ordered or kind.effect is not None),
        "one memory enters experience, and comes to no harm": kind.admits
        and (kind.takes != 1 or kind.seals or kind.revives or kind.effect is None),
        "what becomes one in experience comes to no harm, and they are several": kind.unites
        and (kind.takes < 2 or kind.admits or kind.seals or kind.revives or kind.effect is None),
        "a general form comes to life, and the other stays as it is": kind.generalises
        and (kind.takes != 2 or kind.spares != 1 or kind.admits or kind.unites or kind.seals or not kind.revives),
        "an order gives one memory an older weight, and it comes to no harm": kind.reweighs
        and (not kind.ordered or kind.takes != 1 or kind.seals or kind.revives or kind.effect is None),
        "it attests, or it configures": kind.attests and kind.configures,
        "what is contradicted is proposed again so often, and rests meanwhile": (kind.contradicted is None)
        != (kind.retries is None)
        or (kind.retries is not None and kind.rests is Rests.NEVER),
        "what an order names nobody offers": kind.ordered and (kind.offered is not Offered.NONE or bool(kind.tiers)),
        "what is offered is of some tier": kind.offered is not Offered.NONE and not kind.tiers,
    }
    return next((told for told, so in wrong.items() if so), None)


def nth_highest(values: Sequence[int], n: int) -> int:
    """The n-th highest value, 0 where there are fewer: leaving values out can only lower it."""
    return sorted(values, reverse=True)[n - 1] if len(values) >= n else 0


def checks(names: Sequence[str], flags: int = 0) -> tuple[Callable[..., str | None], Callable[..., bool]]:
    """A kind's `check` and `sound`, where all that can be wrong is that a term is no share, or of the first no flag."""

    def check(terms: Terms, as_of: int, policy: Policy) -> str | None:
        return outside(names, terms, flags)

    def sound(terms: Columns, as_of: int, policy: Policy) -> bool:
        return within(terms, flags)

    return check, sound


def outside(names: Sequence[str], values: Sequence[int], flags: int = 0) -> str | None:
    """Which of the values is no share of one, or None. `flags`: so many of the first say whether something holds, and
    are all or nothing."""
    for name, value in zip(names[:flags], values[:flags], strict=True):
        if value not in (0, PPM):
            return f"{name} {value} is neither 0 nor {PPM}"
    for name, value in zip(names[flags:], values[flags:], strict=True):
        if not 0 <= value <= PPM:
            return f"{name} {value} lies outside 0..{PPM}"
    return None


def within(values: Columns, flags: int = 0) -> bool:
    """Whether `outside` finds nothing wrong with any of many opinions' values."""
    whole, shares = values[:flags], values[flags:]
    return bool(((whole == 0) | (whole == PPM)).all() and ((shares >= 0) & (shares <= PPM)).all())
