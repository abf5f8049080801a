"""The waits of `up`: for which processes, for how long, and their messages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

from infra import settings, supervisor
from infra.admin_commands import parser
from infra.settings import Settings
from workers.kafka.loop import Stop


def up(run_dir: Path, *words: str) -> int:
    return supervisor._up(settings.load({}, run_dir), parser("fleet", "up").parse_args(["fleet", "up", *words]))


@pytest.fixture
def lasting() -> Iterator[subprocess.Popen[bytes]]:
    """A supervisor that never gets ready."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_who_gives_up_says_how_to_wait_longer(tmp_path: Path, lasting: subprocess.Popen[bytes]) -> None:
    with pytest.raises(supervisor.SupervisorError, match=r"not ready after 0.2 s .*`up --wait SECONDS` waits longer"):
        supervisor._await_ready(tmp_path, lasting, lambda _: None, 0.2)


@pytest.mark.parametrize(("words", "waits"), [([], 120.0), (["--wait", "300"], 300.0)])
def test_up_waits_for_as_long_as_it_is_told(
    words: list[str], waits: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    waited: list[float] = []

    def launch(given: Settings, progress: Callable[[str], None], wait_s: float, *, servers_alone: bool) -> Settings:
        assert not servers_alone
        waited.append(wait_s)
        return given

    monkeypatch.setattr(supervisor, "launch", launch)
    assert up(tmp_path, *words) == 0
    assert waited == [waits]
    assert f"memquorum is ready. Its folder is {tmp_path}" in capsys.readouterr().out


def test_in_the_foreground_it_is_said_once_that_all_are_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stopping, missing, told = Stop(), [["intake"], []], list[str]()

    class Watched:
        def describe(self) -> dict[str, object]:
            return {}

        def waiting_for(self) -> list[str]:
            return missing.pop(0)

        def check(self) -> bool:
            told.append(capsys.readouterr().out)
            if len(told) == 6:  # of servers and fleet, three times each
                stopping.set()
            return False

    def run(
        configured: Settings,
        parts: object,
        books: Any,
        stopped: Stop,
        ready: Callable[[Settings], None],
        *,
        servers_alone: bool,
    ) -> None:
        assert not servers_alone
        watched = cast(Any, Watched())
        supervisor._watch(watched, watched, books, stopping, lambda: ready(configured))

    monkeypatch.setattr(supervisor, "_run", run)
    monkeypatch.setattr(Stop, "on_signals", lambda self: self)  # pytest keeps its own
    assert up(tmp_path, "--foreground") == 0
    assert ["memquorum is ready" in one for one in told] == [False, False, True, False, False, False]
    assert "  retrieval  http://127.0.0.1:" in told[2] and "/console/\n" in told[2]
