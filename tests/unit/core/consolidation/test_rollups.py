"""Roll-ups: which patches follow from what is said, and which sentences stand at which time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.consolidation import rollups
from memquorum.core.consolidation.rendering import read_back, render
from memquorum.core.consolidation.rollups import called, sentences, standing
from memquorum.core.consolidation.rollups import patches as made
from memquorum.core.consolidation.sections import section
from memquorum.core.ids import memory_id
from memquorum.core.records import Patch, Quote
from memquorum.core.records.rollups import OPS
from memquorum.core.retrieval.rollups import listed, shown
from memquorum.ports import Logged, Uttered
from tests.support.poison import MARK, poison

PUMP = "Pump 7 runs at 3.8 bar."
GASKET = "Lena ordered a gasket for pump 7."
COVER = "The cover of pump 7 is kept in hall 3."
CORRECTED = "Correction: pump 7 runs at 4.1 bar now."
MOST = 100


def patches(*asked: Any, most: int | None = None, **named: Any) -> list[Patch]:
    """As where the policy lets what contradicts a sentence take its place."""
    return list(islice(made(*asked, **{"inferred": True, **named}), most))


def say(at: int, text: str, agent: str = "anna", subject: str | None = None) -> list[Uttered]:
    return sentences(memory_id("plant", f"e{at}"), text, at=at, agent=agent, subject=subject or agent)


def sentences_of(*texts: str, since: int = 1_000) -> list[Uttered]:
    return [one for at, text in enumerate(texts) for one in say(since + at, text)]


def journalled(log: Sequence[Logged], new: Sequence[Patch], of: Sequence[Uttered], as_of: int) -> list[Logged]:
    """The log with the patches, of sentences that can be read, journalled at a time."""
    told = {one.span: one for one in of}
    seq = log[-1].seq + 1 if log else 1
    found = list(log)
    for place, one in enumerate(new):
        by = told[one.memory_id, one.start, one.end]
        found.append(Logged(seq, place, as_of, one, by.agent, by.subject, by.text))
    return found


def test_sentences_are_shown_in_the_order_in_which_they_were_said_last() -> None:
    """A, B, A: what is said again is the latest; of one moment, what came in later."""
    of = sentences_of("Pump 7 runs at 3 bar.", "Pump 7 runs at 4 bar.", "Pump 7 was oiled.")
    log = journalled([], patches("plant", of, [], inferred=False), of, 5_000)
    assert texts(log, "pump 7") == [one.text for one in of]
    again = [
        replace(one, said=(at, place))
        for one, (at, place) in zip(log, [(9_000, 7), (1_001, 2), (1_001, 1)], strict=True)
    ]
    assert texts(again, "pump 7") == [of[2].text, of[1].text, of[0].text]
    found = shown("plant", "pump 7", again, most=MOST)
    assert found is not None and [one.said_at for one in found.sentences] == [1_001, 1_001, 9_000]
    assert texts(again, "pump 7", as_of=6_000) == [one.text for one in of], "nobody knows when it was said again"
    (topic,) = listed("plant", again, most=MOST).topics
    assert (topic.first_said_at, topic.last_said_at) == (1_000, 9_000)


def texts(log: Sequence[Logged], name: str, as_of: int | None = None) -> list[str]:
    found = shown("plant", name, log, as_of=as_of, most=MOST)
    return [] if found is None else [one.text for one in found.sentences]


def test_of_what_three_sentences_speak_there_is_a_roll_up() -> None:
    assert patches("plant", sentences_of(PUMP, GASKET), []) == []
    of = sentences_of(PUMP, GASKET, COVER)
    found = patches("plant", of, [])
    assert [one.op for one in found] == ["add", "add", "add"] and len({one.topic for one in found}) == 1
    assert patches("plant", sentences_of(PUMP, GASKET), [], least=2)
    log = journalled([], found, of, 10)
    assert texts(log, "the pump 7") == [PUMP, GASKET, COVER]
    assert called(log) == {found[0].topic: "pump 7"}
    assert patches("plant", of, log) == [], "asked again of the same"


def test_a_joke_is_in_no_roll_up() -> None:
    assert patches("plant", sentences_of(PUMP, GASKET, "Just kidding, pump 7 runs on beer."), []) == []
    of = sentences_of(PUMP, GASKET, COVER, "Just kidding, pump 7 runs on beer.")
    assert len(patches("plant", of, [])) == 3


def test_what_is_said_of_a_thing_with_its_kind_is_said_of_its_identifier() -> None:
    housing = "Filter housing H3 leaks at the lower seal."
    some = sentences_of(housing, "H3 was opened by Lena.", "The screws of H3 need 12 newton metres.")
    (topic,) = {one.topic for one in patches("plant", some, [])}
    log = journalled([], patches("plant", some, []), some, 5)
    assert called(log) == {topic: "H3"}
    assert {one.text for one in standing(log)[topic].values()} >= {housing, "H3 was opened by Lena."}
    two = [*some, *sentences_of("Room H3 was painted.", since=2_000)]
    assert not patches("plant", two, []), "which of the two is H3 nobody can tell"


def test_what_was_not_made_comes_with_the_next_question() -> None:
    of = sentences_of(PUMP, GASKET, COVER, CORRECTED, "Lena sold the motor of pump 7.")
    whole, log = patches("plant", of, []), list[Logged]()
    while new := patches("plant", of, log, most=2 if log else 3):
        log = journalled(log, new, of, len(log))
        assert len(new) <= 3
    assert [one.patch for one in log] == whole


def test_what_was_read_before_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither does a small limit on what is kept of it."""
    of = sentences_of(PUMP, GASKET, COVER, CORRECTED, "Lena sold the motor of pump 7.")
    whole, reading = patches("plant", of, []), rollups.Reading()
    monkeypatch.setattr(rollups, "NAMED_MOST", 2)
    monkeypatch.setattr(rollups, "READ_MOST", 1)
    assert [patches("plant", of, [], reading=reading) for _ in range(3)] == [whole] * 3
    assert len(reading._names) <= 2 and len(reading._read) <= 1


def test_a_roll_up_is_called_by_a_place_and_not_by_its_name() -> None:
    of = sentences_of(PUMP, GASKET, COVER)
    (topic,) = {one.topic for one in patches("plant", of, [])}
    elsewhere = [replace(one, memory_id=memory_id("plant", "x" + one.memory_id)) for one in of]
    assert {one.topic for one in patches("plant", elsewhere, [])} != {topic}
    others = [replace(one, text=one.text.replace("7", "9")) for one in of]
    assert {one.topic for one in patches("plant", others, [])} == {topic}, "the name is in the id"


def test_a_correction_takes_the_place_of_what_it_corrects_and_before_it_that_stood() -> None:
    of = sentences_of(PUMP, GASKET, COVER)
    log = journalled([], patches("plant", of, []), of, 10)
    of += say(2_000, CORRECTED)
    new = patches("plant", of, log)
    assert [(one.op, one.replaces) for one in new] == [("supersede", of[0].memory_id)]
    log = journalled(log, new, of, 20)
    assert texts(log, "pump 7") == [GASKET, COVER, CORRECTED]
    assert texts(log, "pump 7", as_of=19) == [PUMP, GASKET, COVER]
    assert texts(log, "pump 7", as_of=9) == []
    assert patches("plant", of, log) == []


def test_by_default_a_correction_stands_behind_what_it_contradicts() -> None:
    of = sentences_of(PUMP, GASKET, COVER)
    log = journalled([], list(made("plant", of, [])), of, 10)
    of += say(2_000, CORRECTED)
    new = list(made("plant", of, log))
    assert [(one.op, one.replaces) for one in new] == [("add", None)]
    log = journalled(log, new, of, 20)
    assert texts(log, "pump 7") == [PUMP, GASKET, COVER, CORRECTED]
    earlier = say(500, "Pump 7 runs at 3.1 bar.")
    (late,) = made("plant", of + earlier, log)
    assert (late.op, late.memory_id) == ("add", earlier[0].memory_id), "what was said before that stands, too"


def test_who_says_the_same_later_or_more_fully_revises_it() -> None:
    of = sentences_of(PUMP, GASKET, COVER)
    log = journalled([], patches("plant", of, []), of, 10)
    fuller = "Lena ordered a gasket for pump 7 from Brandt."
    of += say(2_000, "pump 7 runs at 3.8 bar") + say(2_001, fuller)
    new = patches("plant", of, log)
    assert [(one.op, one.replaces) for one in new if one.topic in called(log)] == [
        ("revise", of[0].memory_id), ("revise", of[1].memory_id),
    ]  # fmt: skip
    log = journalled(log, new, of, 20)
    assert texts(log, "pump 7") == [COVER, "pump 7 runs at 3.8 bar", fuller]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Pump 7 is ready.", "Pump 7 is not ready for hall 3."),
        ("Ben has no key for pump 7.", "Ben has a key for pump 7 from Lena."),
    ],
)
def test_what_denies_it_is_no_fuller_word_for_it(earlier: str, later: str) -> None:
    found = patches("plant", sentences_of(earlier, GASKET, COVER, later), [])
    assert [one.op for one in found] and "revise" not in {one.op for one in found}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("Pump 7 stands at −18 °C.", "Pump 7 stands at 18 °C."),
        ("Pump 7 stands at −18 °C.", "Pump 7 stands at 18 °C in hall 3."),
        ("Pump 7 has the code kQ7w.", "Pump 7 has the code Kq7w in hall 3."),
        ("Check of pump 7 ✅", "Check of pump 7 ❌"),
        ("Pump 7 feeds tank 2.", "Tank 2 feeds pump 7 in hall 3."),
    ],
)
def test_what_differs_in_a_sign_or_an_order_revises_nothing(earlier: str, later: str) -> None:
    found = patches("plant", sentences_of(earlier, GASKET, COVER, later), [])
    assert [one.op for one in found] and "revise" not in {one.op for one in found}


def test_what_was_said_before_and_comes_late_does_not_take_the_place_of_what_is_newer() -> None:
    of = sentences_of(CORRECTED, GASKET, COVER, since=5_000)
    log = journalled([], patches("plant", of, []), of, 10)
    late = say(1_000, PUMP)
    assert patches("plant", of + late, log) == []


def test_a_sentence_that_nobody_can_read_is_in_no_state_and_nor_is_a_name_that_none_says() -> None:
    of = sentences_of(PUMP, GASKET, COVER)
    log = journalled([], patches("plant", of, []), of, 10)
    forgotten = [replace(one, text=None) if one.patch.memory_id == of[0].memory_id else one for one in log]
    found = shown("plant", "pump 7", forgotten, as_of=10, history=True, most=MOST)
    assert found is not None and found.unreadable == 1 and [one.text for one in found.sentences] == [GASKET, COVER]
    assert [one.text for one in found.history] == [None, GASKET, COVER]
    erased = [replace(one, text=None) for one in log]
    assert shown("plant", "pump 7", erased, as_of=10, most=MOST) is None
    assert listed("plant", erased, most=MOST).topics == ()
    again = sentences_of(PUMP, GASKET, COVER, since=9_000)
    assert {one.topic for one in patches("plant", again, erased)}.isdisjoint({one.patch.topic for one in log})


def test_what_gates_keep_back_is_neither_shown_nor_counted() -> None:
    of = sentences_of(PUMP, GASKET, COVER)
    log = journalled([], patches("plant", of, []), of, 10)
    log[0] = replace(log[0], withheld=True)
    found = shown("plant", "pump 7", log, history=True, most=MOST)
    assert found is not None and (len(found.sentences), found.unreadable, len(found.history)) == (2, 0, 2)
    (topic,) = listed("plant", log, most=MOST).topics
    assert (topic.sentences, topic.unreadable) == (2, 0)
    hidden = [replace(one, withheld=True) for one in log]
    assert shown("plant", "pump 7", hidden, most=MOST) is None and not listed("plant", hidden, most=MOST).personas


def test_a_persona_is_whom_sentences_are_about_or_by() -> None:
    of = [*say(1, PUMP), *say(2, GASKET, agent="ben", subject="lena"), *say(3, COVER, agent="ben")]
    log = journalled([], patches("plant", of, []), of, 10)
    assert listed("plant", log, most=MOST).personas == {"ben": 2, "anna": 1, "lena": 1}
    assert [one.sentences for one in listed("plant", log, persona="lena", most=MOST).topics] == [1]
    found = shown("plant", "pump 7", log, persona="ben", most=MOST)
    assert found is not None and [one.text for one in found.sentences] == [GASKET, COVER]
    assert shown("plant", "pump 7", log, persona="nobody", most=MOST) is None


def test_of_many_sentences_the_latest_are_shown() -> None:
    of = sentences_of(*(f"Pump 7 got part {chr(97 + at) * 3} from Lena." for at in range(9)))
    log = journalled([], patches("plant", of, []), of, 10)
    found = shown("plant", "pump 7", log, most=4)
    assert found is not None and (len(found.sentences), found.more) == (4, 5)
    assert found.sentences[-1].text == of[-1].text
    assert len(listed("plant", log, most=1).topics) == 1 and listed("plant", log, most=1).more


IDS = [memory_id("plant", name) for name in "abcde"]
TOPICS = [memory_id("topics", name) for name in "xy"]


@st.composite
def logs(draw: st.DrawFn) -> list[Logged]:
    """Any log: in rising order, and nothing else is sure of it."""
    found: list[Logged] = []
    seq = as_of = 0
    for _ in range(draw(st.integers(0, 12))):
        seq, as_of = seq + 1, as_of + draw(st.integers(0, 3))
        for place in range(draw(st.integers(1, 3))):
            op = draw(st.sampled_from(OPS))
            one = Patch(draw(st.sampled_from(TOPICS)), op, draw(st.sampled_from(IDS)), 0, 10, 0, 6, "facts", seq)
            if op != "add":
                one = replace(one, replaces=draw(st.sampled_from(IDS)), replaces_end=10)
            found.append(Logged(seq, place, as_of, one, "anna", "anna", "pump 7 ok"))
    return found


def spans(log: Sequence[Logged], as_of: int | None = None) -> dict[str, set[tuple[str, int, int]]]:
    return {topic: set(there) for topic, there in standing(log, as_of).items()}


@given(logs(), st.integers(0, 40))
def test_the_state_at_a_time_is_the_fold_of_what_there_was_then(log: list[Logged], at: int) -> None:
    before = [one for one in log if one.as_of <= at]
    assert spans(log, at) == spans(before)


@given(logs())
def test_the_state_does_not_depend_on_which_patches_came_together(log: list[Logged]) -> None:
    alone = [replace(one, seq=seq, place=0) for seq, one in enumerate(log)]
    assert spans(log) == spans(alone)


@given(logs())
def test_a_patch_that_stands_there_twice_counts_once(log: list[Logged]) -> None:
    assert spans([one for one in log for _ in range(2)]) == spans(log)


@given(logs())
def test_what_was_replaced_does_not_come_back(log: list[Logged]) -> None:
    for one, after in pairwise([*range(len(log) + 1)]):
        gone = {x.replaced for x in log[:one] if x.replaced is not None and x.patch.topic == TOPICS[0]}
        assert not gone & spans(log[:after]).get(TOPICS[0], set())


TOLD = [PUMP, GASKET, COVER, CORRECTED, "The gate code of hall 3 is 4711.", "Hall 3 is cold. Pump 7 is hot."]


@given(st.lists(st.sampled_from(TOLD), max_size=10), st.integers(1, 9))
def test_whenever_it_is_gone_through_nothing_is_said_twice(told: list[str], cut: int) -> None:
    of = sentences_of(*told)
    log = journalled([], patches("plant", of[:cut], []), of, 10)
    log = journalled(log, patches("plant", of, log), of, 20)
    assert patches("plant", of, log) == []
    came = [(one.patch.topic, one.span, one.replaced) for one in log]
    assert len(set(came)) == len(came)
    assert {one.span for one in log} <= {one.span for one in of}, "a sentence of nobody's"


@pytest.mark.parametrize(
    "told", [[PUMP, GASKET], [PUMP, "Lena will send the log by Friday.", "It is unclear who pays."]]
)
def test_a_summary_is_read_back_sentence_by_sentence(told: list[str]) -> None:
    of = sentences_of(*told)
    quotes = sorted(
        (Quote(one.memory_id, one.start, one.end, section(one.text), one.at) for one in of),
        key=lambda one: ["facts", "decisions", "open", "follow-ups"].index(one.section),
    )
    by = {one.memory_id: one.text for one in of}
    text = render(quotes, by)
    assert read_back(text, quotes) == tuple(by[one.memory_id] for one in quotes)
    assert read_back(text + "\nand more", quotes) == () == read_back("another", quotes)


def test_a_sentence_on_which_a_rule_fails_speaks_of_nothing_and_the_others_are_rolled_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    poison(monkeypatch, ("memquorum.core.consolidation.rollups:_spoken_of",))
    of = sentences_of(PUMP, GASKET, COVER)
    bad = sentences_of(f"Pump 7 has {MARK} valves.", since=5_000)
    reading = rollups.Reading()
    assert patches("plant", [*of, *bad], [], reading=reading) == patches("plant", of, [])
    assert {one.memory_ids for one in reading.failures.told()} == {(bad[0].memory_id,)}


def test_two_sentences_that_cannot_be_compared_both_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    poison(monkeypatch, ("memquorum.core.consolidation.rollups:_Read",))
    of = [*sentences_of(PUMP, GASKET, COVER), *sentences_of(f"Pump 7 has {MARK} valves.", since=5_000)]
    assert {one.op for one in patches("plant", of, [])} == {rollups.ADD}


def test_who_goes_through_a_namespace_may_stop_before_any_sentence() -> None:
    class OverError(Exception):
        pass

    turns = list[int]()

    def turn() -> None:
        turns.append(1)
        if len(turns) > 2:
            raise OverError

    with pytest.raises(OverError):
        patches("plant", sentences_of(PUMP, GASKET, COVER), [], reading=rollups.Reading(turn=turn))
