"""Errors that pass once a broker is back, and errors that stay."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaError

from workers.kafka import loop

AWAY, UNKNOWN = KafkaError._TRANSPORT, KafkaError._UNKNOWN_PARTITION


class Clock:
    now = 1_000.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(loop, "time", made)
    return made


@pytest.mark.parametrize("before", [(), (AWAY,)])
def test_a_broker_that_has_just_started_knows_no_partition_for_a_moment(clock: Clock, before: tuple[int, ...]) -> None:
    outage = loop.Outage()
    for code in before:
        assert outage.passes(KafkaError(code))
        clock.now += 1
    assert outage.passes(KafkaError(UNKNOWN))
    clock.now += 11
    assert not outage.passes(KafkaError(UNKNOWN))
    assert outage.passes(KafkaError(AWAY))
    clock.now += 9
    assert outage.passes(KafkaError(UNKNOWN))


def test_what_was_refused_is_not_tried_again(clock: Clock) -> None:
    assert not loop.Outage().passes(KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
