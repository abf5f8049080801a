"""A process that is started with a wrong setting says which, and ends before it has touched anything."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from infra import admin_commands, genesis, roles, settings
from memquorum.commands import USAGE

GOOD = {
    "MEMQUORUM_BOOTSTRAP": "127.0.0.1:1", "MEMQUORUM_MEMORY_DSN": "dbname=m", "MEMQUORUM_VAULT_DSN": "dbname=v",
    "MEMQUORUM_WATCH_PORT": "0",
}  # fmt: skip


@pytest.fixture
def run_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Runs a command in an installation of its own, and answers what it said when it ended."""
    genesis.create(settings.load({}, tmp_path))

    def run(changes: dict[str, str], *arguments: str) -> str:
        for name in [name for name in os.environ if name.startswith("MEMQUORUM_")]:
            monkeypatch.delenv(name)
        for name, value in {**GOOD, "MEMQUORUM_RUN_DIR": str(tmp_path), **changes}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "argv", ["infra", *arguments])
        with pytest.raises(SystemExit) as ended:
            admin_commands.main()
        assert ended.value.code == USAGE
        return capsys.readouterr().err

    return run


@pytest.mark.parametrize("role", ["intake", "streams", "commit", "retrieval"])
@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"MEMQUORUM_BOOTSTRAP": ""}, "MEMQUORUM_BOOTSTRAP is not set"),
        ({"MEMQUORUM_CLOCK": "sundial"}, "MEMQUORUM_CLOCK: clock = 'sundial', wanted is wall or driven"),
        ({"MEMQUORUM_COLOUR": "red"}, "MEMQUORUM_COLOUR: there is no setting 'colour'"),
        ({"MEMQUORUM_GENESIS_FILE": "nowhere.json"}, "no genesis file"),
        ({"MEMQUORUM_RETRIEVAL_PORT": "65536"}, "MEMQUORUM_RETRIEVAL_PORT: retrieval_port = '65536', wanted is a port"),
        ({"MEMQUORUM_VAULT_DSN": "colour=red"}, "MEMQUORUM_VAULT_DSN: vault_dsn is no connection string of libpq: inv"),
    ],
)
def test_every_role_names_the_setting(
    run_command: Callable[..., str], role: str, changes: dict[str, str], complaint: str
) -> None:
    assert complaint in run_command(changes, "run", role)


@pytest.mark.parametrize(
    ("arguments", "changes", "complaint"),
    [
        (["run", "commit"], {"MEMQUORUM_MEMORY_DSN": ""}, "MEMQUORUM_MEMORY_DSN is not set"),
        (["run", "commit"], {"MEMQUORUM_KEYS_DIR": "elsewhere"}, "elsewhere/service-journal.key cannot be read"),
        (["run", "streams"], {"MEMQUORUM_KEYS_DIR": "elsewhere"}, ".key cannot be read"),
        (["run", "intake"], {"MEMQUORUM_KEYS_DIR": "elsewhere"}, "elsewhere/stamps.key cannot be read"),
        (["run", "intake"], {"MEMQUORUM_MASTER_KEY_FILE": "lost.key"}, "lost.key cannot be read"),
        (["run", "replica", "--member", "4"], {}, "--member 4: the genesis file names members 0 to 3"),
        (["run", "replica"], {}, "--member is required for the role replica"),
        (["run", "replica", "--member", "1"], {"MEMQUORUM_KEYS_DIR": "elsewhere"}, "member-1.key cannot be read"),
        (["up"], {"MEMQUORUM_TICK_MS": "soon"}, "MEMQUORUM_TICK_MS: tick_ms = 'soon', wanted is a whole number"),
        (["up"], {}, "unset MEMQUORUM_BOOTSTRAP"),
    ],
)
def test_what_a_role_lacks_is_named(
    run_command: Callable[..., str], arguments: list[str], changes: dict[str, str], complaint: str
) -> None:
    assert complaint in run_command(changes, *arguments)


def test_a_stamp_key_that_others_may_read_is_named(run_command: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "keys" / "stamps.key").chmod(0o644)
    assert "stamps.key may be read by others (mode 0644)" in run_command({}, "run", "intake")


def test_a_genesis_that_is_none_is_named(run_command: Callable[..., str], tmp_path: Path) -> None:
    file = tmp_path / "genesis.json"
    data = json.loads(file.read_bytes())
    file.write_text(json.dumps(data | {"format": 2}))
    assert "genesis: format 2" in run_command({}, "run", "commit")


def test_a_password_is_not_repeated(run_command: Callable[..., str]) -> None:
    said = run_command({"MEMQUORUM_VAULT_DSN": "postgresql://u:hush hush@host/db"}, "run", "intake")
    assert "MEMQUORUM_VAULT_DSN" in said
    assert "hush" not in said


def test_retrieval_waits_for_a_key_where_it_is_to_listen_beyond_this_machine(
    run_command: Callable[..., str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    changes = {
        "MEMQUORUM_ENCODER": "hashing",
        "MEMQUORUM_RETRIEVAL_HOST": "0.0.0.0",
        "MEMQUORUM_RETRIEVAL_PORT": "8080",
    }

    class Waits(Exception):
        pass

    def wait(_: float) -> None:
        raise Waits

    monkeypatch.setattr(roles.time, "sleep", wait)
    with pytest.raises(Waits):
        run_command(changes, "run", "retrieval")
    assert "would listen on 0.0.0.0" in caplog.text and "memquorum admin keys add" in caplog.text
