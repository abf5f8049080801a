"""The search. Hits count as used unless it peeks: for each, an access is published behind the answer.

Which memories are found, and in which order, four statements of `db/queries.sql` decide: `search`, `search_filtered`,
`search_crowd` and, for what the cache names, `search_cached`. `find` chooses among them with `db.reads.Reads.search`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller, Sight
from memquorum.core.api.answers import Hit, SearchResult
from memquorum.core.policy import PPM
from memquorum.core.reading.times import Asked
from memquorum.core.retrieval import conflicts, query, rereading
from memquorum.core.retrieval.cache import Compared
from memquorum.core.retrieval.folding import fold
from memquorum.core.retrieval.overtaken import NOTHING, Beside, placed
from memquorum.core.retrieval.ranking import Question, idle_forms, near_enough
from memquorum.ports import Encoder
from workers.retrieval.answers import Told, body
from workers.retrieval.arranged import HEAD, arranged, time_asked
from workers.retrieval.retrieving import brought, count, counted, diffused, kept_out, once, own, reread
from workers.retrieval.scored import scored
from workers.retrieval.service import Service

# So many of the nearest are looked at for others where most of them are the same text.
_FOLDED_MOST = 640


@dataclass(frozen=True, slots=True)
class Answer:
    """Hits, where they are from (a name of core/retrieval/cache.SEARCHED), and with what the query was compared."""

    hits: list[Hit]
    served_from: str
    compared: Compared


async def search(service: Service, request: Request, caller: Caller) -> Response:
    """The memories nearest in meaning."""
    wanted = query.read_search(await body(request, service.bounds), service.bounds)
    sight = caller.at(wanted.namespace, READ)
    found, kept = await asyncio.gather(
        _found(service, sight, wanted), kept_out(service, sight, wanted.namespace, wanted.filters)
    )
    hits = query.latest_of_equals(found.hits)
    near = await _weighed(service, sight, wanted, hits) if wanted.filters.experience else hits
    # Who sends a vector asks nothing that could be read once more.
    again = near if wanted.vector is not None else await reread(service, sight, wanted.query, near)
    best = fold(await once(service, sight, again), service.failures)
    asked = None if wanted.filters.experience else time_asked(service, wanted.query)
    if not wanted.filters.experience:
        best = await _arranged(service, sight, wanted, best, asked)
    together, beside = await _beside(service, sight, wanted, best[: wanted.k])
    # What came in for what it contradicts may be told by another one, too.
    hits = fold(await once(service, sight, together), service.failures)
    if asked is not None:
        hits = await _arranged(service, sight, wanted, hits, asked)
    hits = hits[: wanted.k]
    used, warning = await count(service, request, wanted, hits)
    given = await scored(service, wanted.query, hits)
    cached = service.caching.cached(wanted.namespace)
    mask = service.redaction.of(wanted.namespace, asked=wanted.redact)
    given = await service.desk.read(mask.hits, given) if mask.on else given
    against = {hit.memory_id: beside.get(hit.memory_id, NOTHING).against for hit in given}
    return Told(
        SearchResult(
            namespace=wanted.namespace,
            hits=tuple(
                replace(own(hit), overtaken=placed(hit.text, against[hit.memory_id], excerpt=hit.excerpt))
                for hit in given
            ),
            used=used,
            served_from=found.served_from,
            compared=found.compared,
            cached=cached,
            left_out=counted(kept),
            answerable=any(hit.answerable for hit in given),
            warning=warning,
        )
    )


async def _found(service: Service, sight: Sight, wanted: query.Search) -> Answer:
    """The nearest, and so many that as many are left as are wanted where those that are the same are folded."""
    # Of a few more than are wanted: what renews the first may stand further down.
    k = max(wanted.k, rereading.HEAD)
    while True:
        found = await find(service, sight, replace(wanted, k=k))
        if len(found.hits) < k or k >= _FOLDED_MOST or await _different(service, found.hits) >= wanted.k:
            return found
        k = min(4 * k, _FOLDED_MOST)


async def _different(service: Service, hits: list[Hit]) -> int:
    """How many are left where those that are the same are folded."""
    return len(await asyncio.to_thread(fold, hits, service.failures))


async def _weighed(service: Service, sight: Sight, wanted: query.Search, hits: list[Hit]) -> list[Hit]:
    """Hits of experience with what they weigh, those of them that it gives to such a question, and of other namespaces
    what they let cross; of a memory that is among them no general form."""
    policy = service.configurations.policy(wanted.namespace).experience
    weights = await service.reads.weights(sight, [hit.memory_id for hit in hits])
    if wanted.filters.diffusion:
        vectors = {service.encoder.name: await _vector(service, wanted)}
        question = Question(wanted.namespace, wanted.query, vectors, wanted.filters)
        forms, theirs = await diffused(service, sight, question)
        hits = sorted(hits + [form.candidate.hit for form in forms], key=lambda hit: (-hit.score, hit.memory_id))
        weights |= theirs
    given = [
        replace(hit, weight=weights[hit.memory_id] / PPM)
        for hit in hits
        if weights.get(hit.memory_id, 0) >= policy.floor_ppm and near_enough(hit.score, policy)
    ]
    idle = idle_forms(given)
    return [hit for hit in given if hit.memory_id not in idle]


async def _beside(
    service: Service,
    sight: Sight,
    wanted: query.Search,
    hits: list[Hit],
) -> tuple[list[Hit], Mapping[str, Beside]]:
    """The hits, with those that contradict each other together, and what is to be believed before one of them; and what
    contradicts each."""
    near = {hit.memory_id: hit for hit in hits}
    found = await _contradicted(service, sight, near)
    if not found:
        return hits, {}
    decide = conflicts.bearing(found, wanted.query)
    came = await brought(service, sight, wanted.namespace, conflicts.missing(near, decide), wanted.filters)
    if came:
        vector = await _vector(service, wanted)
        told = {i: replace(one.hit, score=_cosine(vector, one.vector)) for i, one in came.items()}
        near |= {i: conflicts.disputed(one, found) for i, one in told.items()}
        found = await _contradicted(service, sight, near)  # what came in is contradicted by others, too
        decide = conflicts.bearing(found, wanted.query)
    marked = conflicts.marks(found)
    order = conflicts.ordered(conflicts.inserted([hit.memory_id for hit in hits], came, decide), decide)
    marks = {i: marked.get(i, NOTHING) for i in order}
    hits = [replace(near[i], conflicts_with=marks[i].conflicts_with, overtakes=marks[i].overtakes) for i in order]
    return hits, marked


async def _contradicted(service: Service, sight: Sight, near: Mapping[str, Hit]) -> list[conflicts.Contradiction]:
    """The contradictions that concern hits, by their ids."""
    return conflicts.concerning(await service.reads.conflicts(sight, list(near)), {i: near[i].text for i in near})


async def _vector(service: Service, wanted: query.Search) -> NDArray[np.float32]:
    """What is searched by: the query's vector, or the one that was sent. Raises BadRequest."""
    if wanted.vector is None:
        return await service.vector_of(wanted.namespace, wanted.query)
    query.check_length(wanted.vector, service.encoder.name, service.encoder.dimensions)
    return np.array(wanted.vector, np.float32)


async def _arranged(
    service: Service, sight: Sight, wanted: query.Search, hits: list[Hit], asked: Asked | None
) -> list[Hit]:
    """The hits, the best of them arranged; fewer than two stay as they are."""
    ids = [hit.memory_id for hit in hits[:HEAD]]
    if len(ids) < 2:
        return hits
    vectors = await service.reads.vectors(sight, service.encoder.name, ids)
    return await arranged(
        service, wanted.namespace, hits, vectors, question=await _vector(service, wanted), asked=asked
    )


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return query.cosine(1.0 - float(a @ b) / lengths) if a.shape == b.shape and lengths else 0.0


async def find(service: Service, sight: Sight, wanted: query.Search) -> Answer:
    """The nearest memories: of the cache if that may answer, else of the store; the order of `cache.SEARCHED`."""
    vector = await _vector(service, wanted)
    if wanted.filters != query.ALL:
        return Answer(await _of_store(service, sight, wanted, vector), "store", "all")
    cached = await service.caching.search(service.reads, sight, wanted, vector)
    if cached is not None:
        return Answer(cached.hits, "cache", cached.compared)
    hits = await _of_store(service, sight, wanted, vector)
    service.caching.answered(wanted.namespace, hits)
    indexed = not wanted.exact and await service.reads.indexed(wanted.namespace, service.encoder.name)
    return Answer(hits, "store", "by index" if indexed else "all")


async def _of_store(service: Service, sight: Sight, wanted: query.Search, vector: NDArray[np.float32]) -> list[Hit]:
    """Both tiers at once; where two encoders' are there, merged by rank, for their scores cannot be compared."""
    # First those that wait to be encoded anew: what changes sides meanwhile is found twice, not never.
    text = service.before is not None and wanted.vector is None
    before = await _nearest(service, sight, service.before, wanted) if text and service.before else []
    encoder = service.encoder.name
    hits = await service.reads.search(
        sight, wanted.namespace, encoder, vector, wanted.k, filters=wanted.filters, exact=wanted.exact
    )
    if service.before is None or not before:
        return hits
    counts = await service.reads.encoded(sight, wanted.namespace)
    lists = [(hits, counts.get(service.encoder.name, 0)), (before, counts.get(service.before.name, 0))]
    return query.merge(lists, wanted.k)


async def _nearest(service: Service, sight: Sight, encoder: Encoder, wanted: query.Search) -> list[Hit]:
    vector = await service.encode(encoder, wanted.query)
    return await service.reads.search(sight, wanted.namespace, encoder.name, vector, wanted.k, filters=wanted.filters)
