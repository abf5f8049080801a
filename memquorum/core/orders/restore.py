"""Requests to restore, to forget, and to roll the weight of a memory of experience back: who may ask for what, how
one is made, and what is wrong with one that does not hold.

A request is a Signed whose body is a RestoreOrdered. The operator may sign it, the service `erasure` for who has the
right `forget`, and an agent that has a key in the genesis file, in a namespace that takes nothing unsigned: there its
name is proven, and it might as well have used the memory while it was alive.
"""

from __future__ import annotations

from memquorum import topics
from memquorum.core import access
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.envelope import BadOrder, OrderKind, check_id, check_proven, check_said, known
from memquorum.core.policy import Policy
from memquorum.core.records import Proposal, RestoreOrdered, RestoreRequested

IDS_MOST = 100
RESTORE, FORGET, ROLLBACK = ACTIONS = ("restore", "forget", "rollback")
REASON = "requested"
"""Why what is to come back is proposed, or to weigh what it did."""
_VERSION_MAX = 2**31 - 1


def most(policy: Policy) -> int:
    """How many memories one request may name: it is voted on in one epoch."""
    return min(IDS_MOST, policy.epoch.proposals_max)


def check(order: RestoreOrdered, policy: Policy) -> None:
    """Raises BadOrder unless what the request says is sound."""
    check_said(order)
    if order.action not in ACTIONS:
        raise BadOrder("bad_order", "action", f"must be one of {', '.join(ACTIONS)}")
    if not order.memory_ids:
        raise BadOrder("missing_field", "memory_ids", "name the memories that it is about")
    if len(order.memory_ids) > most(policy):
        raise BadOrder("too_many", "memory_ids", f"{len(order.memory_ids)} ids; {most(policy)} are the most at once")
    for memory_id in order.memory_ids:
        check_id("memory_ids", memory_id, "send ids of memories")
    if len(set(order.memory_ids)) != len(order.memory_ids):
        raise BadOrder("bad_order", "memory_ids", "a memory is named twice")
    _check_version(order)


def _check_version(order: RestoreOrdered) -> None:
    if order.action != ROLLBACK:
        if order.version is not None:
            raise BadOrder("bad_order", "version", f"must be left out: {order.action} is about no version of a weight")
        return
    if len(order.memory_ids) != 1:
        raise BadOrder("too_many", "memory_ids", "one memory at a time: each has versions of its own")
    if order.version is None:
        raise BadOrder("missing_field", "version", "to which version? `memquorum experience why` shows those there are")
    if not 1 <= order.version <= _VERSION_MAX:
        raise BadOrder("out_of_range", "version", "no version: the first is 1")


def _check_entitled(genesis: Genesis, signer: str, order: RestoreOrdered) -> None:
    if not known(genesis, signer):
        raise BadOrder("not_entitled", "signer", f"{signer[:40]!r} may not ask; ask the operator or the service")
    check_proven(genesis, signer, order)


def _proposals(order: RestoreOrdered, accepted_at: int) -> tuple[Proposal, ...]:
    """One for each memory. The request counts as the memories' last use: decay is counted from it; of a use that asks,
    from its own time. What is to be forgotten is nominated as whatever else is, by its decay."""
    if order.action == FORGET:
        return ()
    return tuple(
        Proposal((memory_id,), order.namespace, order.action, REASON, accepted_at, accepted_at, 0)
        for memory_id in order.memory_ids
    )


REQUEST = OrderKind(
    name="restore",
    body=RestoreOrdered,
    topic=topics.RESTORES,
    told="a request to restore",
    command="`memquorum restore` or `python -m infra restore`",
    right=access.FORGET,
    check=check,
    entitled=_check_entitled,
    effects={"requested": RestoreRequested, "declined": RestoreRequested},
    named=lambda order: order.memory_ids,
    proposals=_proposals,
)
