"""The episodic buffer: newest first, each memory once, no more than it has places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.retrieval.buffer import PLACES, Trace, as_it_happened, by_salience, ring
from tests.builders.found import candidate, name


def ids(traces: list[Trace]) -> list[str]:
    return [trace.candidate.hit.memory_id for trace in traces]


def test_the_ring_has_64_places() -> None:
    assert PLACES == 64  # SPEC B, tier 1
    traces = [Trace(candidate(n), n) for n in range(1, 100)]
    assert ids(ring(reversed(traces))) == [name(n) for n in range(1, 65)]


def test_what_is_repeated_stands_where_it_came_last() -> None:
    found = ring([Trace(candidate(1), 4), Trace(candidate(2), 3), Trace(candidate(1), 2)])
    assert [(trace.candidate.hit.memory_id, trace.place) for trace in found] == [(name(1), 2), (name(2), 3)]


def test_an_empty_place_stays_empty() -> None:
    assert ids(ring([Trace(candidate(65), 65), Trace(candidate(1), 1), Trace(candidate(64), 64)])) == [
        name(1),
        name(64),
    ]


@given(st.lists(st.tuples(st.integers(1, 80), st.integers(1, 9)), max_size=90, unique_by=lambda made: made[0]))
def test_a_ring_is_sorted_bounded_and_without_doubles(made: list[tuple[int, int]]) -> None:
    found = ring([Trace(candidate(memory), place) for place, memory in made])
    places = [trace.place for trace in found]
    assert places == sorted(places) and len(places) <= PLACES
    assert sorted(ids(found)) == sorted({name(memory) for place, memory in made if place <= PLACES})
    for trace in found:
        assert trace.place == min(p for p, memory in made if name(memory) == trace.candidate.hit.memory_id)


def test_it_is_read_by_salience_and_told_by_time() -> None:
    traces = [
        Trace(candidate(3, salience=0.5), 1),
        Trace(candidate(1, salience=0.9), 2),
        Trace(candidate(2, salience=0.5), 3),
    ]
    assert ids(by_salience(reversed(traces))) == [name(1), name(3), name(2)]
    assert ids(as_it_happened(traces)) == [name(1), name(2), name(3)]
