"""Requests to restore, to forget, and to roll back the weight of a memory in experience: who may ask for what, how one
is made, and the checks of one.

A request is a Signed whose body is a RestoreOrdered. The operator may sign it, the service `erasure` for a holder of
the right `forget`, and an agent with a key in the genesis file, in a namespace that only accepts signed records: there
its name is proven, and it could have used the memory while it was alive.
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
"""The reason of a proposal to restore a memory, or to roll back its weight."""
_VERSION_MAX = 2**31 - 1


def most(policy: Policy) -> int:
    """Returns the maximum number of memories in one request, as it is voted on in one epoch."""
    return min(IDS_MOST, policy.epoch.proposals_max)


def check(order: RestoreOrdered, policy: Policy) -> None:
    """Raises BadOrder unless the request's fields are valid."""
    check_said(order)
    if order.action not in ACTIONS:
        raise BadOrder("bad_order", "action", f"must be one of {', '.join(ACTIONS)}")
    if not order.memory_ids:
        raise BadOrder("missing_field", "memory_ids", "name at least one memory")
    if len(order.memory_ids) > most(policy):
        raise BadOrder("too_many", "memory_ids", f"{len(order.memory_ids)} ids; at most {most(policy)} at once")
    for memory_id in order.memory_ids:
        check_id("memory_ids", memory_id, "send ids of memories")
    if len(set(order.memory_ids)) != len(order.memory_ids):
        raise BadOrder("bad_order", "memory_ids", "a memory is named twice")
    _check_version(order)


def _check_version(order: RestoreOrdered) -> None:
    if order.action != ROLLBACK:
        if order.version is not None:
            raise BadOrder("bad_order", "version", f"must be left out: {order.action} takes no version of a weight")
        return
    if len(order.memory_ids) != 1:
        raise BadOrder("too_many", "memory_ids", "one memory at a time: each has versions of its own")
    if order.version is None:
        raise BadOrder("missing_field", "version", "name the version; `memquorum experience why` lists them")
    if not 1 <= order.version <= _VERSION_MAX:
        raise BadOrder("out_of_range", "version", "not a version: the first is 1")


def _check_entitled(genesis: Genesis, signer: str, order: RestoreOrdered) -> None:
    if not known(genesis, signer):
        raise BadOrder("not_entitled", "signer", f"{signer[:40]!r} may not ask; ask the operator or the service")
    check_proven(genesis, signer, order)


def _proposals(order: RestoreOrdered, accepted_at: int) -> tuple[Proposal, ...]:
    """Returns a proposal for each memory. The request counts as the memories' last use: decay is counted from it; for a
    late use, from the time of the use. Requests to forget have none here: their memories are nominated with others, by
    their decay."""
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
    command="`memquorum restore` or `memquorum admin memories restore`",
    right=access.FORGET,
    check=check,
    entitled=_check_entitled,
    effects={"requested": RestoreRequested, "declined": RestoreRequested},
    named=lambda order: order.memory_ids,
    proposals=_proposals,
)
