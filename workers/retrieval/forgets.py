"""Proposals to forget over HTTP: first what a vote would look at, and then, if that was asked for, the vote.

Nothing leaves because somebody asked. The memories are nominated at the next tick, ahead of what decay and capacity
nominate, and the members judge them as always; caps and what rests after a vote that kept it stand before that.
"""

from __future__ import annotations

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import FORGET, Caller
from memquorum.core.api.answers import Forget
from memquorum.core.retrieval import forgetting
from workers.retrieval import ordering
from workers.retrieval.answers import Told, body
from workers.retrieval.leaving import leaving
from workers.retrieval.restores import ask
from workers.retrieval.service import Service


async def forget(service: Service, request: Request, caller: Caller) -> Response:
    """What a vote on memories would look at; with dry_run: false they are nominated, and the answer waits for it."""
    policy = service.genesis.policy
    wanted, dry_run = forgetting.read_forget(await body(request, service.bounds), policy)
    seconds = ordering.wait_s(service, request)
    sight = caller.at(wanted.namespace, FORGET)
    found, stopped = await leaving(service, sight, wanted.namespace, wanted.memory_ids)
    alive = tuple(one.memory_id for one in found if one.status == forgetting.ALIVE)
    if dry_run or not alive:
        return Told(Forget(wanted.namespace, "nothing asked", dry_run, found))
    # Where the caps leave nothing there is nothing to wait for.
    seconds = 0 if stopped else seconds
    done = await ask(service, caller, sight, replace(wanted, memory_ids=alive), seconds)
    told = {one.memory_id: one for one in done.memories} if done.status != "asked" else {}
    memories = tuple(
        replace(one, status=told[one.memory_id].status, detail=told[one.memory_id].detail)
        if one.memory_id in told
        else one
        for one in found
    )
    shown = Forget(
        wanted.namespace, done.status, False, memories,
        done.order_id, done.shard, done.epoch, done.journal_seq,
    )  # fmt: skip
    return Told(shown, 200 if done.status == "decided" else 202)
