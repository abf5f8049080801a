"""Kafka clients that notice when they have lost every broker for good, though the brokers are there.

A broker that stood still for longer than its session is fenced when it wakes, and until it is let in again it answers a
question for the cluster's brokers with none. librdkafka (since 2.10,
https://github.com/confluentinc/librdkafka/issues/5301) then lets go of the brokers it knew, of the first one it was
told of too, and never asks anybody again: the client polls, reports nothing and stays so even when the broker is
started anew. With one broker every client that asks in that moment is lost. Nothing brings such a client back but
another one, so its process ends and is started again. `python -m tests.faults.fenced_broker` shows it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol

from confluent_kafka import Consumer, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient

from memquorum import kafka

# A client that has heard of nobody for so long is asked; one that finds nobody, again after a second.
_PATIENCE_S = 3.0
_AGAIN_S = 1.0
# Of several brokers one may stand still: a client passes it by after its socket.timeout.ms, 4 s (`loop`). Where there
# is one, a client that has not let go of it connects again within half a second.
_CERTAIN_S, _CERTAIN_OF_ONE_S = 5.0, 2.0
# A broker that is up answers in milliseconds; nothing else is done while it is asked.
_ASK_S = 0.5


class BrokersLost(RuntimeError):
    """A client has let go of every broker, though another one finds them. Starting the process again helps."""


class _Asking(Protocol):
    def list_topics(self, *, timeout: float) -> Any:
        """Lists topics as every client of confluent-kafka does; raises KafkaException where no broker answers."""


class Reach:
    """Whether a client still reaches a broker: `heard` when it got something, `check` when it waits for something.

    What librdkafka reports by itself does not tell: a young client loses its brokers without an error.
    """

    def __init__(self, fresh: Callable[[], _Asking], clock: Callable[[], float] = time.monotonic) -> None:
        """`fresh` makes a client that knows nothing yet but where to begin. `clock`: seconds."""
        self._fresh, self._clock = fresh, clock
        self.heard()

    def heard(self) -> None:
        """The client got something from a broker, or wants nothing of one."""
        self._ask_at, self._alone_since = self._clock() + _PATIENCE_S, float("inf")

    def check(self, client: _Asking) -> None:
        """Asks a broker where the client has heard of none for 3 s; else does nothing.

        Raises BrokersLost where for 5 s, or of a single broker 2 s, fresh clients get answers and this one gets none.
        """
        now = self._clock()
        if now < self._ask_at:
            return
        if _told(client) is not None or (others := _told(self._fresh())) is None:
            self.heard()
            return
        self._alone_since = min(self._alone_since, now)
        self._ask_at = now + _AGAIN_S
        if now - self._alone_since >= (_CERTAIN_OF_ONE_S if others == 1 else _CERTAIN_S):
            raise BrokersLost(
                "the client has let go of every Kafka broker and looks for none, though they answer others"
            )


def _told(client: _Asking) -> int | None:
    """How many brokers a client is told of; None where nobody answers."""
    try:
        return len(client.list_topics(timeout=_ASK_S).brokers)
    except KafkaException:
        return None


def _reach(settings: dict[str, Any]) -> Reach:
    """Whoever asks afresh needs what every client needs to come in: the address and, where asked for, who it is."""
    ways = ("bootstrap.", "security.", "sasl.", "ssl.")
    entry = {name: value for name, value in settings.items() if name.startswith(ways)}
    return Reach(lambda: AdminClient({**entry, "log_level": 0}))


class ReachingConsumer(Consumer):
    """A consumer whose `poll` raises BrokersLost where it would wait in vain for ever."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.reach = _reach(settings)
        super().__init__(settings)

    def poll(self, timeout: float = -1) -> Message | None:
        """Polls as a Consumer does."""
        message = super().poll(timeout)
        if message is not None and message.error() is None:
            self.reach.heard()
        else:
            self.reach.check(self)
        return message


class ReachingProducer(Producer):
    """A producer whose `poll` and `flush` raise BrokersLost where nothing would ever be delivered."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.reach, self._left = _reach(settings), 0
        super().__init__(settings)

    def poll(self, timeout: float = -1) -> int:
        """Polls as a Producer does."""
        served = super().poll(timeout)
        self._look(len(self))
        return served

    def flush(self, timeout: float = -1) -> int:
        """Flushes as a Producer does."""
        left = super().flush(timeout)
        self._look(left)
        return left

    def _look(self, left: int) -> None:
        if left and left == self._left:
            self.reach.check(self)
        else:
            self.reach.heard()
        self._left = left


class Asker:
    """The AdminClient of a process that asks the brokers now and then; after an error it asks by another one."""

    def __init__(self, bootstrap: str, log_level: int = 3) -> None:
        """`log_level`: as of librdkafka; 0 says nothing of a broker that is not there."""
        self._settings = {**kafka.librdkafka(bootstrap), "log_level": log_level}
        self._client: AdminClient | None = None

    @property
    def client(self) -> AdminClient:
        """The client to ask by, until `failed`."""
        if self._client is None:
            self._client = AdminClient(self._settings)
        return self._client

    def failed(self) -> None:
        """The client did not answer: it may have let go of its brokers for good."""
        self._client = None
