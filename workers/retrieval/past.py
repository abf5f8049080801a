"""The parts of search and retrieve that show the past: as of a time, or where a question asks about another time."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from memquorum.core.access import Sight
from memquorum.core.reading.times import AskedTime
from memquorum.core.retrieval.conflicts import Contradiction
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import DEFAULTS, Candidate, Question
from memquorum.core.retrieval.replaced import Past, candidate_then, of_past
from workers.retrieval.service import Service


async def replaced(service: Service, sight: Sight, question: Question, asked: AskedTime | None) -> Past:
    """Finds what newer memories took the place of, where the read is of the past. `asked`: which time its question asks
    about."""
    as_of = question.filters.as_of
    if not of_past(question.filters, asked):
        return Past(as_of=as_of)
    found = await service.reads.replaced(sight, question, DEFAULTS)
    return Past(tuple(replace(one, candidate=candidate_then(one.candidate, as_of)) for one in found), as_of)


async def candidates(service: Service, sight: Sight, question: Question) -> tuple[list[Candidate], int]:
    """Returns the living candidates as they stood at the time asked for, and the time of the shard."""
    found, at = await service.reads.candidates(sight, question, DEFAULTS)
    return [candidate_then(one, question.filters.as_of) for one in found], at


async def contradicted(
    service: Service, sight: Sight, memory_ids: Sequence[str], filters: Filters
) -> list[Contradiction]:  # fmt: skip
    """Finds what contradicts memories, or did at the time that is asked for."""
    if filters.as_of is None:
        return await service.reads.conflicts(sight, memory_ids)
    return await service.reads.conflicts_then(sight, memory_ids, filters.as_of)
