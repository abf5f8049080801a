"""The second step: what the first hits name is found, says through what, and takes no more places than it may."""

from __future__ import annotations

from time import process_time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.retrieval.hops import (
    KEPT,
    NAMES,
    OF_ONE,
    QUESTION,
    TAKEN,
    FoundMemory,
    followed,
    head,
    in_order,
    second,
    second_query,
)
from memquorum.core.retrieval.ranking import Scored
from tests.builders.found import candidate, name, scored

MILL = FoundMemory("mill", "The mill is driven by the River Aare, as Ida says.", 0.8)
LUNCH = FoundMemory("lunch", "Lunch is at noon.", 0.3)
AARE = FoundMemory("aare", "River Aare (Bern): it flows through Thun.", 0.2)
RHINE = FoundMemory("rhine", "River Rhine: it flows through Basel.", 0.4)
WHERE = "Through which town flows the river that drives the mill?"


@pytest.mark.parametrize(
    ("text", "of"),
    [
        ("River Aare (Bern): it flows through Thun.", "River Aare"),
        ("ida: I said so.", "ida"),
        ("Pump 7 was replaced by Jon.", "Pump 7"),
        ("The Bridge of Thun is closed.", "Bridge of Thun"),
        ("Élodie Ü. called.", "Élodie Ü"),
        ("The Tigers won.", ""),
        ("An HTML attribute is short.", ""),
        ("Lunch is at noon.", ""),
        ("We saw it: at 10:30.", ""),
        ("it is so", ""),
        ("", ""),
    ],
)
def test_what_a_text_is_of_stands_at_its_head(text: str, of: str) -> None:
    assert head(text) == of


def test_names_and_numbers_are_asked_for_once() -> None:
    assert second_query(["Pump 7 feeds the tank.", "Ida saw Pump 7."]) == "Pump 7 Ida"
    assert second_query(["nothing is named", ""]) == ""
    assert second_query([" ".join(f"Ida{at}" for at in range(99))]).split() == [f"Ida{at}" for at in range(NAMES)]


def test_what_a_first_hit_names_is_found_through_it() -> None:
    assert second(WHERE, [MILL, LUNCH], [RHINE, AARE]) == {"aare": "mill"}
    assert second(WHERE, [LUNCH, RHINE], [AARE]) == {}
    assert second("Where does River Rhine flow?", [MILL, LUNCH], [RHINE]) == {"rhine": QUESTION}


def test_what_is_named_by_a_later_hit_is_not_followed() -> None:
    assert second(WHERE, [LUNCH, RHINE, MILL], [AARE]) == {}


def test_what_ranks_further_down_comes_up() -> None:
    ids = ["mill", "lunch", "rhine", "aare"]
    assert in_order(ids, second(WHERE, [MILL, LUNCH, RHINE, AARE], [])) == ["mill", "lunch", "aare", "rhine"]


def test_of_many_of_one_thing_none_is_followed() -> None:
    def of(count: int) -> list[FoundMemory]:
        return [FoundMemory(f"a{at}", f"River Aare: sight {at}.", 0.1) for at in range(count)]

    assert len(second(WHERE, [MILL], of(OF_ONE))) == TAKEN
    assert second(WHERE, [MILL], of(OF_ONE + 1)) == {}


def test_a_name_within_a_longer_one_that_is_named_is_not_meant() -> None:
    bern, port = FoundMemory("bern", "Bern: it is old.", 0.9), FoundMemory("port", "Bern Airport: it is small.", 0.1)
    first = FoundMemory("first", "She landed at Bern Airport.", 0.5)
    assert second("Where did she land?", [first], [bern, port]) == {"port": "first"}
    assert second("Where did she land?", [first], [bern]) == {"bern": "first"}
    assert second("Where did she land?", [FoundMemory("first", "She landed at Bernau.", 0.5)], [bern]) == {}


def test_what_is_near_and_has_most_of_the_question_comes_first() -> None:
    told = [
        FoundMemory("a", "River Aare: it is cold.", 0.4),
        FoundMemory("b", "River Aare: it flows through a town.", 0.3),
        FoundMemory("c", "River Aare: it flows.", 0.2),
    ]
    assert list(second(WHERE, [MILL], told)) == ["b", "a", "c"]
    near = [FoundMemory("a", "River Aare: it is cold.", 0.3), FoundMemory("b", "River Aare: it is deep.", 0.2)]
    assert list(second(WHERE, [MILL], near)) == ["a", "b"]


def test_what_is_added_answers_as_well_as_the_first_hits_and_says_through_what() -> None:
    ranked = [scored(candidate(1, MILL.text), 0.9), scored(candidate(2, LUNCH.text), 0.5), scored(candidate(3), 0.4)]
    found = followed(WHERE, ranked, [scored(candidate(4, AARE.text), 0.01)])
    assert [one.candidate.hit.memory_id for one in found] == [name(1), name(2), name(4), name(3)]
    assert (found[2].score, found[2].relevance, found[2].through) == (0.5, 0.01, name(1))
    assert {one.through for one in found if one is not found[2]} == {None}
    assert followed(WHERE, ranked[1:], []) == ranked[1:]
    assert followed(WHERE, [], []) == []


TEXTS = st.lists(st.sampled_from([MILL.text, LUNCH.text, AARE.text, RHINE.text, "Aare River Aare", "Ida: mill"]))


@given(TEXTS, TEXTS)
def test_nothing_of_a_ranking_is_lost_and_its_scores_fall(first: list[str], looked: list[str]) -> None:
    ranked = [scored(candidate(at, text), 1 - at / 100) for at, text in enumerate(first)]
    found = followed(WHERE, ranked, [scored(candidate(at + 2, text), 0.9) for at, text in enumerate(looked)])
    ids = [one.candidate.hit.memory_id for one in found]
    added = [one for one in found if one.through is not None]
    assert len(ids) == len({*ids}) and {one.candidate.hit.memory_id for one in ranked} <= {*ids}
    assert len(added) <= TAKEN and found[: len(ranked[:KEPT])] == ranked[:KEPT]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert _rest(found) == [one for one in ranked if one.candidate.hit.memory_id not in _ids(added)]


def _rest(found: list[Scored]) -> list[Scored]:
    return [one for one in found if one.through is None]


def _ids(found: Any) -> set[str]:
    return {one.candidate.hit.memory_id for one in found}


def test_the_numbers_are_those_of_the_decision() -> None:
    assert (KEPT, TAKEN, NAMES, OF_ONE) == (2, 3, 12, 10)


@pytest.mark.parametrize("text", [" " * 60_000 + "pump 7 leaks", "a " * 30_000, "A" * 60_000, "\n" * 60_000])
def test_no_text_takes_long_to_be_looked_at(text: str) -> None:
    began = process_time()
    head(text)
    assert process_time() - began < 0.2
