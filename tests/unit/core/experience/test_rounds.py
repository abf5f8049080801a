"""A candidate's decision follows from offsets and epochs alone, and later records never move it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.experience import rounds
from memquorum.core.experience.bench import Bench, PlacedTask
from memquorum.core.experience.draw import drawn
from memquorum.core.experience.reward import Reach
from memquorum.core.experience.rounds import PATIENCE, Ledger, Round
from memquorum.core.experience.trial import Case, Statistics, judges, tried
from memquorum.core.experience.view import Experience
from memquorum.core.policy import ExperiencePolicy
from tests.builders.experience import context, held, tasks, vector

POLICY = ExperiencePolicy()
VERIFIERS = tuple(f"verifier-{at}" for at in range(1, 6))
_OFFSETS = st.integers(0, 60)


@st.composite
def decisions(draw: st.DrawFn) -> list[Round]:
    """Decisions as a shard takes them: each nomination has read further than the one before it."""
    steps = draw(st.lists(st.integers(1, 9), max_size=12))
    places = [sum(steps[: at + 1]) for at in range(len(steps))]
    return [Round(epoch, bytes([epoch]) * 32, place) for epoch, place in enumerate(places, 1)]


def round_of(own: int, judged: list[int], decided: list[Round], after: int = 0, least: int = 3) -> Round | None:
    offset = rounds.behind(own, judged, least)
    return None if offset is None else rounds.first(decided, offset, after)


def test_what_was_rejected_waits_for_twice_as_many_tasks_each_time() -> None:
    assert [rounds.least_of(3, rejections) for rejections in range(6)] == [3, 3, 6, 12, 24, 48]


def test_what_members_refuse_rests_twice_as_long_each_time_and_not_for_ever() -> None:
    assert [rounds.rests(refusals) for refusals in range(5)] == [0, 1, 3, 7, 15]
    assert {rounds.rests(refusals) for refusals in (10, 11, 1_000)} == {1_023}


def test_a_ledger_tells_how_far_a_decision_had_read_and_which_had_read_no_farther() -> None:
    ledger = Ledger()
    ledger.add([Round(2, b"a", 10), Round(4, b"b", 30), Round(5, b"c", 30)])
    assert [ledger.read(epoch) for epoch in range(7)] == [0, 0, 10, 0, 30, 30, 0]
    assert [ledger.until(offset) for offset in (-1, 9, 10, 29, 30, 99)] == [0, 0, 2, 2, 5, 5]


@given(_OFFSETS, st.lists(_OFFSETS, unique=True), decisions(), st.integers(0, 4), st.randoms())
def test_the_round_is_the_same_in_whatever_order_it_is_reckoned(
    own: int, judged: list[int], decided: list[Round], after: int, lots: object
) -> None:
    mixed, some = list(decided), list(judged)
    lots.shuffle(mixed)  # type: ignore[attr-defined]
    lots.shuffle(some)  # type: ignore[attr-defined]
    assert round_of(own, judged, decided, after) == round_of(own, some, mixed, after)


@given(_OFFSETS, st.lists(_OFFSETS, unique=True), decisions(), st.integers(0, 4), st.lists(st.integers(0, 50)))
def test_what_comes_later_moves_no_round(
    own: int, judged: list[int], decided: list[Round], after: int, more: list[int]
) -> None:
    """Tasks behind the nomination, and further decisions: a publisher after the draw cannot choose another."""
    at = round_of(own, judged, decided, after)
    if at is None:
        return
    last = decided[-1]
    further = [*decided, Round(last.epoch + 1, b"x" * 32, last.accepted_offset + 1)]
    assert round_of(own, [*judged, *(at.accepted_offset + one for one in more)], further, after) == at


@given(_OFFSETS, st.lists(_OFFSETS, unique=True), decisions(), st.integers(0, 4))
def test_a_round_has_read_the_candidate_and_enough_judges_and_none_before_it_has(
    own: int, judged: list[int], decided: list[Round], after: int
) -> None:
    at = round_of(own, judged, decided, after)

    def able(one: Round) -> bool:
        there = sum(place < one.accepted_offset for place in judged)
        return own < one.accepted_offset and there >= 3 and one.epoch > after

    assert at == next((one for one in decided if able(one)), None)


@given(st.lists(_OFFSETS), _OFFSETS, st.integers(0, 9), st.integers(0, 9))
def test_a_ledger_answers_the_same_whatever_nominations_say(
    read: list[int], offset: int, after: int, at_first: int
) -> None:
    decided = [Round(2 * epoch, b"n", place) for epoch, place in enumerate(read, 1)]
    ledger = Ledger()
    ledger.add(decided[:at_first])
    ledger.add(decided[at_first:])
    assert ledger.first(offset, after) == rounds.first(decided, offset, after)
    assert ledger.epoch == (decided[-1].epoch if decided else 0)


def test_a_nomination_that_speaks_of_the_very_offset_has_not_read_it() -> None:
    decided = [Round(1, b"a", 7), Round(2, b"b", 8)]
    assert round_of(7, [1, 2, 3], decided) == decided[1]
    assert round_of(0, [1, 2, 7], decided) == decided[1]
    assert round_of(0, [1, 2, 6], decided) == decided[0]
    assert round_of(0, [1, 2, 6], decided, after=1) == decided[1]
    assert round_of(0, [1, 2], decided) is None
    assert round_of(0, [1, 2, 2], decided) is None, "a task is one judge"


def statistics(position: int = 1) -> Statistics:
    told = tried(Case(held("m"), tasks(4), Experience("mini", 2), position), Reach(), POLICY)
    assert told is not None
    return told


def drawn_verifiers(told: dict[str, Statistics], epoch: int = 1, faults: int = 1) -> tuple[str, ...]:
    at = Round(1, b"n" * 32, 9)
    return rounds.verifiers_to_try("m", at, told, VERIFIERS, POLICY, faults=faults, epoch=epoch)


def test_two_are_asked_and_the_third_where_they_differ_or_one_is_silent() -> None:
    order = drawn("m", b"n" * 32, VERIFIERS, 3)
    assert drawn_verifiers({}) == tuple(order[:2])
    assert drawn_verifiers({order[0]: statistics()}) == (order[1],)
    lie = replace(statistics(), runs=9)
    assert drawn_verifiers({order[0]: lie, order[1]: statistics()}) == (order[2],)
    assert drawn_verifiers({order[0]: statistics()}, epoch=PATIENCE) == (order[1],)
    assert drawn_verifiers({order[0]: statistics()}, epoch=1 + PATIENCE) == tuple(order[1:]), "one is silent"
    assert drawn_verifiers(dict.fromkeys(order[:2], statistics()), epoch=9) == (), "it is agreed"
    stranger = next(one for one in VERIFIERS if one not in order)
    assert drawn_verifiers({stranger: statistics()}, epoch=9) == tuple(order), "who was not drawn counts for nothing"


def test_what_a_memory_was_made_of_are_the_tasks_among_what_it_derives_from() -> None:
    assert rounds.made_of(["t2", "m1", "t1", "t2"], ["t1", "t2", "t3"]) == ("t1", "t2")


_UNIT = st.floats(-1, 1, width=16)


@pytest.mark.parametrize("sources", [(), ("c1", "c3")])
@given(
    st.lists(st.tuples(_UNIT, _UNIT).filter(any), max_size=12),
    st.tuples(_UNIT, _UNIT).filter(any),
    st.integers(0, 1_000_000),
)
def test_the_bench_finds_the_judges_that_a_trial_asks(
    sources: tuple[str, ...], vectors: list[tuple[float, float]], own: tuple[float, float], near: int
) -> None:
    policy = ExperiencePolicy(near_ppm=near, contexts_least=1)
    some = [context(id=f"c{at}", vector=vector(*one)) for at, one in enumerate(vectors)]
    some.append(context(id="other", encoder="other"))
    candidate = held("m", "The gateway uses port 8443.", *own, sources=sources)
    bench = Bench(PlacedTask(one.id, at, one.encoder, one.vector) for at, one in enumerate(some))
    expected = judges(candidate, some, Reach(), policy)
    stranger = held("x", "Nobody.", *own, encoder="another")
    near, nobody, again = bench.near([candidate, stranger, candidate], policy)
    assert [name for name, _ in near][: policy.contexts_most] == [one.id for one in expected]
    assert (nobody, again) == ([], near)
    assert len(bench) == len(some)
