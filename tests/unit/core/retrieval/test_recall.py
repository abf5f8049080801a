"""Recall: each memory once by the shortest way, the nearest first into a budget, told in the order of time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.reading.tokens import tokens
from memquorum.core.retrieval import packing, recall
from memquorum.core.retrieval.recall import ANCHOR, SESSION, TIME, Neighbour
from tests.builders.found import candidate, name

ANCHORS = [name(5), name(9)]


def neighbour(number: int, anchor: int, way: str, apart: int) -> Neighbour:
    text = f"Sensor {number} is well."
    return Neighbour(candidate(number, text, angle=30 * number), name(anchor), way, apart)


FOUND = [
    neighbour(5, 5, ANCHOR, 0),
    neighbour(9, 9, ANCHOR, 0),
    neighbour(4, 5, SESSION, -1),
    neighbour(6, 5, SESSION, 1),
    neighbour(7, 5, SESSION, 2),
    neighbour(7, 9, SESSION, -2),
    neighbour(8, 9, SESSION, -1),
    neighbour(6, 9, TIME, -3),
    neighbour(2, 5, TIME, -900),
    neighbour(3, 9, TIME, 40),
]


@given(st.permutations(FOUND))
def test_the_nearest_come_first_each_once(found: list[Neighbour]) -> None:
    ordered = recall.in_order(found, ANCHORS)
    assert [one.candidate.hit.memory_id for one in ordered] == [name(n) for n in (5, 9, 6, 4, 8, 7, 3, 2)]
    assert [(one.way, one.apart) for one in ordered][4:6] == [(SESSION, -1), (SESSION, 2)]


def test_a_budget_takes_the_nearest_and_tells_them_in_the_order_of_time() -> None:
    ordered = recall.in_order(FOUND, ANCHORS)
    packed = packing.pack(recall.scored(ordered), 4 * tokens("Sensor 5 is well."), len(ordered))
    assert [item.scored.candidate.hit.memory_id for item in recall.in_time_order(packed.items)] == [
        name(n) for n in (4, 5, 6, 9)
    ]
    assert packed.left[packing.BUDGET].count == 4
