"""Recall: what surrounds memories, and what a walk along their relations finds.

    anchors ─► their surroundings ─► rounds of the walk, a statement each, at most `hops` ─► what was found, in order

The memories given count as used, unless the request peeks.
"""

from __future__ import annotations

import numpy as np
from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller
from memquorum.core.api.answers import Around, Recalled
from memquorum.core.orders.protect import goal_kind
from memquorum.core.retrieval import entities, packing, requests
from memquorum.core.retrieval import recall as surroundings
from memquorum.core.retrieval.packing import Packed
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.recall import ANCHOR, Neighbour, Reach
from memquorum.core.retrieval.replaced import marked_ranking, of_past
from memquorum.core.retrieval.requests import Recall
from memquorum.core.retrieval.walking import EACH, SOCIAL, Aim, Edge, Walk
from workers.retrieval.answers import StructResponse, body, unknown
from workers.retrieval.knowing import Known
from workers.retrieval.pipeline import brought, checked, each_once, time_asked
from workers.retrieval.repeating import Again, Repeating
from workers.retrieval.retrieving import answering, count, given_hits, kept_out, left_out, shown, with_marks
from workers.retrieval.service import Service

# So often the answers to a recall's query are asked for while some of them go.
_TRIES = 3


async def recall(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the surroundings of a memory, of the memories that answer a query best, of those that a goal needs,
    or of those that have the name of an entity."""
    wanted = requests.read_recall(await body(request, service.bounds), service.bounds)
    namespace = wanted.reader.namespace
    sight = caller.at(namespace, READ).reading_for(wanted.filters.purpose)
    kept = Repeating[Recalled](service, sight, wanted.reader, wanted, wanted.filters)
    found = await kept.again(Recalled) or await _recalled(service, wanted, kept)
    if isinstance(found, Response):
        return found
    used, warning = await count(service, request, wanted.reader.search(wanted.query or "", len(found.hits)), found.hits)
    return StructResponse(replace(found.answer, used=used, warning=warning))


async def _recalled(service: Service, wanted: Recall, kept: Repeating[Recalled]) -> Again[Recalled] | Response:
    """Takes all steps of a recall."""
    namespace, known = wanted.reader.namespace, Known(service.reads, kept.sight)
    anchors, found = await _surrounded(service, known, wanted)
    gone = surroundings.gone(found, wanted.filters.as_of)
    if wanted.goal is not None and not anchors:
        return unknown("goal", f"no memory of {namespace!r} is needed by a goal {wanted.goal!r}")
    if wanted.entity is not None and not anchors:
        return unknown("entity", f"no memory of {namespace!r} that may be given has the name {wanted.entity!r}")
    if wanted.memory_id is not None and not found:
        told = f"{_then(wanted.filters)}for this purpose, sensitivity and jurisdiction"
        return unknown("memory_id", f"no memory {wanted.memory_id} is alive in {namespace!r} {told}")
    around, unneeded = await _walked(service, known, wanted, found)
    ordered = surroundings.in_order(around, anchors)
    contradict = await known.contradicted([one.candidate.hit.memory_id for one in ordered], wanted.filters)
    ways = {one.candidate.hit.memory_id: one for one in ordered}
    scored = marked_ranking(with_marks(surroundings.scored(ordered), contradict), gone.beside)
    scored = await each_once(known, scored, anchors)
    counts = await kept_out(service, kept.sight, namespace, wanted.filters)
    counts |= {SOCIAL: len(unneeded)} if unneeded else {}
    mask = service.masking(namespace, await known.lists(namespace), asked=wanted.reader.redact)

    given = [one.candidate.hit.memory_id for one in scored]
    mask = await checked(service, kept.sight, namespace, wanted.filters, given, mask)

    def pack() -> Packed:
        return packing.pack(mask.scored(scored), wanted.budget_tokens, len(ordered), failures=service.failures)

    packed = await service.desk.read(pack)
    items = [(item, ways[item.scored.candidate.hit.memory_id]) for item in surroundings.in_time_order(packed.items)]
    answer = Recalled(
        namespace=namespace,
        anchors=tuple(anchors),
        items=tuple(Around(**shown(item), **surroundings.told(by)) for item, by in items),
        tokens=packed.tokens,
        budget_tokens=wanted.budget_tokens,
        left_out=left_out(packed, counts),
        used=0,
    )
    kept.keep(known, mask, answer)
    return Again(answer, given_hits(packed))


async def _surrounded(service: Service, known: Known, wanted: Recall) -> tuple[list[str], list[Neighbour]]:
    """The anchors, and what surrounds them.

    An answer to a query may go between the two questions, as sources do when their summary comes: then what answers now
    is asked for, or neither would be told. A read of the past has what was replaced, too.
    """
    asked = None if wanted.query is None else time_asked(service, wanted.query)
    reach = Reach(
        wanted.steps, wanted.within_ms, wanted.links, past=of_past(wanted.filters, asked)
    )  # fmt: skip
    anchors: list[str] = []
    found: list[Neighbour] = []
    for _ in range(_TRIES):
        anchors = await _anchors(service, known, wanted)
        found = await service.reads.around(known.sight, wanted.reader.namespace, anchors, reach, wanted.filters)
        if wanted.query is None or {*anchors} <= {one.candidate.hit.memory_id for one in found}:
            break
    return anchors, surroundings.then(found, wanted.filters.as_of)


async def _walked(
    service: Service, known: Known, wanted: Recall, found: list[Neighbour]
) -> tuple[list[Neighbour], set[str]]:
    """Adds what the anchors are related to; and finds the social memories that a goal does not need."""
    aim, namespace = await _aim(service, wanted, found), wanted.reader.namespace
    walk = Walk(surroundings.seeds(found, aim), aim)
    for turn in range(wanted.hops):
        near = walk.next_round()
        if not near:
            break
        related = await service.reads.related(
            known.sight, namespace, near, wanted.within_ms, wanted.filters, first=turn == 0
        )
        walk.take([*related, *await _of_one_name(service, known, wanted, near)])
    there = await brought(service, known, namespace, walk.passed(), wanted.filters)
    places = [one for one in walk.found() if walk.passed_by(one) <= there.keys()]
    linked = [
        Neighbour(
            there[one.memory_id], one.anchor, surroundings.way_of(one.path), len(one.path), path=one.path,
            rank=one.score,
        )
        for one in places
    ]  # fmt: skip
    kept, unneeded = surroundings.needed([*found, *linked], aim)
    return kept, (unneeded | walk.unneeded()) - {one.candidate.hit.memory_id for one in kept}


async def _of_one_name(service: Service, known: Known, wanted: Recall, near: list[str]) -> list[Edge]:
    """Returns the relations of memories to others that have the same names. A goal is not led on by them."""
    if wanted.goal is not None:
        return []
    namespace = wanted.reader.namespace
    by = entities.by_name(near, await service.reads.said(known.sight, namespace, near))
    if not by:
        return []
    most, each = entities.SHARED, EACH + 1
    return entities.edges(
        by, await service.reads.holders(known.sight, namespace, [*by], wanted.filters, each=each, most=most)
    )


async def _aim(service: Service, wanted: Recall, found: list[Neighbour]) -> Aim:
    """Returns the aim of a walk: the query, or what the anchors say."""
    name = service.encoder.name
    if wanted.query is not None:
        return Aim(name, await service.vector_of(wanted.reader.namespace, wanted.query))
    anchors = [one.candidate.vector for one in found if one.way == ANCHOR and one.candidate.encoder == name]
    middle = np.mean(anchors, axis=0) if anchors else None
    length = 0.0 if middle is None else float(np.linalg.norm(middle))
    return Aim(name, None if middle is None or not length else middle / length, goal=wanted.goal is not None)


async def _anchors(service: Service, known: Known, wanted: Recall) -> list[str]:
    namespace = wanted.reader.namespace
    if wanted.memory_id is not None:
        return [wanted.memory_id]
    if wanted.goal is not None:
        return [*await service.reads.needed(known.sight, namespace, goal_kind(wanted.goal))][: wanted.anchors]
    if wanted.entity is not None:
        named = [entities.entity(wanted.entity)]
        found = await service.reads.holders(known.sight, namespace, named, wanted.filters, each=wanted.anchors)
        return [one.memory_id for one in found]
    ranked, _ = await answering(
        service, known, namespace, wanted.query or "", wanted.filters, asker=wanted.reader.agent
    )
    return [one.candidate.hit.memory_id for one in ranked[: wanted.anchors]]


def _then(filters: Filters) -> str:
    return "" if filters.as_of is None else "at that time "
