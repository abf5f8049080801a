"""Restores, rollbacks of weights and proposals to forget over HTTP: requests on which the members vote.

A rollback names one memory of experience; the others name several memories.

A restore asks for forgotten memories back. And nothing leaves because somebody asked: the memories are nominated at the
next tick, ahead of what decay and capacity nominate, and judged as always; caps and what rests after a vote that kept
it stand before that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace as waiting

from msgspec.structs import replace

from memquorum.core import caps
from memquorum.core.access import Sight
from memquorum.core.accounts import forgetting, restoring, rolling_back
from memquorum.core.accounts.rolling_back import Weighed
from memquorum.core.api.answers import Forget, Leaving, Ordered, Restore, Restoring, Rollback
from memquorum.core.orders.restore import FORGET, REQUEST, ROLLBACK
from memquorum.core.records import RestoreOrdered
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval.ordering import Asking
from workers.retrieval.service import Service


async def restore(asking: Asking, asked: RestoreOrdered) -> Restore:
    """Asks for memories back that rest sealed, and waits for the members' decision; the others are told why not."""
    rows = await asking.service.reads.resting(asking.sight, asked.namespace, asked.memory_ids)
    found = restoring.standing(asked.memory_ids, rows)
    sealed = tuple(one.memory_id for one in found if one.status == restoring.SEALED)
    if not sealed:
        return Restore(asked.namespace, "nothing to restore", found)
    order_id, done = await _ask(asking, replace(asked, memory_ids=sealed))
    told = _decided(done)
    memories = tuple(told.get(one.memory_id, one) for one in found)
    back = sum(one.status == restoring.RESTORED for one in told.values())
    if done is None:
        return Restore(asked.namespace, "asked", memories, order_id)
    return Restore(asked.namespace, done.status, memories, order_id, done.shard, done.epoch, done.journal_seq, back)


async def forget(asking: Asking, asked: forgetting.ForgetAsked) -> Forget:
    """Answers with the memories that a vote to forget would consider; with dry_run: false they are nominated, and the
    answer waits for the vote."""
    order = asked.order
    found, _, stopped = await _leaving(asking.service, asking.sight, order.namespace, order.memory_ids)
    alive = tuple(one.memory_id for one in found if one.status == forgetting.ALIVE)
    if asked.dry_run or not alive:
        return Forget(order.namespace, "nothing asked", asked.dry_run, found)
    # If the caps leave no room to forget, there is no vote to wait for.
    order_id, done = await _ask(waiting(asking, seconds=0) if stopped else asking, replace(order, memory_ids=alive))
    told = _decided(done)
    memories = tuple(
        replace(one, status=told[one.memory_id].status, detail=told[one.memory_id].detail)
        if one.memory_id in told
        else one
        for one in found
    )
    if done is None:
        return Forget(order.namespace, "asked", False, memories, order_id)
    at = done.shard, done.epoch, done.journal_seq
    return Forget(order.namespace, done.status, False, memories, order_id, *at)


async def rollback(asking: Asking, asked: RestoreOrdered) -> Rollback:
    """Asks that a memory weighs again what it did at an older version, and waits for the members' decision."""
    (memory_id,) = asked.memory_ids
    found, to = await _weighed(asking, asked), asked.version or 0
    if (why := rolling_back.in_the_way(found, to)) is not None:
        return Rollback(asked.namespace, memory_id, to, rolling_back.NOTHING, why, *found.now)
    order_id, done = await _ask(asking, asked)
    return rolling_back.rollback_result(asked, await _weighed(asking, asked), order_id, done)


async def _ask(asking: Asking, order: RestoreOrdered) -> tuple[str, Ordered | None]:
    (order_id,) = await asking.give(REQUEST, [order])
    done = await asking.answered(order_id)
    return order_id, None if done is None else await reasoned(asking.service, asking.sight, done)


async def reasoned(service: Service, sight: Sight, done: Ordered) -> Ordered:
    """The same, and of what its epoch did not speak of why not, as far as that shows now."""
    left = [one.memory_id for one in done.memories if one.detail == restoring.NOT_NOMINATED]
    if not left or done.epoch is None:
        return done
    epoch, (found, rows, _) = done.epoch, await _leaving(service, sight, done.namespace, left)
    why = {one.memory_id: forgetting.passed_over(one, rows.get(one.memory_id), epoch) for one in found}
    told = (replace(one, detail=why.get(one.memory_id, one.detail)) for one in done.memories)
    return replace(done, memories=tuple(told))


def _decided(done: Ordered | None) -> dict[str, Restoring]:
    """Returns the members' decision on each memory, once they have voted."""
    return {one.memory_id: one for one in done.memories} if done is not None and done.epoch is not None else {}


async def standing(service: Service, sight: Sight, asked: Ordered) -> tuple[Restoring, ...]:
    """Returns the states of the memories of a request that was not voted on yet."""
    ids = [one.memory_id for one in asked.memories]
    if asked.says["action"] == ROLLBACK:
        return asked.memories
    if asked.says["action"] == FORGET:
        now, *_ = await _leaving(service, sight, asked.namespace, ids)
        return tuple(Restoring(one.memory_id, one.status, one.detail) for one in now)
    return restoring.standing(ids, await service.reads.resting(sight, asked.namespace, ids))


async def _leaving(
    service: Service, sight: Sight, namespace: str, memory_ids: Sequence[str]
) -> tuple[tuple[Leaving, ...], dict[str, forgetting.Used], bool]:
    """Finds what a vote to forget would look at of each memory, as the store has it now, its rows, and whether the caps
    leave nothing of the namespace for now."""
    policy, reads = service.configurations.policy(namespace), service.reads
    rows = await reads.used(sight, service.codec, namespace, memory_ids)
    words: dict[str, list[str]] = {}
    for memory_id, kind, order_id, by, reference, *_ in await reads.protectors(sight, memory_ids):
        words.setdefault(memory_id, []).append(forgetting.shield(kind, by, reference, order_id))
    shields = {memory_id: ", and ".join(told) for memory_id, told in words.items()}
    quota, stopped = None, False
    if rows:
        as_of = rows[0].as_of
        quota = await reads.quota(sight, namespace, caps.since(as_of, policy.caps))
        stopped = quota is not None and caps.stopped_until(quota, as_of, policy.caps) is not None
    found = forgetting.standing(memory_ids, rows, policy, shields=shields, quota=quota)
    return found, {row.memory_id: row for row in rows}, stopped


async def _weighed(asking: Asking, asked: RestoreOrdered) -> Weighed:
    """The memory and its weight as they are now. Raises BadRequest for one that the namespace has not."""
    (memory_id,) = asked.memory_ids
    found = await asking.service.reads.weighed(asking.sight, asked.namespace, memory_id)
    if found is None:
        raise BadRequest("not_found", "memory_id", f"no memory {memory_id} is in {asked.namespace!r}")
    return found
