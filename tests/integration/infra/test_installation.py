"""The installation as an operator meets it: `up`, `status`, `psql`, a killed process, a second `up`, `down`.

Its brokers demand a login and grant by ACLs: a whole fleet on them stores, finds, votes and is proven.
"""

from __future__ import annotations

import hashlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from infra import fleet, kafkalogins, run_folder, settings, supervisor
from infra.settings import Settings
from infra.supervisor import SupervisorError
from memquorum import topics
from memquorum.client.sync import Memory
from tests import ROOT
from tests.support.commands import ran
from tests.support.waiting import until
from workers.kafka import loop


def _infra(*arguments: str) -> subprocess.CompletedProcess[str]:
    if arguments[:2] not in (("fleet", "up"), ("fleet", "down")):
        return ran("infra", "admin", *arguments)
    environment = {k: v for k, v in os.environ.items() if not k.startswith(settings.PREFIX)}
    command = [sys.executable, "-m", "infra", "admin", *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=False)


def _pids(run_dir: Path) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = run_folder.read_pids(run_dir)["processes"]
    return found


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    run_dir = tmp_path_factory.mktemp("installation")
    chosen = replace(settings.load({}, run_dir), encoder="hashing", throwaway=True, tick_ms=1000)
    replace(chosen, kafka_protocol="SASL_SSL", ingest_limits="few=120/0/0").save()
    up = _infra("fleet", "up", "--run-dir", str(run_dir))
    assert up.returncode == 0, up.stderr
    yield settings.load({}, run_dir)
    pids = [process["pid"] for process in _pids(run_dir).values()]
    assert _infra("fleet", "down", "--run-dir", str(run_dir)).stdout == "stopped\n"
    assert not [pid for pid in pids if _alive(pid)]
    assert _infra("fleet", "status", "--run-dir", str(run_dir)).returncode == 1


def test_every_role_runs(installed: Settings) -> None:
    status = json.loads(_infra("fleet", "status", "--json", "--run-dir", str(installed.run_dir)).stdout)
    assert status["state"] == "ready"
    assert list(status["processes"]) == ["kafka", "postgres", *(role.name for role in fleet.roles(4))]
    assert all(_alive(process["pid"]) for process in status["processes"].values())


def test_what_is_published_is_stored_and_proven_while_the_clock_ticks_on(installed: Settings) -> None:
    producer = loop.producer(kafkalogins.of(installed, "agent").bootstrap)
    for number in range(20):
        episode = {"agent": "tester", "content": f"tank {number} holds {number * 7} litres", "namespace": f"n{number}"}
        producer.produce(topics.EPISODES, json.dumps(episode).encode())
    assert producer.flush(10) == 0
    with psycopg.connect(installed.memory_dsn, autocommit=True) as connection:
        until(lambda: connection.execute("SELECT count(*) FROM event").fetchone() == (20,))
    checked = _infra("fleet", "doctor", "--json", "--run-dir", str(installed.run_dir))
    levels = {told["what"]: told["level"] for told in map(json.loads, checked.stdout.splitlines())}
    assert {levels[name] for name in ("members", "refused records", "database memory", "vault")} == {"ok"}, (
        checked.stdout
    )
    verified = _infra("audit", "verify", "--run-dir", str(installed.run_dir))
    assert (verified.returncode, verified.stdout.splitlines()[-1]) == (0, "nothing is wrong"), verified.stdout
    rebuilt = _infra("audit", "rebuild", "--run-dir", str(installed.run_dir))
    assert (rebuilt.returncode, rebuilt.stdout.splitlines()[-1]) == (0, "equal"), rebuilt.stdout + rebuilt.stderr
    assert rebuilt.stdout.startswith("rebuilt 20 memories")


def test_every_process_logs_in_as_itself(installed: Settings) -> None:
    with psycopg.connect(installed.memory_dsn, autocommit=True) as connection:
        rows = connection.execute(
            "SELECT DISTINCT usename FROM pg_stat_activity WHERE backend_type = 'client backend'"
            " AND pid <> pg_backend_pid()"
        )
        users = {name for (name,) in rows}
    assert users >= {"memory_streams", "memory_commit", "memory_retrieval"}
    assert "postgres" not in users


def test_a_changed_row_is_found_by_both(installed: Settings) -> None:
    with psycopg.connect(installed.memory_dsn, autocommit=True) as connection:
        row = connection.execute("SELECT memory_id, body FROM content LIMIT 1").fetchone()
        assert row is not None
        connection.execute("UPDATE content SET body = %s WHERE memory_id = %s", (row[1][::-1], row[0]))
        try:
            verified = _infra("audit", "verify", "--json", "--run-dir", str(installed.run_dir))
            rebuilt = _infra("audit", "rebuild", "--json", "--run-dir", str(installed.run_dir))
        finally:
            connection.execute("UPDATE content SET body = %s WHERE memory_id = %s", row[::-1])
    assert (verified.returncode, rebuilt.returncode) == (1, 1)
    (finding,) = json.loads(verified.stdout)["findings"]
    assert finding.startswith("content_altered:") and str(row[0]) in finding
    told = json.loads(rebuilt.stdout)
    assert (told["equal"], told["behind"], len(told["differing"])) == (False, False, 1)


def test_a_rebuild_does_not_touch_what_is_in_use(installed: Settings) -> None:
    refused = _infra("audit", "rebuild", "--into", "vault", "--run-dir", str(installed.run_dir))
    assert (refused.returncode, "in use" in refused.stderr) == (2, True)


def test_the_reader_reads_and_cannot_write(installed: Settings) -> None:
    def ask(question: str) -> subprocess.CompletedProcess[str]:
        return _infra("database", "psql", "--run-dir", str(installed.run_dir), "--", "-At", "-c", question)

    assert ask("SELECT current_user, count(*) > 0 FROM journal").stdout == "memquorum_reader|t\n"
    refused = ask("DELETE FROM journal")
    assert (refused.returncode, "permission denied" in refused.stderr) == (1, True)


def test_a_statement_of_a_file_that_fails_ends_psql_with_an_error(installed: Settings, tmp_path: Path) -> None:
    file = tmp_path / "asked.sql"
    file.write_text("SELECT nothing; SELECT 7;")
    ended = _infra("database", "psql", "--run-dir", str(installed.run_dir), "--", "-At", "-f", str(file))
    assert (ended.returncode, ended.stdout) == (3, "") and "nothing" in ended.stderr


def test_no_other_user_of_the_machine_reads_what_it_writes(installed: Settings) -> None:
    """Kafka's segments hold what agents said, also where its door is locked."""
    found = [file for folder in installed.run_dir.iterdir() if folder.is_dir() for file in (folder, *folder.rglob("*"))]
    kept = [file for file in found if file.is_dir() or file.is_file()]  # Postgres's socket lies in a folder of its own
    assert len(kept) > 100
    assert [str(file) for file in kept if file.stat().st_mode & 0o077] == []


def test_a_second_installation_in_the_folder_is_refused(installed: Settings) -> None:
    second = _infra("fleet", "up", "--run-dir", str(installed.run_dir))
    assert (second.returncode, "runs in" in second.stderr) == (1, True)


def operator_output(installed: Settings, *arguments: str) -> str:
    """Runs an operator's command; returns its output."""
    done = _infra(*arguments, "--run-dir", str(installed.run_dir))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_guarded_fleet_stores_finds_votes_and_is_proven(installed: Settings) -> None:
    address = kafkalogins.of(installed, "agent").bootstrap
    with Memory(namespace="greenhouse", agent="planner", kafka=address, url=installed.retrieval_url) as memory:
        memory.add("the spare key of the boiler room hangs behind the third pump", wait=True, timeout=60, subject="ada")
        assert "third pump" in memory.search("where is the spare key")[0].text
        memory.erase(subject="ada", dry_run=False, reference="test")
    with psycopg.connect(installed.memory_dsn, autocommit=True) as store:

        def attested() -> bool:
            # Ordered, carried out, nominated, voted on and decided: every stage and every topic of a vote.
            return store.execute("SELECT count(*) FROM erasure WHERE epoch IS NOT NULL").fetchone() == (1,)

        until(attested, "the members did not attest the erasure")
    assert operator_output(installed, "audit", "verify").splitlines()[-1:] == ["nothing is wrong"]


def test_what_was_refused_is_listed_and_comes_in_again(installed: Settings) -> None:
    def letters() -> dict[str, Any]:
        listed = operator_output(installed, "dlq", "list", "--last", "0", "--json").splitlines()
        return {one["letter"]: one for one in map(json.loads, listed)}

    address = kafkalogins.of(installed, "agent").bootstrap
    with Memory(namespace="few", agent="planner", kafka=address, url=installed.retrieval_url) as memory:
        receipts = memory.add_all([{"content": hashlib.sha256(b"%d" % n).hexdigest()} for n in range(150)])
        until(lambda: len(letters()) >= 20, "nothing was refused")
        name, letter = next(iter(letters().items()))
        assert (letter["reason"], letter["became"]) == ("over_quota", None)
        (shown,) = map(
            json.loads, operator_output(installed, "dlq", "replay", "--letter", name, "--go", "--json").splitlines()
        )
        assert (shown["letters"], shown["published"]) == (1, 1)
        until(lambda: letters()[name]["became"] is not None, "what was replayed did not come in")
        (shown,) = map(
            json.loads, operator_output(installed, "dlq", "replay", "--letter", name, "--go", "--json").splitlines()
        )
        assert (shown["published"], list(shown["others"].values())) == (0, [1])
    assert len(receipts) == 150


def test_no_process_lacked_a_right(installed: Settings) -> None:
    """Comes after all that the others did, and before anything ends."""
    refused = {
        file.name: [text for text in file.read_text(errors="replace").splitlines() if "uthorization" in text]
        for file in installed.logs_dir.glob("*.log")
    }
    assert not {name: texts[:3] for name, texts in refused.items() if texts}, "a process lacks a right"


# A broker that is killed waits until its old registration expires (9 s); one that ends in order does not.
@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("commit", signal.SIGKILL),
        ("replica-1", signal.SIGKILL),
        ("postgres", signal.SIGKILL),
        ("kafka", signal.SIGTERM),
    ],
)
def test_what_ends_comes_back(installed: Settings, name: str, how: signal.Signals) -> None:
    before = _pids(installed.run_dir)[name]["pid"]
    os.kill(before, how)
    until(lambda: _pids(installed.run_dir)[name]["pid"] not in (before, None))
    until(lambda: _answers(installed))


def _answers(installed: Settings) -> bool:
    try:
        psycopg.connect(installed.memory_dsn).close()
    except psycopg.OperationalError:
        return False
    return True


def test_a_failed_start_says_what_failed(tmp_path: Path) -> None:
    configured = replace(settings.load({}, tmp_path), throwaway=True)
    (tmp_path / "genesis.json").write_text("{}")
    with pytest.raises(SupervisorError, match="not a genesis file"), supervisor.started(configured):
        pass
