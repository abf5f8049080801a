"""`memquorum admin audit evidence`: what an operator is told of the reports that members signed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from infra import admin_commands
from infra.settings import Settings
from memquorum.core.records import Misbehaved
from tests.builders.accusations import GUILTY, INNOCENT
from tests.builders.genesis import make, make_bytes
from workers.audit import accusations
from workers.audit.accusations import Accusation

COMMITS, BALLOT = GUILTY["two commits"][0], GUILTY["a ballot that lies"][0]
SLANDER = replace(INNOCENT["two members"][0], member=0)


@pytest.fixture
def place(tmp_path: Path) -> Settings:
    settings = Settings(run_dir=tmp_path, bootstrap="nowhere:1", genesis_file=tmp_path / "genesis.json")
    settings.genesis_file.write_bytes(make_bytes(shards=2))
    return settings


def run_evidence(
    place: Settings, monkeypatch: pytest.MonkeyPatch, records: list[Misbehaved], *arguments: str, strangers: int = 0
) -> int:
    reports = [Accusation(1_000 * at, record, make(shards=2)) for at, record in enumerate(records, 1)]
    monkeypatch.setattr(accusations, "read", lambda *_: (reports, strangers))
    parsed = admin_commands.parser().parse_args(["audit", "evidence", *arguments])
    return int(parsed.command(place, parsed))


def test_reports_of_one_fault_are_one_line(
    place: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = COMMITS.originals
    records = [COMMITS, BALLOT, replace(COMMITS, member=0, originals=(second, first))]
    assert run_evidence(place, monkeypatch, records, "--json") == 1
    commits, ballot = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert commits == {
        "first_reported_at": 1_000,
        "shard": 0,
        "member": 2,
        "what": "equivocation: commit, sequence 1 in view 0 of shard 0",
        "reported_by": [0, 2],
    }
    assert (ballot["member"], ballot["reported_by"]) == (3, [2])


def test_what_is_judged_anew_is_proven_or_not(
    place: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_evidence(place, monkeypatch, [COMMITS, SLANDER], "--verify", "--json") == 1
    commits, slander = (json.loads(line) for line in capsys.readouterr().out.splitlines())
    assert (commits["proven"], slander["proven"]) == (True, False)
    assert "two different messages" in commits["detail"]
    assert "member 3 signed it" in slander["detail"]


def test_slander_alone_is_no_evidence(
    place: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_evidence(place, monkeypatch, [SLANDER], "--verify") == 0
    assert "NOT PROVEN" in " ".join(capsys.readouterr().out.split())
    assert run_evidence(place, monkeypatch, [SLANDER]) == 1  # as reported


def test_nothing_is_held_against_anybody(
    place: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_evidence(place, monkeypatch, [], "--verify", strangers=2) == 0
    text = capsys.readouterr().out
    assert "no evidence against anybody" in text
    assert "2 records that no member signed" in text
