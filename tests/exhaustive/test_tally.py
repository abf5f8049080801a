"""The tally over every possible certificate, for four and for seven members (DESIGN 11).

A certificate holds at least N−f ballots, each a no or a yes; a member may have none. That covers every pattern of
honest opinions, every lie of f members and every choice of the primary at once: an honest ballot is its member's
opinion, a liar's is anything, and the primary picks the ballots to show. So a rule that holds for every certificate and
every set of liars holds for all of these together, also where a liar shows two ballots to two certificates. A promotion
has a gate of its own; a yes for it is strong, or weak: contradicted by what the member saw lately. To supersede or to
overrule, a weak yes is one of a low score, which counts for as much of its voice.

Claimed and checked, for weights of which the f heaviest stay below a third:

1. Forgetting and promoting take a majority of the honest members, in number and in weight; superseding and overruling,
   in number.
2. Leaving a ballot out, or turning a yes into a no, never decides what was kept.
3. A certificate that decides and one in which q members say no have more than f members who signed both.
4. If no member signs two ballots and two certificates end differently, the one that keeps leaves out a yes of the
   other, and one with the ballots of both decides.
5. No liar prevents an outcome if all honest members say yes, their ballots are shown and they have the share of the
   weight that the kind asks for. Forgetting takes two thirds, which they always have. Promoting takes 67 hundredths,
   which they have unless the liars hold nearly a third: then f heavy members can delay a promotion for as long as they
   like.

Restoring takes less, f+1 members and a third of the weight, since another vote undoes it. So the second and the fourth
hold, and in place of the others:

6. A restored memory has an honest member behind it; liars alone restore nothing.
7. A memory that all honest members want back is restored, however members lie, and whichever ballots the primary leaves
   out: nobody delays it while the key's time runs.
8. Members with more than a third of the weight, who could have prevented a forgetting, can undo it.

Not claimed: that two certificates end the same way. A primary that leaves a yes out, or a liar that says yes here and
no there, can make one keep what another would forget. This delays, and PBFT decides which of the two counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.core.policy import PPM
from memquorum.core.records import NominationProposed, Proposal
from memquorum.core.vote.kinds import KINDS, PROMOTE, RESTORE
from memquorum.core.vote.kinds.kind import Opinion
from memquorum.core.vote.tally import tally
from tests.builders.genesis import make
from tests.builders.policies import by_the_paper
from tests.builders.votes import ballot, following

ABSENT, NO, WEAK, YES = range(4)
Certificate = tuple[int, ...]

# The last two of each are as uneven as may be: a little more at the top, or less at the bottom, is refused.
WEIGHTS: dict[int, list[tuple[int, ...]]] = {
    4: [(1000,) * 4, (1500, 1500, 1000, 1000), (1499, 1000, 1000, 1000), (1000, 1000, 1000, 1)],
    7: [(1000,) * 7, (1249, 1249, 1000, 1000, 1000, 1000, 1000), (1000,) * 6 + (1,)],
}
TOO_UNEVEN = [(1500, 1000, 1000, 1000), (1000, 1000, 1000, 0), (1250, 1250, *(1000,) * 5), (*(1000,) * 6, 0)]
EVERY = [
    (n, kind, weights)
    for n in (4, 7)
    for kind in ("forget", "promote", "supersede", "overrule")
    for weights in WEIGHTS[n]
]
BACK = [(n, kind, weights) for n in (4, 7) for kind in ("restore", "demote") for weights in WEIGHTS[n]]
each_restore = pytest.mark.parametrize(("n", "kind", "weights"), BACK)
each_election = pytest.mark.parametrize(("n", "kind", "weights"), EVERY)


@cache
def election(n: int, kind: str, weights: tuple[int, ...]) -> tuple[Genesis, dict[Certificate, bool]]:
    """Whether the real tally decides, for every certificate."""
    genesis = make(n, weights=weights)
    proposal = Proposal(("m",), "space", kind, "test", 0, 0, 0)
    nomination = NominationProposed(b"", 0, 0, 1, 1_000, 0, "interval", (proposal,))
    cast = {(member, code): ballot(member, opinion(kind, code, genesis)) for member in range(n) for code in codes(kind)}
    found = {}
    for certificate in certificates(genesis, kind):
        ballots = [cast[member, code] for member, code in enumerate(certificate) if code != ABSENT]
        (outcome,) = tally(genesis, nomination, ballots)
        found[certificate] = outcome.decided
    return genesis, found


def codes(kind: str) -> tuple[int, ...]:
    return (NO, WEAK, YES) if kind in ("promote", "supersede", "overrule") else (NO, YES)


def opinion(kind: str, code: int, genesis: Genesis) -> Opinion:
    if kind == "restore":
        terms = (PPM, PPM, PPM, PPM, 1_000) if code == YES else RESTORE.abstain(1_000)
        assert RESTORE.yes(RESTORE.score(terms, genesis.policy), genesis.policy) == (code == YES)
        return Opinion(code == YES, RESTORE.score(terms, genesis.policy), terms)
    if kind in ("forget", "demote"):
        return Opinion(code == YES, 0 if code == YES else PPM, (0, 0, 0, 0) if code == YES else (PPM, PPM, PPM, 0))
    if KINDS[kind].weighs_scores:
        terms = {NO: (0, 0, 0, 0, 1), WEAK: (PPM, 0, 550_000, 450_000, 0), YES: (PPM, 0, PPM, 0, 0)}[code]
        return following(KINDS[kind], terms, genesis.policy)
    terms = {NO: (0, 0, 0, PPM), WEAK: (PPM, PPM, 100_000, 0), YES: (PPM, PPM, PPM, 0)}[code]
    score = PROMOTE.score(terms, genesis.policy)
    assert PROMOTE.yes(score, genesis.policy) == (code != NO)
    return Opinion(code != NO, score, terms)


def certificates(genesis: Genesis, kind: str) -> Iterator[Certificate]:
    for certificate in itertools.product((ABSENT, *codes(kind)), repeat=genesis.n):
        if sum(code != ABSENT for code in certificate) >= genesis.n - genesis.f:
            yield certificate


def liars(genesis: Genesis) -> Iterator[frozenset[int]]:
    for count in range(genesis.f + 1):
        yield from (frozenset(chosen) for chosen in itertools.combinations(range(genesis.n), count))


def changed(certificate: Certificate, member: int, code: int) -> Certificate:
    return (*certificate[:member], code, *certificate[member + 1 :])


@pytest.mark.parametrize("weights", TOO_UNEVEN)
def test_weights_less_even_than_these_are_refused(weights: tuple[int, ...]) -> None:
    with pytest.raises(GenesisError):
        make(len(weights), weights=weights)


@each_election
def test_nothing_is_decided_without_a_majority_of_the_honest(n: int, kind: str, weights: tuple[int, ...]) -> None:
    genesis, decides = election(n, kind, weights)
    decided = np.array([certificate for certificate, yes in decides.items() if yes])
    assert len(decided)
    for lying in liars(genesis):
        honest = [member for member in range(n) if member not in lying]
        shares = np.array([weights[member] for member in honest])
        theirs = decided[:, honest]
        # A weak yes counts for less of its voice where scores are weighed, and for a gate not at all.
        least = WEAK if KINDS[kind].weighs_scores else YES
        assert (2 * (theirs >= least).sum(axis=1) > len(honest)).all()
        assert KINDS[kind].weighs_scores or (2 * (theirs >= WEAK) @ shares > shares.sum()).all()


@pytest.mark.parametrize(("n", "kind", "weights"), EVERY + BACK)
def test_leaving_a_ballot_out_or_a_no_for_a_yes_never_decides(n: int, kind: str, weights: tuple[int, ...]) -> None:
    _, decides = election(n, kind, weights)
    lower = {YES: tuple(code for code in codes(kind) if code < YES), WEAK: (NO,), NO: (), ABSENT: ()}
    for certificate, decided in decides.items():
        if decided:
            continue
        for member, code in enumerate(certificate):
            assert not decides.get(changed(certificate, member, ABSENT), False)
            assert not any(decides[changed(certificate, member, less)] for less in lower[code])


@pytest.mark.parametrize(
    ("n", "kind", "weights"), [each for each in EVERY + BACK if each[0] == 4 or each[1] == "forget"]
)
def test_certificates_that_end_differently(n: int, kind: str, weights: tuple[int, ...]) -> None:
    """Every pair: of those who signed one opinion only, who decides needs q; who keeps has left out a yes."""
    genesis, decides = election(n, kind, weights)
    every = np.array(list(decides), np.int8)
    outcome = np.array(list(decides.values()))
    kept = every[~outcome]
    against = (kept == NO).sum(axis=1) >= genesis.quorum
    for certificate in every[outcome]:
        both = (certificate != ABSENT) & (kept != ABSENT)
        twice = (both & (certificate != kept)).sum(axis=1)
        assert (n, kind, weights) in BACK or (twice[against] > genesis.f).all()
        left_out = ((certificate >= WEAK) & (kept == ABSENT)).any(axis=1)
        assert left_out[twice == 0].all()
        together = np.maximum(kept, certificate)[twice == 0]
        assert all(decides[tuple(one)] for one in np.unique(together, axis=0).tolist())


def outvoted(weights: tuple[int, ...], tau: Fraction) -> bool:
    """Whether liars and a primary can promote something for which less than half of the honest weight is."""
    paper = by_the_paper()
    genesis = make(len(weights), weights=weights, policy=replace(paper, promote=replace(paper.promote, tau=tau)))
    proposal = Proposal(("m",), "space", "promote", "test", 0, 0, 0)
    nomination = NominationProposed(b"", 0, 0, 1, 1_000, 0, "interval", (proposal,))
    cast = [[ballot(member, opinion("promote", code, genesis)) for code in (NO, YES)] for member in range(genesis.n)]
    decided = [
        said
        for said in itertools.product((False, True), repeat=genesis.n)
        if tally(genesis, nomination, [cast[member][yes] for member, yes in enumerate(said)])[0].decided
    ]
    return any(
        2 * sum(weights[member] for member in honest if said[member]) <= sum(weights[member] for member in honest)
        for lying in liars(genesis)
        for honest in [[member for member in range(genesis.n) if member not in lying]]
        for said in decided
    )


@pytest.mark.parametrize("weights", [weights for n in (4, 7) for weights in WEIGHTS[n]])
def test_of_3f_and_1_members_the_quorum_alone_has_most_of_the_honest_weight(weights: tuple[int, ...]) -> None:
    """SPEC B takes τ_c = 2/3 for the least that is safe (P46). It is not needed if N = 3f+1: f members at most are
    not for a memory, and they weigh less than a third."""
    assert not outvoted(weights, Fraction(51, 100))


def test_of_more_members_two_thirds_of_the_weight_is_the_least_that_has_it() -> None:
    """Two honest members of six, where f = 1, may be against it and weigh as much as the three that are for it."""
    weights = (999, 500, 500, 334, 333, 333)
    assert outvoted(weights, Fraction(66, 100))
    assert not outvoted(weights, Fraction(2, 3))


@each_election
def test_no_liar_prevents_what_all_honest_members_say(n: int, kind: str, weights: tuple[int, ...]) -> None:
    genesis, decides = election(n, kind, weights)
    for lying in liars(genesis):
        for lies in itertools.product((ABSENT, *codes(kind)), repeat=len(lying)):
            shown = dict(zip(sorted(lying), lies, strict=True))
            certificate = tuple(shown.get(member, YES) for member in range(n))
            of = {ABSENT: 0, NO: 0, WEAK: 55 if KINDS[kind].weighs_scores else 100, YES: 100}
            weight = sum(weights[member] * of[code] for member, code in enumerate(certificate)) / 100
            assert decides[certificate] == (weight >= KINDS[kind].needed(genesis.policy) * sum(weights))
            assert decides[certificate] or (kind == "promote" and max(weights) != min(weights))


@each_restore
def test_nothing_comes_back_by_liars_alone(n: int, kind: str, weights: tuple[int, ...]) -> None:
    genesis, decides = election(n, kind, weights)
    restored = np.array([certificate for certificate, yes in decides.items() if yes])
    assert len(restored) and genesis.f + 1 == (restored == YES).sum(axis=1).min()
    for lying in liars(genesis):
        honest = [member for member in range(n) if member not in lying]
        assert (restored[:, honest] == YES).any(axis=1).all()


@each_restore
def test_what_all_honest_members_want_back_nobody_withholds(n: int, kind: str, weights: tuple[int, ...]) -> None:
    genesis, decides = election(n, kind, weights)
    every, restored = np.array(list(decides), np.int8), np.array(list(decides.values()))
    for lying in liars(genesis):
        honest = [member for member in range(n) if member not in lying]
        assert restored[(every[:, honest] != NO).all(axis=1)].all()


@each_restore
def test_who_could_have_prevented_a_forgetting_can_undo_it(n: int, kind: str, weights: tuple[int, ...]) -> None:
    _, decides = election(n, kind, weights)
    every, restored = np.array(list(decides), np.int8), np.array(list(decides.values()))
    assert restored[3 * ((every == YES) @ np.array(weights)) > sum(weights)].all()
