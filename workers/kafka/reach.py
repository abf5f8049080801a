"""Kafka clients that notice that they have lost every broker permanently, though the brokers are available, and that
log an outage of all brokers once a minute, with its reason.

A broker frozen for longer than its session is fenced when it wakes, and until it is readmitted it answers a metadata
request with no brokers. librdkafka (since 2.10, https://github.com/confluentinc/librdkafka/issues/5301) then drops the
brokers it knew, the bootstrap ones too, and never asks again: the client polls, reports nothing and stays so even when
the broker is restarted. With one broker every client that asks in that moment is lost. Only a new client helps, so its
process ends and is restarted. `python -m tests.faults.fenced_broker` shows it.

librdkafka's own log is off: while all brokers are away, it writes a plain line for each attempt to connect, some forty
a second for each client.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any, Protocol

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer
from confluent_kafka.admin import AdminClient

from memquorum import kafka
from memquorum.telemetry.health import Health

_LOG = logging.getLogger("memquorum.kafka")

QUIET = {"log_level": 0}
"""The setting of a client that writes no lines of librdkafka's own."""
# An outage that lasts is logged again at this interval.
_TELL_S = 60.0
# A client without an answer for this long is checked; one that finds no broker, again after a second.
_PATIENCE_S = 3.0
_AGAIN_S = 1.0
# With several brokers one may be frozen: a client skips it after its socket.timeout.ms, 4 s (`loop`). With a single
# broker, a client that still knows it reconnects within half a second.
_CERTAIN_S, _CERTAIN_OF_ONE_S = 5.0, 2.0
# A live broker answers in milliseconds; the loop is blocked meanwhile.
_ASK_S = 0.5
# The last question waits longer: beside other load a live broker answers late, and later behind a fetch that waits.
_LAST_S = 4.0
# A watch blocks nobody. These are its patience, the pause between questions while brokers answer (while none does it
# is that above), and the time after which an outage is one: a broker is replaced as leader after 3 to 4 s.
_LOOKED_S, _LOOK_S, _AWAY_S = 2.0, 5.0, 8.0


class BrokersLost(RuntimeError):
    """A client has dropped every broker, though another client finds them. Restarting the process helps."""


class _Asking(Protocol):
    def list_topics(self, *, timeout: float) -> Any:
        """Lists topics as every client of confluent-kafka does; raises KafkaException if no broker answers."""


class Reach:
    """Detects whether a client still reaches a broker: call `heard` when it got something, `check` while it waits.

    librdkafka's own errors do not suffice: a young client loses its brokers without one.
    """

    def __init__(self, fresh: Callable[[], _Asking], clock: Callable[[], float] = time.monotonic) -> None:
        """`fresh` makes a new client with the bootstrap address. `clock`: seconds."""
        self._fresh, self._clock = fresh, clock
        self._tell_at: float | None = None
        self.rest()

    def heard(self) -> None:
        """Notes that the client got an answer of a broker."""
        if self._tell_at is not None:
            _LOG.info("a Kafka broker answers again")
            self._tell_at = None
        self.rest()

    def rest(self) -> None:
        """Notes that the client needs no answer yet."""
        self._ask_at, self._alone_since = self._clock() + _PATIENCE_S, float("inf")

    def _tell(self, why: str) -> None:
        now = self._clock()
        if self._tell_at is None or now >= self._tell_at:
            self._tell_at = now + _TELL_S
            _LOG.warning("no Kafka broker answers: %s", why)

    def check(self, client: _Asking) -> None:
        """Asks a broker if the client has had no answer for 3 s; else does nothing.

        Raises BrokersLost if for 5 s, or with a single broker 2 s, fresh clients get answers and this one gets none,
        and then none for 4 s more.
        """
        now = self._clock()
        if now < self._ask_at:
            return
        if isinstance(_told(client), int):
            self.heard()
            return
        others = _told(self._fresh())
        if isinstance(others, str):
            self._tell(others)
            self.rest()
            return
        self._alone_since = min(self._alone_since, now)
        self._ask_at = now + _AGAIN_S
        if now - self._alone_since >= (_CERTAIN_OF_ONE_S if others == 1 else _CERTAIN_S):
            if isinstance(_told(client, _LAST_S), int):
                self.heard()
                return
            raise BrokersLost(
                "the client has dropped every Kafka broker and does not reconnect, though they answer other clients"
            )


class Fresh:
    """A new client, which only asks."""

    def __init__(self, entry: dict[str, Any]) -> None:
        """`entry`: the address, and the login if one is required."""
        self._errors: list[KafkaError] = []
        told: dict[str, Any] = {**entry, **QUIET, "error_cb": self._errors.append}
        self._client = AdminClient(told)

    def list_topics(self, *, timeout: float) -> Any:
        """Lists topics. Raises KafkaException, with the reason why a connection failed."""
        self._client.poll(0)
        self._errors.clear()  # those of the time since the last question
        try:
            return self._client.list_topics(timeout=timeout)
        except KafkaException as error:
            self._client.poll(0)
            reasons = (one for one in self._errors if one.code() != KafkaError._ALL_BROKERS_DOWN)
            raise KafkaException(next(reasons, error.args[0])) from error


def _told(client: _Asking, wait_s: float = _ASK_S) -> int | str:
    """Returns the number of brokers in the client's metadata, or why no broker answers."""
    try:
        return len(client.list_topics(timeout=wait_s).brokers)
    except KafkaException as error:
        return str(error.args[0].str())


def _reach(settings: dict[str, Any]) -> Reach:
    """A fresh client needs the settings of the connection: the address and, if required, the login."""
    ways = ("bootstrap.", "security.", "sasl.", "ssl.")
    entry = {name: value for name, value in settings.items() if name.startswith(ways)}
    return Reach(lambda: Fresh(entry))


class ReachingConsumer(Consumer):
    """A consumer whose `poll` and `get_watermark_offsets` raise BrokersLost if they would wait in vain for ever."""

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

    def get_watermark_offsets(self, *arguments: Any, **options: Any) -> tuple[int, int]:
        """Asks as a Consumer does: a process that starts asks for offsets before it polls."""
        try:
            return super().get_watermark_offsets(*arguments, **options)
        except KafkaException:
            self.reach.check(self)
            raise


class ReachingProducer(Producer):
    """A producer whose `poll` and `flush` raise BrokersLost if nothing would ever be delivered."""

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
        if left < self._left:
            self.reach.heard()
        elif left and left == self._left:
            self.reach.check(self)
        else:
            self.reach.rest()
        self._left = left


class Asker:
    """The AdminClient of a process that asks the brokers occasionally; replaced after an error."""

    def __init__(self, bootstrap: str) -> None:
        self._settings = {**kafka.librdkafka(bootstrap), **QUIET}
        self._client: AdminClient | None = None

    @property
    def client(self) -> AdminClient:
        """The client to use until `failed`."""
        if self._client is None:
            self._client = AdminClient(self._settings)
        return self._client

    def failed(self) -> None:
        """Drops a client that did not answer: it may have lost its brokers permanently."""
        self._client = None


class BrokerWatch:
    """Notes in a process's health that no broker answers. Asks every few seconds, apart from the process's work: to
    who waits for records, a topic without new ones looks like a broker that is away."""

    def __init__(
        self, health: Health, fresh: Callable[[], _Asking], clock: Callable[[], float] = time.monotonic
    ) -> None:
        """`fresh` makes a new client. `clock`: seconds."""
        self._health, self._fresh, self._clock = health, fresh, clock
        self._client: _Asking | None = None  # without an answer it is replaced: it may have lost all brokers
        self._away_since: float | None = None

    def look(self) -> float:
        """Asks once, and notes what follows from it. Returns the seconds until the next question."""
        self._client = self._client or self._fresh()
        asked_at = self._clock()
        try:
            self._client.list_topics(timeout=_LOOKED_S)
        except KafkaException as error:
            self._client = None
            self._away_since = asked_at if self._away_since is None else self._away_since
            if self._clock() - self._away_since >= _AWAY_S:
                self._health.wait("brokers", f"none answers: {error.args[0].str()}")
            return _AGAIN_S
        self._away_since = None
        self._health.go("brokers")
        return _LOOK_S

    def run(self, wait: Callable[[float], bool]) -> None:
        """Asks until `wait` for some seconds answers that it is time to stop."""
        while not wait(self.look()):
            pass


def watch(bootstrap: str, health: Health) -> BrokerWatch:
    """The watch of a process, with its login to the brokers."""
    return BrokerWatch(health, lambda: Fresh(kafka.librdkafka(bootstrap)))
