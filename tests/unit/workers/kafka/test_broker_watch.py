"""A process to which no broker answers is not ready, whatever it waits for."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError, KafkaException

from infra.embedded.processes import free_port
from memquorum.telemetry.health import Health
from tests.support.waiting import until
from workers.kafka import reach
from workers.kafka.reach import BrokerWatch


class Brokers:
    """Brokers that answer or do not, and a clock."""

    answers = True
    now = 100.0

    def __init__(self) -> None:
        self.clients = 0
        self.health = Health(lambda: self.now)
        self.health.ready()
        self.watch = BrokerWatch(self.health, self._client, lambda: self.now)

    def _client(self) -> Brokers:
        self.clients += 1
        return self

    def list_topics(self, *, timeout: float) -> None:
        if not self.answers:
            raise KafkaException(KafkaError(KafkaError._TRANSPORT, "Connection refused"))

    def look(self, seconds: float) -> None:
        """Looks for so long, as often as the watch wants to."""
        until = self.now + seconds
        while self.now < until:
            self.now += self.watch.look()
            self.health.turn()


@pytest.fixture
def brokers() -> Brokers:
    return Brokers()


def test_brokers_that_answer_keep_a_process_ready_by_one_client(brokers: Brokers) -> None:
    brokers.look(30)
    assert brokers.health.able()[0] and brokers.clients == 1


def test_a_short_outage_is_none(brokers: Brokers) -> None:
    brokers.answers = False
    brokers.look(6)
    assert brokers.health.able()[0]
    brokers.answers = True
    brokers.look(1)
    brokers.answers = False
    brokers.look(6)
    assert brokers.health.able()[0]


def test_a_process_without_brokers_says_why_it_is_not_ready_until_one_answers(brokers: Brokers) -> None:
    brokers.answers = False
    brokers.look(10)
    assert brokers.health.waits == {"brokers": "none answers: Connection refused"}
    brokers.answers = True
    brokers.look(1)
    assert brokers.health.able()[0]


def test_a_refused_connection_is_told_as_such() -> None:
    health, seconds = Health(), [0.0]
    watch = reach.watch(f"127.0.0.1:{free_port()}", health)

    def wait(pause: float) -> bool:
        seconds[0] += pause
        return "brokers" in health.waits

    watch._clock = lambda: seconds[0]
    watch.run(wait)
    assert "Connection refused" in until(lambda: health.waits["brokers"])
