"""The sums of the rewards that agents got for their effects on the memory of a namespace."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter

from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import AUDIT, READ, Caller
from memquorum.core.api.answers import Rewarded, Rewards
from memquorum.core.journal.rewards import AMOUNTS_PPM, WEIGHT_PPM
from memquorum.core.policy import PPM
from memquorum.core.retrieval import query
from workers.retrieval.answers import StructResponse
from workers.retrieval.service import Service


async def rewards(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the sums of the rewards of a namespace's agents."""
    namespace = query.read_namespace(request.path_params["namespace"])
    agent, most = query.read_agent(request.query_params.get("agent")), service.bounds.listed_most
    # An agent has a row for each kind at most: so these are more agents than are told, where there are more.
    limit = most * len(AMOUNTS_PPM) + 1
    rows = await service.reads.rewards(caller.at(namespace, READ, AUDIT), namespace, agent, limit)
    return StructResponse(added_up(namespace, rows, most))


def added_up(namespace: str, rows: Sequence[tuple[str, str, int, int]], most: int) -> Rewards:
    """Sums by agent, of `most` of them. `rows`: agent, kind, how often, and millionths, those of an agent together."""
    agents = [_of(agent, list(each)) for agent, each in groupby(rows, itemgetter(0))]
    return Rewards(namespace, WEIGHT_PPM / PPM, tuple(agents[:most]), more=len(agents) > most)


def _of(agent: str, rows: Sequence[tuple[str, str, int, int]]) -> Rewarded:
    total = sum(amount for *_, amount in rows)
    return Rewarded(agent, {kind: count for _, kind, count, _ in rows}, total / PPM, total * WEIGHT_PPM / PPM**2)
