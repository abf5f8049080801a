"""A test that fails beside other sessions is run once more, alone: it fails if it fails there as well, or if many fail
at once.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import unsteady

pytest_plugins = ["pytester"]
FAILS = "\ndef test_passes(): pass\ndef test_fails(): assert False\n"


def session(pytester: pytest.Pytester) -> pytest.RunResult:
    pytester.makeconftest("""
import pathlib, tests.unsteady
def pytest_configure(config):
    config.pluginmanager.register(tests.unsteady.Later(pathlib.Path("failed") / "one"))
""")
    return pytester.runpytest_subprocess("-q", "-p", "no:cacheprovider", "-p", "no:asyncio")


def test_a_session_leaves_what_failed_for_later(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=FAILS)
    ended = session(pytester)
    ended.assert_outcomes(passed=1, failed=1)
    assert ended.ret == 0
    assert (pytester.path / "failed" / "one").read_text() == "test_it.py::test_fails\n"


def test_a_session_that_ends_for_another_reason_ends_as_ever(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it=FAILS, test_other="import nothing_of_this_name")
    assert session(pytester).ret == pytest.ExitCode.INTERRUPTED
    assert not (pytester.path / "failed" / "one").exists()


@pytest.mark.parametrize(
    ("alone", "told"), [("pass", "UNSTEADY: passed alone"), ("assert False", "1 failed")], ids=["passes", "fails"]
)
def test_what_fails_alone_fails_the_run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    alone: str,
    told: str,
) -> None:
    (tmp_path / "test_it.py").write_text(f"def test_it(): {alone}\n")
    (tmp_path / "failed").mkdir()
    (tmp_path / "failed" / "one").write_text("test_it.py::test_it\n")
    monkeypatch.setattr(unsteady, "ROOT", tmp_path)
    assert unsteady.main(tmp_path / "failed") == (0 if alone == "pass" else 1)
    out = capfd.readouterr().out
    assert told in out and "test_it.py::test_it" in out


def test_one_that_follows_another_runs_behind_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "test_it.py").write_text("MADE = []\ndef test_first(): MADE.append(1)\ndef test_next(): assert MADE\n")
    (tmp_path / "failed").mkdir()
    (tmp_path / "failed" / "one").write_text("test_it.py::test_next\n")
    monkeypatch.setattr(unsteady, "ROOT", tmp_path)
    assert unsteady.main(tmp_path / "failed") == 0


@pytest.mark.parametrize(("files", "ended"), [(unsteady.AT_MOST, 0), (unsteady.AT_MOST + 1, 1)])
def test_much_that_fails_at_once_is_no_accident(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], files: int, ended: int
) -> None:
    for case in ("one", "other"):
        (tmp_path / case).write_text("".join(f"test_{file}.py::test_{case}\n" for file in range(files)))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0))
    assert unsteady.main(tmp_path) == ended
    assert (f"Tests of {files} files failed" in capsys.readouterr().out) == bool(ended)
