"""Pins and goals over HTTP: a memory is not to be forgotten until it is unpinned, or until the goal that needs it ends.

Each memory that a goal needs is protected by an order of its own, with the goal as its reference; so what two goals
need is kept until both have ended. With what is named goes what that requires (`core.linking`). The right to forget in
a namespace includes the right to protect there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from msgspec.structs import replace

from memquorum.core.access import Sight
from memquorum.core.accounts import forgetting
from memquorum.core.accounts.forgetting import shield
from memquorum.core.accounts.pinning import REQUIRED_MOST, Goal
from memquorum.core.api.answers import Needed, Pinned, Protector
from memquorum.core.orders.envelope import SERVICE
from memquorum.core.orders.protect import NEED, PIN, PROTECTION, SPARE, UNPIN, may_end
from memquorum.core.records import ProtectionOrdered
from memquorum.core.retrieval.query import NOBODY, BadRequest
from workers.retrieval.ordering import Asking
from workers.retrieval.service import Service


async def pin(asking: Asking, asked: ProtectionOrdered) -> Pinned:
    """Protects a memory from being forgotten until it is unpinned; an erasure goes over it."""
    by_whom, stands = await _pins(asking, asked)
    if stands is not None:
        return _stood(asked, by_whom, stands)
    most = asking.service.configurations.policy(asked.namespace).protection.pins_max
    if (await asking.service.reads.guarded(asking.sight, asked.namespace)).pins >= most:
        told = f"{asked.namespace!r} has {most} pins, the most that there may be: unpin what need not be kept,"
        raise BadRequest(
            "too_many", "memory_id", f"{told} or let the operator pin it: `memquorum admin memories hold --pin`"
        )
    (order_id,) = await asking.give(PROTECTION, [asked])
    by_whom, stands = await _until(asking, asked, pinned=True)
    if stands is not None and stands.order_id != order_id:  # another came first
        return _stood(asked, by_whom, stands)
    return _told(asked, "pinned" if stands is not None else "ordered", by_whom, order_id)


async def unpin(asking: Asking, asked: ProtectionOrdered) -> Pinned:
    """Protects a memory no longer by a pin; what holds it, holds it still."""
    by_whom, stands = await _pins(asking, asked)
    if stands is None:
        return _told(asked, "nothing to unpin", by_whom, None, f"no pin stands of {asked.memory_id}")
    if not may_end(SERVICE, stands.signer):
        told = (
            f"the operator pinned it ({stands.ordered_by}), and ends it alone: `memquorum admin memories hold --unpin`"
        )
        raise BadRequest("not_entitled", "memory_id", told)
    (order_id,) = await asking.give(PROTECTION, [replace(asked, action=UNPIN, ends=stands.order_id)])
    by_whom, stands = await _until(asking, asked, pinned=False)
    return _told(asked, "unpinned" if stands is None else "ordered", by_whom, order_id)


_Standing = tuple[list[Protector], Protector | None]


async def _pins(asking: Asking, asked: ProtectionOrdered) -> _Standing:
    """All that protects a memory, and the pin among that. Raises BadRequest for one that is not alive there."""
    found = await asking.service.reads.memory(asking.sight, asked.memory_id)
    if found is None or found["namespace"] != asked.namespace or found["tier"] not in ("short-term", "long-term"):
        raise _not_alive("memory_id", asked.memory_id, asked.namespace)
    return await _standing(asking, asked)


async def _standing(asking: Asking, asked: ProtectionOrdered) -> _Standing:
    by_whom = await protectors(asking.service, asking.sight, [asked.memory_id])
    return by_whom, next((one for one in by_whom if one.kind == PIN), None)


async def _until(asking: Asking, asked: ProtectionOrdered, *, pinned: bool) -> _Standing:
    return await asking.until(lambda: _standing(asking, asked), lambda found: (found[1] is not None) == pinned)


def _stood(order: ProtectionOrdered, by_whom: list[Protector], stands: Protector) -> Pinned:
    """Returns the answer where no pin is made because another pin of the memory stands."""
    ends = "whoever unpins it ends it for all" if may_end(SERVICE, stands.signer) else "the operator alone ends it"
    told = f"{shield(PIN, stands.ordered_by, stands.reference, stands.order_id)}: no other pin was made, and {ends}"
    return _told(order, "pinned already", by_whom, stands.order_id, told)


def _told(
    order: ProtectionOrdered, status: str, by_whom: list[Protector], order_id: str | None, detail: str | None = None
) -> Pinned:
    return Pinned(order.namespace, order.memory_id, status, order_id, tuple(by_whom), detail)


async def begin_goal(asking: Asking, goal: Goal) -> Needed:
    """Says which memories a goal needs: they, and what they require, are not forgotten until it ends; an erasure goes
    over it."""
    reads, sight = asking.service.reads, asking.sight
    rows = await reads.used(sight, asking.service.codec, goal.namespace, goal.memory_ids)
    policy = asking.service.configurations.policy(goal.namespace)
    for one in forgetting.standing(goal.memory_ids, rows, policy):
        if one.status != forgetting.ALIVE:
            raise _not_alive("memory_ids", one.memory_id, goal.namespace)
    # A required memory is older than the one that requires it, so no more can be required later.
    wanted = await reads.required(sight, goal.namespace, goal.memory_ids, REQUIRED_MOST)
    if len(wanted) > REQUIRED_MOST:
        told = f"they and what they require are more than {REQUIRED_MOST} memories: name fewer at once"
        raise BadRequest("too_many", "memory_ids", told)
    needed = partial(reads.needed, sight, goal.namespace, goal.kind)
    known = await needed()
    more = sum(one not in known for one in wanted)
    most, there = policy.protection.needs_max, (await reads.guarded(sight, goal.namespace)).needs
    if more and there + more > most:
        told = f"goals of {goal.namespace!r} need {there} memories, and {most} is the most: end goals that are over"
        raise BadRequest("too_many", "memory_ids", f"{told} (`memquorum goal NAME --end`), or name fewer")
    # Said again it is needed anew: a goal that nobody speaks of lapses.
    await asking.give(PROTECTION, _orders(goal, NEED, dict.fromkeys(wanted)))
    holds = set(wanted).issubset
    now = await asking.until(needed, holds)
    return _needed(goal, "active" if holds(now) else "ordered", now)


async def end_goal(asking: Asking, goal: Goal) -> Needed:
    """Ends a goal: what it alone needed may be forgotten again."""
    needed = partial(asking.service.reads.needed, asking.sight, goal.namespace, goal.kind)
    # An order given a moment ago is not in the store yet, and an end names the order that it ends.
    named = set(goal.memory_ids)
    standing = await asking.until(needed, named.issubset)
    known = named.issubset(standing)
    if not standing:
        return _needed(goal, "nothing to end" if known else "not yet", ())
    await asking.give(PROTECTION, _orders(goal, SPARE, standing))
    left = await asking.until(needed, lambda found: not found)
    return _needed(goal, "ordered" if left else "ended" if known else "not yet", left)


def _orders(goal: Goal, action: str, wanted: Mapping[str, str | None]) -> list[ProtectionOrdered]:
    """`wanted`: memory → the order that is to end, if this ends one."""
    return [
        ProtectionOrdered(b"", NOBODY, goal.namespace, memory_id, action, "x", 0, goal.name, ends)
        for memory_id, ends in wanted.items()
    ]


def _needed(goal: Goal, status: str, needed: Iterable[str]) -> Needed:
    return Needed(goal.namespace, goal.name, status, tuple(needed))


def _not_alive(field: str, memory_id: str, namespace: str) -> BadRequest:
    return BadRequest("not_found", field, f"no memory {memory_id} is alive in {namespace!r}")


async def protectors(service: Service, sight: Sight, memory_ids: Sequence[str]) -> list[Protector]:
    """The orders that protect memories."""
    return [Protector(*row) for row in await service.reads.protectors(sight, memory_ids)]
