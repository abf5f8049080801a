"""Ballots: an opinion follows from what the member knows, passes everybody's check, and ignorance says no."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.budgets.least import BudgetPlace
from memquorum.core.decay import decay_ppm
from memquorum.core.policy import PPM, ConsolidatePolicy
from memquorum.core.records import Proposal
from memquorum.core.vote.grounds import Grounds, Trialled
from memquorum.core.vote.judging import MemberContext, MemoryFacts, judged
from memquorum.core.vote.kinds import FORGET, KINDS, LETS_GO, MAKES_ROOM, PROMOTE
from memquorum.core.vote.kinds.kind import Kind, Opinion
from tests.builders import votes
from tests.builders.policies import by_the_paper

POLICY = by_the_paper()
NOW = 1_700_000_000_000
OLD = NOW - 7_200_000
VECTOR = np.array([1.0, 0.0], np.float32)
FACTS = MemoryFacts("m", "n", "agent", created=OLD, last_access=OLD, salience_ppm=600_000, vector=VECTOR, rank_ppm=0)
EMPTY = MemberContext("n")
LATE = [(1.0, 0.1), (1.0, -0.1), (0.9, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0), (-0.9, 0.3), (-0.2, 0.9)]
BUSY = MemberContext.of("n", [(f"e{at}", np.array(one, np.float32), None) for at, one in enumerate(LATE)])
kinds = pytest.mark.parametrize("kind", list(KINDS.values()), ids=list(KINDS))


def proposal(kind: Kind) -> Proposal:
    return Proposal(("m",), "n", kind.name, "reason", OLD, OLD, 600_000)


def judge(kind: Kind, facts: MemoryFacts | None, context: MemberContext, **changes: Any) -> Opinion:
    (terms,) = judged(
        kind,
        [(proposal(kind), None if facts is None else (facts,))],
        context,
        **({"as_of": NOW, "policy": POLICY} | changes),
    )
    assert kind.check(terms, NOW, POLICY) is None
    return votes.following(kind, terms, POLICY)


def test_what_decayed_and_is_of_no_use_is_voted_out() -> None:
    decay = decay_ppm(OLD, NOW, POLICY)
    assert judge(FORGET, FACTS, EMPTY) == Opinion(True, 400_000 * decay // PPM, (decay, 0, 0, OLD))


def test_what_is_of_use_now_is_kept_however_decayed() -> None:
    given = judge(FORGET, replace(FACTS, rank_ppm=600_000), BUSY)
    assert given.terms[1] == 600_000 and given.terms[2] == PPM
    assert not given.yes
    assert judge(FORGET, replace(FACTS, rank_ppm=600_000), EMPTY).yes


@pytest.mark.parametrize("context", [EMPTY, MemberContext.of("n", [("e", VECTOR, None)])])
def test_without_context_the_rank_of_its_worth_is_all(context: MemberContext) -> None:
    high, low = (judge(FORGET, replace(FACTS, rank_ppm=rank), context) for rank in (700_000, 200_000))
    assert (high.terms[1:3], high.yes) == ((700_000, 700_000), False)
    assert (low.terms[1:3], low.yes) == ((200_000, 200_000), True)


def test_an_access_after_the_time_of_the_vote_counts_as_one_at_it() -> None:
    given = judge(FORGET, replace(FACTS, last_access=NOW + 5), EMPTY)
    assert given.terms == (PPM, 0, 0, NOW)


def test_a_promotion_is_judged_by_the_evidence() -> None:
    answers = Grounds(lambda *_: 100, lambda *_: 200, lambda *_: 500_000, lambda *_: 400)
    assert judge(PROMOTE, FACTS, EMPTY, grounds=answers).terms == (100, 200, 500_000, 400)
    disputed = Grounds(lambda *_: 100, lambda *_: 200, lambda *_: 499_999, lambda *_: 400)
    assert judge(PROMOTE, FACTS, EMPTY, grounds=disputed).terms == PROMOTE.abstain(NOW), "it waits for a day"


def test_a_member_checks_itself_what_makes_a_memory_eligible() -> None:
    sure = Grounds(lambda *_: PPM, lambda *_: PPM, lambda *_: PPM, lambda *_: 0)
    assert judge(PROMOTE, replace(FACTS, created=NOW - 60_000), BUSY, grounds=sure).yes
    assert not judge(PROMOTE, replace(FACTS, created=NOW - 59_999), BUSY, grounds=sure).yes
    assert judge(PROMOTE, replace(FACTS, salience_ppm=550_000), BUSY, grounds=sure).yes
    assert not judge(PROMOTE, replace(FACTS, salience_ppm=549_999), BUSY, grounds=sure).yes


def test_where_a_namespace_keeps_what_it_has_every_member_is_against_it() -> None:
    def found(retained: str) -> Opinion:
        return judge(FORGET, FACTS, EMPTY, policy=by_the_paper(consolidate=ConsolidatePolicy(retained=retained)))

    assert found("m k*").yes and not found("m n").yes
    assert found("n*").terms == FORGET.abstain(NOW)


@kinds
@pytest.mark.parametrize(
    ("facts", "context"),
    [
        (None, EMPTY),
        (replace(FACTS, vector=None), EMPTY),
        (replace(FACTS, memory_id="other"), EMPTY),
        (replace(FACTS, namespace="elsewhere"), EMPTY),
        (FACTS, MemberContext("elsewhere")),
    ],
    ids=["unknown", "cannot open", "another memory", "another namespace", "context of another namespace"],
)
def test_ignorance_says_the_strongest_no(kind: Kind, facts: MemoryFacts | None, context: MemberContext) -> None:
    given = judge(kind, facts, context)
    assert not given.yes
    assert given.score_ppm == (PPM if kind.name in {*LETS_GO.values(), *MAKES_ROOM.values()} else 0)


@pytest.mark.parametrize("name", sorted({*LETS_GO.values(), "restore"}))
def test_who_cannot_read_it_says_no(name: str) -> None:
    given = judge(KINDS[name], replace(FACTS, rank_ppm=None), BUSY)
    assert not given.yes and given.terms == KINDS[name].abstain(NOW)


@given(
    st.sampled_from(list(KINDS.values())),
    st.integers(0, 2 * NOW),
    st.lists(st.lists(st.floats(-1, 1, width=16), min_size=2, max_size=2), max_size=4),
    st.none() | st.integers(0, PPM),
    st.integers(0, 3),
)
def test_every_opinion_passes_the_check_of_others(
    kind: Kind, last_access: int, recent: list[list[float]], uncertainty: int | None, reinforced: int
) -> None:
    facts = replace(FACTS, last_access=last_access, uncertainty_ppm=uncertainty, reinforced=reinforced)
    context = MemberContext.of("n", [(f"e{i}", np.array(v, np.float32), None) for i, v in enumerate(recent)])
    judge(kind, facts, context)


@kinds
def test_opinions_made_together_are_those_made_alone(kind: Kind) -> None:
    dice = np.random.default_rng(5)
    asked = [
        (
            replace(proposal(kind), memory_ids=(f"m{i}",)),
            (
                replace(
                    FACTS,
                    memory_id=f"m{i}",
                    last_access=OLD + i,
                    vector=vector,
                    text="Valve 7 leaks.",
                    reads=i % 3,
                    rank_ppm=i,
                    place=BudgetPlace(i, PPM // 2),
                    trial=Trialled(i % 2 == 0, 100_000 * i),
                ),
            ),
        )
        for i, vector in enumerate(dice.standard_normal((9, 2)).astype(np.float16).astype(np.float32))
    ]
    asked[3:5] = [(asked[3][0], None), (asked[4][0], (replace(asked[4][1][0], vector=None),))]
    known = MemberContext.of("n", [("m1", VECTOR, None), ("e2", np.array([0.6, 0.8], np.float32), None)])
    together = judged(kind, asked, known, as_of=NOW, policy=POLICY)
    alone = [judged(kind, [one], known, as_of=NOW, policy=POLICY) for one in asked]
    assert together == [terms for (terms,) in alone]
    # No memory tells anything about an order: it is judged elsewhere. Contradictions and twins need two memories
    # (tests/unit/core/vote/kinds).
    assert len(set(together)) > (0 if kind.ordered or kind.spares else 2)
    assert judged(kind, [], known, as_of=NOW, policy=POLICY) == []
