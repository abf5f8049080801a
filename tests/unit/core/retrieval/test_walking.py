"""A walk along relations: the best path to each memory, best first, within bounds, and only what a goal needs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.api.answers import Step
from memquorum.core.linking import KINDS, RELATIONS
from memquorum.core.retrieval import recall, walking
from memquorum.core.retrieval.recall import ANCHOR, DERIVED, LINK, SESSION, SOURCE, Neighbour
from memquorum.core.retrieval.walking import Aim, Edge, Place, Walk
from tests.builders.found import candidate, name

EAST, NORTH = np.array([1, 0], np.float32), np.array([0, 1], np.float32)


def edge(at: int, kind: str, other: int, *, forth: bool = True, type: str = "episodic", north: bool = False) -> Edge:
    return Edge(name(at), kind, forth, name(other), type, "e", NORTH if north else EAST)


def walk(*edges: Edge, aim: Aim | None = None, rounds: int = 2) -> Walk:
    """A walk from memory 1 over edges that the store would tell."""
    found = Walk([Place(name(1), name(1), (), 1.0, 1.0, needed=True)], aim or Aim("e", EAST))
    for _ in range(rounds):
        near = found.next_round()
        found.take(one for one in edges if one.at in near)
    return found


def ids(found: Walk) -> list[int]:
    return [int(one.memory_id[-4:], 16) for one in found.found()]


def test_each_kind_has_a_weight_and_only_the_stated_ones_are_links() -> None:
    assert all(0 < one.weight < 1 for one in RELATIONS.values())
    assert set(KINDS) == {"requires", "isA", "partOf", "worksAt", "friendOf", "colleagueOf", "reportsTo"}
    assert {kind for kind, one in RELATIONS.items() if one.social} == {"friendOf", "colleagueOf", "reportsTo"}
    assert {kind for kind in KINDS if RELATIONS[kind].symmetric} == {"friendOf", "colleagueOf"}


def test_a_path_is_told_in_the_direction_of_its_relations() -> None:
    found = walk(edge(1, "requires", 2), edge(2, "worksAt", 3, forth=False))
    assert ids(found) == [2, 3]
    far = found.found()[1]
    assert far.path == (Step("requires", name(1), name(2)), Step("worksAt", name(3), name(2)))
    assert far.weight == pytest.approx(0.9 * 0.6)


def test_what_has_more_to_do_with_the_question_comes_first() -> None:
    edges = edge(1, "isA", 2, north=True), edge(1, "isA", 3), edge(1, "friendOf", 4)
    assert ids(walk(*edges)) == [3, 4, 2]
    assert ids(walk(*edges, aim=Aim())) == [2, 3, 4]


def test_the_better_of_two_paths_is_told() -> None:
    found = walk(edge(1, "friendOf", 2), edge(1, "requires", 3), edge(3, "requires", 2), edge(1, "requires", 2))
    assert [one.path[-1].kind for one in found.found() if one.memory_id == name(2)] == ["requires"]
    assert len(next(one for one in found.found() if one.memory_id == name(2)).path) == 1


def test_hops_bound_how_far_it_goes_and_a_memory_is_left_once() -> None:
    chain = [edge(at, "requires", at + 1) for at in range(1, 9)]
    assert [ids(walk(*chain, rounds=rounds)) for rounds in (0, 1, 2, 4)] == [[], [2], [2, 3], [2, 3, 4, 5]]
    ring = edge(1, "requires", 2), edge(2, "requires", 1), edge(2, "requires", 3), edge(3, "requires", 1)
    found = walk(*ring, rounds=4)
    assert ids(found) == [2, 3] and found.next_round() == []


@given(st.lists(st.tuples(st.integers(1, 90), st.sampled_from(sorted(RELATIONS)), st.integers(1, 90)), max_size=400))
def test_no_round_and_no_walk_is_larger_than_its_bound(told: list[tuple[int, str, int]]) -> None:
    edges = [edge(at, kind, other) for at, kind, other in told]
    found = Walk([Place(name(1), name(1), (), 1.0, 1.0, needed=True)], Aim("e", EAST))
    left: list[str] = []
    for _ in range(4):
        near = found.next_round()
        assert len(near) <= walking.EXPANDED
        left += near
        found.take(one for one in edges if one.at in near)
    assert len(left) == len({*left})
    assert len(found.found()) <= walking.TAKEN
    for one in found.found():
        assert 1 <= len(one.path) <= 4 and name(1) in (one.path[0].of, one.path[0].to)
        assert 0 < one.score <= one.weight < 1


def test_for_a_goal_only_the_social_memories_that_it_needs_are_found() -> None:
    edges = (
        edge(1, "requires", 2, type="social"), edge(1, "isA", 3, type="social"), edge(1, "colleagueOf", 4),
        edge(1, "requires", 5, forth=False, type="social"), edge(1, "partOf", 6), edge(6, "requires", 7, type="social"),
    )  # fmt: skip
    goal = walk(*edges, aim=Aim("e", EAST, goal=True))
    assert sorted(ids(goal)) == [2, 6]
    assert goal.unneeded() == {name(3), name(4), name(5), name(7)}
    free = walk(*edges)
    assert sorted(ids(free)) == [2, 3, 4, 5, 6, 7] and free.unneeded() == set()


def test_a_path_that_a_goal_needs_takes_the_place_of_a_better_one() -> None:
    edges = edge(1, "partOf", 2), edge(1, "attachesToGoal", 2), edge(2, "requires", 3, type="social")
    found = walk(*edges, aim=Aim("e", EAST, goal=True))
    assert sorted(ids(found)) == [2, 3] and found.unneeded() == set()


def around(number: int, way: str, apart: int, type: str = "episodic") -> Neighbour:
    found = candidate(number)
    return Neighbour(replace(found, hit=replace(found.hit, type=type)), name(1), way, apart)


def test_a_walk_begins_at_the_anchors_and_what_they_derive_from_and_explains_the_rest_by_one_step() -> None:
    near = [around(1, ANCHOR, 0), around(2, SOURCE, -2), around(3, DERIVED, 1), around(4, SESSION, -1)]
    seeds = {one.memory_id: one for one in recall.seeds(near, Aim("e", EAST))}
    assert set(seeds) == {name(1), name(2), name(3)}
    assert [seeds[name(at)].needed for at in (1, 2, 3)] == [True, True, False]
    assert seeds[name(2)].weight == pytest.approx(0.81)
    assert [recall.path_of(one) for one in near] == [
        (), (Step("derivesFrom", name(1), name(2)),), (Step("derivesFrom", name(3), name(1)),),
        (Step("temporalNext", name(4), name(1)),),
    ]  # fmt: skip


def test_of_the_surroundings_a_goal_is_given_no_social_memory_that_it_does_not_need() -> None:
    near = [around(1, ANCHOR, 0, "social"), around(2, SESSION, 1, "social"), around(3, LINK, 1, "social"),
            around(4, SESSION, 2), around(3, DERIVED, 1, "social")]  # fmt: skip
    kept, left = recall.needed(near, Aim(goal=True))
    assert [one.candidate.hit.memory_id for one in kept] == [name(1), name(3), name(4)] and left == {name(2)}
    assert recall.needed(near, Aim()) == (near, set())
