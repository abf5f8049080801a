"""What may be asked of a pin: a request checked like a record, and the order that is made of it."""

from __future__ import annotations

from dataclasses import dataclass

from memquorum.core.orders import BadOrder
from memquorum.core.protection import orders
from memquorum.core.records import ProtectionOrdered
from memquorum.core.retrieval.query import BadRequest, read_body, read_memory_id, read_name, read_namespace

NEEDS_MOST = 100


@dataclass(frozen=True, slots=True)
class PinRequest:
    """The body of a pin, and of its end."""

    memory_id: str
    namespace: str | None = None
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class NeedRequest:
    """The body that says which memories a goal needs for as long as it is active."""

    goal: str
    memory_ids: tuple[str, ...]
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class GoalRequest:
    """The body that ends a goal."""

    goal: str
    namespace: str | None = None


@dataclass(frozen=True, slots=True)
class Goal:
    """An agent's goal, and of which memories is spoken: those it needs from now on, or none where it ends."""

    namespace: str
    name: str
    memory_ids: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of protection that it gives."""
        return f"{orders.GOAL}{self.name}"


def read_pin(body: bytes, action: str, cluster: bytes, order_id: str) -> ProtectionOrdered:
    """The order that a JSON body asks for; who gives it and when is not said yet. Raises BadRequest."""
    asked = read_body(body, PinRequest)
    order = ProtectionOrdered(
        cluster, order_id, read_namespace(asked.namespace), read_memory_id(asked.memory_id), action, "x", 0,
        asked.reference,
    )  # fmt: skip
    try:
        orders.check(order)
    except BadOrder as wrong:
        raise BadRequest(wrong.code, wrong.field, wrong.detail) from None
    return order


def read_need(body: bytes) -> Goal:
    """What a goal needs. Raises BadRequest."""
    asked = read_body(body, NeedRequest)
    ids = tuple(dict.fromkeys(read_memory_id(one) for one in asked.memory_ids))
    if not 1 <= len(ids) <= NEEDS_MOST:
        raise BadRequest("out_of_range", "memory_ids", f"from 1 to {NEEDS_MOST} memories; {len(ids)} are named")
    return Goal(read_namespace(asked.namespace), read_name("goal", asked.goal), ids)


def read_goal(body: bytes) -> Goal:
    """A goal that ends. Raises BadRequest."""
    asked = read_body(body, GoalRequest)
    return Goal(read_namespace(asked.namespace), read_name("goal", asked.goal))
