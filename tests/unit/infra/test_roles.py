from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from db.standing import Fenced, ForeignStore
from infra import admin_commands, apikeys, fleet, genesis, logins, roles
from infra.settings import Settings, SettingsError, load
from memquorum.commands import HALTED
from memquorum.core.vote.evidence import NAMED
from memquorum.ports import SignConflict
from workers.kafka.own_clock import OwnClock
from workers.replica import worker
from workers.retrieval import serving


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    found = load({}, tmp_path)
    genesis.create(found)
    return found


def test_every_role_of_the_fleet_can_be_started() -> None:
    assert {role.command[6] for role in fleet.roles(4, events=True)} == set(roles._START)


def test_who_has_contradicted_itself_stays_down_until_the_note_is_removed(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = []

    def start(*arguments: object) -> None:
        starts.append(arguments)
        if len(starts) == 1:
            raise SignConflict("two digests for one slot")

    monkeypatch.setitem(roles._START, "replica", start)
    assert roles.run(settings, "replica", 2) == HALTED
    note = settings.state_dir / "replica-2.halted"
    assert "two digests for one slot" in note.read_text()
    assert (roles.run(settings, "replica", 2), len(starts)) == (HALTED, 1)
    assert (roles.run(settings, "replica", 3), len(starts)) == (0, 2)
    note.unlink()
    assert (roles.run(settings, "replica", 2), len(starts)) == (0, 3)


@pytest.mark.parametrize("error", roles.CONTRADICTIONS)
def test_every_contradiction_halts(settings: Settings, monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def start(*_: object) -> None:
        raise error("so it stands written")

    monkeypatch.setitem(roles._START, "commit", start)
    assert roles.run(settings, "commit") == HALTED
    assert "so it stands written" in (settings.state_dir / "commit.halted").read_text()


def test_a_worker_that_was_fenced_may_be_started_again(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Records that a killed worker had sent may be applied after its successor has looked: that is no contradiction."""

    def start(*_: object) -> None:
        raise Fenced("another commit worker writes to this database")

    monkeypatch.setitem(roles._START, "commit", start)
    with pytest.raises(Fenced):
        roles.run(settings, "commit")
    assert not (settings.state_dir / "commit.halted").exists()
    assert ForeignStore in roles.CONTRADICTIONS and Fenced not in roles.CONTRADICTIONS


@pytest.mark.parametrize("name", [None, *NAMED])
def test_a_replica_votes_by_the_grounds_that_it_is_set_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str | None
) -> None:
    started: dict[str, Any] = {}
    monkeypatch.setattr(worker, "run", lambda *_, **given: started.update(given))
    given = {} if name is None else {"MEMQUORUM_GROUNDS": name}
    where = {"MEMQUORUM_BOOTSTRAP": "nowhere:1", "MEMQUORUM_VAULT_DSN": "host=nowhere", **given}
    settings = load(where, tmp_path)
    genesis.create(settings)
    assert roles.run(settings, "replica", 0) == 0
    assert started["grounds"] is NAMED[name or "rules"]


@pytest.mark.parametrize(("clock", "apart"), [("wall", 7_000), ("driven", None)])
def test_retrieval_holds_times_against_its_own_clock_unless_that_is_driven(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, clock: Any, apart: int | None
) -> None:
    served = list[OwnClock | None]()
    monkeypatch.setattr(serving, "run", lambda **made: served.append(made["own_clock"]))
    told = replace(settings, clock=clock, clock_tolerance_ms=7_000, bootstrap="b", memory_dsn="d", retrieval_port=1)
    assert roles.run(told, "retrieval") == 0
    assert [one and one.tolerance_ms for one in served] == [apart]


def test_beyond_this_machine_retrieval_waits_for_a_key_before_it_loads_anything(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    served, looks = list[str](), list[float]()
    monkeypatch.setattr(serving, "run", lambda **made: served.append(made["host"]))
    monkeypatch.setattr(roles, "encoder", lambda _: served.append("encoder"))
    told = replace(settings, bootstrap="b", memory_dsn="d", retrieval_port=1, retrieval_host="0.0.0.0")

    def look(seconds: float) -> None:
        looks.append(seconds)
        assert not served
        if len(looks) == 3:
            parsed = admin_commands.parser().parse_args(["keys", "add", "x", "-n", "*"])
            parsed.command(told, parsed)

    monkeypatch.setattr(roles.time, "sleep", look)
    assert roles.run(told, "retrieval") == 0
    assert (len(looks), served) == (3, ["encoder", "0.0.0.0"])
    assert roles.run(told, "retrieval") == 0
    assert len(looks) == 3


def test_a_broken_file_of_keys_ends_retrieval_beyond_this_machine(settings: Settings) -> None:
    apikeys.file_of(settings).write_text("{")
    told = replace(settings, bootstrap="b", memory_dsn="d", retrieval_port=1, retrieval_host="0.0.0.0")
    with pytest.raises(SettingsError, match="no file of API keys"):
        roles.run(told, "retrieval")


def test_what_a_role_lacks_is_named_before_anything_starts(settings: Settings, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="--member is required"):
        roles.run(settings, "commit", 1)
    with pytest.raises(SettingsError, match="--member is required"):
        roles.run(settings, "replica")
    with pytest.raises(SettingsError, match="MEMQUORUM_BOOTSTRAP is not set"):
        roles.run(settings, "replica", 0)
    with pytest.raises(SettingsError, match="no genesis file"):
        roles.run(load({}, tmp_path / "empty"), "intake")


def test_a_process_without_a_login_knows_no_database(settings: Settings) -> None:
    told = replace(settings, memory_dsn="dbname=memory user=postgres", vault_dsn="dbname=vault user=postgres")
    given = logins.of(told, "events")
    assert (given.memory_dsn, given.vault_dsn, given.bootstrap) == ("", "", told.bootstrap)


@pytest.mark.parametrize(
    ("process", "told"),
    [
        (
            ("commit", None, "1-2"),
            "commit_shards: the shards are divided into 0-1 2-3, and 1-2 is none of these ranges",
        ),
        (("commit", None, ""), "commit_shards: the shards are divided into 0-1 2-3: say which range this process has"),
        (("replica", 2, "0-1"), "replica_shards: the shards are divided into 0-3, and 0-1 is none of these ranges"),
        (("intake", None, "0-1"), "--shards is for the roles replica and commit: a process of intake has no range"),
    ],
)
def test_a_process_with_a_range_that_the_settings_do_not_name_is_refused(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, process: tuple[str, int | None, str], told: str
) -> None:
    monkeypatch.setitem(roles._START, process[0], lambda *_: pytest.fail("it was started"))
    with pytest.raises(SettingsError) as caught:
        roles.run(replace(settings, commit_shards="0-1 2-3"), *process)
    assert str(caught.value).endswith(told)


def test_a_process_has_the_shards_of_its_range_and_a_name_of_its_own(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    had: list[roles.Share] = []
    for role in ("replica", "commit"):
        monkeypatch.setitem(roles._START, role, lambda _settings, _made, part, *_: had.append(part))
    divided = replace(settings, replica_shards="0-1 2-3", commit_shards="0 1-3")
    assert roles.run(divided, "replica", 2, "2-3") == roles.run(divided, "commit", None, "0") == 0
    assert had == [roles.Share(2, "2-3", range(2, 4)), roles.Share(0, "0", range(1))]
    names = [role.name for role in fleet.roles(2, replica_shards=("0-1", "2-3"), commit_shards=("0", "1-3"))]
    assert names[2:8] == ["replica-0-0-1", "replica-0-2-3", "replica-1-0-1", "replica-1-2-3", "commit-0", "commit-1-3"]
    assert fleet.roles(1, commit_shards=("0", "1-3"))[-5].command[-3:] == ("commit", "--shards", "1-3")
