"""Goals over HTTP: what an active goal needs is not forgotten until the goal ends.

Each memory is protected by an order of its own, with the goal as its reference; so what two goals need is kept until
both have ended. Who may speak of forgetting in the namespace may say what a goal needs.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Iterable, Mapping
from functools import partial

from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import FORGET, Caller
from memquorum.core.api.answers import Needed
from memquorum.core.orders.protect import NEED, PROTECTION, SPARE
from memquorum.core.records import ProtectionOrdered
from memquorum.core.retrieval import forgetting
from memquorum.core.retrieval.pinning import Goal, read_goal, read_need
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval import ordering
from workers.retrieval.answers import Told, body, unknown
from workers.retrieval.service import Service

_SLICE = 20


async def begin_goal(service: Service, request: Request, caller: Caller) -> Response:
    """Says which memories a goal needs: they are not forgotten until it ends; an erasure goes over it."""
    goal = read_need(await body(request, service.bounds))
    seconds = ordering.wait_s(service, request)
    sight = caller.at(goal.namespace, FORGET)
    rows = await service.reads.used(sight, goal.namespace, goal.memory_ids)
    policy = service.configurations.policy(goal.namespace)
    for one in forgetting.standing(goal.memory_ids, rows, policy):
        if one.status != forgetting.ALIVE:
            return unknown("memory_ids", f"no memory {one.memory_id} is alive in {goal.namespace!r}")
    needed = partial(service.reads.needed, sight, goal.namespace, goal.kind)
    known = await needed()
    more = sum(one not in known for one in goal.memory_ids)
    most, there = policy.protection.needs_max, (await service.reads.guarded(sight, goal.namespace)).needs
    if more and there + more > most:
        told = f"goals of {goal.namespace!r} need {there} memories, and {most} is the most: end goals that are over"
        raise BadRequest("too_many", "memory_ids", f"{told} (`memquorum goal NAME --end`), or name fewer")
    # Said again it is needed anew: a goal that nobody speaks of lapses.
    await _order(service, caller, goal, NEED, dict.fromkeys(goal.memory_ids))
    holds = set(goal.memory_ids).issubset
    now = await ordering.until(seconds, needed, holds)
    return _told(goal, "active" if holds(now) else "ordered", now)


async def end_goal(service: Service, request: Request, caller: Caller) -> Response:
    """Ends a goal: what it alone needed may be forgotten again."""
    goal = read_goal(await body(request, service.bounds))
    seconds = ordering.wait_s(service, request)
    sight = caller.at(goal.namespace, FORGET)
    needed = partial(service.reads.needed, sight, goal.namespace, goal.kind)
    # What was ordered a moment ago is not in the store yet, and an end names the order that it ends.
    named = set(goal.memory_ids)
    standing = await ordering.until(seconds, needed, named.issubset)
    known = named.issubset(standing)
    if not standing:
        return _told(goal, "nothing to end" if known else "not yet", ())
    await _order(service, caller, goal, SPARE, standing)
    left = await ordering.until(seconds, needed, lambda found: not found)
    return _told(goal, "ordered" if left else "ended" if known else "not yet", left)


async def _order(service: Service, caller: Caller, goal: Goal, action: str, wanted: Mapping[str, str | None]) -> None:
    """`wanted`: memory → the order that is to end, if this ends one."""
    seed, by, now = ordering.seed(service, "order", None), ordering.by(caller), ordering.now_ms()

    async def one(memory_id: str) -> None:
        order = ProtectionOrdered(
            service.genesis.cluster, str(uuid.uuid4()), goal.namespace, memory_id, action, by, now, goal.name,
            wanted[memory_id],
        )  # fmt: skip
        await ordering.publish(service, PROTECTION, seed, order)

    # In slices: each is signed, and others are answered in between.
    memory_ids = list(wanted)
    for first in range(0, len(memory_ids), _SLICE):
        await asyncio.gather(*map(one, memory_ids[first : first + _SLICE]))


def _told(goal: Goal, status: str, needed: Iterable[str]) -> Response:
    told = Needed(goal.namespace, goal.name, status, tuple(needed))
    return Told(told, 202 if status in ("ordered", "not yet") else 200)
