"""Working memory: what to put into the prompt of one inference. The memories given count as used, unless it peeks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from msgspec.structs import asdict, replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller
from memquorum.core.api.answers import Context, Placed
from memquorum.core.retrieval import buffer, rollups, supports, working
from memquorum.core.retrieval.buffer import Trace
from memquorum.core.retrieval.context import ContextAsked, read_context
from memquorum.core.retrieval.ranking import DEFAULTS, Scored
from memquorum.core.retrieval.repeated import beside_traces, chosen
from memquorum.core.retrieval.scoring import Verdict
from memquorum.core.retrieval.working import Frame
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.knowing import Known
from workers.retrieval.pipeline import checked, each_once
from workers.retrieval.repeating import Again, Repeating
from workers.retrieval.retrieving import NOT_FOUND, answering, count, given_hits, left_out, shown
from workers.retrieval.rollups import about
from workers.retrieval.scored import likely
from workers.retrieval.service import Service


async def context(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the memories for a prompt: the agent's last episodes, and the best answers to the query, within a
    budget."""
    asked = read_context(await body(request, service.bounds), service.bounds)
    namespace = asked.reader.namespace
    sight = caller.at(namespace, READ).reading_for(asked.filters.purpose)
    kept = Repeating[Context](service, sight, asked.reader, asked, asked.filters)
    frame = replace(asked.frame, signed=namespace in service.genesis.signed)
    found = await kept.again(Context)
    if found is None:
        found = await _made(service, asked, frame, kept)
    else:
        found = replace(found, answer=replace(found.answer, text=_text(found, frame)))
    used, warning = await count(service, request, asked.reader.search(asked.query or "", len(found.hits)), found.hits)
    return StructResponse(replace(found.answer, used=used, warning=warning))


def _text(found: Again[Context], frame: Frame) -> str:
    """The text of a context that is given again."""
    buffered = [one.place is not None for one in found.answer.items]
    lately = [hit for hit, there in zip(found.hits, buffered, strict=True) if there]
    remembered = [hit for hit, there in zip(found.hits, buffered, strict=True) if not there]
    return working.rendered(lately, remembered, frame, found.named)


async def _made(service: Service, asked: ContextAsked, frame: Frame, kept: Repeating[Context]) -> Again[Context]:
    """Takes all steps of a context."""
    namespace, known = asked.reader.namespace, Known(service.reads, kept.sight)

    async def found() -> tuple[list[Scored], dict[str, int]]:
        return (
            ([], {})
            if asked.query is None
            else await answering(
                service, known, namespace, asked.query, asked.filters, steps=asked.hops, asker=asked.agent
            )
        )

    traces, (ranked, counts) = await asyncio.gather(
        service.reads.traces(kept.sight, namespace, asked.agent, asked.session, asked.filters), found()
    )
    ring = await _once(known, buffer.ring(traces))
    ring = buffer.then(ring, asked.filters.as_of)
    contradict = await known.contradicted([trace.candidate.hit.memory_id for trace in ring], asked.filters)
    ring = buffer.overtaking(buffer.marked(ring, contradict), ranked)
    ranked = await each_once(known, ranked, [trace.candidate.hit.memory_id for trace in ring])

    mask = service.masking(namespace, await known.lists(namespace), asked=asked.reader.redact)
    near = [one.hit.memory_id for one in (*(one.candidate for one in ranked), *(one.candidate for one in ring))]
    rolled = await about(
        service, known, namespace, asked.query or "", asked.filters, near=near, most=rollups.GIVEN, mask=mask
    )

    mask = await checked(service, kept.sight, namespace, asked.filters, near, mask)

    def assemble() -> working.Working:
        return working.assemble(
            mask.traces(ring), mask.scored(ranked), frame, asked.query, failures=service.failures, rolled=rolled
        )

    # Off the loop: it compares texts.
    made = await service.desk.read(assemble)
    # Memories of the buffer may answer the query as well as those that were found.
    given = {one.item.scored.candidate.hit.memory_id for one in made.placed}
    verdicts, answerable = await likely(service, asked.query or "", ranked, given)
    answer = Context(
        namespace=namespace,
        items=tuple(_placed(one, verdicts) for one in made.placed),
        text=made.text,
        tokens=made.packed.tokens,
        budget_tokens=asked.frame.budget,
        left_out=left_out(made.packed, _without(counts, ring, ranked)),
        used=0,
        answerable=None if asked.query is None else answerable,
        parts=made.took,
        rollups=made.rolled,
    )
    if asked.query is None:
        known.chosen = chosen([], 0, service.configurations.policy(namespace), DEFAULTS)
    if known.chosen is not None:
        known.chosen = beside_traces(known.chosen, [trace.candidate for trace in ring])
    kept.keep(known, mask, answer, made.named)
    return Again(answer, given_hits(made.packed), made.named)


async def _once(known: Known, ring: list[Trace]) -> list[Trace]:
    """The ring without what a summary in it says: that says the other things, too."""
    first = sorted(ring, key=lambda trace: trace.candidate.hit.made_by is None)
    ids = [trace.candidate.hit.memory_id for trace in first]
    left = supports.told_otherwise(ids, await known.supports(ids))
    return [trace for trace in ring if trace.candidate.hit.memory_id not in left]


def _without(counts: Mapping[str, int], ring: Sequence[Trace], ranked: Sequence[Scored]) -> dict[str, int]:
    """The counts, without those that the query did not find and the buffer holds."""
    held = {trace.candidate.hit.memory_id for trace in ring} - {one.candidate.hit.memory_id for one in ranked}
    less = {reason: count - (len(held) if reason == NOT_FOUND else 0) for reason, count in counts.items()}
    return {reason: count for reason, count in less.items() if count > 0}


def _placed(one: working.Placed, verdicts: Mapping[str, Verdict]) -> Placed:
    found = verdicts.get(one.item.scored.candidate.hit.memory_id) if one.why == working.RELEVANT else None
    told = {} if found is None else asdict(found)
    through = one.item.scored.through if one.why == working.RELEVANT else None
    return Placed(**shown(one.item), why=one.why, place=one.place, through=through, **({"score": None} | told))
