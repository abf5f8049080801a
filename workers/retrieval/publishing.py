"""An episode over HTTP, for who has a key and no Kafka: it goes to the same topic, and intake judges it there."""

from __future__ import annotations

import json
import uuid

from starlette.requests import Request
from starlette.responses import Response

from memquorum import topics
from memquorum.core import intake
from memquorum.core.access import PUBLISH, Caller, covers
from memquorum.core.api.answers import Published
from memquorum.core.identity import grants
from memquorum.core.intake import EpisodeIntent, Origin, Refusal
from memquorum.core.reasons import Reason
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval.answers import Told, body
from workers.retrieval.service import Service

_UNSIGNED = "this namespace takes signed episodes alone, which the agent itself publishes to Kafka"


async def publish(service: Service, request: Request, caller: Caller) -> Response:
    """Publishes what happened: Kafka has it then, and `/events` tells what becomes of it."""
    data, intent = _checked(service, await body(request, service.bounds))
    caller.at(intent.namespace, PUBLISH)
    if intent.namespace in service.genesis.signed:
        raise BadRequest(Reason.UNSIGNED, "namespace", _UNSIGNED)
    await service.publish(intent, data, _granted(service, intent, data, caller))
    token = f"{intent.namespace}/{intent.event_id}"
    return Told(Published(intent.namespace, intent.event_id, intent.memory_id, token), 202)


def _granted(service: Service, intent: EpisodeIntent, data: bytes, caller: Caller) -> bytes | None:
    """What proves that the key takes the episode's slot from other agents; None where it does not."""
    if intent.key is None or caller.id is None or service.erasure_seed is None or not covers(caller.slots, intent.key):
        return None
    return grants.grant(service.genesis.cluster, service.erasure_seed, caller.id, data)


def _checked(service: Service, data: bytes) -> tuple[bytes, EpisodeIntent]:
    """The record, with an event id where it had none, held against the wall before it is sent. Raises BadRequest."""
    if not data.startswith(b"{"):
        raise BadRequest(Reason.BAD_JSON, None, 'not a JSON object; send {"agent": …, "content": …}')
    answer = _judged(service, data)
    value = json.loads(data)
    if value.get("event_id") is None:
        data = json.dumps(value | {"event_id": str(uuid.uuid4())}).encode()
        answer = _judged(service, data)
    return data, answer


def _judged(service: Service, data: bytes) -> EpisodeIntent:
    # Only intake knows what time it is there.
    answer = intake.accept(service.codec, data, Origin(topics.EPISODES, 0, 0, intake.NEWEST_MS), 0, driven=True)
    if isinstance(answer, Refusal):
        raise BadRequest(answer.reason, answer.field, answer.detail)
    assert isinstance(answer, EpisodeIntent)
    return answer
