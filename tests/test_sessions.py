"""All tests are started in sessions, and none is left out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests import ROOT, sessions


def test_each_folder_of_tests_is_in_the_sessions_of_its_kind() -> None:
    assert all((ROOT / "tests" / name).is_dir() for name in sessions.ALONE)
    commands = sessions.sessions()
    alone = commands.pop("check-alone")
    for name in sessions.ALONE:
        assert f"tests/{name}" in alone
        assert all(f"--ignore=tests/{name}" in commands[one] for one in sessions.SERVERS)
    assert commands.keys() == {*sessions.SERVERS, "check-unit"}
    assert commands["check-unit"][-3] == sessions.UNIT


def test_sessions_with_a_folder_in_common_share_its_files() -> None:
    assert all("--share" in command for command in sessions.sessions().values())


def test_a_session_is_kept_shown_and_told_how_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.setattr(sessions, "_TOOLS", tmp_path)
    code = "import sys; print('one'); print('two', file=sys.stderr); sys.exit(3)"
    assert sessions._run("check-third", [sys.executable, "-u", "-c", code]) == 3
    assert (tmp_path / "check-third").read_bytes() == b"one\ntwo\n"
    assert capfdbinary.readouterr().out == b"one\ntwo\n"
