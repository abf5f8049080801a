"""Files that are written whole or not at all, also with other writers at the same time."""

from __future__ import annotations

import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from infra import admin_commands, fleet, process_telemetry, settings, sweeps
from memquorum import wholefiles


def _announces(folder: Path) -> None:
    fleet.announce(folder, "streams")


def _is_watched(folder: Path) -> None:
    process_telemetry.announce(folder, "streams", "http://127.0.0.1:1")


def _sweeps(folder: Path) -> None:
    sweeps.note(replace(settings.load({}, folder), state_dir=folder), 7, sweeps.TIMER)


def _saves(folder: Path) -> None:
    settings.load({}, folder).save()


@pytest.mark.parametrize("write", [_announces, _is_watched, _sweeps, _saves])
def test_two_may_write_the_same_file_at_once(write: Callable[[Path], None], tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as both:
        for one in [both.submit(lambda: [write(tmp_path) for _ in range(300)]) for _ in range(2)]:
            one.result()
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert file.read_text()


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "a"
    wholefiles.write(file, "before")
    with pytest.raises(UnicodeEncodeError):
        wholefiles.write(file, "\udc00")
    assert (file.read_text(), list(tmp_path.iterdir())) == ("before", [file])


def test_a_secret_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "keys" / "a.key"
    wholefiles.write_secret(file, "before")
    wholefiles.write_secret(file, b"now")
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"now", 0o600)


def test_a_file_that_a_person_names_is_refused_before_the_work_where_its_folder_is_missing(tmp_path: Path) -> None:
    missing = tmp_path / "charts" / "a.svg"
    with pytest.raises(settings.SettingsError, match=r"--chart .*a\.svg: there is no folder .*charts; make it first"):
        settings.require_place("--chart", missing)
    assert not missing.parent.exists()
    with pytest.raises(settings.SettingsError, match=r"--out .*: that is a folder; name a file in it"):
        settings.require_place("--out", tmp_path)
    settings.require_place("--chart", tmp_path / "a.svg")


@pytest.mark.parametrize(
    "command",
    [["policy", "whatif", "--budget", "5000", "--chart"], ["policy", "learn", "--out"]],
    ids=["whatif", "learn"],
)
def test_a_command_asks_for_the_folder_before_it_reads_anything(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "missing" / "file"
    monkeypatch.setattr(
        "sys.argv", ["infra", "admin", *command[:2], "--run-dir", str(tmp_path), *command[2:], str(file)]
    )
    monkeypatch.setenv("MEMQUORUM_BOOTSTRAP", "127.0.0.1:1")
    with pytest.raises(SystemExit) as ended:
        admin_commands.main()
    assert ended.value.code == 2 and "there is no folder" in capsys.readouterr().err
