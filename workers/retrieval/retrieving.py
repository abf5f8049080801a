"""Retrieve: memories that fit a budget of tokens. Its steps serve other reads too.

The memories given count as used, unless the request peeks; what is folded into it or left out does not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from msgspec.structs import asdict, replace
from numpy.typing import NDArray
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller, Sight
from memquorum.core.api.answers import Answering, Hit, LeftOut, Overtaken, Retrieved
from memquorum.core.policy import Policy
from memquorum.core.reading.times import AskedTime
from memquorum.core.retrieval import (
    conflicts,
    diffusion,
    hops,
    overtaken,
    packing,
    requests,
    rereading,
    rollups,
)
from memquorum.core.retrieval.conflicts import Contradiction
from memquorum.core.retrieval.diffusion import Form
from memquorum.core.retrieval.overtaken import NOTHING
from memquorum.core.retrieval.packing import Item, Packed
from memquorum.core.retrieval.query import ALL, Filters, Search, read_flag
from memquorum.core.retrieval.ranking import (
    DEFAULTS,
    Question,
    Ranking,
    Scored,
    idle_forms,
    rank,
    scheduled,
)
from memquorum.core.retrieval.repeated import chosen
from memquorum.core.retrieval.replaced import Past, marked_ranking, was_replaced
from memquorum.core.retrieval.requests import Retrieve
from memquorum.telemetry.tracing import HEADER
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.knowing import Known
from workers.retrieval.past import candidates, replaced
from workers.retrieval.pipeline import (
    ARRANGED,
    Steps,
    arranged,
    brought,
    checked,
    each_once,
    ordered,
    reread,
    time_asked,
)
from workers.retrieval.repeating import Again, Repeating
from workers.retrieval.rollups import about
from workers.retrieval.scored import likely
from workers.retrieval.service import Service

# The reason for memories that a filter or the rankings left out: they are counted, not named.
NOT_FOUND = "not_found"


async def retrieve(service: Service, request: Request, caller: Caller) -> Response:
    """The memories that answer best and fit the budget, and what was left out and why."""
    wanted = requests.read_retrieve(await body(request, service.bounds), service.bounds)
    sight = caller.at(wanted.reader.namespace, READ).reading_for(wanted.filters.purpose)
    kept = Repeating[Retrieved](service, sight, wanted.reader, wanted, wanted.filters)
    found = await kept.again(Retrieved) or await _retrieved(service, wanted, kept)
    used, warning = await count(service, request, wanted.reader.search(wanted.query, len(found.hits)), found.hits)
    return StructResponse(replace(found.answer, used=used, warning=warning))


async def _retrieved(service: Service, wanted: Retrieve, kept: Repeating[Retrieved]) -> Again[Retrieved]:
    """Takes all steps of a retrieval."""
    known = Known(service.reads, kept.sight)
    ranked, counts = await answering(
        service, known, wanted.reader.namespace, wanted.query, wanted.filters, steps=wanted.hops,
        asker=wanted.reader.agent,
    )  # fmt: skip
    namespace = wanted.reader.namespace
    mask = service.masking(namespace, await known.lists(namespace), asked=wanted.reader.redact)
    near = [one.candidate.hit.memory_id for one in ranked]
    mask = await checked(service, kept.sight, namespace, wanted.filters, near, mask)
    # Off the loop: it compares texts, of which there may be hundreds that are nearly the same.
    ranked = await service.desk.read(mask.scored, ranked)
    packed = await service.desk.read(
        packing.pack, ranked, wanted.budget_tokens, wanted.k_max, packing.of_text, wanted.query,
        failures=service.failures,
    )  # fmt: skip
    given = [item.scored.candidate.hit.memory_id for item in packed.items]
    found, answerable = await likely(service, wanted.query, ranked, given)
    rolled = await about(
        service, known, wanted.reader.namespace, wanted.query, wanted.filters,
        near=near, most=rollups.GIVEN, mask=mask,
    )  # fmt: skip
    rolled, spent = rollups.packed(rolled, given_hits(packed), wanted.budget_tokens - packed.tokens)
    answer = Retrieved(
        namespace=wanted.reader.namespace,
        items=tuple(
            Answering(**shown(item), **_scores(item), **asdict(found[name]))
            for item, name in zip(packed.items, given, strict=True)
        ),
        tokens=packed.tokens + spent,
        budget_tokens=wanted.budget_tokens,
        left_out=left_out(packed, counts),
        used=0,
        answerable=answerable,
        rollups=rolled,
    )
    kept.keep(known, mask, answer)
    return Again(answer, given_hits(packed))


async def kept_out(service: Service, sight: Sight, namespace: str, filters: Filters) -> dict[str, int]:
    """Returns the number of memories of the namespace that the named filters keep out, by the first filter that
    does."""
    if filters == ALL:
        return {}
    _, kept = await service.reads.passed(sight, Question(namespace, "", {}, filters))
    kept.pop("encoder", None)  # no encoder was asked
    return kept


async def answering(
    service: Service,
    known: Known,
    namespace: str,
    text: str,
    filters: Filters,
    *,
    steps: int = 1,
    asker: str | None = None,
) -> tuple[list[Scored], dict[str, int]]:
    """The candidates, best first, and how many were none, by reason. `steps`: with the second, what the first hits
    name. `asker`: the agent that asks, if told. A read of the past has what was replaced among them."""
    sight = known.sight
    question = Question(namespace, text, await _encode(service, namespace, text), filters)
    asked = None if filters.experience else time_asked(service, text)
    (found, at), (passed, kept), gone = await asyncio.gather(
        candidates(service, known, question),
        service.reads.passed(sight, question),
        replaced(service, sight, question, asked),
    )
    encoded = {name: passed.get(name, 0) for name in question.vectors}
    policy = _policy(service, namespace)
    ordinary = not filters.experience
    taken = Steps(
        weighed=None if ordinary else partial(_weighed, service, sight, question, elsewhere=True),
        reread=partial(_reread, service, known, text, asker) if ordinary else None,
        followed=partial(_second, service, known, question, encoded) if steps > 1 else None,
        once=partial(each_once, known),
        replaced=rank([one.candidate for one in gone.beside], encoded, at, policy),
        arranged=partial(_arranged, service, question, asked, gone) if ordinary else None,
        together=partial(_together, service, known, question),
        marked=partial(marked_ranking, gone=gone.beside),
        in_time=asked is not None,
    )
    near = rank([*found, *(one.candidate for one in gone.among)], encoded, at, policy, _given(filters))
    if ordinary and steps == 1 and asked is None:
        known.chosen = chosen(near, at, policy, _given(filters))
    ranked = await ordered(taken, near)
    own_hits = (one.candidate.hit for one in ranked if not was_replaced(one.candidate.hit))
    rest = max(0, sum(passed.values()) - sum(not hit.diffused for hit in own_hits))
    return ranked, kept | ({NOT_FOUND: rest} if rest else {})


def _given(filters: Filters) -> Ranking:
    """The numbers of a retrieval. A memory's strength today says little about its strength as of a time."""
    return DEFAULTS if filters.as_of is None else replace(DEFAULTS, strength_share=0.0)


async def _weighed(
    service: Service, sight: Sight, question: Question, ranked: list[Scored], *, elsewhere: bool = False
) -> list[Scored]:
    """A ranking of experience by its weights; `elsewhere`: with what may be given of other namespaces."""
    policy = _policy(service, question.namespace).experience
    weights = await service.reads.weights(sight, [one.candidate.hit.memory_id for one in ranked], policy)
    if elsewhere:
        forms, theirs = await diffused(service, sight, question)
        ranked, weights = ranked + diffusion.scored(forms), weights | theirs
    return scheduled(ranked, weights, policy)


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
    service: Service, known: Known, question: Question, encoded: Mapping[str, int], ranked: list[Scored]
) -> list[Scored]:
    """The ranking with what the first hits name. It passes the same filters, and what it adds answers as well as the
    first hit that it follows."""
    names = hops.second_query(one.candidate.hit.answering for one in ranked[: hops.KEPT])
    looked = list[Scored]()
    if names:
        named, at = await candidates(service, known, replace(question, query=names))
        found = rank(named, encoded, at, _policy(service, question.namespace), _given(question.filters))
        looked = await _weighed(service, known.sight, question, found) if question.filters.experience else found
    # Off the loop: it reads some hundred texts.
    names_of = [one.candidate.hit.memory_id for one in (*ranked, *looked)]
    both = await service.desk.read(
        service.failures.answer, "second step", names_of, ranked, hops.followed, question.query, ranked, looked
    )
    idle = idle_forms([one.candidate.hit for one in both])
    return [one for one in both if one.candidate.hit.memory_id not in idle]


def _policy(service: Service, namespace: str) -> Policy:
    return service.configurations.policy(namespace)


async def _reread(
    service: Service, known: Known, question: str, asker: str | None, ranked: list[Scored]
) -> list[Scored]:
    """The ranking, the best of it in the order in which they answer when they are read once more."""
    by_id = {one.candidate.hit.memory_id: one for one in ranked}
    best = await reread(service, known, question, asker, [one.candidate.hit for one in ranked[: rereading.HEAD]])
    return [*(by_id[hit.memory_id] for hit in best), *ranked[rereading.HEAD :]]


async def _arranged(
    service: Service, question: Question, asked: AskedTime | None, gone: Past, ranked: list[Scored]
) -> list[Scored]:
    """The ranking, the best of it arranged, with what was replaced."""
    there = [one for one in ranked if one.candidate.hit.memory_id not in gone.names]
    beside = [one for one in ranked if one.candidate.hit.memory_id in gone.names]
    head = {one.candidate.hit.memory_id: one for one in (*there[:ARRANGED], *beside)}
    vectors = {
        name: one.candidate.vector for name, one in head.items() if one.candidate.encoder == service.encoder.name
    }
    hits = [one.candidate.hit for one in head.values()]
    vector = question.vectors[service.encoder.name]
    best = await arranged(service, question.namespace, hits, vectors, question=vector, asked=asked, replaced=gone.names)
    told = (replace(head[hit.memory_id], candidate=replace(head[hit.memory_id].candidate, hit=hit)) for hit in best)
    return [*told, *there[ARRANGED:]]


async def _together(service: Service, known: Known, question: Question, ranked: list[Scored]) -> list[Scored]:
    """The ranking, with those that contradict each other together. A memory that comes in is an answer as good as the
    one that it contradicts."""
    scored = {one.candidate.hit.memory_id: one for one in ranked}
    every = await known.contradicted(list(scored), question.filters)
    if not every:
        return ranked
    scored = {i: replace(one, candidate=conflicts.with_denied_lines(one.candidate, every)) for i, one in scored.items()}
    found = conflicts.concerning(every, _texts(scored))
    decide = conflicts.bearing(found, question.query)
    came = await brought(service, known, question.namespace, conflicts.missing(scored, decide), question.filters)
    order = conflicts.inserted(list(scored), came, decide)
    for memory_id, one in came.items():
        follower = next(scored[other] for other in order[order.index(memory_id) + 1 :] if other in scored)
        hit = conflicts.cut_to_denied(one.hit, found)
        part = replace(one, hit=hit, whole=one.text if hit.excerpt else None)
        scored[memory_id] = replace(follower, candidate=conflicts.with_denied_lines(part, found))
    if came:  # what came in is contradicted by others, too
        again = await known.contradicted(list(scored), question.filters)
        found = conflicts.concerning(again, _texts(scored))
        decide = conflicts.bearing(found, question.query)
    return with_marks([scored[memory_id] for memory_id in conflicts.ordered(order, decide)], found)


def _texts(scored: Mapping[str, Scored]) -> dict[str, str]:
    return {memory_id: one.candidate.hit.text for memory_id, one in scored.items()}


def with_marks(ranked: Sequence[Scored], found: Sequence[Contradiction]) -> list[Scored]:
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
    places = {"near_place": scored.near_place, "words_place": scored.words_place}
    return told | places | {"cosine": scored.candidate.hit.score, "weight": scored.weight, "through": scored.through}


def given_hits(packed: Packed) -> tuple[Hit, ...]:
    """The memories that were taken, as they are counted."""
    return tuple(item.scored.candidate.hit for item in packed.items)


async def count(service: Service, request: Request, wanted: Search, hits: Sequence[Hit]) -> tuple[int, str | None]:
    """Sees to it that hits count as used, unless the reader peeks; of how many that is so, and why not of all. A
    superseded memory does not count."""
    hits = [hit for hit in hits if not was_replaced(hit)]
    confirm = read_flag("confirm", request.query_params.get("confirm"))
    return await service.use(wanted, hits, request.headers.get(HEADER), confirm=confirm)


def left_out(packed: Packed, counts: Mapping[str, int]) -> dict[str, LeftOut]:
    """Returns the memories left out, by reason: those that were no candidates (`counts`), and those that did not
    fit."""
    return counted(counts) | {why: LeftOut(left.count, left.memory_ids) for why, left in packed.left.items()}


def counted(counts: Mapping[str, int]) -> dict[str, LeftOut]:
    """Returns the memories left out that are counted but not named."""
    return {reason: LeftOut(count, ()) for reason, count in sorted(counts.items())}
