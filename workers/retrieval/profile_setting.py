"""The profile of a subject over HTTP: for a key whose grant names the subject, and for nobody else."""

from __future__ import annotations

import os
from typing import Any

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import Caller
from memquorum.core.accounts.profiles import read_profile, shown
from memquorum.core.api.answers import Profile
from memquorum.core.api.endpoints import WAIT_MS
from memquorum.core.ids import DEFAULT_NAMESPACE
from memquorum.core.orders.profile import HEADER, PROFILE, SALT_BYTES, written
from memquorum.core.retrieval import query
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.ordering import Asking, wait_s
from workers.retrieval.service import Service


async def profile(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the profile of a subject; with an empty one if the subject has set no profile."""
    namespace = query.read_within(request.query_params.get("namespace")) or DEFAULT_NAMESPACE
    subject = query.read_name("subject", request.path_params["subject"])
    found = await service.reads.profile(caller.of(namespace, subject), namespace, subject)
    return StructResponse(Profile(namespace, subject, "none") if found is None else shown(namespace, subject, found))


async def set_profile(service: Service, request: Request, caller: Caller) -> Response:
    """Sets the profile of a subject, and answers with it once it is in force."""
    subject = query.read_name("subject", request.path_params["subject"])
    order, never = read_profile(await body(request, service.bounds), subject, service.genesis.policy)
    sight = caller.of(order.namespace, subject)
    by = f"key {caller.id}" if caller.id is not None else "whoever is on this machine"
    listed = written(never, os.urandom(SALT_BYTES))
    beside = () if listed is None else ((HEADER, listed.text),)
    order = replace(order, commitment=None if listed is None else listed.commitment)
    asking = Asking(service, sight, by, wait_s(service, request, WAIT_MS))
    before = await service.reads.profile(sight, order.namespace, subject)
    (order_id,) = await asking.give(PROFILE, [order], beside)

    async def look() -> dict[str, Any] | None:
        return await service.reads.profile(sight, order.namespace, subject)

    # Another order may have come after this one.
    found = await asking.until(look, lambda now: now is not None and (before is None or now["seq"] > before["seq"]))
    if found is None or (before is not None and found["seq"] == before["seq"]):
        return StructResponse(Profile(order.namespace, subject, "ordered", order_id), 202)
    return StructResponse(shown(order.namespace, subject, found))
