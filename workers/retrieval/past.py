"""The parts of search and retrieve that show the past: as of a time, or where a question asks about another time."""

from __future__ import annotations

from msgspec.structs import replace

from memquorum.core.access import Sight
from memquorum.core.reading.times import AskedTime
from memquorum.core.retrieval.ranking import DEFAULTS, Candidate, Question
from memquorum.core.retrieval.replaced import Past, candidate_then, of_past
from workers.retrieval.knowing import Known
from workers.retrieval.service import Service


async def replaced(service: Service, sight: Sight, question: Question, asked: AskedTime | None) -> Past:
    """Finds what newer memories took the place of, where the read is of the past. `asked`: which time its question asks
    about."""
    as_of = question.filters.as_of
    if not of_past(question.filters, asked):
        return Past(as_of=as_of)
    found = await service.reads.replaced(sight, question, DEFAULTS)
    return Past(tuple(replace(one, candidate=candidate_then(one.candidate, as_of)) for one in found), as_of)


async def candidates(service: Service, known: Known, question: Question) -> tuple[list[Candidate], int]:
    """Returns the living candidates as they stood at the time asked for, and the time of the shard."""
    found, at = await service.reads.candidates(known.sight, question, DEFAULTS, told=known.take)
    return [candidate_then(one, question.filters.as_of) for one in found], at
