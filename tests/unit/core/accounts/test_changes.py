"""The changes of a namespace between two times, from its journal, votes and contradictions."""

from __future__ import annotations

from memquorum.core.accounts import changes
from memquorum.core.accounts.changes import Change, Changes
from memquorum.core.api.answers import Conflict, Decision, JournalLine, Subject


def line(at: int, effect: str, *memory_ids: str, replaced: tuple[str, ...] = ()) -> JournalLine:
    return JournalLine(at, effect, f"ann {effect}.", "ann", memory_ids, f"e{at}", 0, None, {}, f"c{at}", replaced)


def decision(at: int, outcome: str, *memory_ids: str) -> Decision:
    subjects = tuple(Subject(one, "sealed") for one in memory_ids)
    return Decision(0, 3, 0, at, at, "forget", outcome, "r", "nobody used it", None, subjects, None, None, None, {}, ())


def conflict(at: int, *, disputed: bool) -> Conflict:
    return Conflict(
        "n", "o", "n", disputed, False, False, "mallory", "ann", at, 1, "short-term", "short-term", "new", "old", 9
    )


def test_a_filled_slot_tells_what_it_learned_and_what_it_replaced() -> None:
    learned, replaced = changes.of_journal([line(5, "stored", "b", replaced=("a",))])
    assert (learned.what, learned.memories) == ("learned", ("b",))
    assert (replaced.what, replaced.memories, replaced.by) == ("superseded", ("a",), "b")


def test_a_cleared_slot_tells_what_it_took_and_one_that_was_empty_tells_nothing() -> None:
    (took,) = changes.of_journal([line(5, "cleared", replaced=("a",)), line(6, "cleared"), line(7, "accessed", "a")])
    assert (took.what, took.memories, took.by) == ("cleared", ("a",), None)


def test_votes_that_kept_a_memory_are_no_changes() -> None:
    votes = [decision(5, "kept", "a"), decision(6, "voided", "a"), decision(7, "forgotten", "a")]
    (forgotten,) = changes.of_votes(votes)
    assert (forgotten.what, forgotten.at, forgotten.words) == ("forgotten", 7, "nobody used it")


def test_another_agents_word_disputes_and_ones_own_overtakes() -> None:
    disputed, overtaken = changes.of_conflicts([conflict(5, disputed=True), conflict(6, disputed=False)])
    assert disputed.words == "mallory disputes it" and overtaken.words == "mallory said something newer"
    assert {one.what for one in (disputed, overtaken)} == {"overtaken"} and overtaken.by == "n"


def test_changes_are_in_the_order_of_time_and_of_one_moment_what_is_learned_comes_first() -> None:
    at_once = [Change(5, "forgotten", ("a",), ""), Change(5, "learned", ("a",), ""), Change(4, "erased", ("z",), "")]
    assert [one.what for one in changes.in_order(at_once)] == ["erased", "learned", "forgotten"]


def test_texts_are_asked_for_once_and_never_of_what_was_erased() -> None:
    found = (Change(1, "learned", ("a",), ""), Change(2, "promoted", ("a",), ""), Change(3, "erased", ("b",), ""))
    assert changes.unread(found) == ("a",)
    shown = Changes("n", 0, 9, changes.with_texts(found, {"a": "Valve 3."}))
    assert [one.text for one in shown.changes] == ["Valve 3.", "Valve 3.", None]
    assert [one.memories for one in shown.of("erased")] == [("b",)]
