"""Roll-ups: the statements about one thing across sessions, now or as of a time. To look at them is no use of a memory.

A sentence is shown to who might read its memory: one that is too sensitive, for other purposes or under another law is
answered as one that is not there.
"""

from __future__ import annotations

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import READ, Caller
from memquorum.core.accounts.telling import moment
from memquorum.core.api.answers import Rollup
from memquorum.core.retrieval import query
from memquorum.core.retrieval import rollups as found_in
from memquorum.core.retrieval.redaction import Redactor
from memquorum.ports import Logged
from workers.retrieval.answers import StructResponse, unknown
from workers.retrieval.knowing import Known
from workers.retrieval.service import Service

_NEAR = 20
"""So many of the best hits say which roll-ups are looked at."""


async def rollups(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the things that have roll-ups, each with the number of statements about it."""
    namespace, log = await _log(service, request, caller)
    asked, most = request.query_params, service.bounds.listed_most
    as_of, persona = query.read_as_of(asked.get("as_of")), query.read_persona(asked.get("persona"))
    found = await service.desk.read(
        found_in.listed, namespace, log, as_of=as_of, persona=persona, most=most, failures=service.failures
    )
    return StructResponse(found)


async def rollup(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the statements about one thing across sessions, word for word, now or as of a time."""
    topic = query.read_exactly("topic", request.path_params["topic"])
    namespace, log = await _log(service, request, caller)
    asked, most = request.query_params, service.bounds.listed_most
    as_of, persona = query.read_as_of(asked.get("as_of")), query.read_persona(asked.get("persona"))
    found = await service.desk.read(
        found_in.shown, namespace, topic, log,
        as_of=as_of,
        persona=persona,
        history=query.read_flag("history", asked.get("history")),
        most=most,
        failures=service.failures,
    )  # fmt: skip
    if found is None:
        when = "" if as_of is None else f" as of {moment(as_of)}"
        whose = "" if persona is None else f" with a sentence by or about {persona!r}"
        return unknown("topic", f"no roll-up of that name in {namespace!r}{whose}{when}")
    sight = caller.at(namespace, READ).reading_for(asked.get("purpose"))
    mask = await service.mask(sight, namespace, asked=query.read_flag("redact", asked.get("redact")))
    known = Known(service.reads, sight)
    (found,) = await _marked(known, (found,), query.Filters(as_of=as_of))
    return StructResponse(await service.desk.read(mask.rollup, found))


async def about(
    service: Service,
    known: Known,
    namespace: str,
    question: str,
    filters: query.Filters,
    *,
    near: Sequence[str],
    most: int,
    mask: Redactor,
) -> tuple[Rollup, ...]:
    """Returns the roll-ups of the things that a question names, with the marks of their sentences; none where filters
    beside gates and a time are named. `near`: the memories that answer it: only roll-ups that have a sentence of one
    of them are looked at."""
    if not near or not question or not found_in.searched(filters) or known.unrolled(near[:_NEAR]):
        return ()
    log = await service.reads.rollup_log(known.sight, namespace, filters, near[:_NEAR])
    if not log:
        return ()
    found = await service.desk.read(
        found_in.found, namespace, question, log, as_of=filters.as_of, most=most, failures=service.failures
    )
    return tuple(map(mask.rollup, await _marked(known, found, filters)))


async def _marked(known: Known, found: Sequence[Rollup], filters: query.Filters) -> list[Rollup]:
    ids = list(dict.fromkeys(one.read_from for rollup in found for one in rollup.sentences))
    contradict = await known.contradicted(ids, filters) if ids else []
    return [found_in.marked(rollup, contradict) for rollup in found]


async def _log(service: Service, request: Request, caller: Caller) -> tuple[str, list[Logged]]:
    """The namespace, and its log as the reader may see it."""
    namespace = query.read_namespace(request.path_params["namespace"])
    gates = query.read_gates_of(request.query_params)
    return namespace, await service.reads.rollup_log(
        caller.at(namespace, READ).reading_for(gates.purpose), namespace, gates
    )
