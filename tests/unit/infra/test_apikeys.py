"""The operator's `keys`: made once, listed without secrets, revoked permanently."""

from __future__ import annotations

import json
import stat
import threading
from pathlib import Path

import pytest

from infra import admin_commands, apikeys
from infra.settings import SettingsError, load
from memquorum.core import access


def run(folder: Path, *arguments: str) -> int:
    parsed = admin_commands.parser().parse_args(["keys", *arguments])
    status: int = parsed.command(load({}, folder), parsed)
    return status


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "keys" / "api-keys.json"


def test_a_key_is_made_listed_and_revoked(tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(tmp_path, "list") == 0
    assert "no keys" in capsys.readouterr().out
    assert run(tmp_path, "add", "greenhouse", "-n", "greenhouse", "-n", "team-*", "-r", "read", "-r", "erase") == 0
    told = capsys.readouterr()
    key = told.out.strip()
    assert "It is the first" in told.err and "not shown again" in told.err
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and key not in file.read_text()
    caller = access.load(file.read_bytes()).caller(f"Bearer {key}", apikeys._now_ms())
    assert caller == access.Caller(caller.id, ("greenhouse", "team-*"), frozenset({"read", "erase"}))
    run(tmp_path, "add", "short", "-n", "*", "--days", "2")
    assert "It is the first" not in capsys.readouterr().err
    run(tmp_path, "list", "--json")
    listed = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(each["name"], each["opens"]) for each in listed] == [("greenhouse", True), ("short", True)]
    assert listed[1]["expires_at"] - listed[1]["created_at"] == 2 * 86_400_000 and listed[1]["rights"] == ["read"]
    run(tmp_path, "revoke", key)  # the holder of the whole key may give it
    run(tmp_path, "list")
    shown = capsys.readouterr().out
    assert "revoked" in shown and "team-*" in shown and key.split("_", 2)[2] not in shown
    with pytest.raises(access.NoEntry, match="was revoked"):
        access.load(file.read_bytes()).caller(f"Bearer {key}", apikeys._now_ms())


def test_a_key_for_a_file_is_made_once(tmp_path: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    to = tmp_path / "first"
    assert run(tmp_path, "add", "first", "-n", "*", "--to", str(to)) == 0
    key, told = to.read_text().strip(), capsys.readouterr()
    assert stat.S_IMODE(to.stat().st_mode) == 0o600
    assert key not in told.out + told.err and str(to) in told.err
    assert access.load(file.read_bytes()).caller(f"Bearer {key}", apikeys._now_ms()).namespaces == ("*",)
    before = file.read_bytes()
    assert run(tmp_path, "add", "first", "-n", "*", "--to", str(to)) == 0
    assert "no other is made" in capsys.readouterr().out and file.read_bytes() == before
    with pytest.raises(SettingsError, match="there is no folder"):
        run(tmp_path, "add", "first", "-n", "*", "--to", str(tmp_path / "nowhere" / "key"))
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["add", "x", "-n", "a b"], "'a b' is neither"),
        (["add", "x", "-n", "a", "--days", "0"], "1 to 36500"),
        (["add", "x", "-n", "a", "--days", "9999999"], "1 to 36500"),
        (["add", " ", "-n", "a"], "name: must be printable"),
        (["revoke", "0123456789ab"], "there is no key '0123456789ab'"),
    ],
)
def test_what_cannot_be_is_said_and_changes_nothing(
    tmp_path: Path, file: Path, arguments: list[str], complaint: str
) -> None:
    with pytest.raises((SettingsError, access.AccessError), match=complaint):
        run(tmp_path, *arguments)
    assert not file.exists()


def test_a_broken_file_is_not_written_over(tmp_path: Path, file: Path) -> None:
    file.parent.mkdir()
    file.write_text("{")
    with pytest.raises(access.AccessError, match="no file of API keys"):
        run(tmp_path, "add", "x", "-n", "a")
    assert file.read_text() == "{"


def test_keys_made_at_the_same_time_are_all_there(tmp_path: Path, file: Path) -> None:
    threads = [threading.Thread(target=run, args=(tmp_path, "add", f"k{n}", "-n", "a")) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert {key.name for key in access.load(file.read_bytes())} == {f"k{n}" for n in range(8)}
