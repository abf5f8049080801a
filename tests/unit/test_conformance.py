"""The verdict on the conformance suite's outcome; the page agrees with the kept result."""

from __future__ import annotations

from collections import Counter

from tests.conformance.outcome import MARKS, PAGE, PASSED, Outcome, judged, kept_outcome
from tests.conformance.suite import EXCLUDED


def test_a_scenario_passes_where_something_was_checked_and_all_of_it_succeeded() -> None:
    fine, none = Counter({"SUCCESS": 2, "INFO": 1}), Counter({"INFO": 3})
    wrong, warned = Counter({"SUCCESS": 1, "FAILURE": 1}), Counter({"SUCCESS": 1, "WARNING": 1})
    told = judged({"a": fine, "b": none, "c": wrong, "d": warned, "e": wrong}, {"e": "why"})
    assert (told["a"], told["e"]) == (PASSED, "why")
    assert [name for name, one in told.items() if one.startswith("!")] == ["b", "c", "d"]


def test_what_is_left_out_has_to_be_there_and_to_fail() -> None:
    told = judged({"a": Counter({"SUCCESS": 1})}, {"a": "why", "gone": "why"})
    assert told == {"a": "!passes, and is left out", "gone": "!is no scenario"}
    ended = Outcome({}, told, {"asked": False})
    assert len(ended.failed) == 3 and ended.passed == 0


def test_the_page_tells_what_was_kept() -> None:
    told = kept_outcome()
    _, _, rest = PAGE.read_text().partition(MARKS[0])
    assert rest.partition(MARKS[1])[0].strip() == told.page()
    assert told.failed == [] and {name: why for name, why in told.scenarios.items() if why != PASSED} == EXCLUDED
