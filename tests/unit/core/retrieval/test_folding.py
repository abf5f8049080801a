"""Several memories with the same text are given once."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum.core.api.answers import Hit, Overtaken
from memquorum.core.retrieval.folding import fold
from memquorum.core.retrieval.overtaken import Beside, Otherwise, joined
from memquorum.core.retrieval.packing import pack
from tests.builders.found import candidate, name, scored

EVENT = "The north gate was opened at 6."


def hit(number: int, agent: str, text: str = EVENT, **more: Any) -> Hit:
    return replace(candidate(number, text, agent=agent).hit, **{"subject": agent} | more)


def test_ten_agents_who_report_one_event_are_one_hit_that_names_the_others() -> None:
    told = [hit(number, f"agent-{number}") for number in range(10)]
    (one,) = fold(told)
    assert (one.memory_id, one.folded) == (name(0), tuple(name(number) for number in range(1, 10)))
    assert one.also_by == tuple(f"agent-{number}" for number in range(1, 10))


def test_what_is_folded_again_names_all() -> None:
    first, rest = fold([hit(1, "ann"), hit(2, "bob")]), fold([hit(3, "cat"), hit(4, "ann")])
    (one,) = fold([*first, *rest])
    assert (one.folded, one.also_by) == ((name(2), name(3), name(4)), ("bob", "cat"))


@pytest.mark.parametrize(
    "other",
    [
        hit(2, "bob", "The north gate was opened at 5."),
        hit(2, "bob", "The north gates were opened at 6."),
        hit(2, "bob", "The north gate was opened at −6."),
        hit(2, "bob", key="gate"),
        hit(2, "bob", path="north"),
        hit(2, "bob", attributes={"colour": "red"}),
        hit(2, "bob", subject="gate 7"),
    ],
)
def test_what_differs_stays_two_hits(other: Hit) -> None:
    assert fold([hit(1, "ann"), other]) == [hit(1, "ann"), other]


def test_keyed_twins_stay_two_in_an_answer_that_is_packed() -> None:
    twins = [replace(candidate(n, EVENT), hit=hit(n, "ann", key=f"k{n}")) for n in (1, 2)]
    assert len(pack([scored(one) for one in twins], 1_000, 10).items) == 2
    same = [replace(candidate(n, EVENT), hit=hit(n, agent)) for n, agent in ((1, "ann"), (2, "bob"))]
    (one,) = pack([scored(each) for each in same], 1_000, 10).items
    assert (one.folded, one.scored.candidate.hit.also_by) == ((name(2),), ("bob",))


def test_i_said_by_two_agents_stays_two_and_what_contradicts_one_is_told() -> None:
    mine = [hit(1, "ann", "I opened the gate."), hit(2, "bob", "I opened the gate.")]
    assert fold(mine) == mine
    (one,) = fold([hit(1, "ann"), hit(2, "bob", conflicts_with=(name(9),), overtakes=(name(9),))])
    assert one.conflicts_with == one.overtakes == (name(9),)


def test_what_stands_for_others_has_their_marks() -> None:
    """Of two agents that said the same one changed his mind."""
    by = Otherwise(name(9), "bob", 7, False, (EVENT,))
    own, other = (replace(candidate(n, EVENT), hit=hit(n, agent)) for n, agent in ((1, "ann"), (2, "bob")))
    other = other.beside(Beside((name(9),), (by,), (name(8),)))
    (one,) = pack([scored(own), scored(other)], 1_000, 10).items
    found = one.scored.candidate.hit
    assert (found.memory_id, found.folded, found.conflicts_with, found.overtakes) == (
        name(1),
        (),
        (name(9),),
        (name(8),),
    )
    assert found.overtaken == (Overtaken(name(9), "bob", 7, False, ((0, len(EVENT)),)),)


def test_marks_of_several_are_joined_each_once() -> None:
    mine, theirs = Otherwise("b", "ann", 9, False), Otherwise("b", "ann", 9, True)
    first, second = (
        Beside(("b",), (mine,), ("x",)),
        Beside(("b", "c"), (theirs, Otherwise("c", "bob", 3, False)), ("x",)),
    )
    assert joined([first, second]) == Beside(("b", "c"), (Otherwise("c", "bob", 3, False), mine), ("x",))
    assert joined([]) == Beside()
