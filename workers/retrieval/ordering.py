"""Orders of every kind over HTTP: how one is given, and how its outcome is waited for.

The service signs as `service:erasure` for any caller with the kind's right in the namespace, and names the key that
asked. An order goes the way of all records, through intake into the accepted stream, and the answer waits for it. The
checks before an order and the form of its answer are in `erasures`, `restores` and `protections`.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace
from starlette.requests import Request
from starlette.responses import Response

from db.order_rows import ASKED
from memquorum.core.access import READ, Caller, Sight
from memquorum.core.api.answers import Ordered
from memquorum.core.api.endpoints import WAIT_MS, Endpoint
from memquorum.core.orders.envelope import SERVICE, OrderKind
from memquorum.core.retrieval import query
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval.answers import StructResponse, body
from workers.retrieval.endpoints import Do
from workers.retrieval.service import Service

_LOOK_S = 0.05
# The slice size for many orders: after each slice is signed, other requests are answered.
_SLICE = 20
NO_KEY = "the genesis file names no service `erasure`, or the service was not given its key"
# The statuses of an order that is on its way.
_UNDER_WAY = ("ordered", ASKED, "not yet")
T = TypeVar("T")


Headers = Sequence[tuple[str, str]]
"""Further headers of a record."""


class RequestIntent(Protocol):
    """The intent read from a request."""

    @property
    def namespace(self) -> str:
        """The namespace that it is about."""


R = TypeVar("R", bound=RequestIntent)


@dataclass(frozen=True, slots=True)
class Asking:
    """The caller of an order: its sight of the store, the seconds that it waits, and whether it may read memories."""

    service: Service
    sight: Sight
    by: str
    seconds: float
    reads: bool = False

    async def give(self, kind: OrderKind[Any], wanted: Sequence[Any], beside: Headers = ()) -> list[str]:
        """Signs orders and publishes them, with headers `beside` each. Returns their ids. Raises BadRequest, BadOrder
        and KafkaUnavailable."""
        service, seed = self.service, self.service.erasure_seed
        if seed is None:
            raise BadRequest("not_entitled", None, f"this service may not order: {NO_KEY}. Who can: {kind.command}")
        at = time.time_ns() // 1_000_000
        orders = [
            replace(one, cluster=service.genesis.cluster, order_id=str(uuid.uuid4()), ordered_by=self.by, ordered_at=at)
            for one in wanted
        ]

        async def publish(order: Any) -> None:
            data = kind.make(service.codec, service.genesis, SERVICE, seed, order)
            await service.send(kind.topic, "Signed", order.order_id, order.namespace, data, beside)

        for first in range(0, len(orders), _SLICE):
            await asyncio.gather(*map(publish, orders[first : first + _SLICE]))
        return [order.order_id for order in orders]

    async def until(self, look: Callable[[], Awaitable[T]], done: Callable[[T], bool]) -> T:
        """Returns the result of `look` once it is `done` or the time is over."""
        end = time.monotonic() + self.seconds
        while True:
            found = await look()
            if done(found) or time.monotonic() >= end:
                return found
            await asyncio.sleep(_LOOK_S)

    async def answered(self, order_id: str) -> Ordered | None:
        """Returns the outcome of an order, once the journal has answered it and the members have voted; or its state
        when the time is over."""
        return await self.until(
            lambda: self.service.reads.order(self.sight, self.service.codec, order_id),
            lambda found: found is not None and found.status != ASKED,
        )


def giving(
    endpoint: Endpoint[Any], read: Callable[[bytes, Service], R], order: Callable[[Asking, R], Awaitable[Any]]
) -> Do:
    """The function of an endpoint that gives orders. `read`: its body, or raises BadRequest; `order`: what it does with
    that, and answers."""

    async def give(service: Service, request: Request, caller: Caller) -> Response:
        asked = read(await body(request, service.bounds), service)
        seconds = wait_s(service, request, WAIT_MS)
        sight = caller.at(asked.namespace, *endpoint.rights)
        by = f"key {caller.id}" if caller.id is not None else "whoever is on this machine"
        told = await order(Asking(service, sight, by, seconds, READ in caller.rights), asked)
        return StructResponse(told, 202 if told.status in _UNDER_WAY else 200)

    return give


def wait_s(service: Service, request: Request, default_ms: int = 0) -> float:
    """Returns the wait for the answer, in seconds: `wait_ms` of the query string. Raises BadRequest."""
    return query.read_wait(request.query_params.get("wait_ms", str(default_ms)), service.bounds) / 1000
