"""The roll-ups that a question finds: by the names that it has, with the marks of their memories."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.api.answers import Rollup, RollupSentence
from memquorum.core.records import Patch
from memquorum.core.retrieval import rollups
from memquorum.core.retrieval.conflicts import Contradiction
from memquorum.core.retrieval.query import ALL, Filters
from memquorum.ports import Logged
from tests.builders.found import candidate, name

NAMES = ("valve 3", "the gate code", "valve", "Marta Keller", "KX-88")


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("When does valve 3 open?", ("valve 3",)),
        ("Which valves leak?", ("valve",)),
        ("Tell me the gate code of Marta Keller.", ("the gate code", "Marta Keller")),
        ("What does kx-88 weigh?", ("KX-88",)),
        ("Is valve 31 open?", ("valve",)),
        ("What is for lunch?", ()),
        ("", ()),
        ("valve 3 " * 10_000, ("valve 3",)),
    ],
)
def test_the_names_of_a_question(question: str, found: tuple[str, ...]) -> None:
    assert rollups.asked_about(question, NAMES) == found


def sentence(number: int, text: str) -> RollupSentence:
    return RollupSentence(text, name(number), 0, len(text), "facts", number, "ann", "ann", 0, name(number))


def log(*texts: str) -> list[Logged]:
    return [
        Logged(
            seq, 0, seq, Patch("t", "add", name(seq), 0, len(text), 0, len("Valve 3"), "facts", seq), "ann", "ann", text
        )
        for seq, text in enumerate(texts, 1)
    ]  # fmt: skip


SAID = ("Valve 3 is red.", "Valve 3 opens at 4 bar.", "Valve 3 was oiled.", "Valve 3 leaks.")


def test_a_question_finds_the_latest_sentences_of_what_it_names() -> None:
    (found,) = rollups.found("n", "What about valve 3?", log(*SAID), most=2)
    assert [one.text for one in found.sentences] == [*SAID[2:]] and found.more == 2
    (then,) = rollups.found("n", "What about valve 3?", log(*SAID), most=9, as_of=2)
    assert [one.text for one in then.sentences] == [*SAID[:2]]
    assert rollups.found("n", "What about valve 4?", log(*SAID), most=2) == ()
    hidden = [replace(one, withheld=True) for one in log(*SAID)]
    assert rollups.found("n", "What about valve 3?", hidden, most=2) == ()


def test_two_roll_ups_of_one_name_are_given_once() -> None:
    again = [replace(one, patch=replace(one.patch, topic="u"), seq=one.seq + 9) for one in log("Valve 3 is shut.")]
    found = rollups.found("n", "valve 3", [*log(*SAID), *again], most=9)
    assert [len(one.sentences) for one in found] == [5]


def test_a_sentence_has_the_marks_of_its_memory() -> None:
    rolled = Rollup("n", "valve 3", (sentence(1, SAID[1]), sentence(2, SAID[2])), 0)
    against = Contradiction(
        name(9), name(1), True, 9, 1, "short-term", "short-term", agent="ben", statements=("Valve 3 opens at 4 bar.",)
    )
    first, second = rollups.marked(rolled, [against]).sentences
    assert [(one.by, one.spans) for one in first.overtaken] == [(name(9), ((0, len(SAID[1])),))]
    assert second.overtaken == ()
    elsewhere = replace(against, statements=("Valve 3 is red.",))
    assert rollups.marked(rolled, [elsewhere]).sentences[0].overtaken == (), "another statement of the same note"


def test_what_is_packed_fits_and_is_told_once() -> None:
    rolled = Rollup("n", "valve 3", tuple(sentence(at, text) for at, text in enumerate(SAID)), 0)
    kept, spent = rollups.packed([rolled], [candidate(3, SAID[3]).hit], 12, cost=lambda _: 5, heading=2)
    assert [one.text for one in kept[0].sentences] == [*SAID[1:3]] and (spent, kept[0].more) == (12, 2)
    assert rollups.packed([rolled], [], 4, cost=lambda _: 5) == ((), 0)


@pytest.mark.parametrize(
    ("filters", "may"),
    [
        (ALL, True),
        (Filters(sensitivity_max=9, purpose="p", jurisdictions=("DE",), as_of=9), True),
        (Filters(path="a"), False),
        (Filters(subjects=("ada",)), False),
        (Filters(tiers=("long-term",)), False),
        (Filters(experience=True), False),
    ],
)
def test_a_read_of_a_part_alone_is_given_none(filters: Filters, may: bool) -> None:
    assert rollups.searched(filters) is may
