"""A memory's way into experience, over HTTP. To look at it is no use of the memory."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller
from memquorum.core.accounts import pages
from memquorum.core.api.answers import Admission, Experienced, Experiences, FinishedTask, Judge
from memquorum.core.contained import Failures
from memquorum.core.experience import abstract, pointing, reward
from memquorum.core.experience.admission import ADMITTED, alike
from memquorum.core.experience.weights import PROMOTED, Weight, standing
from memquorum.core.policy import PPM, ExperiencePolicy
from memquorum.core.retrieval import query
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.redaction import Redactor
from workers.retrieval.answers import StructResponse, body, unknown
from workers.retrieval.service import Service


async def experience(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with a memory's admission to experience, and the reasons. A memory that a search would keep back is
    answered as unknown."""
    memory_id = query.read_memory_id(request.path_params["memory_id"])
    gates = query.read_gates_of(request.query_params)

    def policy(namespace: str) -> ExperiencePolicy:
        return service.configurations.policy(namespace).experience

    same = alike(len(service.genesis.verifiers), service.genesis.f)
    found = await service.reads.admission(
        caller.sight(READ).reading_for(gates.purpose), memory_id, gates, policy, alike=same
    )
    within = query.read_within(request.query_params.get("namespace"))
    if within is not None and (found is None or found.namespace != within):
        sight = caller.at(within, READ)
        elsewhere = await service.reads.diffused_one(sight, within, memory_id, gates, policy(within))
        if elsewhere is not None:
            return StructResponse(elsewhere)
    if found is None or within not in (None, found.namespace):
        return unknown("memory_id", f"no memory {memory_id}{'' if within is None else f' in {within!r}'}")
    asked, here = query.read_flag("redact", request.query_params.get("redact")), caller.at(found.namespace, READ)
    return StructResponse(
        await _pointed(service, caller, found, gates, await service.mask(here, found.namespace, asked=asked))
    )


async def _pointed(service: Service, caller: Caller, one: Admission, gates: Filters, mask: Redactor) -> Admission:
    """The same with what of the memory's text bears out or contradicts what the tasks that judge it came to: of the
    last of them, and as far as this reader may read the memory and the task."""
    judges = dict.fromkeys(judge.task for trial in reversed(one.trials) for judge in trial.judges)
    sight = caller.at(one.namespace, READ).reading_for(gates.purpose)
    formless = _formless(one, service.configurations.policy(one.namespace).experience)
    shown = await service.reads.memory(sight, one.memory_id, gates) if judges or formless else None
    if shown is None or shown["text"] is None:
        return one
    text, failures = shown["text"], service.failures
    if formless:
        lacks = await service.desk.read(failures.answer, "abstract", [one.memory_id], None, abstract.lacking, text)
        one = replace(one, no_general=lacks)
    found = [await service.reads.task(sight, task, gates) for task in islice(judges, _POINTED_MOST)]
    told = await service.desk.read(
        _told_of, one.memory_id, text, [task for task in found if task is not None], mask, failures
    )

    def judged(judge: Judge) -> Judge:
        bears_out, contradicts = told.get(judge.task, (None, None))
        return replace(judge, bears_out=bears_out, contradicts=contradicts)

    return replace(one, trials=tuple(replace(each, judges=tuple(map(judged, each.judges))) for each in one.trials))


def _formless(one: Admission, policy: ExperiencePolicy) -> bool:
    """Whether it is promoted, and has no general form."""
    if one.status != ADMITTED or one.general is not None or one.general_of is not None or not one.weights:
        return False
    last = one.weights[-1]
    weight = Weight(one.memory_id, round(last.weight * PPM), last.version, last.helped, last.harm)
    return standing(weight, policy) == PROMOTED


def _told_of(
    memory_id: str, text: str, tasks: Iterable[FinishedTask], mask: Redactor, failures: Failures
) -> dict[str, tuple[str | None, str | None]]:
    """Returns the parts of a memory's text that bear out and contradict each task's result, by task; nothing for one on
    which the rules fail."""
    told = {}
    for task in tasks:
        pair = memory_id, task.task
        found = failures.answer(
            "pointing", pair, pointing.NOWHERE, pointing.pointed, task.goal, task.inputs, task.outputs, text
        )
        told[task.task] = mask.part(text, found.bears_out), mask.part(text, found.contradicts)
    # No text outlives its answer here, and what a member keeps to judge again would fill the service's memory.
    reward.forget()
    return told


async def experiences(service: Service, request: Request, caller: Caller) -> Response:
    """The memories of a namespace that were tried, those that changed last first, with the beginnings of their
    texts."""
    page = pages.read_experiences(await body(request, service.bounds), service.bounds)
    sight = caller.at(page.namespace, READ)
    found, behind = page.cut(
        await service.reads.experiences(sight, page), lambda one: f"{one.journal_seq}/{one.memory_id}"
    )
    mask = await service.mask(sight, page.namespace, asked=page.redact)
    told = await service.desk.read(_in_short, found, mask)
    counts = await service.reads.counted(sight, page) if page.behind is None else {}
    return StructResponse(Experiences(page.namespace, counts, told, behind))


def _in_short(found: tuple[Experienced, ...], mask: Redactor) -> tuple[Experienced, ...]:
    """Returns the memories found with a line of each text at most: masked as a whole, since a part of a name would not
    be recognised."""
    return tuple(
        one if one.text is None else replace(one, text=_beginning(mask.text(one.text) if mask.on else one.text))
        for one in found
    )


def _beginning(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= _LENGTH else said[:_LENGTH] + "…"


_LENGTH = 200
_POINTED_MOST = 20
