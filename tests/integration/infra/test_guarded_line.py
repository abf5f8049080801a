"""A whole fleet on brokers that demand a login and grant by ACLs: it stores, finds, votes and is proven."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from infra import kafkalogins, settings, supervisor
from infra.settings import Settings
from memquorum.client.sync import Memory
from tests import ROOT
from tests.support.waiting import until


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """An installation whose brokers want passwords over TLS."""
    folder = tmp_path_factory.mktemp("guarded")
    chosen = replace(
        settings.load({}, folder), kafka_protocol="SASL_SSL", encoder="hashing", throwaway=True, tick_ms=1000,
        ingest_limits="few=120/0/0",
    )  # fmt: skip
    with supervisor.started(chosen) as found:
        yield found


def infra(line: Settings, *arguments: str) -> str:
    """What an operator's command prints."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(settings.PREFIX)}
    command = [sys.executable, "-m", "infra", *arguments, "--run-dir", str(line.run_dir)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_guarded_fleet_stores_finds_votes_and_is_proven(line: Settings) -> None:
    address = kafkalogins.of(line, "agent").bootstrap
    with Memory(namespace="greenhouse", agent="planner", kafka=address, url=line.retrieval_url) as memory:
        memory.add("the spare key of the boiler room hangs behind the third pump", wait=True, timeout=60, subject="ada")
        assert "third pump" in memory.search("where is the spare key")[0].text
        memory.erase(subject="ada", dry_run=False, reference="test")
    with psycopg.connect(line.memory_dsn, autocommit=True) as store:

        def attested() -> bool:
            # Ordered, carried out, nominated, voted on and decided: every stage and every topic of a vote.
            return store.execute("SELECT count(*) FROM erasure WHERE epoch IS NOT NULL").fetchone() == (1,)

        until(attested, "the members did not attest the erasure")
    assert infra(line, "verify").splitlines()[-1:] == ["nothing is wrong"]


def test_what_was_refused_is_listed_and_comes_in_again(line: Settings) -> None:
    def letters() -> dict[str, Any]:
        told = infra(line, "dlq", "list", "--last", "0", "--json").splitlines()
        return {one["letter"]: one for one in map(json.loads, told)}

    address = kafkalogins.of(line, "agent").bootstrap
    with Memory(namespace="few", agent="planner", kafka=address, url=line.retrieval_url) as memory:
        receipts = memory.add_all([{"content": hashlib.sha256(b"%d" % n).hexdigest()} for n in range(150)])
        until(lambda: len(letters()) >= 20, "nothing was refused")
        name, letter = next(iter(letters().items()))
        assert (letter["reason"], letter["became"]) == ("over_quota", None)
        (shown,) = map(json.loads, infra(line, "dlq", "replay", "--letter", name, "--go", "--json").splitlines())
        assert (shown["letters"], shown["published"]) == (1, 1)
        until(lambda: letters()[name]["became"] is not None, "what was replayed did not come in")
        (shown,) = map(json.loads, infra(line, "dlq", "replay", "--letter", name, "--go", "--json").splitlines())
        assert (shown["published"], list(shown["others"].values())) == (0, [1])
    assert len(receipts) == 150


def test_no_process_lacked_a_right(line: Settings) -> None:
    """Comes last: after all that the others did."""
    refused = {
        file.name: [text for text in file.read_text(errors="replace").splitlines() if "uthorization" in text]
        for file in line.logs_dir.glob("*.log")
    }
    assert not {name: texts[:3] for name, texts in refused.items() if texts}, "a process lacks a right"
