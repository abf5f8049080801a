"""Rollbacks of weights over HTTP: a request on which the members vote, about one memory of experience."""

from __future__ import annotations

from memquorum.core.accounts import rolling_back
from memquorum.core.accounts.rolling_back import Weighed
from memquorum.core.api.answers import Rollback
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import RestoreOrdered
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval.ordering import Asking


async def rollback(asking: Asking, asked: RestoreOrdered) -> Rollback:
    """Asks that a memory weighs again what it did at an older version, and waits for the members' decision."""
    (memory_id,) = asked.memory_ids
    found, to = await _found(asking, asked), asked.version or 0
    if (why := rolling_back.in_the_way(found, to)) is not None:
        return Rollback(asked.namespace, memory_id, to, rolling_back.NOTHING, why, *found.now)
    (order_id,) = await asking.give(REQUEST, [asked])
    done = await asking.answered(order_id)
    return rolling_back.rollback_result(asked, await _found(asking, asked), order_id, done)


async def _found(asking: Asking, asked: RestoreOrdered) -> Weighed:
    """The memory and its weight as they are now. Raises BadRequest for one that the namespace has not."""
    (memory_id,) = asked.memory_ids
    found = await asking.service.reads.weighed(asking.sight, asked.namespace, memory_id)
    if found is None:
        raise BadRequest("not_found", "memory_id", f"no memory {memory_id} is in {asked.namespace!r}")
    return found
