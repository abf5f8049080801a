"""A shard that stands still for want of a score raises an alarm until the score is there, and gives nothing up."""

from __future__ import annotations

import logging

import pytest

from memquorum.telemetry.bundle import Telemetry
from workers.kafka.stall_watch import Patience

LOG = logging.getLogger("memquorum.test")


def test_a_long_wait_is_an_alarm_until_the_score_is_there(caplog: pytest.LogCaptureFixture) -> None:
    telemetry = Telemetry()
    telemetry.health.ready()
    patience = Patience(LOG, telemetry.stage("commit"), alarm_ms=5_000)

    def alarms() -> object:
        return telemetry.health.able()[1].get("alarms")

    def waited(shard: int) -> float | None:
        return telemetry.meters.registry.get_sample_value(
            "memquorum_score_wait_seconds", {"stage": "commit", "shard": str(shard)}
        )

    patience.look({0: 7, 1: None}, 100.0)
    patience.look({0: 7, 1: None}, 104.0)
    assert alarms() is None and not caplog.records and (waited(0), waited(1)) == (4.0, None)
    patience.look({0: 7, 1: None}, 106.0)
    assert alarms() == {
        "score of shard 0": "the episode at accepted offset 7 has had no score for 6 s, and everything behind it waits"
    }
    assert telemetry.health.able()[0]  # the others go on
    patience.look({0: 7}, 107.0)
    assert len(caplog.records) == 1 and "shard 0 stands still" in caplog.text
    patience.look({0: 7}, 112.0)
    assert len(caplog.records) == 2
    # The next episode has a wait of its own.
    patience.look({0: 9}, 113.0)
    assert (alarms(), waited(0)) == (None, 0.0)
    patience.look({0: 9}, 119.0)
    assert alarms() is not None
    patience.look({0: None}, 120.0)
    assert (alarms(), waited(0)) == (None, 0.0)
