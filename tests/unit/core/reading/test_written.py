"""Several spellings are normalised to one; an ambiguous one stays as it is."""

from __future__ import annotations

import pytest

from memquorum.core.reading.written import plainly


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Two trays, twenty-five sheets and Twenty one pens.", "2 trays, 25 sheets and 21 pens."),
        ("At 7 pm, 7:30 p.m. and 12 am; 07:05 too.", "At 19:00, 19:30 and 0:00; 7:05 too."),
        ("At 12:15PM.", "At 12:15."),
        ("Bought on May 3, 2021, or 3rd of May 2021.", "Bought on 2021-05-03, or 2021-05-03."),
        ("Due June 9th.", "Due 9 June."),
        ("Due 9 June at 8.", "Due 9 June at 8."),
        ("One of them may 3 times; someone at 7; two hundred; a two-way street.",) * 2,
        ("May 10:15 do?",) * 2,
        ("3/5/2021 is nobody's date.",) * 2,
    ],
)
def test_one_way_to_write_it(text: str, expected: str) -> None:
    assert plainly(text) == expected
    assert plainly(expected) == expected
