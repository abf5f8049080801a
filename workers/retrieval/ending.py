"""The end of a session over HTTP; with an outcome it is a finished task, too."""

from __future__ import annotations

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from memquorum import topics
from memquorum.core import enveloped
from memquorum.core.access import READ, Caller
from memquorum.core.api.answers import Ended
from memquorum.core.api.fields import numbers
from memquorum.core.api.requests import EndRequest, ListRequest
from memquorum.core.experience import ended
from memquorum.core.intake import FOUND_MAX, EndIntent, EpisodeIntent
from memquorum.core.reasons import Reason
from memquorum.core.retrieval.listing import Listing
from memquorum.core.retrieval.query import BadRequest, Filters, read_body
from memquorum.telemetry import tracing
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.publishing import check_right, named, published
from workers.retrieval.service import Service

_OF_THE_END = ("session", "agent", "namespace", "event_id", "ended_at")
_OF_THE_TASK = tuple(name for name in EndRequest.__struct_fields__ if name not in _OF_THE_END)
_NOBODY = (
    "a finished task is somebody's: name the agent whose part of the session this ends; what all of them came to goes "
    "to POST /tasks"
)


async def end_session(service: Service, request: Request, caller: Caller) -> Response:
    """Says that a session is over: what is left of it is summed up, and members vote on that."""
    end, came = _parted(await body(request, service.bounds))
    data, intent = named(service, topics.ENDS, end)
    assert isinstance(intent, EndIntent)
    check_right(service, caller, intent.namespace)
    # It is held against the wall before anything is sent.
    task = None if came is None else await _task_of(service, intent, came, caller)
    kept = None
    if task is not None:
        told, episode = task
        # Before the end, so that the summary can count what the session came to.
        with tracing.joined(request.headers.get(tracing.HEADER)):
            place = await service.relay(topics.TASKS, "TaskFinished", episode, told)
        kept = published(episode, place)
    await service.end_session(intent, data)
    return StructResponse(Ended(intent.namespace, intent.session, intent.event_id, intent.agent, kept), 202)


def _parted(said: bytes) -> tuple[bytes, EndRequest | None]:
    """The record of the end, and what the session came to, where that is told. Raises BadRequest."""
    try:
        value = json.loads(said)
    except (ValueError, RecursionError):
        return said, None
    # The content of an envelope is the record that goes into the topic, which has no further fields.
    if not isinstance(value, dict) or enveloped.is_event(value) or set(value) <= {*_OF_THE_END}:
        return said, None
    asked = read_body(said, EndRequest)
    if asked.outcome is None and any(getattr(asked, name) not in (None, ()) for name in _OF_THE_TASK):
        raise BadRequest(Reason.MISSING_FIELD, "outcome", ended.NO_OUTCOME)
    end = {name: value[name] for name in _OF_THE_END if value.get(name) is not None}
    return json.dumps(end).encode(), None if asked.outcome is None else asked


async def _task_of(service: Service, end: EndIntent, came: EndRequest, caller: Caller) -> tuple[bytes, EpisodeIntent]:
    """The finished task that a session was. Raises BadRequest."""
    if end.agent is None:
        raise BadRequest(Reason.MISSING_FIELD, "agent", _NOBODY)
    asked, goal = (None, came.goal) if came.goal is not None else await _first_ask(service, end, end.agent, caller)
    said: dict[str, Any] = {name: getattr(came, name) for name in _OF_THE_TASK} | {
        "agent": end.agent, "namespace": end.namespace, "goal": goal, "finished_at": came.ended_at,
        "retrieved": ended.given_memories(came.retrieved, (), asked, FOUND_MAX),
        "event_id": ended.event_id(end.agent, end.namespace, end.agent, end.session),
    }  # fmt: skip
    told = {name: one for name, one in said.items() if one is not None}
    data, intent = named(service, topics.TASKS, json.dumps(told).encode())
    assert isinstance(intent, EpisodeIntent)
    return data, intent


async def _first_ask(service: Service, end: EndIntent, agent: str, caller: Caller) -> tuple[str, str]:
    """Returns the first request to an agent in a session, by id and text. Raises BadRequest where nobody can tell."""
    found = None
    if READ in caller.rights:
        filters = Filters(agents=(agent,), sessions=(end.session,))
        wanted = Listing(namespace=end.namespace, gates=filters, limit=numbers(ListRequest)["limit"].default)
        rows = await service.reads.memories(caller.at(end.namespace, READ), wanted)
        found = ended.first_ask((row["memory_id"], row["text"], row["role"]) for row in rows)
    if found is None:
        raise BadRequest(Reason.MISSING_FIELD, "goal", ended.NO_GOAL)
    return found
