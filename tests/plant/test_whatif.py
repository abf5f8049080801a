"""A what-if on a running installation: its queries are asked again, its hash comes again, and nothing changes."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from infra import admin_commands, genesis
from infra.settings import Settings, SettingsError
from infra.whatif_command import NothingTried
from memquorum.schema_files import load_codec
from tests.support.sessions import NOTES, Plant
from workers.upkeep import asked

NAMESPACE = "asked-again"


@pytest.fixture(scope="module")
def line(fleet: Plant) -> Settings:
    return fleet.line


@pytest.fixture(scope="module")
def lived(fleet: Plant) -> list[str]:
    """Five notes, and what was asked of them; the notes' ids."""
    with fleet.client(NAMESPACE) as memory:
        ids = [memory.add(note, occurred_at=fleet.now + n, wait=True).memory_id or "" for n, note in enumerate(NOTES)]
        fleet.turn()
        given = 0
        for count, query in enumerate(("Who measured the inlet of pump 7?", "When is the pump test?"), 1):
            given += len(memory.search(query))
            # Before time goes on: a use is a query's by its time.
            fleet.until(partial(counted, fleet, count, given))
            fleet.turn()
    return ids


def logged(line: Settings) -> list[Any]:
    made = genesis.read(line)
    read = asked.read(line.bootstrap, made.shards, load_codec(), genesis.service_stamps(line))
    return [one for one in read if one.namespace == NAMESPACE]


def counted(fleet: Plant, queries: int, uses: int) -> bool:
    """Whether so many queries stand in the log, and so many uses in the store."""
    told = "SELECT sum(accesses) FROM strength JOIN memory m ON m.id = memory_id WHERE m.namespace = %(n)s"
    return len(logged(fleet.line)) == queries and fleet.rows(told, n=NAMESPACE) == [(uses,)]


def run(line: Settings, *words: str) -> int:
    parsed = admin_commands.parser("policy", "whatif").parse_args(["policy", "whatif", *words])
    return parsed.command.do(line, parsed)  # type: ignore[no-any-return]


def json_output(line: Settings, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run(line, *words, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_what_would_have_been_missed(
    fleet: Plant, line: Settings, lived: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    before = fleet.tiers(NAMESPACE)
    small = ("--policy", "fifo", "--budget", "64", "--uncapped", "--namespace", NAMESPACE)
    found = json_output(line, capsys, *small)
    assert (found["namespaces"], found["memories"], found["keyless"]) == (1, 5, 0)
    assert found["again"] > 0 and found["logged"] == 0, "the queries were not asked again"
    assert found["fifo"]["held_tokens"] <= 64 < found["voted"]["held_tokens"]
    assert found["fifo"]["misses"] > 0 and found["fifo"]["regrets"]
    assert {one["memory_id"] for one in found["fifo"]["regrets"]} <= set(lived)
    assert json_output(line, capsys, *small)["hash"] == found["hash"]
    everything = json_output(line, capsys, "--budget", "50000", "--namespace", NAMESPACE)
    assert everything["worth"]["misses"] == everything["worth"]["gone"] == 0
    assert everything["worth"]["read_hit_low"] == 1
    assert run(line, *small, "--suggest") == 0
    assert "had fewer than 20 reads" in capsys.readouterr().out
    file = tmp_path / "chart.svg"
    assert run(line, *small, "--chart", str(file)) == 0
    said = capsys.readouterr().out
    assert "fifo would have forgotten" in said and found["hash"] in said and len(said.splitlines()) < 15
    assert file.read_text().startswith("<svg")
    assert fleet.tiers(NAMESPACE) == before, "a what-if changed something"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--policy", "smart", "--budget", "100"), "policy 'smart' is unknown"),
        (("--against", "lru,smart", "--budget", "100"), "policy 'smart' is unknown"),
        (("--budget", "-1"), "--budget -1: 64 tokens are the least"),
        (("--budget", "100", "--horizon", "0"), "--horizon 0"),
        (("--budget", "100", "--from", "2199-01-01"), "lies in the future"),
        (("--budget", "100", "--set", "budget.half_life_ms=-1"), "half_life_ms"),
        (("--budget", "100", "--namespace", "nowhere"), "there is no such namespace"),
        (("--budget", "100", "--from", "2026-01-01"), "nothing to replay"),
    ],
)
def test_what_cannot_be_tried_is_refused(line: Settings, lived: list[str], words: tuple[str, ...], why: str) -> None:
    with pytest.raises((SettingsError, NothingTried), match=why):
        run(line, *words)


def test_what_was_erased_is_unknown_and_the_hash_knows_which_keys_there_are(
    fleet: Plant, line: Settings, lived: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--policy", "fifo", "--budget", "64", "--uncapped", "--namespace", NAMESPACE)
    before = json_output(line, capsys, *words)
    with fleet.client(NAMESPACE) as memory:
        memory.erase(memory_id=lived[0], dry_run=False)
    fleet.until(lambda: json_output(line, capsys, *words)["keyless"] == 1)
    after = json_output(line, capsys, *words)
    assert after["hash"] != before["hash"]
    assert lived[0] not in {one["memory_id"] for one in after["fifo"]["regrets"]}
