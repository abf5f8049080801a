"""What every order over HTTP has in common: the service signs as `service:erasure` for whoever has the right in the
namespace, names the key that asked, and waits with the answer until the order was carried out.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from starlette.requests import Request

from memquorum.core.access import Caller
from memquorum.core.api.endpoints import WAIT_MS
from memquorum.core.orders.envelope import SERVICE, Order, OrderKind
from memquorum.core.retrieval import query
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval.service import Service

_LOOK_S = 0.05
_NO_KEY = "the genesis file names no service `erasure`, or the service was not given its key"
Found = TypeVar("Found")


def wait_s(service: Service, request: Request) -> float:
    """How long the answer may wait, in seconds: `wait_ms` of the query string. Raises BadRequest."""
    return query.read_wait(request.query_params.get("wait_ms", str(WAIT_MS)), service.bounds) / 1000


def seed(service: Service, verb: str, field: str | None, instead: str = "") -> bytes:
    """The service's key to sign with. Raises BadRequest where it has none; `instead`: who can then."""
    if service.erasure_seed is None:
        raise BadRequest("not_entitled", field, f"this service may not {verb}: {_NO_KEY}{instead}")
    return service.erasure_seed


async def publish(service: Service, kind: OrderKind[Order], seed: bytes, order: Order) -> None:
    """Signs an order and sends it to its topic. Raises BadOrder and KafkaUnavailable."""
    data = kind.make(service.codec, service.genesis, SERVICE, seed, order)
    await service.send(kind.topic, "Signed", order.order_id, order.namespace, data)


def by(caller: Caller) -> str:
    """Who orders, as the order says it."""
    return f"key {caller.id}" if caller.id is not None else "whoever is on this machine"


def now_ms() -> int:
    """Milliseconds since the epoch."""
    return time.time_ns() // 1_000_000


async def until(seconds: float, look: Callable[[], Awaitable[Found]], done: Callable[[Found], bool]) -> Found:
    """What `look` finds, once it is `done` or so many seconds have gone."""
    end = time.monotonic() + seconds
    while True:
        found = await look()
        if done(found) or time.monotonic() >= end:
            return found
        await asyncio.sleep(_LOOK_S)
