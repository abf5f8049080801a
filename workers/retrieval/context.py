"""Working memory: what to put into the prompt of one inference. The memories given count as used, unless it peeks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from msgspec.structs import asdict, replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller
from memquorum.core.api.answers import Context, Placed
from memquorum.core.retrieval import buffer, supports, working
from memquorum.core.retrieval.buffer import Trace
from memquorum.core.retrieval.context import read_context
from memquorum.core.retrieval.ranking import Scored
from memquorum.core.retrieval.scoring import Verdict
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.knowing import Known
from workers.retrieval.pipeline import each_once
from workers.retrieval.retrieving import NOT_FOUND, answering, left_out, shown, uses
from workers.retrieval.scored import likely
from workers.retrieval.service import Service


async def context(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the memories for a prompt: the agent's last episodes, and the best answers to the query, within a
    budget."""
    asked = read_context(await body(request, service.bounds), service.bounds)
    namespace = asked.reader.namespace
    sight = caller.at(namespace, READ)
    known = Known(service.reads, sight)

    async def found() -> tuple[list[Scored], dict[str, int]]:
        return (
            ([], {})
            if asked.query is None
            else await answering(
                service, known, namespace, asked.query, asked.filters, steps=asked.hops, asker=asked.agent
            )
        )

    traces, (ranked, counts) = await asyncio.gather(
        service.reads.traces(sight, namespace, asked.agent, asked.session, asked.filters), found()
    )
    ring = await _once(known, buffer.ring(traces))
    ring = buffer.then(ring, asked.filters.as_of)
    contradict = await known.contradicted([trace.candidate.hit.memory_id for trace in ring], asked.filters)
    ring = buffer.overtaking(buffer.marked(ring, contradict), ranked)
    ranked = await each_once(known, ranked, [trace.candidate.hit.memory_id for trace in ring])
    mask = service.redaction.of(namespace, asked=asked.reader.redact)
    frame = replace(asked.frame, signed=namespace in service.genesis.signed)

    def assemble() -> working.Working:
        return working.assemble(mask.traces(ring), mask.scored(ranked), frame, asked.query, service.failures)

    # Off the loop: it compares texts.
    made = await service.desk.read(assemble)
    # Memories of the buffer may answer the query as well as those that were found.
    given = {one.item.scored.candidate.hit.memory_id for one in made.placed}
    verdicts, answerable = await likely(service, asked.query or "", ranked, given)
    used, warning = await uses(service, request, asked.reader, made.packed, asked.query)
    return StructResponse(
        Context(
            namespace=namespace,
            items=tuple(_placed(one, verdicts) for one in made.placed),
            text=made.text,
            tokens=made.packed.tokens,
            budget_tokens=asked.frame.budget,
            left_out=left_out(made.packed, _without(counts, ring, ranked)),
            used=used,
            warning=warning,
            answerable=None if asked.query is None else answerable,
        )
    )


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
