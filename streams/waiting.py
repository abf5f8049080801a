"""Commits what was acknowledged, and waits no longer than it may for batches in flight when partitions are taken away.

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

COMMIT_S = 0.02
"""Intake lets in more by what is committed, and a kill makes duplicates of what is not."""


class Bounded(Consumer):
    """A consumer that ends its process where the wait does not: who starts it again has all that was not acknowledged
    delivered anew, as after a kill. It commits when messages were acknowledged and not all the time."""

    limit_s = LIMIT_S
    end: Callable[[int], object] = staticmethod(os._exit)
    _coming: asyncio.TimerHandle | None = None

    def ack(self, message: Message) -> bool:
        """Acknowledges a message, which is committed within 20 ms. Faust's own timer would look so often all the time,
        a thirtieth of a core while nothing comes."""
        known = super().ack(message)
        if known and self._coming is None:
            self._coming = asyncio.get_running_loop().call_later(COMMIT_S, self._begin_commit)
        return known

    def _begin_commit(self) -> None:
        self._coming = None
        if not self.should_stop:  # a stop commits by itself
            self.add_future(self._commit_acknowledged())

    async def _commit_acknowledged(self) -> None:
        # One that is under way may have begun before the last message was acknowledged.
        await self.maybe_wait_for_commit_to_finish()
        await self.commit()

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
