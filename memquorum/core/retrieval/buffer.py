"""The episodic buffer: what an agent said last (SPEC B, tier 1). It is a ring of the `PLACES` newest traces.

A trace is an episode that became a memory or repeated one; an episode below the threshold leaves none. The ring is read
from the store and kept nowhere else. A memory that rests because of a summary is replaced by that summary; a memory
that is forgotten or erased leaves its place in the ring empty; no older trace moves into it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.retrieval.conflicts import Contradiction, marks, with_denied_lines
from memquorum.core.retrieval.overtaken import NOTHING
from memquorum.core.retrieval.ranking import Candidate, Scored
from memquorum.core.retrieval.replaced import candidate_then, was_replaced

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


def then(traces: Iterable[Trace], as_of: int | None) -> list[Trace]:
    """The traces as they stood at a time."""
    return [replace(trace, candidate=candidate_then(trace.candidate, as_of)) for trace in traces]


def marked(traces: Iterable[Trace], found: Sequence[Contradiction]) -> list[Trace]:
    """The traces, each naming the memories that contradict it; a summary with the lines of it that they contradict."""
    beside = marks(found)

    def mark(one: Candidate) -> Candidate:
        return with_denied_lines(one, found).beside(beside.get(one.hit.memory_id, NOTHING))

    return [replace(trace, candidate=mark(trace.candidate)) for trace in traces]


def overtaking(traces: Iterable[Trace], ranked: Iterable[Scored]) -> list[Trace]:
    """The traces, each naming the memories of a ranking of which it took the place."""
    gone = dict[str, list[str]]()
    for one in ranked:
        for mark in one.candidate.against if was_replaced(one.candidate.hit) else ():
            gone.setdefault(mark.by or "", []).append(one.candidate.hit.memory_id)

    def named(one: Candidate) -> Candidate:
        told = dict.fromkeys((*one.hit.overtakes, *gone.get(one.hit.memory_id, ())))
        return replace(one, hit=replace(one.hit, overtakes=tuple(told)))

    return [replace(trace, candidate=named(trace.candidate)) for trace in traces]


def by_salience(traces: Iterable[Trace]) -> list[Trace]:
    """Orders traces for a budget that does not hold all: the most salient first, the newer first of what mattered
    as much."""
    return sorted(traces, key=lambda trace: (-trace.candidate.hit.salience, trace.place))


def as_it_happened(traces: Iterable[Trace]) -> list[Trace]:
    """Orders traces as they are told: by the time at which they occurred, and as they were accepted where that is the
    same."""
    return sorted(traces, key=lambda trace: (trace.candidate.hit.occurred_at, -trace.place))
