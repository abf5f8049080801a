"""The episodic buffer: what an agent said last (SPEC B, tier 1). It is a ring of the `PLACES` newest traces.

A trace is an episode that became a memory or repeated one; an episode below the threshold leaves none. The ring is read
from the store and kept nowhere else. What rests because a summary says what is to be kept of it has that summary in its
place; a memory that is forgotten or erased leaves its place in the ring empty; no older trace moves into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.retrieval.conflicts import Contradiction, doubtful, marks
from memquorum.core.retrieval.overtaken import NOTHING
from memquorum.core.retrieval.ranking import Candidate

PLACES = 64


class Trace(Struct, frozen=True):
    """A memory that the agent made or repeated. `place`: in the order of acceptance, 1 for the newest trace."""

    candidate: Candidate
    place: int


def ring(traces: Iterable[Trace]) -> list[Trace]:
    """The ring of an agent's traces: newest first, each memory once, where it came last."""
    held: dict[str, Trace] = {}
    for trace in sorted(traces, key=lambda trace: trace.place):
        if trace.place <= PLACES:
            held.setdefault(trace.candidate.hit.memory_id, trace)
    return list(held.values())


def marked(traces: Iterable[Trace], found: Sequence[Contradiction]) -> list[Trace]:
    """The traces, each naming the memories that contradict it; a summary with the lines of it that they contradict."""
    beside = marks(found)

    def mark(one: Candidate) -> Candidate:
        return doubtful(one, found).beside(beside.get(one.hit.memory_id, NOTHING))

    return [replace(trace, candidate=mark(trace.candidate)) for trace in traces]


def by_salience(traces: Iterable[Trace]) -> list[Trace]:
    """Orders traces for a budget that does not hold all: the most salient first, the newer first of what mattered
    as much."""
    return sorted(traces, key=lambda trace: (-trace.candidate.hit.salience, trace.place))


def as_it_happened(traces: Iterable[Trace]) -> list[Trace]:
    """Orders traces as they are told: by the time at which they occurred, and as they were accepted where that is the
    same."""
    return sorted(traces, key=lambda trace: (trace.candidate.hit.occurred_at, -trace.place))
