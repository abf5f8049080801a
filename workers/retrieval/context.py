"""Working memory: what to put into the prompt of one inference. What is given counts as used, unless it peeks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from msgspec.structs import asdict, replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller, Sight
from memquorum.core.api.answers import Context, Placed
from memquorum.core.retrieval import buffer, supports, working
from memquorum.core.retrieval.buffer import Trace
from memquorum.core.retrieval.context import read_context
from memquorum.core.retrieval.ranking import Scored
from memquorum.core.retrieval.scoring import Verdict
from workers.retrieval.answers import Told, body
from workers.retrieval.retrieving import NOT_FOUND, answering, each_once, left_out, shown, uses
from workers.retrieval.scored import judged
from workers.retrieval.service import Service


async def context(service: Service, request: Request, caller: Caller) -> Response:
    """What to put into a prompt: what the agent said last, and what answers the query best, within a budget."""
    asked = read_context(await body(request, service.bounds), service.bounds)
    namespace = asked.reader.namespace
    sight = caller.at(namespace, READ)

    async def found() -> tuple[list[Scored], dict[str, int]]:
        return (
            ([], {})
            if asked.query is None
            else await answering(service, sight, namespace, asked.query, asked.filters, steps=asked.hops)
        )

    traces, (ranked, counts) = await asyncio.gather(
        service.reads.traces(sight, namespace, asked.agent, asked.session, asked.filters), found()
    )
    ring = await _once(service, sight, buffer.ring(traces))
    contradict = await service.reads.conflicts(sight, [trace.candidate.hit.memory_id for trace in ring])
    ring = buffer.marked(ring, contradict)
    ranked = await each_once(service, sight, ranked, [trace.candidate.hit.memory_id for trace in ring])
    mask = service.redaction.of(namespace, asked=asked.reader.redact)
    frame = replace(asked.frame, signed=namespace in service.genesis.signed)

    def assemble() -> working.Working:
        return working.assemble(mask.traces(ring), mask.scored(ranked), frame, asked.query, service.failures)

    # Off the loop: it compares texts.
    made = await service.desk.read(assemble)
    # What the buffer holds answers as well as what was found.
    likely = await _likely(service, asked.query, ranked, made)
    used, warning = await uses(service, request, asked.reader, made.packed, asked.query)
    return Told(
        Context(
            namespace=namespace,
            items=tuple(_placed(one, likely) for one in made.placed),
            text=made.text,
            tokens=made.packed.tokens,
            budget_tokens=asked.frame.budget,
            left_out=left_out(made.packed, _without(counts, ring, ranked)),
            used=used,
            warning=warning,
            answerable=None if asked.query is None else any(one.answerable for one in likely.values()),
        )
    )


async def _once(service: Service, sight: Sight, ring: list[Trace]) -> list[Trace]:
    """The ring without what a summary in it says: that says the other things, too."""
    first = sorted(ring, key=lambda trace: trace.candidate.hit.made_by is None)
    ids = [trace.candidate.hit.memory_id for trace in first]
    left = supports.told_otherwise(ids, await service.reads.supports(sight, ids))
    return [trace for trace in ring if trace.candidate.hit.memory_id not in left]


def _without(counts: Mapping[str, int], ring: Sequence[Trace], ranked: Sequence[Scored]) -> dict[str, int]:
    """The counts, without those that the query did not find and the buffer holds."""
    held = {trace.candidate.hit.memory_id for trace in ring} - {one.candidate.hit.memory_id for one in ranked}
    less = {reason: count - (len(held) if reason == NOT_FOUND else 0) for reason, count in counts.items()}
    return {reason: count for reason, count in less.items() if count > 0}


async def _likely(
    service: Service, question: str | None, ranked: Sequence[Scored], made: working.Working
) -> dict[str, Verdict]:
    """How likely each memory of a context that the query found answers it, by its id."""
    given = {one.item.scored.candidate.hit.memory_id for one in made.placed}
    hits = [one.candidate.hit for one in ranked if one.candidate.hit.memory_id in given]
    found = await judged(service, question or "", hits)
    return {hit.memory_id: one for hit, one in zip(hits, found, strict=True)}


def _placed(one: working.Placed, likely: Mapping[str, Verdict]) -> Placed:
    found = likely.get(one.item.scored.candidate.hit.memory_id) if one.why == working.RELEVANT else None
    told = {} if found is None else asdict(found)
    through = one.item.scored.through if one.why == working.RELEVANT else None
    return Placed(**shown(one.item), why=one.why, place=one.place, through=through, **({"score": None} | told))
