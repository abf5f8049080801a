"""The topics of a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.reading.parsing import placed, tokens_of
from memquorum.core.reading.topics import MOST, key, names


@pytest.mark.parametrize(
    ("sentence", "spoken"),
    [
        ("The boiler in hall 3 was serviced by Marta Keller on 12 March.", ["boiler", "hall 3", "Marta Keller"]),
        ("Tomas measured 3.8 bar at the outlet of pump 7.", ["Tomas", "outlet", "pump 7"]),
        ("Pump 7 is broken.", ["Pump 7"]),
        ("Block C has 3 valves.", ["Block C"]),
        ("Freezer F3 is at -18 degrees.", ["Freezer F3"]),
        ("We emptied the freezer F3 on Monday.", ["freezer F3"]),
        ("The lid of freezer F3 sticks.", ["lid", "freezer F3"]),
        ("Der Kühlschrank F3 ist kaputt.", ["Kühlschrank F3"]),
        ("KX-88 fits pump 7.", ["KX-88", "pump 7"]),
        ("The new part is KX-88.", ["new part", "KX-88"]),
        ("Apollo's deadline moved to Monday.", ["Apollo", "deadline"]),
        ("The team’s budget grew to 40 euros.", ["team", "budget"]),
        ("We decided to move the pump test to Thursday.", ["pump test"]),
        ("Lunch is at noon.", ["Lunch"]),
        ("I will call them on Friday at 4.", []),
        ("Is pump 7 broken?", []),
        ("Die Sitzung mit Frau Weber ist in Halle 3.", ["Die Sitzung", "Frau Weber", "Halle 3"]),
        ("", []),
    ],
)  # fmt: skip
def test_names_and_things_are_found_where_they_stand(sentence: str, spoken: list[str]) -> None:
    assert [sentence[one.start : one.end] for one in names(sentence)] == spoken


def test_one_thing_has_one_key_however_it_is_written() -> None:
    assert key("the Pumps") == key("pump") == key("my pump")
    assert key("Ms Weil") == key("Weil")
    assert len({key("pump 7"), key("pump 8"), key("pump")}) == 3
    assert key("The") and not key("...")


@given(st.text(max_size=120))
def test_of_any_text_names_lie_in_it_each_once(text: str) -> None:
    found = names(text)
    assert len(found) <= MOST and len({one.key for one in found}) == len(found)
    for one in found:
        assert 0 <= one.start < one.end <= len(text) and one.key
        assert key(text[one.start : one.end]) == one.key


@given(st.text(alphabet=st.sampled_from("ab A7.:,'’/- "), max_size=60))
def test_words_are_placed_as_they_are_read(text: str) -> None:
    found = placed(text)
    assert [word for word, _, _ in found] == tokens_of(text)[0]
    assert all(text[start:end].replace("’", "'") == word for word, start, end in found)
