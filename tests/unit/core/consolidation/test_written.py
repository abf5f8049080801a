"""A summary with a model's sentences: how it is put together, and how a member judges it."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.consolidation.composing import Written, compose, room
from memquorum.core.consolidation.faithful import faithful
from memquorum.core.consolidation.losing import coverage_ppm
from memquorum.core.consolidation.rendering import render, written
from memquorum.core.consolidation.weighing import important
from memquorum.core.records import Quote
from memquorum.ports import Source
from tests.builders.notes import NOTES

GIVEN = [Source(f"m{at:02}", note, 1_000 + at, 600_000 - at) for at, note in enumerate(NOTES)]
WHOLE = important(GIVEN)
SOURCES = [replace(one, whole=one.memory_id in WHOLE) for one in GIVEN]
TEXTS, TIMES = {one.memory_id: one.text for one in SOURCES}, {one.memory_id: one.at for one in SOURCES}
SAID = (
    Written("The crane firm should be called on 0401 2233 before Monday.", ("m07",)),
    Written("It is unclear who pays for the second gasket set, 580 euros.", ("m03",)),
    Written("Pump 7 had 3.8 bar at the inlet, as Tomas measured, and 2.1 bar at the outlet.", ("m04",)),
    Written("Zebulon will check the heater tomorrow morning.", ("m11", "m99")),
)


def judged(text: str, quotes: tuple[Quote, ...]) -> bool:
    model = written(text, quotes, TEXTS)
    return model is not None and faithful(quotes, TEXTS, TIMES, model)


def test_what_may_stand_stands_and_in_the_place_of_the_rest_what_was_said() -> None:
    made = compose(SOURCES, SAID, share_ppm=900_000)
    lines = made.text.split("\n")
    assert SAID[0].text in lines and SAID[2].text in lines
    assert dict(made.refused) == {"number": 1, "name": 1}
    assert "580" not in made.text and "Zebulon" not in made.text
    assert NOTES[3] in lines and NOTES[11] in lines, "nothing stands for what was refused"
    assert all(TEXTS[one] in made.text for one in WHOLE), "what is most important is not there word for word"
    assert NOTES[7] not in lines and NOTES[4] not in lines, "what the model wrote stands there twice"
    assert judged(made.text, made.quotes)
    assert (
        coverage_ppm(made.quotes, SOURCES, written(made.text, made.quotes, TEXTS) or (), lost_rank_ppm=0)[0] > 500_000
    )


def test_a_summary_has_its_share_of_the_tokens_and_no_more() -> None:
    few = compose(SOURCES, SAID, share_ppm=300_000)
    assert len(few.text) < 0.4 * sum(len(one.text) for one in SOURCES)
    assert room(SOURCES, 1) < 0 < room(SOURCES, 900_000)
    assert judged(few.text, few.quotes)


def test_a_summary_of_a_model_is_judged_sentence_by_sentence() -> None:
    made = compose(SOURCES, SAID, share_ppm=900_000)
    assert judged(made.text, made.quotes)
    for wrong, instead in (
        ("on 0401 2233 before Monday.", "on 0401 2233 before Thursday."),
        ("3.8 bar at the inlet, as", "8.3 bar at the inlet, as"),
        ("firm should be", "firm should not be"),
        ("as Tomas measured", "as Rosa measured"),
        ("Key facts:", "Facts:"),
        (SAID[0].text, ""),
    ):
        assert wrong in made.text and not judged(made.text.replace(wrong, instead), made.quotes), instead
    assert not judged(made.text + "\nPump 8 leaks.", made.quotes), "a sentence of no source"
    kept = [one for one in made.quotes if one.sentence is not None]
    sentences = written(made.text, made.quotes, TEXTS) or ()
    assert not judged(render(kept, TEXTS, sentences), tuple(kept)), "without three memories word for word"


@pytest.mark.parametrize(
    "changes", [{"end": 5}, {"at": 1}, {"section": "open"}, {"memory_id": "m01"}, {"sentence": 7}, {"memory_id": "x"}]
)
def test_a_sentence_names_its_sources_as_they_are(changes: dict[str, object]) -> None:
    made = compose(SOURCES, SAID, share_ppm=900_000)
    at = next(at for at, one in enumerate(made.quotes) if one.sentence is not None)
    quotes = list(made.quotes)
    quotes[at] = replace(quotes[at], **changes)
    assert not judged(made.text, tuple(quotes))


def test_several_sources_of_one_sentence_are_each_named() -> None:
    text = "Please call the crane firm before Monday, 0401 2233; Ben will check the heater tomorrow morning."
    both = Written(text, ("m07", "m11"))
    made = compose(SOURCES, [both], share_ppm=900_000)
    assert [one.memory_id for one in made.quotes if one.sentence == 0] == ["m07", "m11"]
    assert judged(made.text, made.quotes)


def test_what_may_not_be_lost_is_said_where_the_model_passed_over_it() -> None:
    needed = [replace(one, needed=one.memory_id == "m05") for one in SOURCES]
    lines = compose(needed, SAID, share_ppm=1).text.split("\n")
    assert NOTES[5] in lines, "there is no room for it, and it may not be lost"
    assert NOTES[5] not in compose(SOURCES, SAID, share_ppm=1).text
