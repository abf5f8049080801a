"""What `memquorum admin fleet doctor` says of an installation."""

from __future__ import annotations

import shutil
import socket
from collections import namedtuple
from dataclasses import replace
from pathlib import Path

import pytest

from infra import genesis, installation_doctor, reencode_command, status, supervisor
from infra.settings import Settings
from infra.status import Scrape
from memquorum.client.doctor import Check
from memquorum.encoders import minilm
from memquorum.telemetry import metrics

Usage = namedtuple("Usage", "total used free")
LAG = (("partition", "0"), ("stage", "replica"), ("topic", "t"))


@pytest.fixture
def place(tmp_path: Path) -> Settings:
    return Settings(run_dir=tmp_path, genesis_file=tmp_path / "genesis.json", master_key_file=tmp_path / "master.key")


def levels(checks: list[Check]) -> dict[str, str]:
    assert [one for one in checks if one.level != "ok" and not one.remedy] == []
    return {one.what: one.level for one in checks}


def test_an_installation_that_was_never_started(place: Settings) -> None:
    found = levels(list(installation_doctor.checks(place)))
    assert found.pop("disk") in ("ok", "warn", "fail")
    assert found == {
        "Python": "ok", "Java": "ok", "jars": "ok", "genesis": "fail", "processes": "fail",
        "database memory": "fail", "database vault": "fail", "vault": "fail",
    }  # fmt: skip


@pytest.mark.parametrize(("gib", "level"), [(80.0, "ok"), (2.0, "warn"), (0.2, "fail")])
def test_a_full_disk(place: Settings, gib: float, level: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(0, 0, int(gib * 1024**3)))
    assert installation_doctor.disk(replace(place, run_dir=place.run_dir / "not" / "there")).level == level


def test_ports_are_taken_while_it_runs_and_free_while_it_does_not(place: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        there = replace(place, retrieval_port=port, bootstrap=f"127.0.0.1:{port}")
        assert levels(list(installation_doctor.ports(there, running=True))) == {
            "port of Kafka": "ok",
            "port of retrieval": "ok",
        }
        (one, _) = installation_doctor.ports(there, running=False)
        assert one.level == "warn" and f"sport = :{port}" in one.remedy
    assert {one.level for one in installation_doctor.ports(there, running=True)} == {"fail"}
    assert {one.level for one in installation_doctor.ports(there, running=False)} == {"ok"}


def test_processes_say_what_they_wait_for(place: Settings) -> None:
    found = {
        "state": "ready",
        "step": "",
        "processes": {
            "intake": {"state": "running", "starts": 1},
            "streams": {"state": "waiting", "starts": 2},
            "commit": {"state": "running", "starts": 1},
            "verifier": {"state": "running", "starts": 1, "alarm": "the same error"},
        },
    }
    scrapes = {name: Scrape() for name in found["processes"]} | {"commit": Scrape(says="Kafka: it does not answer")}
    assert levels(list(installation_doctor.processes(place, found, scrapes))) == {
        "streams": "fail", "commit": "warn", "verifier": "fail",
    }  # fmt: skip
    only = found | {"processes": {"intake": {"state": "running", "starts": 1}}}
    assert levels(list(installation_doctor.processes(place, only, scrapes))) == {"processes": "ok"}
    assert levels(list(installation_doctor.processes(place, {}, {}))) == {"processes": "fail"}


def test_a_member_that_is_behind_is_named() -> None:
    near, far = (Scrape(1.0, {metrics.LAG.name: {LAG: lag}}) for lag in (3.0, 5_000.0))
    assert levels(list(installation_doctor.members({"replica-0": near, "replica-1": far, "intake": far}))) == {
        "member replica-1": "warn"
    }
    assert levels(list(installation_doctor.members({"replica-0": near}))) == {"members": "ok"}


def test_failed_records_and_sessions_are_counted() -> None:
    failed = Scrape(1.0, {metrics.REFUSED.name: {(("reason", "failed"), ("stage", "intake")): 2.0}})
    parked = Scrape(1.0, {metrics.FAILED.name: {(("stage", "consolidator"),): 1.0}})
    assert levels(list(installation_doctor.letters({"intake": failed, "consolidator": parked}))) == {
        "refused records": "warn", "sessions": "warn",
    }  # fmt: skip
    assert levels(list(installation_doctor.letters({"intake": Scrape(1.0)}))) == {"refused records": "ok"}


def test_withheld_erasures_are_named(place: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "stored", lambda _: (["order 7"], 2))
    votes, withheld = installation_doctor.votes(place, {"replica-0": Scrape(1.0)})
    assert "2 summaries waiting" in votes.told and withheld.level == "warn" and "order 7" in withheld.told


def test_memories_of_another_encoder_are_counted(place: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reencode_command, "others", lambda _: ("new/1", 3))
    (one,) = installation_doctor.encoders(place, running=True)
    assert (one.level, one.told) == ("warn", "3 memories have another encoder's vectors than new/1's")
    assert "memories reencode" in one.remedy and "memories reencode" in supervisor._addresses(place)[-1]
    assert list(installation_doctor.encoders(place, running=False)) == []
    monkeypatch.setattr(reencode_command, "others", lambda _: ("new/1", 0))
    assert levels(list(installation_doctor.encoders(place, running=True))) == {"vectors": "ok"}
    assert "reencode" not in "".join(supervisor._addresses(place))


def test_an_encoder_that_was_not_made_is_told(place: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "FOLDER", place.run_dir / "minilm")
    (one,) = installation_doctor.encoders(place, running=False)
    assert one.level == "fail" and "encoder 'minilm': " in one.told and "make setup" in one.told


def test_nobody_counts_where_retrieval_or_the_store_does_not_answer(
    place: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = replace(place, memory_dsn="host=127.0.0.1 port=1 dbname=memory connect_timeout=1")
    monkeypatch.setattr(reencode_command, "_encoder_of_the_fleet", lambda _: None)
    assert reencode_command.others(there) is None
    monkeypatch.setattr(reencode_command, "_encoder_of_the_fleet", lambda _: "new/1")
    assert reencode_command.others(there) is None


@pytest.mark.parametrize(
    ("division", "level", "told"),
    [
        ("", "ok", "one process has all"),
        ("0-1 2-3", "ok", "shared by 0-1 and 2-3"),
        ("0-1 3", "fail", "settings: commit_shards: no range has shard 2: nothing would be decided or stored there"),
        ("0-2 2-3", "fail", "settings: commit_shards: 0-2 and 2-3 both have shard 2: a shard has exactly one process"),
        ("0-4", "fail", "settings: commit_shards: 0-4 goes beyond the last shard: there are 4, 0 to 3"),
    ],
)
def test_shards_that_have_no_process_or_two(place: Settings, division: str, level: str, told: str) -> None:
    genesis.create(replace(place, keys_dir=place.run_dir / "keys"))
    found = installation_doctor.divisions(replace(place, commit_shards=division), {})
    assert [(one.what, one.level, one.told) for one in found] == [
        ("shards of replica", "ok", "one process has all"),
        ("shards of commit", level, told),
    ]


def test_a_process_with_another_range_than_the_settings_say(place: Settings) -> None:
    genesis.create(replace(place, keys_dir=place.run_dir / "keys"))
    running = {
        "processes": dict.fromkeys(("kafka", "commit", *(f"replica-{m}-{r}" for m in range(4) for r in ("0-1", "2-3"))))
    }
    divided = replace(place, replica_shards="0-1 2-3", commit_shards="0 1-3")
    one, other = installation_doctor.divisions(divided, running)
    assert (one.level, other.level) == ("ok", "fail")
    assert other.told == "shared by 0 and 1-3, by the settings, and commit runs"
