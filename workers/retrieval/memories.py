"""One memory, its account, and what became of an event. To look at them is no use of a memory, unless a reader says so.

A memory is given, or accounted for, to who might find it: one that is too sensitive, for other purposes or under
another law is answered as one that is not there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from db import event_reads
from memquorum.core.access import AUDIT, PUBLISH, READ, Caller, Sight
from memquorum.core.accounts import account_words, telling
from memquorum.core.accounts import explain as explaining
from memquorum.core.api import parts
from memquorum.core.api.answers import Became, Explained, Shown
from memquorum.core.policy import PPM, Policy
from memquorum.core.reasons import REFUSED, Reason
from memquorum.core.retrieval import query
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.using import ReportedUse as Uses
from memquorum.core.salience import REINFORCED, STORED
from memquorum.core.vote.nomination import due_at
from memquorum.ports import Candidate
from memquorum.telemetry import tracing
from workers.retrieval import reused, using
from workers.retrieval.answers import StructResponse, unknown
from workers.retrieval.refusals import Asked, Refused
from workers.retrieval.retrieving import overtaken_in
from workers.retrieval.service import Service

_NOTHING: dict[str, Any] = {
    "outcome": None,
    "memory_id": None,
    "shard": None,
    "journal_seq": None,
    "hidden": [],
    "stays": [],
    "why": None,
}
_OF_A_TEXT = (STORED, REINFORCED)
"""The outcomes of events whose text is in a memory."""


async def memory(service: Service, request: Request, caller: Caller) -> Response:
    """One memory; its text only while it is alive. A memory that a search would keep back is answered as unknown."""
    memory_id = query.read_memory_id(request.path_params["memory_id"])
    gates = query.read_gates_of(request.query_params)
    sight = caller.sight(READ).reading_for(gates.purpose)
    found = await service.reads.memory(sight, memory_id, gates)
    within, agent = query.read_within(request.query_params.get("namespace")), using.user(request)
    if not found or within not in (None, found["namespace"]):
        there = found["namespace"] if found else None
        instead = await _instead(service, sight, memory_id, gates, (within, there))
        return unknown("memory_id", f"no memory {memory_id}{_in(within)}{instead}")
    if agent is not None and found["text"] is not None:
        used = Uses(found["namespace"], agent, (memory_id,))
        await using.read(service, caller, used, request.headers.get(tracing.HEADER), "GET /memories")
    found |= {"text": await _masked(service, request, found)}
    marks = await overtaken_in(service, sight, {memory_id: found["text"]})
    found |= {"overtaken": marks.get(memory_id, ())}
    return StructResponse(Shown(**found, due_at=due(found, service.configurations.policy(found["namespace"]))))


async def _masked(service: Service, request: Request, found: Mapping[str, Any]) -> str | None:
    """A memory's text as this reader is given it; None if the memory has no text any more."""
    text: str | None = found["text"]
    namespace = found["namespace"]
    asked = query.read_flag("redact", request.query_params.get("redact"))
    mask = await service.mask(Sight((namespace,)), namespace, asked=asked)
    if text is None or not mask.on:
        return text
    told: str = await service.desk.read(mask.text, text, found["memory_id"], found["subject"])
    return told


def due(found: Mapping[str, Any], policy: Policy) -> int | None:
    """Returns the time from which a living memory may be nominated to be forgotten, if nobody uses it."""
    if found["last_access"] is None:
        return None
    salience_ppm = round(found["salience"] * PPM)
    one = Candidate(
        found["memory_id"], found["namespace"], found["tier"], found["occurred_at"], found["last_access"], salience_ppm,
        early=False, replays=found["replays"], fades=found["fades"],
    )  # fmt: skip
    return due_at(one, policy)


async def explain(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the account of a memory, in structure and in words."""
    memory_id = query.read_memory_id(request.path_params["memory_id"])
    gates = query.read_gates_of(request.query_params)
    sight, now = caller.sight(READ, AUDIT).reading_for(gates.purpose), service.configurations
    facts = await service.reads.facts(sight, service.codec, memory_id, gates, lambda shard: now.of(shard).policy)
    within = query.read_within(request.query_params.get("namespace"))
    if facts is None or within not in (None, facts.namespace):
        there = None if facts is None else facts.namespace
        told = (
            await _instead(service, sight, memory_id, gates, (within, there))
            or ", nor an episode of that id that was dropped"
        )
        return unknown("memory_id", f"no memory {memory_id}{_in(within)}{told}")
    genesis = await service.desk.read(explaining.configured, service.codec, service.genesis, facts.configured)
    whole = await service.desk.read(explaining.explain, service.codec, genesis, facts)
    account = parts.cut(whole, caller.rights)
    by, born = account.superseded_by, account.born
    winner = None if by is None else await _read(service, request, caller, by)
    summary = born is not None and born.summary is not None
    text = await _read(service, request, caller, memory_id) if summary else None
    lines = account_words.lines(account, genesis, winner, text)
    numbers = telling.lines(account, genesis, winner, text)
    return StructResponse(Explained(explaining.plain(account), tuple(lines), tuple(numbers)))


async def _instead(
    service: Service, sight: Sight, memory_id: str, gates: Filters, place: tuple[str | None, str | None]
) -> str:
    """Answers in which other namespace a memory is, or which memory an episode repeated that became none itself;
    nothing for any other. A publisher gets an id at once, and may look for it.

    `place`: the namespace that was asked, and the one where the reader may see the memory.
    """
    within, there = place
    if there is not None:
        return f": it is in {there!r}"
    instead = await service.reads.echoed(sight, memory_id)
    found = None if instead is None else await service.reads.memory(sight, instead, gates)
    if not found or within not in (None, found["namespace"]):
        return ""
    return f": what was published was known already, and reinforced {instead}"


async def _read(service: Service, request: Request, caller: Caller, memory_id: str) -> str | None:
    """A memory's text as this reader is given it; None where it is not there, or the reader may audit alone."""
    if READ not in caller.rights:
        return None
    gates = query.read_gates_of(request.query_params)
    found = await service.reads.memory(caller.sight(READ).reading_for(gates.purpose), memory_id, gates)
    return await _masked(service, request, found) if found else None


async def event(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the outcome of an event; waits for it where the request says how long."""
    namespace = query.read_namespace(request.path_params["namespace"])
    event_id = query.read_event_id(request.path_params["event_id"])
    wait_ms = query.read_wait(request.query_params.get("wait_ms"), service.bounds)
    agent = query.read_agent(request.query_params.get("agent"))
    asked = Asked(namespace, event_id, agent, query.read_place(request.query_params.get("place")))
    sight = caller.at(namespace, READ, PUBLISH)
    found, refused = await _outcome(service, sight, asked, wait_ms / 1000)
    if found is not None and event_reads.taken(found, agent):
        found = {**_NOTHING, "outcome": str(Reason.TAKEN), "agent": None}
    said = query.read_said(request.query_params.get("said"))
    if found is not None and said is not None and await _reused(service, sight, asked, found, said):
        found = {**_NOTHING, "outcome": reused.OUTCOME, "memory_id": found["memory_id"]}
    if found is None and refused is not None:
        found = _refused(refused)
    told = {"namespace": namespace, "event_id": event_id, **(found or _NOTHING)}
    told.pop("agent", None)
    if found is not None and found["outcome"] == STORED:
        told["nowhere"] = await service.reads.nowhere(sight, service.codec, found["shard"], found["journal_seq"])
    return StructResponse(Became(**told))


async def _reused(service: Service, sight: Sight, asked: Asked, found: Mapping[str, Any], said: str) -> bool:
    """True if the text with the digest `said` is not the one that the event's outcome is of."""
    if found["outcome"] not in _OF_A_TEXT or found["memory_id"] is None:
        return False
    first = await service.reads.first_text(sight, found["memory_id"])
    event = asked.namespace, asked.event_id
    return first is not None and service.compared.differs(event, said, await service.desk.read(reused.digests, first))


async def _outcome(
    service: Service, sight: Sight, asked: Asked, seconds: float
) -> tuple[dict[str, Any] | None, Refused | None]:
    """Waits for the outcome of an event in the store, or for its refusal. The store's outcome comes first."""
    event, refused = (asked.namespace, asked.event_id), service.refusals.find(asked)
    if seconds and refused is None:
        stored = asyncio.ensure_future(service.outcomes.wait(sight, event, seconds))
        waiting = asyncio.ensure_future(service.refusals.wait(asked, seconds))
        try:
            await asyncio.wait({stored, waiting}, return_when=asyncio.FIRST_COMPLETED)
            if stored.done():
                return stored.result(), None
            refused = waiting.result()
        finally:
            stored.cancel()
            waiting.cancel()
    return (await service.reads.outcomes(sight, [event])).get(event), refused


def _refused(one: Refused) -> dict[str, Any]:
    """Returns the answer for a refused event. `taken` is an outcome of its own, as where the store knows it."""
    outcome = str(Reason.TAKEN) if one.reason == Reason.TAKEN else REFUSED
    return {**_NOTHING, "outcome": outcome, "reason": one.reason, "field": one.field, "detail": one.detail}


def _in(namespace: str | None) -> str:
    return "" if namespace is None else f" in {namespace!r}"
