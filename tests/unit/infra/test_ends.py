"""The ends of a process, and those that are alarms."""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from infra import status
from infra.ends import WITHIN_S, End, Ends, read
from tests import ROOT

ENDING = """
from infra import logs
from workers.kafka.loop import about
logs.configure("commit", "info", "json")
with about("record memory.accepted.v1/3/120"):
    raise ValueError("the words of a text")
"""


def test_what_a_process_logs_last_says_why_it_ended_and_at_which_record(tmp_path: Path) -> None:
    log = tmp_path / "commit.log"
    told = subprocess.run([sys.executable, "-c", ENDING], cwd=ROOT, capture_output=True, text=True, check=False).stderr
    log.write_text(f"earlier\n{told}")
    end = read(log, len("earlier\n"), 1)
    assert end == End("ValueError in <string>:6", "record memory.accepted.v1/3/120")
    assert read(log, log.stat().st_size, 1) == End("status 1"), "an earlier life ended so"
    assert read(log, 0, -9) == End("signal 9")
    assert read(tmp_path / "none.log", 0, 1) == End("status 1")


def test_the_same_error_three_times_in_a_row_is_an_alarm_that_names_the_record() -> None:
    ends, bad = Ends(), "ValueError in agreement.py:323"
    ends.add(End(bad, "record t/0/1"), 0.0)
    ends.add(End(bad, "record t/0/1"), 1.0)
    assert ends.alarm(1.0) is None
    ends.add(End(bad, "record t/0/7"), 2.0)
    assert ends.alarm(2.0) == f"ended 3 times in a row by {bad}, working on record t/0/7"
    assert ends.alarm(WITHIN_S + 1) is None, "an hour later it is over"
    ends.add(End("signal 9"), 3.0)
    assert ends.alarm(3.0) is None
    for at in range(4, 7):
        ends.add(End(bad), float(at))
    assert ends.alarm(7.0) == f"ended 3 times in a row by {bad}"


def test_three_ends_in_more_than_an_hour_are_none() -> None:
    ends = Ends()
    for at in (0.0, WITHIN_S, WITHIN_S + 1):
        ends.add(End("ValueError"), at)
    assert ends.alarm(WITHIN_S + 1) is None


@pytest.mark.parametrize(
    ("process", "told"),
    [
        ({"state": "running", "starts": 1}, ""),
        ({"state": "running", "starts": 4}, "started 4 times"),
        (
            {"state": "waiting", "starts": 4, "alarm": "ended 3 times in a row by ValueError"},
            "ALARM: ended 3 times in a row by ValueError, waiting, started 4 times",
        ),
    ],
)
def test_the_table_names_the_alarm_first(process: dict[str, object], told: str) -> None:
    assert status.unusual(process) == told


def test_plain_logs_tell_what_was_worked_on(caplog: pytest.LogCaptureFixture) -> None:
    error = ValueError("x")
    error.add_note("record t/0/1")
    with caplog.at_level(logging.ERROR):
        logging.getLogger("memquorum").error("ended", exc_info=error)
    assert "record t/0/1" in caplog.text
