"""The Faust app's settings that guard against measured losses, and what it writes to its log."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

from infra import fleet
from streams import faust_app as streams_app


def test_the_settings_that_nothing_gets_lost_by(tmp_path: Path) -> None:
    conf = streams_app.create("a:1, b:2", tmp_path, 6).conf
    assert [str(url) for url in conf.broker] == ["kafka://a:1", "kafka://b:2"]
    assert conf.id == "memquorum-streams"
    assert str(conf.processing_guarantee.value) == "at_least_once"
    assert conf.stream_wait_empty
    assert conf.producer_acks == -1
    assert conf.broker_commit_interval == 1
    assert conf.broker_session_timeout == 6
    assert (conf.topic_disable_leader, conf.topic_allow_declare, conf.web_enabled) == (True, False, False)
    assert conf.topic_partitions == 6
    assert conf.datadir.is_relative_to(tmp_path)


def test_an_outage_does_not_flood_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(streams_app.time, "monotonic", lambda: now[0])
    seldom = streams_app._Seldom("aiokafka")

    def passes(name: str, text: str, *arguments: object) -> bool:
        return seldom.filter(logging.LogRecord(name, logging.ERROR, "", 0, text, arguments, None))

    assert passes("aiokafka", "no node %s", 1)
    assert not passes("aiokafka", "no node %s", 2)
    assert passes("aiokafka.consumer", "another matter")
    assert passes("streams.salience_stage", "no node %s", 1)
    assert passes("streams.salience_stage", "no node %s", 1)
    now[0] += 10
    assert passes("aiokafka", "no node %s", 3)


async def test_an_app_that_has_stopped_is_not_waited_for(tmp_path: Path) -> None:
    worker = streams_app._Worker(streams_app.create("127.0.0.1:9", tmp_path, 4), override_logging=False)
    async with asyncio.timeout(0.5):  # Faust's own sleeps for a second
        await worker._sentinel_task()


def test_it_ends_before_who_started_it_has_it_killed() -> None:
    assert streams_app._STOP_S <= fleet._STOP_S - 1
