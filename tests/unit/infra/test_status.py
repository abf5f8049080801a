"""The fleet's table: numbers out of what processes expose."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from infra import process_telemetry, retained, status
from infra.process_telemetry import watched
from infra.settings import Settings
from infra.status import Scrape, StageNumbers, lines, quantile
from memquorum.telemetry import metrics
from memquorum.telemetry.bundle import Telemetry

INF = float("inf")


@pytest.mark.parametrize(
    ("q", "buckets", "expected"),
    [
        (0.5, {}, None),
        (0.5, {0.1: 0, INF: 0}, None),
        (0.5, {0.1: 10, 0.2: 10, INF: 10}, 50.0),
        (0.99, {0.1: 0, 0.2: 100, INF: 100}, 199.0),
        (0.5, {0.1: 5, 0.2: 5, 0.5: 10, INF: 10}, 100.0),
        (0.99, {0.1: 0, 0.2: 0, INF: 4}, 200.0),
        (1.0, {0.1: 1, 0.2: 3, INF: 3}, 200.0),
    ],
)
def test_quantiles_are_those_of_the_buckets(q: float, buckets: dict[float, float], expected: float | None) -> None:
    assert quantile(q, buckets) == (None if expected is None else pytest.approx(expected))


@pytest.fixture
def place(tmp_path: Path) -> Settings:
    return Settings(run_dir=tmp_path)


def _work(shown: Telemetry, stage: str, count: int, latency_ms: int) -> None:
    told = shown.stage(stage)
    told.took([("a", count)])
    told.sent("b", count)
    told.done([(1_000, None)] * count, 1_000 + latency_ms)


def test_a_stage_is_told_by_what_happened_between_two_scrapes(place: Settings) -> None:
    with watched(place, "intake") as shown:
        shown.health.ready()
        _work(shown, "intake", 100, 9_000)
        shown.stage("intake").refused("blank", 3)
        before = status.scrapes(place)
        _work(shown, "intake", 50, 3)
        now = status.scrapes(place)
    seconds = now["intake"].at - before["intake"].at
    (line,) = lines("intake", [before, now])
    assert (line.taken, line.sent) == (pytest.approx(50 / seconds), pytest.approx(50 / seconds))
    assert line.p50 is not None and 2 < line.p50 <= 5
    assert (line.refused, line.open, line.lag) == (3, None, None)
    (since_the_start,) = lines("intake", [now, now])
    assert since_the_start.p99 is not None and since_the_start.p99 > 5_000


def test_a_process_that_was_started_again_counts_from_nothing(place: Settings) -> None:
    with watched(place, "intake") as shown:
        _work(shown, "intake", 100, 1)
        now = status.scrapes(place)["intake"]
    started = {"process_start_time_seconds": {(): 1.0}}
    earlier = Scrape(now.at - 10, {**now.values, **started, metrics.CONSUMED.name: {(("stage", "intake"),): 900.0}})
    (line,) = lines("intake", [{"intake": earlier}, {"intake": now}])
    assert line.taken == 0


def test_the_streams_are_five_stages_and_a_member_has_open_proposals(place: Settings) -> None:
    with watched(place, "streams") as streams, watched(place, "replica-2") as replica:
        _work(streams, "salience", 1, 5)
        replica.meters.open.labels("0").set(64)
        replica.meters.open.labels("1").set(2)
        replica.meters.follow(metrics.IGNORED, lambda: {("replica", "stranger"): 7, ("replica", "duplicate"): 9})
        now = status.scrapes(place)
    assert [line.stage for line in lines("streams", [now])] == [
        "salience",
        "decay",
        "sessions",
        "rewards",
        "nomination",
    ]
    (line,) = lines("replica-2", [now])
    assert (line.open, line.refused) == (66, 7)
    assert lines("kafka", [now]) == []


def test_the_table_says_what_is_waited_for_and_who_does_not_answer(
    place: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watched(place, "commit") as shown:
        shown.health.ready()
        shown.health.wait("store", "it does not answer")
        shown.health.slow("salience", "4 partitions")
        monkeypatch.setattr(shown.health, "_turned", shown.health._turned - 7)
        process_telemetry.announce(place.run_dir, "intake", "http://127.0.0.1:1")
        seen = [status.scrapes(place)]
    processes = {
        "kafka": {"pid": 7, "state": "running"},
        "commit": {"pid": 8, "state": "running", "starts": 2},
        "intake": {"pid": 9, "state": "waiting", "starts": 1},
    }
    out = io.StringIO()
    Console(file=out, width=200, highlight=False).print(status._table(processes, seen))
    rows = {line.split()[0]: line for line in out.getvalue().splitlines()}
    assert list(rows) == ["process", "kafka", "commit", "intake"]
    assert (
        "started 2 times; its loop has not turned for 7 s; store: it does not answer; slowed by salience: 4 partitions"
        in rows["commit"]
    )
    assert rows["intake"].split()[1:] == ["9", "waiting;", "does", "not", "answer"]
    assert rows["kafka"].split() == ["kafka", "7"]


def test_the_table_fits_a_small_terminal_while_all_is_well(place: Settings) -> None:
    with watched(place, "replica-0") as replica:
        replica.health.ready()
        _work(replica, "replica", 123_456, 59_000)
        replica.meters.open.labels("0").set(1024)
        seen = [status.scrapes(place)]
    out = io.StringIO()
    processes = {"replica-0": {"pid": 4_194_303, "state": "running", "starts": 1}}
    Console(file=out, width=80, highlight=False).print(status._table(processes, seen))
    assert "…" not in out.getvalue()


def test_what_a_process_did_last_stands_below_the_table_and_not_among_what_is_amiss(place: Settings) -> None:
    with watched(place, "rehearsal") as shown:
        shown.health.ready()
        shown.health.note("rehearsals", "none since this process began; it waits")
        seen = [status.scrapes(place)]
    assert (seen[0]["rehearsal"].says, dict(seen[0]["rehearsal"].notes)) == (
        "", {"rehearsals": "none since this process began; it waits"},
    )  # fmt: skip
    found = {"state": "starting", "step": "all", "supervisor": 1, "processes": {"rehearsal": {"state": "running"}}}
    console = Console(file=io.StringIO(), width=120)
    console.print(status._picture(place, found, seen, ()))
    told = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert "rehearsals: none since this process began; it waits" in told


def test_nothing_announced_is_nothing_scraped(place: Settings) -> None:
    assert status.scrapes(place) == {}
    assert lines("intake", [{}]) == []


def test_metrics_are_listed_with_their_sentences() -> None:
    table = list(status.definitions())
    assert len(table) == 2 + len(metrics.ALL)
    assert all(of.sentence in "\n".join(table) for of in metrics.ALL)


def test_cells_leave_out_what_a_stage_has_not() -> None:
    line = StageNumbers("commit", taken=1234.5, sent=0.5, lag=None, p50=None, p99=12.34, open=None, refused=0)
    assert status._cells(line) == ["1,234", "0.5", "", "", "12", "", ""]


def test_a_rule_of_retention_is_told_with_what_is_due() -> None:
    of = {"namespace": "team-a", "type": "episodic", "count": 1_200, "oldest": 1_750_000_000_000}
    rule = {
        "after": "team-*=episodic:90d", "every_ms": 86_400_000, "shards": [0, 2], "next_at": 1_750_086_400_000,
        "due": 1_200, "coming": 1, "overdue": [of],
    }  # fmt: skip
    assert retained._line(rule) == (
        "erased by age, in shard 0, 2: team-*=episodic:90d; every 1 d, next at 2025-06-16 15:06:40 UTC, 1 memory then; "
        "due now: 1,200 (1,200 episodic of team-a, the oldest of 2025-06-15 15:06:40 UTC)"
    )
    many = [of | {"oldest": of["oldest"] + at} for at in range(5)]  # type: ignore[operator]
    assert retained._line(rule | {"overdue": many}).endswith("; and more, of 2 others)")
    assert retained._line(rule | {"due": 0, "coming": 0, "overdue": []}).endswith("0 memories then; due now: 0")
