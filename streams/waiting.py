"""Waits no longer than it may for batches in flight when partitions are taken away.

Faust waits without an end. Once in 45 faults a process that had been frozen waited so for ever: a batch that was half
taken was never handed on, since its stream stood still for the rebalance, and nothing was scored any more.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable

from faust.transport.drivers.aiokafka import Consumer
from faust.types import Message

log = logging.getLogger(__name__)

LIMIT_S = 10.0
"""A batch whose port is away takes longer only where nothing of it can be done anyway."""


class Bounded(Consumer):
    """A consumer that ends its process where the wait does not: who starts it again has all that was not acknowledged
    delivered anew, as after a kill."""

    limit_s = LIMIT_S
    end: Callable[[int], object] = staticmethod(os._exit)

    def let_go(self, messages: Iterable[Message]) -> None:
        """Does not wait for these, which nobody processes: they are delivered again."""
        for message in messages:
            self._unacked_messages.discard(message)

    async def wait_empty(self) -> None:
        """Waits for batches in flight, or ends the process."""
        waiting = asyncio.ensure_future(super().wait_empty())
        try:
            # Not `wait_for`, which cancels and waits for that: Faust's wait goes on when it is cancelled.
            done, _ = await asyncio.wait({waiting}, timeout=self.limit_s)
        except asyncio.CancelledError:
            waiting.cancel()
            raise
        if done:
            await waiting  # raises what it raised
            return
        log.critical("batches in flight do not end after %g s: the process ends, and is to be started again",
                     self.limit_s)  # fmt: skip
        self.end(1)
