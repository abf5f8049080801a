"""Logs as lines of JSON, and back again for a person."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest

from infra import logs
from infra.embedded.processes import tail
from infra.logs import JsonFormatter
from tests import ROOT


def _record(message: str, *arguments: object, error: Exception | None = None) -> logging.LogRecord:
    exc_info = None if error is None else (type(error), error, None)
    return logging.LogRecord("memquorum.x", logging.WARNING, "x.py", 1, message, arguments, exc_info)


def test_a_line_holds_what_it_takes_to_group_and_to_read_it() -> None:
    line = JsonFormatter("replica-2").format(_record("shard %d waits\nfor %s", 3, "Ünder"))
    told = json.loads(line)
    assert "\n" not in line
    assert (told["process"], told["level"], told["logger"]) == ("replica-2", "warning", "memquorum.x")
    assert (told["message"], told["event"]) == ("shard 3 waits\nfor Ünder", "shard %d waits\nfor %s")
    assert told["time"].endswith("+00:00")
    assert logs.readable(line) == f"{told['time']} WARNING memquorum.x shard 3 waits\nfor Ünder"


def test_an_exception_keeps_its_traceback() -> None:
    line = JsonFormatter("intake").format(_record("ended", error=ValueError("broken")))
    assert json.loads(line)["exception"] == "ValueError: broken"
    assert logs.readable(line).endswith("ended\nValueError: broken")


@pytest.mark.parametrize("line", ["", "plain words", '{"time": 1}', "[]", "12", '"text"', "{"])
def test_lines_of_others_are_left_as_they_are(line: str) -> None:
    assert logs.readable(line) == line


def test_the_end_of_a_log_is_quoted_in_words(tmp_path: Path) -> None:
    file = tmp_path / "a.log"
    lines = [JsonFormatter("a").format(_record("step %d", n)) for n in range(20)]
    file.write_text("\n".join([*lines, "a plain line"]) + "\n")
    quoted = tail(file, 3).splitlines()
    assert [line.split()[-1] for line in quoted[1:]] == ["18", "19", "line"]


@pytest.mark.parametrize(("format", "process", "is_json"), [
    ("auto", "'intake'", True), ("auto", "None", False), ("text", "'intake'", False), ("json", "None", True)
])  # fmt: skip
def test_processes_write_json_and_commands_plain_lines(format: str, process: str, is_json: bool) -> None:
    code = f"from infra import logs; logs.configure({process}, 'info', {format!r}); 1 / 0"
    told = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False).stderr
    assert (told[0] == "{") is is_json
    assert "ZeroDivisionError" in told
    if is_json:
        assert json.loads(told)["message"] == "ended by ZeroDivisionError"


def test_a_person_is_told_once_of_what_strangers_wrote_and_a_process_of_each() -> None:
    code = (
        "import logging; from infra import logs; from memquorum.telemetry.leftout import LeftOut\n"
        "logs.configure({process}, 'info', 'auto'); books = LeftOut(logging.getLogger('memquorum.x'))\n"
        "for at in range(3): books.note('topic', 0, at, 'somebody else wrote it')\n"
        "logging.getLogger('memquorum.x').error('another fault')"
    )

    def stderr_lines(process: str) -> list[str]:
        given = [sys.executable, "-c", code.format(process=process)]
        return subprocess.run(given, cwd=ROOT, capture_output=True, text=True, check=True).stderr.splitlines()

    first, *others = stderr_lines("None")
    assert first == logs._PASSED_OVER and [line.split(" ", 3)[-1] for line in others] == ["memquorum.x another fault"]
    assert sum("left out" in line for line in stderr_lines("'intake'")) == 3
