"""Publishes an episode, or a session's end, over HTTP, for clients with a key and no Kafka: it goes to the same topic,
and intake judges it there. And what comes of a session."""

from __future__ import annotations

import asyncio
import json
import uuid

from msgspec.structs import asdict
from starlette.requests import Request
from starlette.responses import Response

from memquorum import topics
from memquorum.core import enveloped, intake, labelling, names
from memquorum.core.access import PUBLISH, READ, Caller, covers
from memquorum.core.accounts import sessions
from memquorum.core.api.answers import Published
from memquorum.core.api.requests import ClearRequest
from memquorum.core.identity import grants
from memquorum.core.ids import shard_of
from memquorum.core.intake import EpisodeIntent, Intent, Origin, Refusal
from memquorum.core.reasons import Reason
from memquorum.core.records import FeedbackAccepted
from memquorum.core.retrieval import query
from memquorum.core.retrieval.query import BadRequest
from memquorum.telemetry import tracing
from workers.retrieval.answers import StructResponse, body, unknown
from workers.retrieval.service import Service

_UNSIGNED = "this namespace takes signed records alone, which the agent itself publishes to Kafka"


async def publish(service: Service, request: Request, caller: Caller) -> Response:
    """Publishes an event: Kafka has it then, and `/events` has its outcome."""
    return await _publish(service, request, caller, await body(request, service.bounds))


async def clear(service: Service, request: Request, caller: Caller) -> Response:
    """Clears a slot, or takes a memory of the agent's back: it is served no more, and can be restored."""
    asked = query.read_body(await body(request, service.bounds), ClearRequest)
    said = {name: value for name, value in asdict(asked).items() if value is not None}
    if (memory_id := said.pop("memory_id", None)) is not None:
        said["supersedes"] = [memory_id]
    return await _publish(service, request, caller, json.dumps(said | {"explicit": True, "clears": True}).encode())


async def _publish(service: Service, request: Request, caller: Caller, said: bytes) -> Response:
    data, intent = _checked(service, said)
    check_right(service, caller, intent.namespace)
    with tracing.joined(request.headers.get(tracing.HEADER)):
        place = await service.publish(intent, data, _granted(service, intent, data, caller))
    return StructResponse(published(intent, place), 202)


def published(intent: EpisodeIntent | FeedbackAccepted, place: str | None) -> Published:
    """Makes the answer to a publisher whose record Kafka has."""
    token = f"{intent.namespace}/{intent.event_id}"
    return Published(intent.namespace, intent.event_id, intent.memory_id, token, place)


async def session(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the state of a session, by agents. It contains no content."""
    namespace = query.read_namespace(request.path_params["namespace"])
    name = query.read_name("session", request.path_params["session"])
    sight, on = caller.at(namespace, READ, PUBLISH), shard_of(namespace, service.genesis.shards)
    for spelling in names.spellings(name):
        members, made, free, shard = await service.reads.session(sight, service.codec, (on, namespace, spelling))
        if members:
            break
    else:
        return unknown("session", f"no memory of {namespace!r} is of session {name!r}")
    policy = service.configurations.policy(namespace)
    return StructResponse(
        await asyncio.to_thread(sessions.session_state, (namespace, name), members, made, free, shard, policy=policy)
    )


def check_right(service: Service, caller: Caller, namespace: str) -> None:
    """Checks that the caller may publish there, and the service on its behalf. Raises what `Caller.at` raises, and
    BadRequest."""
    caller.at(namespace, PUBLISH)
    if namespace in service.genesis.signed:
        raise BadRequest(Reason.UNSIGNED, "namespace", _UNSIGNED)


def _granted(service: Service, intent: EpisodeIntent, data: bytes, caller: Caller) -> bytes | None:
    """Returns the signed grant by which the key takes the episode's slot from other agents; None if it may not."""
    slot = labelling.full(intent.labels)
    if slot is None or caller.id is None or service.erasure_seed is None or not covers(caller.slots, slot):
        return None
    return grants.grant(service.genesis.cluster, service.erasure_seed, caller.id, data)


def _checked(service: Service, data: bytes) -> tuple[bytes, EpisodeIntent]:
    data, intent = named(service, topics.EPISODES, data)
    assert isinstance(intent, EpisodeIntent)
    return data, intent


def named(service: Service, topic: str, data: bytes) -> tuple[bytes, Intent]:
    """The record, with an event id where it had none, held against the wall before it is sent. Raises BadRequest."""
    if not data.startswith(b"{"):
        raise BadRequest(Reason.BAD_JSON, None, 'not a JSON object; send {"agent": …, …}')
    answer = _judged(service, topic, data)
    value = json.loads(data)
    # A CloudEvent has one by its source and id.
    if value.get("event_id") is None and not enveloped.is_event(value):
        data = json.dumps(value | {"event_id": str(uuid.uuid4())}).encode()
        answer = _judged(service, topic, data)
    return data, answer


def _judged(service: Service, topic: str, data: bytes) -> Intent:
    # Only intake knows a driven time; its own clock may be a bit ahead of this one.
    clock = service.own_clock
    now_ms = 0 if clock is None else clock.now_ms() + clock.tolerance_ms
    origin = Origin(topic, 0, 0, intake.NEWEST_MS)
    answer = intake.accept(service.codec, data, origin, now_ms, driven=clock is None, failures=service.failures)
    if isinstance(answer, Refusal):
        raise BadRequest(answer.reason, answer.field, answer.detail)
    agent = getattr(answer, "agent", None)
    fault = agent and names.agent_fault(agent, [member.name for member in service.genesis.members])
    if fault:
        raise BadRequest(fault.code, "agent", fault.detail)
    return answer
