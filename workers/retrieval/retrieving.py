"""Retrieve and recall: memories that fit a budget of tokens, and what surrounds some of them.

What is given counts as used, unless the request peeks; what is folded into it or left out does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import asdict, replace
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller, Sight
from memquorum.core.api.answers import Answering, Around, Hit, LeftOut, Overtaken, Recalled, Retrieved
from memquorum.core.orders.protect import goal_kind
from memquorum.core.policy import Policy
from memquorum.core.reading.times import Asked
from memquorum.core.retrieval import (
    conflicts,
    diffusion,
    hops,
    overtaken,
    packing,
    requests,
    rereading,
    supports,
)
from memquorum.core.retrieval import recall as surroundings
from memquorum.core.retrieval.conflicts import Contradiction
from memquorum.core.retrieval.diffusion import Form
from memquorum.core.retrieval.overtaken import NOTHING
from memquorum.core.retrieval.packing import Item, Packed
from memquorum.core.retrieval.query import ALL, Filters, Search, read_flag
from memquorum.core.retrieval.ranking import DEFAULTS, Candidate, Question, Scored, idle_forms, rank, scheduled
from memquorum.core.retrieval.requests import Reader, Recall
from memquorum.telemetry.tracing import HEADER
from workers.retrieval.answers import Told, body, unknown
from workers.retrieval.arranged import HEAD as ARRANGED
from workers.retrieval.arranged import arranged, time_asked
from workers.retrieval.scored import judged
from workers.retrieval.service import Service

# What a filter or the rankings left out is counted and not named.
NOT_FOUND = "not_found"
# So often the answers to a recall's query are asked for while some of them go.
_TRIES = 3


async def retrieve(service: Service, request: Request, caller: Caller) -> Response:
    """The memories that answer best and fit the budget, and what was left out and why."""
    wanted = requests.read_retrieve(await body(request, service.bounds), service.bounds)
    sight = caller.at(wanted.reader.namespace, READ)
    ranked, counts = await answering(
        service, sight, wanted.reader.namespace, wanted.query, wanted.filters, steps=wanted.hops
    )
    mask = service.redaction.of(wanted.reader.namespace, asked=wanted.reader.redact)

    def pack() -> Packed:
        return packing.pack(
            mask.scored(ranked), wanted.budget_tokens, wanted.k_max, packing.of_text, wanted.query,
            failures=service.failures,
        )  # fmt: skip

    # Off the loop: it compares texts, of which there may be hundreds that are nearly the same.
    packed = await service.desk.read(pack)
    found = await judged(service, wanted.query, [item.scored.candidate.hit for item in packed.items])
    used, warning = await uses(service, request, wanted.reader, packed, wanted.query)
    return Told(
        Retrieved(
            namespace=wanted.reader.namespace,
            items=tuple(
                Answering(**shown(item), **_scores(item), **asdict(one))
                for item, one in zip(packed.items, found, strict=True)
            ),
            tokens=packed.tokens,
            budget_tokens=wanted.budget_tokens,
            left_out=left_out(packed, counts),
            used=used,
            answerable=any(one.answerable for one in found),
            warning=warning,
        )
    )


async def recall(service: Service, request: Request, caller: Caller) -> Response:
    """What surrounds a memory, the memories that answer a query best, or those that a goal needs."""
    wanted = requests.read_recall(await body(request, service.bounds), service.bounds)
    namespace = wanted.reader.namespace
    sight = caller.at(namespace, READ)
    anchors, found = await _surrounded(service, sight, wanted)
    if wanted.goal is not None and not anchors:
        return unknown("goal", f"no memory of {namespace!r} is needed by a goal {wanted.goal!r}")
    if wanted.memory_id is not None and not found:
        told = "for this purpose, sensitivity and jurisdiction"
        return unknown("memory_id", f"no memory {wanted.memory_id} is alive in {namespace!r} {told}")
    ordered = surroundings.in_order(found, anchors)
    contradict = await service.reads.conflicts(sight, [one.candidate.hit.memory_id for one in ordered])
    ways = {one.candidate.hit.memory_id: one for one in ordered}
    scored = _marked(surroundings.scored(ordered), contradict)
    scored = await each_once(service, sight, scored, anchors)
    kept = await kept_out(service, sight, namespace, wanted.filters)
    mask = service.redaction.of(namespace, asked=wanted.reader.redact)

    def pack() -> Packed:
        return packing.pack(mask.scored(scored), wanted.budget_tokens, len(ordered), failures=service.failures)

    packed = await service.desk.read(pack)
    items = [(item, ways[item.scored.candidate.hit.memory_id]) for item in surroundings.told(packed.items)]
    used, warning = await uses(service, request, wanted.reader, packed, wanted.query)
    return Told(
        Recalled(
            namespace=namespace,
            anchors=tuple(anchors),
            items=tuple(Around(**shown(item), way=by.way, anchor=by.anchor, apart=by.apart) for item, by in items),
            tokens=packed.tokens,
            budget_tokens=wanted.budget_tokens,
            left_out=left_out(packed, kept),
            used=used,
            warning=warning,
        )
    )


async def _surrounded(service: Service, sight: Sight, wanted: Recall) -> tuple[list[str], list[surroundings.Neighbour]]:
    """The anchors, and what surrounds them.

    An answer to a query may go between the two questions, as sources do when their summary comes: then what answers now
    is asked for, or neither would be told.
    """
    reach = surroundings.Reach(wanted.steps, wanted.within_ms, wanted.links)
    anchors: list[str] = []
    found: list[surroundings.Neighbour] = []
    for _ in range(_TRIES):
        anchors = await _anchors(service, sight, wanted)
        found = await service.reads.around(sight, wanted.reader.namespace, anchors, reach, wanted.filters)
        if wanted.query is None or {*anchors} <= {one.candidate.hit.memory_id for one in found}:
            break
    return anchors, found


async def _anchors(service: Service, sight: Sight, wanted: Recall) -> list[str]:
    namespace = wanted.reader.namespace
    if wanted.memory_id is not None:
        return [wanted.memory_id]
    if wanted.goal is not None:
        return [*await service.reads.needed(sight, namespace, goal_kind(wanted.goal))][: wanted.anchors]
    ranked, _ = await answering(service, sight, namespace, wanted.query or "", wanted.filters)
    return [one.candidate.hit.memory_id for one in ranked[: wanted.anchors]]


async def kept_out(service: Service, sight: Sight, namespace: str, filters: Filters) -> dict[str, int]:
    """How many memories of the namespace the filters that are named do not let pass, by the first of them."""
    if filters == ALL:
        return {}
    _, kept = await service.reads.passed(sight, Question(namespace, "", {}, filters))
    kept.pop("encoder", None)  # no encoder was asked
    return kept


async def answering(
    service: Service, sight: Sight, namespace: str, text: str, filters: Filters, *, steps: int = hops.HOPS_DEFAULT
) -> tuple[list[Scored], dict[str, int]]:
    """The candidates, best first, and how many were none, by reason. `steps`: with the second, what the first hits
    name."""
    question = Question(namespace, text, await _encode(service, namespace, text), filters)
    (candidates, as_of), (passed, kept) = await asyncio.gather(
        service.reads.candidates(sight, question, DEFAULTS), service.reads.passed(sight, question)
    )
    encoded = {name: passed.get(name, 0) for name in question.vectors}
    near = rank(candidates, encoded, as_of, _policy(service, namespace))
    ranked = await _ranked(service, sight, question, near, elsewhere=True)
    if not filters.experience:
        ranked = await _reread(service, sight, text, ranked)
    if steps > 1:
        ranked = await _second(service, sight, question, ranked, encoded)
    ranked = await each_once(service, sight, ranked)
    asked = None if filters.experience else time_asked(service, text)
    if not filters.experience:
        ranked = await _arranged(service, question, ranked, asked)
    # What came in for what it contradicts may be told by another one, too.
    ranked = await each_once(service, sight, await _beside(service, sight, question, ranked))
    if asked is not None:
        ranked = await _arranged(service, question, ranked, asked)
    rest = max(0, sum(passed.values()) - sum(not one.candidate.hit.diffused for one in ranked))
    return ranked, kept | ({NOT_FOUND: rest} if rest else {})


async def _ranked(
    service: Service, sight: Sight, question: Question, ranked: list[Scored], *, elsewhere: bool = False
) -> list[Scored]:
    """A ranking as it is, or where experience alone is asked, that by weights; `elsewhere`: with what may be given of
    other namespaces."""
    if not question.filters.experience:
        return ranked
    weights = await service.reads.weights(sight, [one.candidate.hit.memory_id for one in ranked])
    if elsewhere:
        forms, theirs = await diffused(service, sight, question)
        ranked, weights = ranked + diffusion.scored(forms), weights | theirs
    return scheduled(ranked, weights, _policy(service, question.namespace).experience)


async def diffused(service: Service, sight: Sight, question: Question) -> tuple[list[Form], dict[str, int]]:
    """General forms of other namespaces that are near a question which may be given such, and what they weigh here."""
    if not diffusion.asked(question.filters):
        return [], {}
    policy = _policy(service, question.namespace).experience
    forms = await service.reads.diffused(sight, question, service.encoder.name, policy)
    if not forms:
        return [], {}
    ids = [form.candidate.hit.memory_id for form in forms]
    tasks, feedback = await service.reads.given(sight, question.namespace, ids)
    return forms, await service.desk.read(diffusion.weights, forms, tasks, feedback, policy)


async def _second(
    service: Service, sight: Sight, question: Question, ranked: list[Scored], encoded: Mapping[str, int]
) -> list[Scored]:
    """The ranking with what the first hits name. It passes the same filters, and what it adds answers as well as the
    first hit that it follows."""
    names = hops.asked(one.candidate.hit.answering for one in ranked[: hops.KEPT])
    looked = list[Scored]()
    if names:
        candidates, as_of = await service.reads.candidates(sight, replace(question, query=names), DEFAULTS)
        found = rank(candidates, encoded, as_of, _policy(service, question.namespace))
        looked = await _ranked(service, sight, question, found)
    # Off the loop: it reads some hundred texts.
    names_of = [one.candidate.hit.memory_id for one in (*ranked, *looked)]
    both = await service.desk.read(
        service.failures.answer, "second step", names_of, ranked, hops.followed, question.query, ranked, looked
    )
    idle = idle_forms([one.candidate.hit for one in both])
    return [one for one in both if one.candidate.hit.memory_id not in idle]


def _policy(service: Service, namespace: str) -> Policy:
    return service.configurations.policy(namespace)


async def _reread(service: Service, sight: Sight, question: str, ranked: list[Scored]) -> list[Scored]:
    by_id = {one.candidate.hit.memory_id: one for one in ranked}
    best = await reread(service, sight, question, [one.candidate.hit for one in ranked[: rereading.HEAD]])
    return [*(by_id[hit.memory_id] for hit in best), *ranked[rereading.HEAD :]]


async def _arranged(service: Service, question: Question, ranked: list[Scored], asked: Asked | None) -> list[Scored]:
    """The ranking, the best of it arranged."""
    head = {one.candidate.hit.memory_id: one for one in ranked[:ARRANGED]}
    vectors = {
        name: one.candidate.vector for name, one in head.items() if one.candidate.encoder == service.encoder.name
    }
    hits = [one.candidate.hit for one in head.values()]
    vector = question.vectors[service.encoder.name]
    best = await arranged(service, question.namespace, hits, vectors, question=vector, asked=asked)
    told = (replace(head[hit.memory_id], candidate=replace(head[hit.memory_id].candidate, hit=hit)) for hit in best)
    return [*told, *ranked[ARRANGED:]]


async def reread(service: Service, sight: Sight, question: str, hits: list[Hit]) -> list[Hit]:
    """The hits, the best of them in the order in which they answer when they are read once more."""
    entries = await service.reads.entries(sight, rereading.of_one_moment(hits))
    names = [hit.memory_id for hit in hits[: rereading.HEAD]]
    return service.failures.answer("rereading", names, hits, rereading.best_first, question, hits, entries)


async def each_once(service: Service, sight: Sight, ranked: list[Scored], before: Sequence[str] = ()) -> list[Scored]:
    """The ranking without what a summary, or what it was made of, tells further up. `before`: memories that stand
    before all of it, and stay."""
    ids = list(dict.fromkeys([*before, *(one.candidate.hit.memory_id for one in ranked)]))
    left = supports.told_otherwise(ids, await service.reads.supports(sight, ids)) - {*before}
    return [one for one in ranked if one.candidate.hit.memory_id not in left]


async def once(service: Service, sight: Sight, hits: list[Hit]) -> list[Hit]:
    """The hits, best first, without what a summary, or what it was made of, tells further up."""
    ids = [hit.memory_id for hit in hits]
    left = supports.told_otherwise(ids, await service.reads.supports(sight, ids))
    return [hit for hit in hits if hit.memory_id not in left]


async def brought(
    service: Service, sight: Sight, namespace: str, memory_ids: Sequence[str], filters: Filters
) -> dict[str, Candidate]:
    """Memories that were not found and have to stand before some that were, those of them that pass the filters."""
    if not memory_ids:
        return {}
    around = await service.reads.around(sight, namespace, memory_ids, surroundings.Reach(0, 0), filters)
    came = (one.candidate for one in around if one.candidate.hit.memory_id in memory_ids)
    return {one.hit.memory_id: one for one in came if conflicts.let_in(filters, one.hit)}


async def _beside(service: Service, sight: Sight, question: Question, ranked: list[Scored]) -> list[Scored]:
    """The ranking, with those that contradict each other together. What comes in answers as well as the other."""
    scored = {one.candidate.hit.memory_id: one for one in ranked}
    every = await service.reads.conflicts(sight, list(scored))
    if not every:
        return ranked
    scored = {i: replace(one, candidate=conflicts.doubtful(one.candidate, every)) for i, one in scored.items()}
    found = conflicts.concerning(every, _texts(scored))
    decide = conflicts.bearing(found, question.query)
    came = await brought(service, sight, question.namespace, conflicts.missing(scored, decide), question.filters)
    order = conflicts.inserted(list(scored), came, decide)
    for memory_id, one in came.items():
        follower = next(scored[other] for other in order[order.index(memory_id) + 1 :] if other in scored)
        hit = conflicts.disputed(one.hit, found)
        part = replace(one, hit=hit, whole=one.text if hit.excerpt else None)
        scored[memory_id] = replace(follower, candidate=conflicts.doubtful(part, found))
    if came:  # what came in is contradicted by others, too
        found = conflicts.concerning(await service.reads.conflicts(sight, list(scored)), _texts(scored))
        decide = conflicts.bearing(found, question.query)
    return _marked([scored[memory_id] for memory_id in conflicts.ordered(order, decide)], found)


def _texts(scored: Mapping[str, Scored]) -> dict[str, str]:
    return {memory_id: one.candidate.hit.text for memory_id, one in scored.items()}


def _marked(ranked: Sequence[Scored], found: Sequence[Contradiction]) -> list[Scored]:
    """A ranking with what contradicts each memory, and in which statements."""
    beside = conflicts.marks(found)

    def mark(one: Scored) -> Scored:
        return replace(one, candidate=one.candidate.beside(beside.get(one.candidate.hit.memory_id, NOTHING)))

    return list(map(mark, ranked))


async def overtaken_in(
    service: Service,
    sight: Sight,
    texts: Mapping[str, str | None],
) -> dict[str, tuple[Overtaken, ...]]:
    """The marks of memories that are shown, by id. `texts`: as they are given; None where a memory has none."""
    there = {memory_id: text for memory_id, text in texts.items() if text is not None}
    beside = conflicts.marks(await service.reads.conflicts(sight, list(there)))
    return {one: overtaken.placed(there[one], by.against) for one, by in beside.items() if one in there}


async def _encode(service: Service, namespace: str, text: str) -> Mapping[str, NDArray[np.float32]]:
    if service.before is None:
        return {service.encoder.name: await service.vector_of(namespace, text)}
    own, before = await asyncio.gather(service.vector_of(namespace, text), service.encode(service.before, text))
    return {service.encoder.name: own, service.before.name: before}


def own(hit: Hit) -> Hit:
    """A hit as it is given: of what is at home in another namespace not the memory that it was made of."""
    return replace(hit, general_of=None) if hit.diffused else hit


def shown(item: Item) -> dict[str, Any]:
    """A memory as it is given."""
    hit = asdict(own(item.scored.candidate.hit))
    del hit["score"], hit["weight"], hit["answerable"], hit["cosine"]
    return hit | {"tokens": item.tokens, "folded": item.folded, "spans": item.spans}


def _scores(item: Item) -> dict[str, Any]:
    scored = item.scored
    found = {"relevance": scored.relevance, "strength": scored.strength}
    told = {name: round(value, 6) for name, value in found.items()}
    return told | {"cosine": scored.candidate.hit.score, "weight": scored.weight, "through": scored.through}


async def uses(
    service: Service, request: Request, reader: Reader, packed: Packed, query: str | None
) -> tuple[int, str | None]:
    """Counts what is given as used and logs the query, unless the reader peeks; of how many memories that is so, and
    why not of all."""
    hits = [item.scored.candidate.hit for item in packed.items]
    return await count(service, request, reader.search(query or "", len(hits)), hits)


async def count(service: Service, request: Request, wanted: Search, hits: Sequence[Hit]) -> tuple[int, str | None]:
    """Sees to it that hits count as used, unless the reader peeks; of how many that is so, and why not of all."""
    confirm = read_flag("confirm", request.query_params.get("confirm"))
    return await service.use(wanted, hits, request.headers.get(HEADER), confirm=confirm)


def left_out(packed: Packed, counts: Mapping[str, int]) -> dict[str, LeftOut]:
    """What is not in, by reason: what was no candidate (`counts`), and what did not fit."""
    return counted(counts) | {why: LeftOut(left.count, left.memory_ids) for why, left in packed.left.items()}


def counted(counts: Mapping[str, int]) -> dict[str, LeftOut]:
    """What was left out and is not named."""
    return {reason: LeftOut(count, ()) for reason, count in sorted(counts.items())}
