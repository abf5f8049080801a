"""Records left out are always counted and seldom reported."""

from __future__ import annotations

import logging

import pytest

from memquorum.telemetry.leftout import LeftOut

LOG = logging.getLogger("tests.leftout")


def test_ten_lines_in_ten_seconds_for_each_topic(caplog: pytest.LogCaptureFixture) -> None:
    now = [100.0]
    books = LeftOut(LOG, clock=lambda: now[0])
    for number in range(1_000):
        books.note("topic", 0, number, "no stamp")
    books.note("other", 1, 5, "no Signed")
    assert len(caplog.records) == 11
    now[0] += 10
    books.note("topic", 0, 1_000, "no stamp")
    assert caplog.records[-1].getMessage() == (
        "topic, partition 0, offset 1000 left out: no stamp (990 others since the last that was said)"
    )
    books.note("topic", 0, 1_001, "no stamp")
    assert caplog.records[-1].getMessage() == "topic, partition 0, offset 1001 left out: no stamp"
    assert books.counts == {"topic": 1_002, "other": 1}
