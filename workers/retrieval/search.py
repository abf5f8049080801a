"""The search. Hits count as used unless it peeks: for each, an access is published behind the answer.

Four statements of `db/queries.sql` decide which memories are found, the nearest first: `search`, `search_filtered`,
`search_crowd` and, for memories that the cache names, `search_cached`. `find` chooses among them with
`db.reads.Reads.search`. `pipeline.ordered` puts the best hits in the order that they are served in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller, Sight
from memquorum.core.api.answers import Hit, SearchResult
from memquorum.core.policy import PPM
from memquorum.core.reading.times import AskedTime
from memquorum.core.retrieval import conflicts, query, rereading
from memquorum.core.retrieval import replaced as past
from memquorum.core.retrieval.cache import Compared
from memquorum.core.retrieval.folding import fold
from memquorum.core.retrieval.overtaken import NOTHING, Beside, joined, placed
from memquorum.core.retrieval.ranking import Question, idle_forms, near_enough
from memquorum.core.retrieval.rollups import LATEST
from memquorum.core.retrieval.scoring import HEAD as SCORED
from memquorum.core.retrieval.scoring import nearest_first
from memquorum.ports import Encoder
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.knowing import Known
from workers.retrieval.past import replaced
from workers.retrieval.pipeline import ARRANGED, Steps, arranged, brought, checked, once, ordered, reread, time_asked
from workers.retrieval.retrieving import count, counted, diffused, kept_out, own
from workers.retrieval.rollups import about
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
    sight = caller.at(wanted.namespace, READ).reading_for(wanted.filters.purpose)
    known = Known(service.reads, sight)
    asked = None if wanted.filters.experience else time_asked(service, wanted.query)
    found, kept, gone = await asyncio.gather(
        _found(service, known, wanted),
        kept_out(service, sight, wanted.namespace, wanted.filters),
        _replaced(service, sight, wanted, asked),
    )
    beside = dict[str, Beside]()
    steps = Steps(
        weighed=partial(_weighed, service, sight, wanted) if wanted.filters.experience else None,
        # A request with a vector has no question that could be read again.
        reread=None if wanted.vector is not None else partial(_reread, service, known, wanted),
        once=partial(_once, service, known),
        replaced=past.by_nearness(one.hit for one in gone.beside),
        arranged=None
        if wanted.filters.experience
        else partial(_arranged, service, known, wanted, asked=asked, gone=gone),
        together=partial(_together, service, known, wanted, beside),
        marked=partial(_marked, gone, beside),
        in_time=asked is not None,
    )
    hits = await ordered(steps, query.latest_of_equals(_then(found.hits, gone)))
    every = await scored(service, wanted.query, hits[: max(wanted.k, SCORED)])
    given = every[: wanted.k]
    mask = service.masking(wanted.namespace, await known.lists(wanted.namespace), asked=wanted.redact)
    rolled = await about(
        service, known, wanted.namespace, wanted.query, wanted.filters, near=[hit.memory_id for hit in every],
        most=LATEST, mask=mask,
    )  # fmt: skip
    mask = await checked(service, sight, wanted.namespace, wanted.filters, [hit.memory_id for hit in given], mask)
    used, warning = await count(service, request, wanted, given)
    cached = service.caching.cached(wanted.namespace)
    given = await service.desk.read(mask.hits, given) if mask.on else given
    against = {hit.memory_id: _all_of(hit, beside).against for hit in given}
    return StructResponse(
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
            answerable=query.answerable(every),
            warning=warning,
            rollups=rolled,
        )
    )


async def _reread(service: Service, known: Known, wanted: query.Search, hits: list[Hit]) -> list[Hit]:
    """The hits, the best of them by their own evidence, and then in the order in which they answer."""
    names = [hit.memory_id for hit in hits[:SCORED]]
    near = await service.desk.read(
        service.failures.answer, "scoring", names, hits, nearest_first, wanted.query, hits, service.encoder.name
    )
    return await reread(service, known, wanted.query, wanted.agent, near)


async def _replaced(
    service: Service, sight: Sight, wanted: query.Search, asked: AskedTime | None
) -> past.Past:  # fmt: skip
    """Returns the superseded memories, where the search is of the past."""
    if not past.of_past(wanted.filters, asked):
        return past.Past(as_of=wanted.filters.as_of)
    vectors = {service.encoder.name: await _vector(service, wanted)}
    return await replaced(service, sight, Question(wanted.namespace, wanted.query, vectors, wanted.filters), asked)


def _then(hits: Sequence[Hit], gone: past.Past) -> list[Hit]:
    """The hits, and as of a time with those of what was replaced since, nearest first."""
    if gone.as_of is None:
        return list(hits)
    return past.by_nearness([past.then(hit, gone.as_of) for hit in hits] + [one.hit for one in gone.among])


async def _found(service: Service, known: Known, wanted: query.Search) -> Answer:
    """The nearest, and so many that as many are left as are wanted where those that are the same are folded."""
    # A few more than are wanted: a memory that renews the first may rank further down.
    k = max(wanted.k, rereading.HEAD)
    while True:
        found = await find(service, known, replace(wanted, k=k))
        if len(found.hits) < k or k >= _FOLDED_MOST or await _different(service, found.hits) >= max(wanted.k, SCORED):
            return found
        k = min(4 * k, _FOLDED_MOST)


async def _different(service: Service, hits: list[Hit]) -> int:
    """Returns the number of hits that are left after those that say the same are folded."""
    return len(await asyncio.to_thread(fold, hits, service.failures))


async def _weighed(service: Service, sight: Sight, wanted: query.Search, hits: list[Hit]) -> list[Hit]:
    """Hits of experience with what they weigh, those of them that it gives to such a question, and of other namespaces
    what they let cross; of a memory that is among them no general form."""
    policy = service.configurations.policy(wanted.namespace).experience
    weights = await service.reads.weights(sight, [hit.memory_id for hit in hits], policy)
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


async def _once(service: Service, known: Known, hits: list[Hit]) -> list[Hit]:
    """The hits, best first, without what a summary, or what it was made of, tells further up, and each text once."""
    return fold(await once(known, hits), service.failures)


async def _together(
    service: Service, known: Known, wanted: query.Search, beside: dict[str, Beside], found: list[Hit]
) -> list[Hit]:
    """The best hits, with those that contradict each other together, and what is to be believed before one of them.
    `beside`: takes what contradicts each."""
    # As many as are scored, so that no score depends on how many are asked for.
    hits = found[: max(wanted.k, SCORED)]
    near = {hit.memory_id: hit for hit in hits}
    folded = {memory_id: hit.memory_id for hit in hits for memory_id in hit.folded}
    contradictions = await _contradicted(known, near, folded, wanted.filters)
    if not contradictions:
        return hits
    decide = conflicts.bearing(conflicts.stood_for(contradictions, folded), wanted.query)
    came = await brought(service, known, wanted.namespace, conflicts.missing(near, decide), wanted.filters)
    if came:
        vector = await _vector(service, wanted)
        told = {
            i: past.then(replace(one.hit, score=_cosine(vector, one.vector)), wanted.filters.as_of)
            for i, one in came.items()
        }
        near |= {i: conflicts.cut_to_denied(one, contradictions) for i, one in told.items()}
        # A memory that came in is contradicted by others, too.
        contradictions = await _contradicted(known, near, folded, wanted.filters)
        decide = conflicts.bearing(conflicts.stood_for(contradictions, folded), wanted.query)
    beside |= conflicts.marks(contradictions)
    order = conflicts.ordered(conflicts.inserted([hit.memory_id for hit in hits], came, decide), decide)
    marks = {i: _all_of(near[i], beside) for i in order}
    return [replace(near[i], conflicts_with=marks[i].conflicts_with, overtakes=marks[i].overtakes) for i in order]


def _marked(gone: past.Past, beside: dict[str, Beside], hits: list[Hit]) -> list[Hit]:
    """The hits with the marks of what was replaced, which are added to `beside`."""
    hits, marks = past.marked(hits, beside, gone.beside)
    beside |= marks
    return hits


def _all_of(hit: Hit, beside: Mapping[str, Beside]) -> Beside:
    """Returns the memories that contradict a hit, or one that is folded into it. What the hit says again was overtaken
    before, and is not by that."""
    folded = (beside.get(memory_id, NOTHING) for memory_id in hit.folded)
    since = (replace(one, against=tuple(by for by in one.against if by.at > hit.occurred_at)) for one in folded)
    return joined((beside.get(hit.memory_id, NOTHING), *since))


async def _contradicted(
    known: Known, near: Mapping[str, Hit], folded: Mapping[str, str], filters: query.Filters
) -> list[conflicts.Contradiction]:
    """The contradictions that concern hits, by their ids, and those that are `folded` into them."""
    texts = {i: near[i].text for i in near} | {i: near[by].text for i, by in folded.items()}
    return conflicts.concerning(await known.contradicted(list(texts), filters), texts)


async def _vector(service: Service, wanted: query.Search) -> NDArray[np.float32]:
    """Returns the vector to search by: the query's, or the one that was sent. Raises BadRequest."""
    if wanted.vector is None:
        return await service.vector_of(wanted.namespace, wanted.query)
    query.check_length(wanted.vector, service.encoder.name, service.encoder.dimensions)
    return np.array(wanted.vector, np.float32)


async def _arranged(
    service: Service,
    known: Known,
    wanted: query.Search,
    hits: list[Hit],
    *,
    asked: AskedTime | None,
    gone: past.Past,
) -> list[Hit]:
    """The hits, the best of them arranged; fewer than two stay as they are. `gone`: what of them was replaced."""
    if len(hits) < 2:
        return hits
    ids = [hit.memory_id for hit in hits if hit.memory_id not in gone.names][:ARRANGED]
    vectors = await known.vectors(service.encoder.name, ids)
    vectors |= gone.vectors
    return await arranged(
        service, wanted.namespace, hits, vectors, question=await _vector(service, wanted), asked=asked,
        replaced=gone.names,
    )  # fmt: skip


def _cosine(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return query.cosine(1.0 - float(a @ b) / lengths) if a.shape == b.shape and lengths else 0.0


async def find(service: Service, known: Known, wanted: query.Search) -> Answer:
    """The nearest memories: of the cache if that may answer, else of the store; the order of `cache.SEARCHED`."""
    vector = await _vector(service, wanted)
    if wanted.filters != query.ALL:
        return Answer(await _of_store(service, known, wanted, vector), "store", "all")
    cached = await service.caching.search(service.reads, known.sight, wanted, vector, known.take)
    if cached is not None:
        return Answer(cached.hits, "cache", cached.compared)
    hits = await _of_store(service, known, wanted, vector)
    service.caching.answered(wanted.namespace, hits)
    indexed = not wanted.exact and await service.reads.indexed(wanted.namespace, service.encoder.name)
    return Answer(hits, "store", "by index" if indexed else "all")


async def _of_store(service: Service, known: Known, wanted: query.Search, vector: NDArray[np.float32]) -> list[Hit]:
    """Both tiers at once; where two encoders' are there, merged by rank, for their scores cannot be compared."""
    # First those that wait to be encoded anew: what changes sides meanwhile is found twice, not never.
    text = service.before is not None and wanted.vector is None
    before = await _nearest(service, known.sight, service.before, wanted) if text and service.before else []
    encoder = service.encoder.name
    hits = await service.reads.search(
        known.sight, wanted.namespace, encoder, vector, wanted.k, filters=wanted.filters, exact=wanted.exact,
        told=known.take,
    )  # fmt: skip
    if service.before is None or not before:
        return hits
    counts = await service.reads.encoded(known.sight, wanted.namespace)
    lists = [(hits, counts.get(service.encoder.name, 0)), (before, counts.get(service.before.name, 0))]
    return query.merge(lists, wanted.k)


async def _nearest(service: Service, sight: Sight, encoder: Encoder, wanted: query.Search) -> list[Hit]:
    vector = await service.encode(encoder, wanted.query)
    return await service.reads.search(sight, wanted.namespace, encoder.name, vector, wanted.k, filters=wanted.filters)
