"""In which order memories that contradict each other are served."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.api.answers import Hit
from memquorum.core.retrieval.conflicts import (
    Contradiction,
    Pair,
    bearing,
    concerning,
    cut_to_denied,
    inserted,
    marks,
    missing,
    ordered,
    read,
    stood_for,
    with_denied_lines,
)
from memquorum.core.retrieval.overtaken import Beside, placed
from memquorum.core.retrieval.packing import pack
from memquorum.core.retrieval.ranking import Candidate, Scored

SYNC = Contradiction("four", "three", False, 2, 1, "short-term", "short-term")


def test_the_newer_one_comes_first_in_the_place_of_the_better_one() -> None:
    assert ordered(["x", "three", "y", "four", "z"], [SYNC]) == ["x", "four", "three", "y", "z"]


def test_what_was_promoted_stays_first_against_another_agent_and_its_challenger_stands_below() -> None:
    promoted = replace(SYNC, older_tier="long-term")
    assert ordered(["four", "x", "three"], [promoted]) == ["three", "four", "x"]
    assert ordered(["four", "x", "three"], [replace(promoted, own=True)]) == ["four", "three", "x"]


def test_a_chain_is_served_latest_first() -> None:
    off = Contradiction("off", "four", False, 3, 2, "short-term", "short-term")
    assert ordered(["three", "four", "off"], [SYNC, off]) == ["off", "four", "three"]


def test_a_ring_comes_to_an_end() -> None:
    ring = [
        Contradiction("b", "a", False, 2, 1, "short-term", "short-term"),
        Contradiction("c", "b", False, 3, 2, "short-term", "short-term"),
        Contradiction("c", "a", False, 3, 1, "short-term", "long-term"),
    ]
    assert sorted(ordered(["a", "b", "c"], ring)) == ["a", "b", "c"]


def test_what_has_to_stand_first_and_was_not_found_comes_in_before_the_other() -> None:
    assert missing(["x", "three"], [SYNC]) == ["four"]
    assert missing(["x", "four"], [SYNC]) == []
    assert inserted(["x", "three"], ["four"], [SYNC]) == ["x", "four", "three"]


def test_both_are_marked_with_each_other() -> None:
    found = marks([SYNC])
    assert {one: by.conflicts_with for one, by in found.items()} == {"four": ("three",), "three": ("four",)}
    assert [by.by for by in found["three"].against] == ["four"] and found["four"].against == ()
    assert found["four"].overtakes == (), "another agent's word alone overtakes nothing"
    assert marks([replace(SYNC, own=True)])["four"].overtakes == ("three",)


# A sentence of a summary --------------------------------------------------------------------------------------------

TOMAS, ROSA, TEST = (
    "Tomas measured 3.8 bar at the inlet of pump 7.",
    "Rosa ordered a new gasket for pump 7.",
    "We decided to test pump 7 on Thursday at 14:00.",
)
SUMMARY = f"Key facts:\n{TOMAS}\n{ROSA}\nDecisions:\n{TEST}"
FRIDAY = Contradiction("friday", "sum", True, 2, 1, "short-term", "short-term", denied=frozenset({TEST}))
GASKET = replace(FRIDAY, newer="gasket", newer_at=3, denied=frozenset({ROSA}))


def summary(text: str = SUMMARY) -> Candidate:
    hit = Hit(
        "sum", text, "short-term", "consolidator", 0, 0, 0, 0.5, 0.7, excerpt=text != SUMMARY, made_by="extractive/1"
    )
    return Candidate(hit, "hashing-512", np.ones(1, np.float32), True, 1.0, (), SUMMARY if text != SUMMARY else None)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We decided to test pump 7 on Friday at 14:00.", {TEST}),
        ("No, Rosa ordered no gasket for pump 7.", {ROSA}),
        ("Correction: Tomas measured 4.4 bar at the inlet of pump 7.", {TOMAS}),
        ("No, I meant 15:30", {TEST}),
        ("Somebody else orders all of it.", {TOMAS, ROSA, TEST}),
    ],
)
def test_which_sentence_of_a_summary_is_denied_follows_from_both_texts(text: str, found: set[str]) -> None:
    pair = Pair("new", "sum", True, 2, 1, "short-term", "short-term")
    assert read(pair, "ann", text, SUMMARY, summary=True).denied == found
    assert not read(pair, "ann", None, SUMMARY, summary=True).denied, "who may not read the newer one is told less"


def test_a_summary_stands_in_contradiction_where_the_sentence_is_served_and_nowhere_else() -> None:
    both = [FRIDAY, GASKET]
    assert concerning(both, {"sum": TOMAS}) == []
    assert concerning(both, {"sum": ROSA}) == [GASKET]
    assert concerning(both, {"sum": f"{ROSA}\n{TEST}"}) == both == concerning(both, {"sum": SUMMARY})
    assert concerning(both, {"gasket": "no gasket"}) == both, "it says otherwise than a summary that is not served"
    assert concerning([SYNC], {"three": "at 3"}) == [SYNC]


def test_of_a_summary_that_comes_in_first_the_sentence_in_question_is_served() -> None:
    assert (cut_to_denied(summary().hit, [GASKET]).text, cut_to_denied(summary().hit, [GASKET]).excerpt) == (ROSA, True)
    assert cut_to_denied(summary().hit, [replace(GASKET, older="other")]) == summary().hit


@pytest.mark.parametrize("near", [f"{TOMAS}\n{ROSA}", SUMMARY])
def test_what_is_packed_of_a_summary_is_marked_by_what_denies_just_that(near: str) -> None:
    found = with_denied_lines(summary(near), [FRIDAY, GASKET]).beside(Beside(("friday", "gasket")))
    (item,) = pack([Scored(found, 1.0, 1.0, 1.0)], 500, 5, question="Who ordered the gasket for pump 7?").items
    hit = item.scored.candidate.hit
    if near == SUMMARY:
        assert (hit.text, hit.conflicts_with) == (f"{TOMAS}\n{ROSA}\n{TEST}", ("friday", "gasket"))
    else:
        assert (hit.text, hit.conflicts_with) == (near, ("gasket",)), "what is denied and was not asked for is left out"
    (first,) = pack([Scored(found, 1.0, 1.0, 1.0)], 15, 5, question="Who measured 3.8 bar at the inlet?").items
    assert (first.scored.candidate.hit.text, first.scored.candidate.hit.conflicts_with) == (TOMAS, ())


# A statement of a note ----------------------------------------------------------------------------------------------

NOTE = "Ada lives at Elm Road 5. Her phone is 555-0100. She is allergic to nuts."
PAIR = Pair("moved", "note", True, 2, 1, "short-term", "short-term")


def note(against: Contradiction) -> Candidate:
    hit = Hit("note", NOTE, "short-term", "ada", 1, 0, 0, 0.5, 0.7)
    one = Candidate(hit, "hashing-512", np.ones(1, np.float32), True, 1.0, ())
    return one.beside(marks([against])["note"])


def test_a_correction_of_one_statement_marks_that_one_and_leaves_the_rest() -> None:
    found = read(PAIR, "ada", "Her phone is 555-0199 now.", NOTE, summary=False)
    assert found.statements == ("Her phone is 555-0100.",)
    assert found.denied == frozenset(), "all of a note is served"
    (item,) = pack([Scored(note(found), 1.0, 1.0, 1.0)], 500, 5).items
    (mark,) = item.scored.candidate.hit.overtaken
    assert (mark.by, mark.agent, mark.since, mark.disputed) == ("moved", "ada", 2, False)
    assert [NOTE[start:end] for start, end in mark.spans] == ["Her phone is 555-0100."]


def test_another_agents_word_disputes_unless_it_says_so_on_purpose() -> None:
    assert read(replace(PAIR, own=False), "ada", "x", NOTE, summary=False).otherwise.disputed
    assert not read(replace(PAIR, own=False, stated=True), "ada", "x", NOTE, summary=False).otherwise.disputed
    assert not read(PAIR, "ada", "x", NOTE, summary=False).otherwise.disputed


def test_a_mark_without_a_statement_concerns_the_whole_text() -> None:
    found = read(PAIR, "ada", "Unrelated words.", NOTE, summary=False)
    assert found.statements == ()
    (item,) = pack([Scored(note(found), 1.0, 1.0, 1.0)], 500, 5).items
    assert [mark.spans for mark in item.scored.candidate.hit.overtaken] == [()]


def test_the_statements_that_a_model_named_are_marked_and_no_other() -> None:
    pair = Pair("linz", "elm", True, 2, 1, "short-term", "short-term")
    older, newer = "Ada lives at Elm Road 5. Her van is blue. It is old.", "Ada has a flat in Linz. Her van is red."

    def marked(**said: Any) -> tuple[str, ...]:
        return read(replace(pair, **said), "ada", newer, older, summary=False).statements

    assert marked(numbers=(1, 3)) == ("Ada lives at Elm Road 5.", "It is old.")
    assert marked(numbers=(2, 9)) == ("Her van is blue.",), "a number that no statement has names one"
    assert marked() == marked(numbers=(), stated=True) != ("Ada lives at Elm Road 5.", "It is old.")


@pytest.mark.parametrize(
    ("question", "bears"),
    [
        ("What is Ada's phone number?", True),
        ("Is she allergic to nuts?", False),
        ("Where can one park?", False),
        ("", False),
    ],
)
def test_a_note_stands_behind_a_newer_memory_where_that_statement_is_asked_for(question: str, bears: bool) -> None:
    found = read(PAIR, "ada", "Her phone is 555-0199 now.", NOTE, summary=False)
    assert bearing([found], question) == ([found] if bears else [])
    assert bearing([SYNC], question) == [SYNC], "of a memory of one statement all is asked for"


@pytest.mark.parametrize(
    ("question", "bears"),
    [("When does the shop open?", True), ("What does the shop sell?", False), ("Which code has the gate?", True)],
)
def test_a_sentence_stands_behind_a_newer_memory_where_that_clause_is_asked_for(question: str, bears: bool) -> None:
    sentence = "The shop opens at 9 and sells bread."
    found = read(PAIR, "ada", "The shop opens at 10 now.", sentence, summary=False)
    assert found is not None and found.statements == (sentence,)
    assert bearing([found], question) == ([found] if bears else [])


def test_of_a_sentence_of_several_clauses_the_one_that_was_overtaken_is_marked() -> None:
    sentence = "Ben lives in Porto, has two cats and works at a bakery."
    found = read(PAIR, "ada", "Ben moved to Braga.", sentence, summary=False)
    assert found is not None and found.otherwise.statements == ("Ben lives in Porto",)


# A newer memory that was forgotten -----------------------------------------------------------------------------------

GONE = [replace(PAIR, newer_tier=tier) for tier in ("sealed", "gone")]


@pytest.mark.parametrize("pair", GONE)
def test_a_forgotten_memory_marks_by_the_numbers_and_orders_nothing(pair: Pair) -> None:
    found = read(replace(pair, numbers=(2,)), "ada", None, NOTE, summary=False)
    assert found is not None and found.statements == ("Her phone is 555-0100.",)
    beside = marks([found])
    assert beside.keys() == {"note"}, "it is no hit, and overtakes none"
    assert [by.by for by in beside["note"].against] == ["moved"] and beside["note"].conflicts_with == ()
    assert ordered(["x", "note"], [found]) == ["x", "note"] and missing(["note"], [found]) == []


def test_a_forgotten_memory_without_numbers_marks_the_whole() -> None:
    found = read(GONE[0], "ada", None, NOTE, summary=False)
    assert found is not None and found.otherwise.statements == ()
    assert [one.spans for one in placed(NOTE, [found.otherwise])] == [()]


def test_a_forgotten_memory_marks_the_lines_of_a_summary_that_it_denied_and_no_others() -> None:
    pair = Pair("new", "sum", True, 2, 1, "gone", "short-term")
    found = read(replace(pair, numbers=(3,)), "ann", None, SUMMARY, summary=True)
    assert found is not None and found.denied == {ROSA} and concerning([found], {"sum": TOMAS}) == []
    assert read(pair, "ann", None, SUMMARY, summary=True) is None, "nothing tells which of them"
    stated = read(replace(pair, stated=True), "ann", None, SUMMARY, summary=True)
    assert stated is not None and stated.denied == {TOMAS, ROSA, TEST}


def test_numbers_count_before_the_rules() -> None:
    found = read(replace(PAIR, numbers=(3,)), "ada", "Her phone is 555-0199 now.", NOTE, summary=False)
    assert found is not None and found.statements == ("She is allergic to nuts.",)


def test_a_hit_stands_for_those_that_are_folded_into_it() -> None:
    assert stood_for([SYNC], {"three": "x"}) == [replace(SYNC, older="x")]
    assert stood_for([SYNC], {"three": "x", "four": "x"}) == []
