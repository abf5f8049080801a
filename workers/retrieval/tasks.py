"""Finished tasks over HTTP: what was finished and what helped is published, and both are read.

To look at them is no use of a memory."""

from __future__ import annotations

from operator import attrgetter

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum import topics
from memquorum.core.access import READ, Caller
from memquorum.core.accounts import pages
from memquorum.core.api.answers import FinishedTask, TaskInShort, Tasks
from memquorum.core.intake import EpisodeIntent
from memquorum.core.records import FeedbackAccepted
from memquorum.core.retrieval import query
from memquorum.core.retrieval.redaction import Redactor
from memquorum.telemetry import tracing
from workers.retrieval import publishing
from workers.retrieval.answers import StructResponse, body, unknown
from workers.retrieval.service import Service


async def finish_task(service: Service, request: Request, caller: Caller) -> Response:
    """Publishes a finished task: Kafka has it then, and `/events` has its outcome."""
    return await _publish(service, request, caller, topics.TASKS, "TaskFinished")


async def feedback(service: Service, request: Request, caller: Caller) -> Response:
    """Publishes feedback on a task: Kafka has it then, and `/events` says if it counts."""
    return await _publish(service, request, caller, topics.FEEDBACK, "FeedbackGiven")


async def _publish(service: Service, request: Request, caller: Caller, topic: str, kind: str) -> Response:
    data, intent = publishing.named(service, topic, await body(request, service.bounds))
    assert isinstance(intent, EpisodeIntent | FeedbackAccepted)
    publishing.check_right(service, caller, intent.namespace)
    with tracing.joined(request.headers.get(tracing.HEADER)):
        place = await service.relay(topic, kind, intent, data)
    return StructResponse(publishing.published(intent, place), 202)


async def tasks(service: Service, request: Request, caller: Caller) -> Response:
    """The finished tasks of a namespace, the latest first."""
    page = pages.read_tasks(await body(request, service.bounds), service.bounds)
    sight = caller.at(page.namespace, READ).reading_for(page.gates.purpose)
    found, behind = page.cut(await service.reads.tasks(sight, page), attrgetter("journal_seq"))
    mask = await service.mask(sight, page.namespace, asked=page.redact)
    told = await service.desk.read(_goals, found, mask) if mask.on else found
    return StructResponse(Tasks(page.namespace, told, behind))


async def task(service: Service, request: Request, caller: Caller) -> Response:
    """A finished task whole. A task that a search would keep back is answered as unknown."""
    task_id = query.read_memory_id(request.path_params["task_id"])
    gates = query.read_gates_of(request.query_params)
    sight = caller.sight(READ).reading_for(gates.purpose)
    found = await service.reads.task(sight, task_id, gates)
    within = query.read_within(request.query_params.get("namespace"))
    if found is None or within not in (None, found.namespace):
        return unknown("task_id", f"no finished task {task_id}{'' if within is None else f' in {within!r}'}")
    asked = query.read_flag("redact", request.query_params.get("redact"))
    mask = await service.mask(sight, found.namespace, asked=asked)
    return StructResponse(await service.desk.read(masked, found, mask) if mask.on else found)


def _goals(found: tuple[TaskInShort, ...], mask: Redactor) -> tuple[TaskInShort, ...]:
    return tuple(replace(one, goal=mask.text(one.goal)) for one in found)


def masked(one: FinishedTask, mask: Redactor) -> FinishedTask:
    """The task with its texts masked."""
    said = {name: mask.text(getattr(one, name)) for name in ("goal", "inputs", "outputs")}
    return replace(one, **said, tools=tuple(map(mask.text, one.tools)))
