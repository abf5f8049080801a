"""The steps from what was found to what is given: the same in the same order for a search, a retrieval and a context.

A search orders hits, a retrieval scored candidates: each says by `Steps` how it takes a step.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from memquorum.core.access import Sight
from memquorum.core.api.answers import Hit
from memquorum.core.reading import times
from memquorum.core.reading.times import AskedTime
from memquorum.core.retrieval import alike, conflicts, rereading, supports
from memquorum.core.retrieval.past import in_time
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import Candidate, Scored
from memquorum.core.retrieval.recall import Reach
from memquorum.core.retrieval.redaction import Redactor
from memquorum.core.retrieval.replaced import candidate_then
from workers.retrieval.knowing import Known
from workers.retrieval.service import Service

ARRANGED = alike.HEAD
"""The number of best hits that are arranged."""
Vectors = Mapping[str, NDArray[np.float32]]
T = TypeVar("T")


Step = Callable[[list[T]], Awaitable[list[T]]]
"""Takes a list, best first, and returns one."""


@dataclass(frozen=True, kw_only=True)
class Steps(Generic[T]):
    """The steps of one read.

    `weighed`: orders experience by its weights, with what other namespaces let cross. `reread`: puts the best in the
    order in which they answer when they are read once more. `followed`: adds what the first ones name. `once`: leaves
    out what one further up says. `replaced`: what was replaced and is shown beside its replacements. `arranged`:
    arranges the best by the time that is asked about, or so that no fact fills the first places. `together`: puts
    together what contradicts each other, the memory that holds first. `marked`: marks what was replaced, and by what.
    None: the read leaves the step out."""

    weighed: Step[T] | None
    reread: Step[T] | None
    followed: Step[T] | None = None
    once: Step[T]
    replaced: list[T]
    arranged: Step[T] | None
    together: Step[T]
    marked: Callable[[list[T]], list[T]]
    in_time: bool
    """Whether the question asks about a time, by which the best are arranged once more at the end."""


async def ordered(steps: Steps[T], found: list[T]) -> list[T]:
    """Takes all steps from what was found to what may be given, best first."""
    best = found
    for step in (steps.weighed, steps.reread, steps.followed, steps.once):
        best = best if step is None else await step(best)
    best += steps.replaced
    if steps.arranged is not None:
        best = await steps.arranged(best)
    # A memory that came in because it contradicts one may be repeated by another, too.
    best = await steps.once(steps.marked(await steps.together(best)))
    return await steps.arranged(best) if steps.in_time and steps.arranged is not None else best


def time_asked(service: Service, question: str) -> AskedTime | None:
    """Reads the time that a question asks about, if any."""
    return service.failures.answer("times", [], None, times.asked_time, question)


async def arranged(
    service: Service,
    namespace: str,
    hits: list[Hit],
    vectors: Vectors,
    *,
    question: NDArray[np.float32],
    asked: AskedTime | None,
    replaced: Collection[str],
) -> list[Hit]:
    """The hits, the best of them arranged. `question`: its vector; `vectors`: of the best hits, by id. `asked`: which
    time is asked about; `replaced`: the ids of those that others took the place of."""
    names = [hit.memory_id for hit in hits[:ARRANGED]]
    if asked is None:
        return await service.desk.read(
            service.failures.answer, "alike", names, hits, alike.demoted, hits, vectors, question
        )
    anchor = await service.vector_of(namespace, asked.anchor) if asked.anchor else None
    rest = await service.vector_of(namespace, asked.rest) if asked.rest else None
    return service.failures.answer("past", names, hits, in_time, asked, hits, vectors, anchor, rest, replaced=replaced)


async def reread(service: Service, known: Known, question: str, asker: str | None, hits: list[Hit]) -> list[Hit]:
    """The hits, the best of them in the order in which they answer when they are read once more. `asker`: the agent
    that asks, if told."""
    entries = await known.entries(rereading.of_one_moment(hits))
    names = [hit.memory_id for hit in hits[: rereading.HEAD]]
    return service.failures.answer("rereading", names, hits, rereading.best_first, question, hits, entries, asker=asker)


async def each_once(known: Known, ranked: list[Scored], before: Sequence[str] = ()) -> list[Scored]:
    """The ranking without what a summary, or what it was made of, tells further up. `before`: memories that stand
    before all of it, and stay."""
    ids = list(dict.fromkeys([*before, *(one.candidate.hit.memory_id for one in ranked)]))
    left = supports.told_otherwise(ids, await known.supports(ids)) - {*before}
    return [one for one in ranked if one.candidate.hit.memory_id not in left]


async def once(known: Known, hits: list[Hit]) -> list[Hit]:
    """The hits, best first, without what a summary, or what it was made of, tells further up."""
    ids = [hit.memory_id for hit in hits]
    left = supports.told_otherwise(ids, await known.supports(ids))
    return [hit for hit in hits if hit.memory_id not in left]


async def brought(
    service: Service, known: Known, namespace: str, memory_ids: Sequence[str], filters: Filters
) -> dict[str, Candidate]:
    """Memories that were not found and have to stand before some that were, those of them that pass the filters."""
    if not memory_ids:
        return {}
    around = await service.reads.around(known.sight, namespace, memory_ids, Reach(0, 0), filters)
    came = (candidate_then(one.candidate, filters.as_of) for one in around if one.candidate.hit.memory_id in memory_ids)
    return {one.hit.memory_id: one for one in came if conflicts.let_in(filters, one.hit)}


async def checked(  # noqa: PLR0917
    service: Service, sight: Sight, namespace: str, filters: Filters, given: Sequence[str], mask: Redactor
) -> Redactor:
    """Returns what masks an answer, with the withheld texts near the memories that are to be given.

    It looks only at what the request's own filters keep back, which the same caller could read by other filters, and
    never at what a profile hides: else a caller could publish guesses, and see which are withheld (decision 230).
    """
    if not mask.checked:
        return mask
    near = await service.reads.withheld_near(sight, namespace, service.encoder.name, given, filters)
    return replace(mask, near=near)
