"""Reads a request to pin: checks it like a record, and turns it into an order."""

from __future__ import annotations

from msgspec import Struct

from memquorum.core.api.requests import GoalRequest, NeedRequest, PinRequest
from memquorum.core.orders import protect as orders
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.records import ProtectionOrdered
from memquorum.core.retrieval.query import NOBODY, BadRequest, read_body, read_exactly, read_memory_id, read_namespace

NEEDS_MOST = 100
REQUIRED_MOST = 1_000
"""So many a goal is said to need at once, with what these require."""


class Goal(Struct, frozen=True):
    """An agent's goal, and of which memories is spoken."""

    namespace: str
    name: str
    memory_ids: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of protection that it gives."""
        return orders.goal_kind(self.name)


def read_pin(body: bytes) -> ProtectionOrdered:
    """The pin that a JSON body asks for; its name, who gives it and when are not said yet. Raises BadRequest."""
    asked = read_body(body, PinRequest)
    order = ProtectionOrdered(
        b"", NOBODY, read_namespace(asked.namespace), read_memory_id(asked.memory_id), orders.PIN, "x", 0,
        asked.reference,
    )  # fmt: skip
    try:
        orders.check(order)
    except BadOrder as wrong:
        raise BadRequest(wrong.code, wrong.field, wrong.detail) from None
    return order


def read_need(body: bytes) -> Goal:
    """Returns the memories that a JSON body says a goal needs. Raises BadRequest."""
    asked = read_body(body, NeedRequest)
    if not asked.memory_ids:
        raise BadRequest("out_of_range", "memory_ids", "which memories does it need? Name one at least")
    return _goal(asked)


def read_goal(body: bytes) -> Goal:
    """A goal that ends. Raises BadRequest."""
    return _goal(read_body(body, GoalRequest))


def _goal(asked: NeedRequest | GoalRequest) -> Goal:
    ids = tuple(dict.fromkeys(map(read_memory_id, asked.memory_ids)))
    if len(ids) > NEEDS_MOST:
        raise BadRequest("out_of_range", "memory_ids", f"{len(ids)} memories; {NEEDS_MOST} are the most")
    return Goal(read_namespace(asked.namespace), read_exactly("goal", asked.goal), ids)
