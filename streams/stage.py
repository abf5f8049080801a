"""What every stream processor shares: arrivals in, outputs out, and the order in which nothing gets lost.

A processor is a plain synchronous object (`Processor`): decode, call the core, encode. It runs in a thread of its own, one
batch at a time, so that it may block on a port and never holds up the event loop. `attach` hangs it on a Faust app:

    def attach(app: faust.App, codec: Codec, ...ports...) -> None:
        stage.attach(app, Decay(codec, ...), name="decay", source=topics.JOURNAL)

The rules come from losses that were measured (DESIGN 2): no tables, one coroutine per agent, batches by `noack_take`, and a
batch is acknowledged only when the broker has confirmed every output of it. What fails because something outside is down
(`Unavailable`) is tried again for as long as it takes; what fails because of one record goes to `Processor.poisoned`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import faust
from faust.types import TP, EventT, StreamT

from memquorum.ports import VaultUnavailable

log = logging.getLogger(__name__)

T = TypeVar("T")

_BACKOFF_S = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)


class Unavailable(RuntimeError):
    """Something outside of the stage is down; the same call is made again after a while."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A record as it was read. `traceparent` is passed along to what it causes."""

    partition: int
    offset: int
    value: bytes
    traceparent: str | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """A record to be written to an explicit partition; `kind` is the record's name, `event_id` the idempotency key."""

    topic: str
    partition: int
    key: bytes
    value: bytes
    kind: str
    event_id: str
    traceparent: str | None = None


class Processor(Protocol):
    """One stage. Every method is called from the same thread, never two at a time."""

    def process(self, arrivals: Sequence[Arrival]) -> Sequence[Output]:
        """The outputs of a batch, in the order in which they are to be written.

        The batch may hold several partitions; within one, offsets rise. A call that raised is made again with the same
        arrivals (`Unavailable`, `VaultUnavailable`, `transient`), or with each arrival alone (anything else), so state
        must not suffer from a second try.
        """
        ...

    def poisoned(self, arrival: Arrival, error: Exception) -> Sequence[Output]:
        """What to write instead for an arrival whose processing raised even alone. Must not raise."""
        ...

    def assigned(self, partitions: frozenset[int]) -> None:
        """These partitions begin here, perhaps again: forget what was known of them."""
        ...


def attach(
    app: faust.App,
    processor: Processor,
    *,
    name: str,
    source: str,
    batch: int = 64,
    within_s: float = 0.02,
    transient: tuple[type[Exception], ...] = (),
) -> None:
    """Hangs a processor on the app as the agent `name` that reads the topic `source`.

    `within_s` is how long an arrival waits at most for others to share its batch: the stage's idle latency. `transient`
    are further exceptions that mean "try again" (a database that is away).
    """
    raise NotImplementedError
