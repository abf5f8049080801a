"""The port on which a process is watched: metrics, life, readiness."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import httpx
import pytest

from infra import process_telemetry
from infra.process_telemetry import watched
from infra.settings import Settings, SettingsError
from memquorum.telemetry import metrics
from memquorum.telemetry.bundle import Telemetry


def test_a_process_is_announced_and_answers_while_it_lives(tmp_path: Path) -> None:
    with watched(Settings(run_dir=tmp_path), "intake") as shown:
        told = process_telemetry.announced(tmp_path)["intake"]
        assert told["pid"] == os.getpid()
        url = told["url"]
        assert url.startswith("http://127.0.0.1:")
        assert httpx.get(f"{url}/livez").json()["alive"] is True
        answer = httpx.get(f"{url}/readyz")
        assert (answer.status_code, answer.json()["waits_for"]) == (503, {"start": "it starts"})
        shown.health.ready()
        shown.health.slow("salience", "4096 records wait")
        answer = httpx.get(f"{url}/readyz?verbose")
        assert (answer.status_code, answer.json()["slowed_by"]) == (200, {"salience": "4096 records wait"})
        shown.health.wait("vault", "away")
        shown.health.alarm("shard 0", "it stands still")
        shown.health.alarm("shard 1", "it stood still", -1)
        shown.meters.consumed.labels("intake", "a").inc(3)
        text = httpx.get(f"{url}/metrics").text
        assert 'messaging_client_consumed_messages_total{stage="intake",topic="a"} 3.0' in text
        assert f"# HELP {metrics.WAITING.name} {metrics.WAITING.sentence}" in text
        assert 'memquorum_waiting{for="vault",stage="intake"} 1.0' in text
        assert 'memquorum_slowed{by="salience",stage="intake"} 1.0' in text
        assert 'memquorum_alarm{about="shard 0",stage="intake"} 1.0' in text and '"shard 1"' not in text
        assert "process_resident_memory_bytes" in text
        assert httpx.get(f"{url}/").status_code == 404
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/livez")


def test_what_is_announced_is_a_file_of_targets_as_prometheus_reads_them(tmp_path: Path) -> None:
    process_telemetry.announce(tmp_path, "replica-2", "http://127.0.0.1:4711")
    (group,) = json.loads((tmp_path / "watch" / "replica-2.json").read_text())
    assert group["targets"] == ["127.0.0.1:4711"]
    assert {name for name in group["labels"] if not name.startswith("__")} == {"instance"}
    (tmp_path / "watch" / "older.json").write_text('{"pid": 1, "url": "http://127.0.0.1:1"}')
    (tmp_path / "watch" / "foreign.json").write_text("[]")
    found = process_telemetry.announced(tmp_path)
    assert found == {"replica-2": {"pid": os.getpid(), "url": "http://127.0.0.1:4711"}}


def test_who_asks_for_openmetrics_gets_exemplars(tmp_path: Path) -> None:
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    with watched(Settings(run_dir=tmp_path), "intake") as shown:
        shown.stage("intake").done([(1_000, parent), (2_000, None), (-1, parent)], 9_000)
        url = process_telemetry.announced(tmp_path)["intake"]["url"]
        wanted = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
        answer = httpx.get(f"{url}/metrics", headers={"Accept": wanted})
        assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
        (led,) = [line for line in answer.text.splitlines() if " # {" in line]
        assert led.startswith('memquorum_latency_seconds_bucket{le="10.0",stage="intake"} 2.0 # {')
        assert 'trace_id="0af7651916cd43dd8448eb211c80319c"' in led
        assert answer.text.endswith("# EOF\n")
        plain = httpx.get(f"{url}/metrics")
        assert plain.headers["content-type"].startswith("text/plain") and " # {" not in plain.text


def test_a_loop_that_hangs_is_told_by_the_port_that_does_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with watched(Settings(run_dir=tmp_path), "intake") as shown:
        url = process_telemetry.announced(tmp_path)["intake"]["url"]
        monkeypatch.setattr(shown.health, "_turned", -1000.0)
        answer = httpx.get(f"{url}/livez")
        assert (answer.status_code, answer.json()["alive"]) == (503, False)


def test_a_broker_that_is_away_costs_the_lag_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_telemetry, "_ADMIN_S", 0.2)
    with watched(Settings(run_dir=tmp_path, bootstrap="127.0.0.1:1"), "intake") as shown:
        shown.places.at("intake", "a", 0, 7)
        shown.places.begin("intake", "b", [0, 1], "intake")
        text = httpx.get(f"{process_telemetry.announced(tmp_path)['intake']['url']}/metrics", timeout=10).text
        assert "memquorum_lag_records{" not in text
        assert "# TYPE memquorum_lag_records gauge" in text


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with watched(Settings(run_dir=tmp_path), "a"):
        port = int(process_telemetry.announced(tmp_path)["a"]["url"].rpartition(":")[2])
        with (
            pytest.raises(SettingsError, match=f"watch_port {port}"),
            watched(Settings(run_dir=tmp_path, watch_port=port), "b"),
        ):
            pass


def test_a_port_that_nobody_asks_closes_at_once() -> None:
    began = time.monotonic()
    for _ in range(8):
        process_telemetry.Server("127.0.0.1", 0, Telemetry()).close()
    assert time.monotonic() - began < 2, "it looks now and then whether it is to end"


def test_traces_are_kept_unless_they_are_off(tmp_path: Path) -> None:
    for folder, rate, kept in (("on", 5, True), ("off", 0, False)):
        run_dir = tmp_path / folder
        with watched(Settings(run_dir=run_dir, trace_rate=rate), "intake") as shown:
            assert shown.tracing.on is kept
            shown.tracing.work("x", 1).end()
        assert (process_telemetry.traces_dir(run_dir) / "intake.jsonl").exists() is kept
