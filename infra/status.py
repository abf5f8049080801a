"""`memquorum admin fleet status`: every process of an installation in one table, with the numbers that it exposes.

Rates are between two scrapes; latencies are of the same interval or, if nothing happened in it, since the start. Each
line ends with the reasons, if any, why the process waits or is slowed down.
"""

from __future__ import annotations

import json
import re
import time
from argparse import Namespace
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from functools import lru_cache
from typing import Any

import httpx
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from db import erasure_rows
from db.connection import READER, Link
from db.queries import QUERIES
from infra import copies, policy_command, process_telemetry, retained, run_folder, summariser, sweeps
from infra.operator_command import command
from infra.settings import Settings, console_url
from memquorum import terminal
from memquorum.commands import JSON, flag
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec
from memquorum.telemetry import metrics

# The stages of processes that do not run just one of their own name.
_STAGES = {
    "streams": ("salience", "decay", "sessions", "rewards", "nomination"),
    "consolidator": ("consolidator", "rollups"),
}
_HEADS = (
    "MiB of memory; records in and out a second; lag: records still to be read; p50, p99: half, and 99 of 100,\n"
    "took no longer; open: votes under way; refused: records that were wrong or a stranger's"
)
_SCRAPE_S = 6.0
_BETWEEN_S = 1.0
_WINDOW = 10  # scrapes of `--watch` that rates are taken over
_STRANGER = "stranger"
_STILL_S = 5.0
_MIB = 1024 * 1024
# A sample of a process of ours, which names no time; a value of a label may hold any character.
_SAMPLE = re.compile(r'^(\w+)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})? (\S+)$', re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Scrape:
    """The metrics of a process at a moment: values by metric and labels, its readiness, and its last activity by
    subject."""

    at: float = 0.0
    values: Mapping[str, Mapping[tuple[tuple[str, str], ...], float]] = field(default_factory=dict)
    says: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)

    def total(self, name: str, **labels: str) -> float:
        """The sum over all values with these labels."""
        wanted = set(labels.items())
        return sum(value for found, value in self.values.get(name, {}).items() if wanted <= set(found))

    def has(self, name: str, **labels: str) -> bool:
        """True if any value has these labels."""
        return any(set(labels.items()) <= set(found) for found in self.values.get(name, {}))

    def buckets(self, name: str, **labels: str) -> dict[float, float]:
        """A histogram's cumulated counts by upper bound."""
        found: dict[float, float] = {}
        wanted = set(labels.items())
        for told, value in self.values.get(f"{name}_bucket", {}).items():
            if wanted <= set(told):
                bound = float(dict(told)["le"])
                found[bound] = found.get(bound, 0.0) + value
        return found


@dataclass(frozen=True, slots=True)
class StageNumbers:
    """A stage's numbers. Rates a second, latencies in milliseconds, None if it has none."""

    stage: str
    taken: float
    sent: float
    lag: int | None
    p50: float | None
    p99: float | None
    open: int | None
    refused: int


@command("fleet status", JSON, flag("--watch", "live, until Ctrl-C"), kafka="operator", example="fleet status --watch")
def _status(given: Settings, parsed: Namespace) -> int:
    """Shows what runs, with rates, lags and latencies; 1 if nothing runs."""
    return show(given, parsed.json, parsed.watch)


@command("fleet metrics", example="fleet metrics")
def _metrics(given: Settings, parsed: Namespace) -> int:
    """Lists the metrics that every process exposes, each with its sentence."""
    print("\n".join(definitions()))
    return 0


def show(given: Settings, as_json: bool, watch: bool) -> int:
    """Prints the table once, or live until Ctrl-C. Returns the exit status: 1 if nothing runs."""
    console = terminal.console()
    if not console.is_terminal:
        console.width = 160
    if not watch:
        found, before = run_folder.read_pids(given.run_dir), scrapes(given)
        if found:
            time.sleep(_BETWEEN_S)
        return _once(given, found, [before, scrapes(given)], console, as_json)
    seen: deque[dict[str, Scrape]] = deque([scrapes(given)], maxlen=_WINDOW)
    # Memories that are too old are counted once: with many of them, that takes longer than a second.
    old = retained.rule_lines(given)
    try:
        with Live(console=console, auto_refresh=False, screen=console.is_terminal) as live:
            while True:
                time.sleep(_BETWEEN_S)
                seen.append(scrapes(given))
                live.update(_picture(given, run_folder.read_pids(given.run_dir), list(seen), old), refresh=True)
    except KeyboardInterrupt:
        return 0


def _once(
    given: Settings, found: dict[str, Any], seen: Sequence[dict[str, Scrape]], console: Console, as_json: bool
) -> int:
    if as_json:
        if found:
            found["withheld"], found["summaries_waiting"] = stored(given)
            found["policies"] = policy_command.versions(given)
            found["erased_by_age"] = retained.plain(given)
            found["kept_rebuilds"] = copies.rebuild_lines(given)
            found["swept"] = sweeps.describe(given)
            found["summariser"] = summariser.describe(given)
        for name, process in found.get("processes", {}).items():
            process["stages"] = [asdict(line) for line in lines(name, seen)]
            now = seen[-1].get(name, Scrape())
            process["says"], process["notes"] = now.says, dict(now.notes)
        console.print_json(json.dumps(found)) if console.is_terminal else print(json.dumps(found, indent=2))
        return 0 if found else 1
    if not found:
        print(f"nothing runs in {given.run_dir}")
        return 1
    console.print(_picture(given, found, seen, retained.rule_lines(given)))
    return 0


def _picture(
    given: Settings, found: dict[str, Any], seen: Sequence[dict[str, Scrape]], old: Sequence[str] = ()
) -> Group | Text:
    if not found:
        return Text(f"nothing runs in {given.run_dir}")
    foot = f"{found['state']}: {found['step']} (supervisor {found['supervisor']}, folder {given.run_dir})"
    if found["state"] == "ready":
        withheld, waiting = stored(given)
        foot += f"\nKafka {given.bootstrap}, retrieval {given.retrieval_url}, console {console_url(given)}"
        foot += "".join(f"\nwithheld, and to be ordered again: {one}" for one in withheld)
        foot += "".join(f"\n{one}" for one in (*policy_command.versions(given), *old, *copies.rebuild_lines(given)))
        foot += f"\n{sweeps.describe(given)}\n{summariser.describe(given)}; {waiting} wait for the members' vote"
    foot += "".join(f"\n{about}: {what}" for now in seen[-1].values() for about, what in now.notes.items())
    return Group(_table(found.get("processes", {}), seen), Text(_HEADS, style="dim"), Text(foot))


def stored(given: Settings) -> tuple[list[str], int]:
    """Returns the withheld orders to erase that were not given again, a line each, and the number of summaries that
    wait for the members' vote; nothing if the store does not answer, which the processes' own lines say."""
    if not given.memory_dsn:
        return [], 0
    link = Link(given.memory_dsn, READER, StoreUnavailable)
    try:
        with link.use() as connection:
            (waiting,) = connection.execute(QUERIES["summaries_waiting"]).fetchone() or (0,)
            return [str(one) for one in erasure_rows.to_order_again(connection, load_codec())], waiting
    except StoreUnavailable:
        return [], 0
    finally:
        link.close()


def _table(processes: Mapping[str, Mapping[str, Any]], seen: Sequence[dict[str, Scrape]]) -> Table:
    """The table; fits into 80 columns while all is well, as only problems are added at the end of a line."""
    table = Table(box=None, pad_edge=False)
    table.add_column("process", no_wrap=True)
    for name in ("pid", "MiB", "in/s", "out/s", "lag", "p50 ms", "p99 ms", "open", "refused"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for name, process in processes.items():
        now = seen[-1].get(name, Scrape())
        memory = now.total("process_resident_memory_bytes") / _MIB
        shown = lines(name, seen)
        alone = len(shown) == 1
        numbers = _cells(shown[0]) if alone else [""] * 7
        says = "; ".join(filter(None, [unusual(process), now.says]))
        pid = str(process.get("pid") or "")
        table.add_row(name, pid, f"{memory:.0f}" if memory else "", *numbers, Text(says, style="yellow"))
        for line in () if alone else shown:
            table.add_row(f"  {line.stage}", "", "", *_cells(line), "")
    return table


def unusual(process: Mapping[str, Any]) -> str:
    """The problems of a process: it does not run, or was restarted."""
    state = "" if process.get("state") == "running" else str(process.get("state"))
    starts = int(process.get("starts") or 1)
    alarm = f"ALARM: {process['alarm']}" if process.get("alarm") else ""
    return ", ".join(filter(None, [alarm, state, f"started {starts} times" if starts > 1 else ""]))


def _cells(line: StageNumbers) -> list[str]:
    return [
        _rate(line.taken),
        _rate(line.sent),
        _count(line.lag),
        _ms(line.p50),
        _ms(line.p99),
        _count(line.open),
        _count(line.refused or None),
    ]


def lines(name: str, seen: Sequence[dict[str, Scrape]]) -> list[StageNumbers]:
    """The stages of a process, by its first and its last scrape; empty without a scrape."""
    now = seen[-1].get(name)
    if now is None or not now.values:
        return []
    # A process that was started again counts from nothing.
    before = next((s[name] for s in seen if name in s and _precedes(s[name], now)), now)
    kind = name.partition("-")[0]
    return [_line(stage, before, now) for stage in _STAGES.get(kind, (kind,))]


def _precedes(before: Scrape, now: Scrape) -> bool:
    started = "process_start_time_seconds"
    return before.at < now.at and before.total(started) == now.total(started)


def _line(stage: str, before: Scrape, now: Scrape) -> StageNumbers:
    seconds = max(now.at - before.at, 1e-9)
    labels = {"stage": stage}
    taken, latency = metrics.CONSUMED.name, metrics.LATENCY.name
    if stage == "retrieval":
        # It counts requests, and its latency is that of searches.
        taken, latency = f"{metrics.REQUESTS.name}_count", metrics.REQUESTS.name
        labels = {}
    own = {"http_route": "/search"} if stage == "retrieval" else labels
    spread = _spread(before.buckets(latency, **own), now.buckets(latency, **own))
    return StageNumbers(
        stage=stage,
        taken=(now.total(taken, **labels) - before.total(taken, **labels)) / seconds,
        sent=(now.total(metrics.SENT.name, stage=stage) - before.total(metrics.SENT.name, stage=stage)) / seconds,
        lag=int(now.total(metrics.LAG.name, stage=stage)) if now.has(metrics.LAG.name, stage=stage) else None,
        p50=quantile(0.5, spread),
        p99=quantile(0.99, spread),
        open=int(now.total(metrics.OPEN.name)) if stage == "replica" else None,
        refused=int(
            now.total(metrics.REFUSED.name, stage=stage)
            + now.total(metrics.IGNORED.name, stage=stage, reason=_STRANGER)
        ),
    )


def _spread(before: Mapping[float, float], now: Mapping[float, float]) -> dict[float, float]:
    """The counts between two scrapes, or the totals if all of these are zero."""
    between = {bound: count - before.get(bound, 0.0) for bound, count in now.items()}
    return between if any(between.values()) else dict(now)


def quantile(q: float, buckets: Mapping[float, float]) -> float | None:
    """A quantile in milliseconds from cumulated counts by upper bound in seconds; interpolated within a bucket.

    None without observations. A quantile in the last, open bucket is given as its lower bound.
    """
    bounds = sorted(buckets)
    if not bounds or not buckets[bounds[-1]]:
        return None
    rank, low, below = q * buckets[bounds[-1]], 0.0, 0.0
    for bound in bounds:
        count = buckets[bound]
        if count >= rank and count > below:
            return 1000 * (low if bound == float("inf") else low + (bound - low) * (rank - below) / (count - below))
        low, below = bound, count
    return 1000 * low


def scrapes(given: Settings, within_s: float = _SCRAPE_S) -> dict[str, Scrape]:
    """Scrapes every announced process; an empty scrape for one that does not answer in this time."""
    places = process_telemetry.announced(given.run_dir)
    if not places:
        return {}
    # Without TLS, which needs certificates that take longer to read than all answers.
    with ThreadPoolExecutor(len(places)) as threads, httpx.Client(timeout=within_s, verify=False) as client:
        return dict(zip(places, threads.map(lambda place: _scrape(client, place), places.values()), strict=True))


def _scrape(client: httpx.Client, place: Mapping[str, Any]) -> Scrape:
    try:
        ready = client.get(f"{place['url']}/readyz").json()
        text = client.get(f"{place['url']}/metrics").text
    except (httpx.HTTPError, ValueError, KeyError):
        return Scrape(says="does not answer")
    values: dict[str, dict[tuple[tuple[str, str], ...], float]] = {}
    for name, labels, value in _SAMPLE.findall(text):
        values.setdefault(name, {})[_labels(labels)] = float(value)
    found = Scrape(time.monotonic(), values, notes=ready.get("notes", {}))
    return replace(found, says=_says(ready, found.total(metrics.STILL.name)))


@lru_cache(maxsize=10_000)
def _labels(text: str) -> tuple[tuple[str, str], ...]:
    """The labels of a sample, in order; the same ones come again with each scrape."""
    return tuple(sorted(_LABEL.findall(text)))


def _says(ready: Mapping[str, Mapping[str, str]], still_s: float) -> str:
    still = [f"its loop has not turned for {still_s:.0f} s"] if still_s > _STILL_S else []
    waits = [f"{what}: {why}" for what, why in ready["waits_for"].items()]
    brakes = [f"slowed by {by}: {why}" for by, why in ready["slowed_by"].items()]
    alarms = [f"ALARM, {about}: {why}" for about, why in ready.get("alarms", {}).items()]
    return "; ".join(alarms + still + waits + brakes)


def _rate(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _ms(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def definitions() -> Iterable[str]:
    """Every metric as a row of a table in Markdown: what `memquorum admin fleet metrics` prints."""
    yield "| metric | kind | labels | |"
    yield "|---|---|---|---|"
    for of in metrics.ALL:
        yield f"| `{of.name}` | {of.kind} | {', '.join(of.labels)} | {of.sentence} |"
