"""The quotas of a working memory: what each part has first, and what becomes of what it leaves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.api.answers import Rollup, RollupSentence
from memquorum.core.reading.tokens import tokens
from memquorum.core.retrieval.buffer import Trace
from memquorum.core.retrieval.quotas import Quotas
from memquorum.core.retrieval.ranking import Candidate
from memquorum.core.retrieval.working import ASKED, REMEMBERED, SESSION, Frame, Working, assemble, line, rolled_cost
from memquorum.core.showing.quoting import HEADING
from tests.builders.found import candidate, name, scored

FRAME = Frame(1_000, 0.0, 20, session=True)
NONE = Quotas(0.0, 0.0, 0.0)


def said(number: int, tier: str = "short-term") -> Candidate:
    return candidate(number, f"Reading {number:03}.", angle=30 * number, tier=tier)


ONE = tokens(line(said(1).hit))


def sentence(number: int) -> RollupSentence:
    return RollupSentence(f"Pump 7 did {number:03}.", name(number), 0, 15, "facts", 0, "ann", "ann", 0, name(number))


def of(*numbers: int) -> Rollup:
    return Rollup("n", "pump 7", tuple(map(sentence, numbers)), 0)


def made(
    ranked: list[Candidate], budget: int, quotas: Quotas = NONE, *rolled: Rollup, traces: tuple[Candidate, ...] = ()
) -> Working:
    """`budget`: beside the headings."""
    frame = replace(FRAME, budget=budget + tokens(HEADING) + tokens(REMEMBERED), quotas=quotas)
    ring = [Trace(one, place) for place, one in enumerate(traces, 1)]
    return assemble(ring, [scored(one, 1 / rank) for rank, one in enumerate(ranked, 1)], frame, "q", rolled=rolled)


def ids(found: Working) -> list[int]:
    return [int(one.item.scored.candidate.hit.memory_id[-3:], 16) for one in found.placed]


RANKED = [*map(said, range(1, 5)), said(5, "long-term"), said(6, "long-term")]


def test_a_tier_that_ranks_last_has_its_quota_and_the_order_stays() -> None:
    assert ids(made(RANKED, 3 * ONE)) == [1, 2, 3]
    found = made(RANKED, 3 * ONE, Quotas(0.0, 0.3, 0.0))
    assert ids(found) == [1, 2, 5]
    assert found.took == {"short_term": 2 * ONE, "long_term": ONE}
    assert ids(made([*RANKED[4:], *RANKED[:4]], 2 * ONE, Quotas(0.3, 0.0, 0.0))) == [5, 1]


def test_what_a_part_leaves_goes_to_the_others() -> None:
    assert ids(made(RANKED, 5 * ONE, Quotas(0.0, 0.9, 0.0))) == [1, 2, 3, 5, 6], "it has no more than two"
    assert ids(made(RANKED[:4], 3 * ONE, Quotas(0.0, 0.9, 0.9))) == [1, 2, 3]


def test_a_quota_is_of_the_number_too() -> None:
    frame = replace(FRAME, k_max=4, quotas=Quotas(0.0, 0.5, 0.0))
    found = assemble([], [scored(one, 1 / rank) for rank, one in enumerate(RANKED, 1)], frame, "q")
    assert ids(found) == [1, 2, 5, 6]


def test_a_quota_takes_nothing_from_the_buffer() -> None:
    frame = replace(FRAME, budget=ONE + tokens(HEADING) + tokens(REMEMBERED) + tokens(SESSION), share=1.0)
    found = assemble([Trace(said(9), 1)], [scored(said(1, "long-term"))], replace(frame, quotas=Quotas(0.9, 0.9, 0.9)))
    assert (ids(found), found.took) == ([9], {"buffer": ONE})


def test_a_roll_up_has_its_quota_and_gives_the_latest_sentences() -> None:
    cost, head = rolled_cost(sentence(20)), tokens(ASKED)
    budget = 2 * ONE + head + cost
    assert (
        made(RANKED, budget, NONE, of(20, 21)).rolled == ()
        or made(RANKED, budget, NONE, of(20, 21)).took["rollups"] < head + 2 * cost
    )
    found = made(RANKED, budget, Quotas(0.0, 0.0, 0.9), of(20, 21))
    (rolled,) = found.rolled
    assert [one.memory_id for one in rolled.sentences] and found.took["rollups"] >= head + cost
    assert rolled.sentences[-1] == sentence(21)
    assert f"{ASKED}- [1970-01-01 00:00] ann" in found.text and found.text.count("Pump 7 did 021") == 1


def test_what_a_memory_says_already_no_roll_up_says_again() -> None:
    told = candidate(20, sentence(20).text, angle=10)
    found = made([told], 200, Quotas(), of(20, 21))
    assert [one.memory_id for one in found.rolled[0].sentences] == [name(21)]
    assert found.rolled[0].more == 1
    assert made([told], 200, Quotas(), of(20)).rolled == (), "a roll-up of which nothing is left"


def test_two_that_say_the_same_are_one_whichever_is_packed_first() -> None:
    better, worse = candidate(1, "Valve 3 is red."), candidate(2, "Valve 3 is red.", tier="long-term")
    filler = [said(number) for number in range(3, 6)]
    found = made([*filler, better, worse], 3 * ONE, Quotas(0.0, 0.4, 0.0))
    assert len({1, 2} & {*ids(found)}) == 1


@given(
    st.lists(st.tuples(st.integers(1, 40), st.booleans()), max_size=12, unique_by=lambda one: one[0]),
    st.integers(0, 300),
    st.tuples(*[st.floats(0, 1)] * 3),
    st.integers(0, 4),
)
def test_never_more_than_the_budget_and_the_parts_are_all_of_it(
    some: list[tuple[int, bool]], budget: int, shares: tuple[float, float, float], sentences: int
) -> None:
    ranked = [said(number, "long-term" if long else "short-term") for number, long in some]
    found = made(ranked, budget, Quotas(*shares), of(*range(50, 50 + sentences)), traces=(said(60), said(61)))
    assert found.packed.tokens <= budget + tokens(HEADING) + tokens(REMEMBERED)
    assert tokens(found.text) <= found.packed.tokens
    titles = sum(tokens(title) for title in (HEADING, SESSION, REMEMBERED) if title in found.text)
    assert sum(found.took.values()) + titles == found.packed.tokens
    assert len(ids(found)) == len({*ids(found)})


@pytest.mark.parametrize("quotas", [NONE, Quotas(), Quotas(1.0, 1.0, 1.0)])
def test_where_all_fits_quotas_change_nothing(quotas: Quotas) -> None:
    assert ids(made(RANKED, 6 * ONE, quotas)) == [1, 2, 3, 4, 5, 6]
