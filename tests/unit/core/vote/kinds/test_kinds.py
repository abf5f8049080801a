"""Kinds: scores and votes are exact, other people's opinions are checked, and fewer ballots never pass more."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.decay import decay_ppm, span_ms
from memquorum.core.policy import PPM, ForgetPolicy, Policy, PromotePolicy
from memquorum.core.records import Proposal
from memquorum.core.vote.kinds import (
    ADMIT,
    CONFIGURE,
    DEMOTE,
    EVICT,
    FORGET,
    GENERALISE,
    KINDS,
    OVERRULE,
    PROMOTE,
    RESTORE,
    SUPERSEDE,
    UNITE,
)
from memquorum.core.vote.kinds.consolidate import CONSOLIDATE
from memquorum.core.vote.kinds.kind import Kind, Opinion, nth_highest, opinion_in_words
from memquorum.core.vote.kinds.merge import MERGE
from memquorum.ports import Candidate
from tests import examples
from tests.builders import votes
from tests.builders.policies import by_the_paper

POLICY = by_the_paper()
NOW = 1_700_000_000_000
CANDIDATE = Candidate("m", "n", "short-term", created=NOW - 60_000, last_access=NOW, salience_ppm=550_000, early=False)

ppm = st.integers(0, PPM)
kinds = st.sampled_from(list(KINDS.values()))


def proposal(kind: Kind) -> Proposal:
    return Proposal(("m",), "n", kind.name, "reason", last_access=NOW, created=NOW, salience_ppm=0)


def opinion(kind: Kind, terms: tuple[int, ...], policy: Policy = POLICY) -> Opinion:
    return votes.following(kind, terms, policy)


def holds(kind: Kind, terms: tuple[int, ...]) -> bool:
    """Whether many opinions' check, of these terms among others, finds nothing wrong."""
    return bool(kind.sound(np.array([kind.abstain(NOW), terms], np.int64).T, NOW, POLICY))


def forget_terms(age: int, relevance: int, policy: Policy = POLICY) -> tuple[int, ...]:
    return decay_ppm(NOW - age, NOW, policy), relevance, relevance, NOW - age


@st.composite
def terms_of(draw: st.DrawFn, kind: Kind) -> tuple[int, ...]:
    if kind in (FORGET, DEMOTE):
        return forget_terms(draw(st.integers(0, 10**10)), draw(ppm), kind.scaled(POLICY))
    if kind is RESTORE:
        holds = (PPM, *forget_terms(draw(st.integers(0, 10**10)), draw(ppm)))
        return holds if draw(st.booleans()) else kind.abstain(NOW)
    if kind.ordered:
        return (draw(st.sampled_from([0, PPM])),)
    if kind is EVICT:
        return draw(st.tuples(ppm, ppm))
    if kind.weighs_scores:
        found = draw(st.booleans())
        ground = st.just(0) if found else st.integers(1, 7)
        return draw(st.tuples(st.just(PPM * found), st.sampled_from([0, PPM]), ppm, ppm, ground))
    if kind is CONSOLIDATE:
        return draw(st.tuples(st.sampled_from([0, PPM]), ppm, ppm, st.integers(0, 2 * PPM)))
    if kind is GENERALISE:
        return draw(st.tuples(st.sampled_from([0, PPM]), st.sampled_from([0, PPM])))
    if kind in (MERGE, ADMIT, UNITE):
        return draw(st.tuples(st.sampled_from([0, PPM]), ppm))
    return draw(st.tuples(ppm, ppm, ppm, ppm))


def test_the_registry_knows_each_kind_by_its_name() -> None:
    assert set(KINDS) == {
        "forget", "evict", "promote", "demote", "supersede", "overrule", "consolidate", "merge", "admit", "unite",
        "generalise", "configure", "erase", "restore", "rollback",
    }  # fmt: skip
    assert all(kind.name == name for name, kind in KINDS.items())
    assert {name for name, kind in KINDS.items() if not kind.about_memories} == {"configure", "erase"}
    with pytest.raises(TypeError):
        KINDS["invent"] = FORGET  # type: ignore[index]
    with pytest.raises(AttributeError):
        FORGET.outcome = "none"  # type: ignore[misc]


def test_forget_is_the_papers_vote() -> None:
    # C = 0.4·D + 0.6·R < 0.4 (SPEC A, Alg. 3), with R = ½·rank + ½·share, at and just under the threshold.
    assert FORGET.score((250_000, 700_000, 300_000, NOW), POLICY) == 400_000
    assert FORGET.score((250_000, 500_000, 500_000, NOW), POLICY) == 400_000
    assert not FORGET.yes(400_000, POLICY)
    assert FORGET.yes(399_999, POLICY)
    assert FORGET.needed(POLICY) == Fraction(2, 3)


def test_a_vote_to_promote_is_told_term_by_term() -> None:
    terms = dict(zip(PROMOTE.terms, (700_000, 500_000, PPM, 500_000), strict=True))
    assert opinion_in_words(PROMOTE, terms, (True, 655_000), POLICY) == (
        "supported by what is near it 0.7, borne out by others 0.5, free of contradiction 1, certain 0.5: "
        "0.4·0.7 + 0.35·0.5 + 0.15·1 + 0.1·0.5 = 0.655 ≥ 0.6: promote"
    )


def test_evict_is_for_what_goes_first_as_far_as_the_excess_reaches_and_a_margin_on() -> None:
    """A tenth of a budget that is a half of what is held: 0.5 + 0.1·0.5."""

    def lets_go(before: int, beyond: int = 500_000) -> bool:
        return bool(opinion(EVICT, (before, beyond)).yes)

    assert lets_go(0) and lets_go(550_000) and not lets_go(550_001)
    assert opinion(EVICT, (1_000, 500_000)).score_ppm < opinion(EVICT, (2_000, 500_000)).score_ppm, "in their order"
    assert not lets_go(0, beyond=0), "within the budget nothing goes"
    assert not lets_go(PPM, beyond=PPM), "what is not to go has no place"
    assert EVICT.needed(POLICY) == FORGET.needed(POLICY) and EVICT.votes(3, 1) == 3


def test_a_vote_for_want_of_room_is_told_with_its_numbers() -> None:
    def in_words(before: int, beyond: int) -> str:
        found = opinion(EVICT, (before, beyond))
        return opinion_in_words(EVICT, {"before": before, "beyond": beyond}, (found.yes, found.score_ppm), POLICY)

    assert in_words(20_000, 500_000) == (
        "by its own reading 0.5 of what is held is too much, and 0.02 goes before this, ≤ 0.55: forget"
    )
    assert in_words(600_000, 500_000).endswith("0.6 goes before this, > 0.55: keep")
    assert in_words(PPM, 500_000).endswith("and this is not of what is to go for it: keep")
    assert in_words(PPM, 0) == "does not know it, or finds nothing too much: keep"
    assert in_words(0, PPM) == (
        "by its own reading its time is over, by its age, for want of use, or with its task: forget"
    )


def test_promote_is_the_cdcp_vote() -> None:
    # 0.40·bfs + 0.35·grounded + 0.15·consistency + 0.10·(1 - u) ≥ 0.60 (SPEC B, Alg. 13).
    assert PROMOTE.score((500_000, 500_000, PPM, 0), POLICY) == 625_000
    assert PROMOTE.score((0, 0, 0, PPM), POLICY) == 0
    assert PROMOTE.score((PPM, PPM, PPM, 0), POLICY) == PPM
    assert PROMOTE.yes(600_000, POLICY)
    assert not PROMOTE.yes(599_999, POLICY)
    assert PROMOTE.needed(POLICY) == Fraction(67, 100)


def test_a_member_restores_what_it_would_not_forget_just_now() -> None:
    def votes(age: int, relevance: int, holds: int = PPM) -> bool:
        terms = (holds, *forget_terms(age, relevance)) if holds else RESTORE.abstain(NOW)
        return bool(opinion(RESTORE, terms).yes)

    span = span_ms(POLICY)
    assert votes(0, 0) and votes(span - 1, 0)  # it would not even be nominated
    assert not votes(span + 1, 0)
    assert votes(span + 1, 500_000)  # C = 0.4·0.3 + 0.6·0.5 ≥ 0.4
    assert not votes(0, PPM, holds=0)
    assert RESTORE.needed(POLICY) == Fraction(1, 3) and RESTORE.votes(3, 1) == 2 and FORGET.votes(3, 1) == 3


def test_who_knows_nothing_says_no_to_restoring_whatever_the_threshold() -> None:
    policy = by_the_paper(forget=ForgetPolicy(theta_ppm=0))
    assert not opinion(RESTORE, RESTORE.abstain(NOW), policy).yes


def test_who_may_be_nominated_to_be_forgotten() -> None:
    span = span_ms(POLICY)
    assert FORGET.eligible(CANDIDATE, NOW + span, POLICY) == "decayed"
    assert FORGET.eligible(replace(CANDIDATE, tier="long-term"), NOW + span, POLICY) is None
    assert FORGET.eligible(CANDIDATE, NOW + span - 1, POLICY) is None
    assert FORGET.eligible(replace(CANDIDATE, tier="sealed"), NOW + span, POLICY) is None


def test_who_may_be_nominated_to_be_promoted() -> None:
    assert PROMOTE.eligible(CANDIDATE, NOW, POLICY) == "salient"
    assert PROMOTE.eligible(replace(CANDIDATE, early=True), NOW, POLICY) == "early"
    assert PROMOTE.eligible(CANDIDATE, NOW - 1, POLICY) is None
    assert PROMOTE.eligible(replace(CANDIDATE, salience_ppm=549_999), NOW, POLICY) is None
    assert PROMOTE.eligible(replace(CANDIDATE, tier="long-term"), NOW, POLICY) is None


@given(st.tuples(ppm, ppm, ppm), ppm, st.integers(0, 10**6))
def test_rounding_never_changes_the_vote_to_forget(terms: tuple[int, int, int], theta: int, omega: int) -> None:
    policy = by_the_paper(forget=ForgetPolicy(omega_decay_ppm=omega, omega_relevance_ppm=PPM - omega, theta_ppm=theta))
    decay, rank, near = terms
    exact = Fraction(omega * decay, PPM) + Fraction((PPM - omega) * (rank + near), 2 * PPM)
    assert FORGET.yes(FORGET.score((*terms, NOW), policy), policy) == (exact < theta)
    floating = (omega / PPM) * decay + (1 - omega / PPM) * (rank + near) / 2
    assert FORGET.score((*terms, NOW), policy) == pytest.approx(floating, abs=1.001)


@given(st.tuples(ppm, ppm, ppm, ppm), ppm)
def test_rounding_never_changes_the_vote_to_promote(terms: tuple[int, int, int, int], threshold: int) -> None:
    policy = by_the_paper(promote=PromotePolicy(yes_ppm=threshold))
    bfs, grounded, consistency, uncertainty = terms
    exact = Fraction(40 * bfs + 35 * grounded + 15 * consistency + 10 * (PPM - uncertainty), 100)
    assert PROMOTE.yes(PROMOTE.score(terms, policy), policy) == (exact >= threshold)
    assert 0 <= PROMOTE.score(terms, policy) <= PPM


@given(st.data(), kinds)
def test_honest_terms_pass(data: st.DataObject, kind: Kind) -> None:
    terms = data.draw(terms_of(kind))
    assert kind.check(terms, NOW, POLICY) is None
    assert holds(kind, terms)


@given(kinds)
def test_the_opinion_of_one_who_cannot_judge_is_a_no_that_passes(kind: Kind) -> None:
    unsure = opinion(kind, kind.abstain(NOW))
    assert not unsure.yes
    assert kind.check(unsure.terms, NOW, POLICY) is None


@pytest.mark.parametrize(
    ("kind", "terms", "complaint"),
    [
        (FORGET, (PPM + 1, 0, 0, NOW), "decay 1000001 lies outside"),
        (FORGET, (PPM, -1, 0, NOW), "rank -1 lies outside"),
        (FORGET, (PPM, 0, PPM + 1, NOW), "share 1000001 lies outside"),
        (FORGET, (PPM, 0, 0, NOW + 1), "the time that the vote speaks of"),
        (FORGET, (0, 0, 0, -1), "last_access -1 lies outside"),
        (FORGET, (PPM - 1, 0, 0, NOW), "decay 999999 does not follow from last_access, which gives 1000000"),
        (FORGET, (602_596, 0, 0, NOW - 60_000), "decay 602596 does not follow from last_access, which gives 602595"),
        (CONFIGURE, (1,), "holds 1 is neither 0 nor 1000000"),
        (RESTORE, (1, PPM, 0, 0, NOW), "holds 1 is neither 0 nor 1000000"),
        (RESTORE, (0, PPM, 0, 0, NOW), "it does not hold, and has other terms"),
        (RESTORE, (PPM, PPM - 1, 0, 0, NOW), "decay 999999 does not follow"),
        (RESTORE, (PPM, PPM, PPM + 1, 0, NOW), "rank 1000001 lies outside"),
        (RESTORE, (PPM, PPM, 0, 0, NOW + 1), "the time that the vote speaks of"),
        (SUPERSEDE, (1, PPM, 0, 0, 0), "contradicts 1 is neither 0 nor 1000000"),
        (OVERRULE, (PPM, 5, 0, 0, 0), "corrects 5 is neither 0 nor 1000000"),
        (SUPERSEDE, (PPM, PPM, PPM + 1, 0, 0), "challenger 1000001 lies outside"),
        (SUPERSEDE, (PPM, PPM, 0, -1, 0), "incumbent -1 lies outside"),
        (SUPERSEDE, (PPM, PPM, 0, 0, 1), "ground 1 does not go with contradicts 1000000"),
        (SUPERSEDE, (0, 0, 0, 0, 0), "ground 0 does not go with contradicts 0"),
        (OVERRULE, (0, 0, 0, 0, 10), "ground 10 does not go with contradicts 0"),
        (OVERRULE, (0, 0, 0, 0, -1), "ground -1 does not go with contradicts 0"),
        (EVICT, (PPM + 1, 0), "before 1000001 lies outside"),
        (EVICT, (0, -1), "beyond -1 lies outside"),
        (MERGE, (1, PPM), "same 1 is neither 0 nor 1000000"),
        (MERGE, (PPM, PPM + 1), "cosine 1000001 lies outside"),
        (ADMIT, (1, PPM), "held 1 is neither 0 nor 1000000"),
        (ADMIT, (PPM, -1), "gain -1 lies outside"),
        (GENERALISE, (PPM, -1), "admitted -1 lies outside"),
        (UNITE, (1, PPM), "same 1 is neither 0 nor 1000000"),
        (UNITE, (PPM, -1), "cosine -1 lies outside"),
        (PROMOTE, (PPM + 1, 0, 0, 0), "bfs 1000001 lies outside"),
        (PROMOTE, (0, -1, 0, 0), "grounded -1 lies outside"),
        (PROMOTE, (0, 0, PPM + 1, 0), "consistency 1000001 lies outside"),
        (PROMOTE, (0, 0, 0, -1), "uncertainty -1 lies outside"),
    ],
)
def test_terms_that_cannot_be_true_are_named(kind: Kind, terms: tuple[int, ...], complaint: str) -> None:
    assert complaint in str(kind.check(terms, NOW, POLICY))
    assert not holds(kind, terms)


@given(st.data(), kinds)
def test_many_opinions_are_sound_together_iff_each_is(data: st.DataObject, kind: Kind) -> None:
    said = data.draw(st.lists(terms_of(kind), max_size=5))
    for at in range(len(said)):
        if data.draw(st.integers(0, 9)) == 0:
            bent = [*said[at]]
            bent[data.draw(st.integers(0, len(bent) - 1))] += data.draw(st.sampled_from((-1, 1, -(2**63), 2**62)))
            said[at] = tuple(min(max(term, -(2**63)), 2**63 - 1) for term in bent)
    alone = [kind.check(terms, NOW, POLICY) is None for terms in said]
    columns = np.array(said, np.int64).reshape(-1, len(kind.terms)).T
    assert kind.sound(columns, NOW, POLICY) == all(alone)


@given(st.lists(ppm, max_size=8), st.integers(1, 8), st.data())
def test_an_order_statistic_never_rises_by_leaving_out(values: list[int], n: int, data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.sampled_from(range(len(values))), unique=True)) if values else []
    assert nth_highest([values[i] for i in kept], n) <= nth_highest(values, n)
    assert nth_highest(values, n) == (sorted(values)[-n] if len(values) >= n else 0)


# Founded well enough for a yes whatever the consistency.
strong = st.integers(850_000, PPM)
around_the_gate = st.sampled_from([0, 599_999, 600_000, PPM])
yes_to_promote = st.tuples(strong, strong, around_the_gate, ppm).map(lambda terms: opinion(PROMOTE, terms))


@settings(max_examples=examples(300))
@given(st.lists(yes_to_promote, max_size=7), st.integers(1, 5), st.data())
def test_leaving_ballots_out_never_lets_a_promotion_pass(ballots: list[Any], q: int, data: st.DataObject) -> None:
    assert all(ballot.yes for ballot in ballots)
    kept = data.draw(st.lists(st.sampled_from(range(len(ballots))), unique=True)) if ballots else []
    whole, part = PROMOTE.gate(ballots, q, POLICY), PROMOTE.gate([ballots[i] for i in kept], q, POLICY)
    assert whole.passed or not part.passed
    assert (part.confidence_ppm or 0) <= (whole.confidence_ppm or 0)


def test_the_validity_gate_weighs_the_qth_highest_consistency() -> None:
    sure = opinion(PROMOTE, (PPM, PPM, 600_000, 0))
    doubtful = opinion(PROMOTE, (PPM, PPM, 599_999, 0))
    assert doubtful.yes
    passed = PROMOTE.gate([sure, doubtful, sure, sure], 3, POLICY)
    assert passed.passed
    assert passed.confidence_ppm == sure.score_ppm
    refused = PROMOTE.gate([sure, doubtful, doubtful, sure], 3, POLICY)
    assert (refused.passed, refused.reason) == (False, "validity")
    assert FORGET.gate([], 3, POLICY).passed
