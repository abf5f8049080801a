"""The cost of agreement with 4, 7, 10 and 13 members: one decision's time, decisions per second, a primary's death."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import psycopg

from bench.epochs import LATE, POLICY, until_decided
from bench.feed import Feed
from bench.kept import Row
from bench.parts import Parts, difference, parts, replicas
from bench.recovery import primary
from bench.reference import quantile, verifications

_WARM, _RECOVERY_SIZE = 10, 16
# So many epochs of a shard are nominated before the first of them is applied: replicas keep four ahead.
_AHEAD = 3


@dataclass(frozen=True)
class Plan:
    """The size of a run with N members: decisions one by one, epochs of each shard by their size, primaries killed."""

    idle: int
    epochs: Mapping[int, int]
    kills: int


PLANS = {
    4: Plan(200, {256: 12, 1_024: 5}, 7),
    7: Plan(100, {256: 6, 1_024: 3}, 5),
    10: Plan(50, {256: 4, 1_024: 2}, 3),
    13: Plan(50, {256: 4, 1_024: 2}, 3),
}
_QUICK = Plan(20, {256: 3, 1_024: 2}, 1)


def measure(quick: bool) -> Row:
    """The line's own replicas and commit worker, from the nomination to the row in the store."""
    row = Row("members", "one decision idle, decisions a second and recovery with 4, 7, 10 and 13 members")
    for n, plan in PLANS.items():
        _with_members(row, n, _QUICK if quick else plan)
    first = "N = 4, epochs of 256"
    for figure, limit in ((first, 5_500), ("N = 4, epochs of 1,024", 9_500)):
        row.at_least(figure, limit)
    for figure, limit in (("p50", 21), ("p99", 50)):
        row.at_most(f"N = 4, one decision idle: {figure}", limit)
    row.at_most("N = 4, primary killed: p50", 1_500)
    row.compare(first, "one core verifying Ed25519 signatures of 16 KB messages", verifications(16_000), "1/s")
    row.note("a rate is that of proposals whose outcome stands in the store, over 4 shards, commit worker included")
    row.note("the primary is killed with -9 before an epoch of 16; default timers, which give it 1.25 s")
    return row


def _with_members(row: Row, n: int, plan: Plan) -> None:
    policy = {**POLICY, "epoch": {"proposals_max": max(plan.epochs)}}
    with parts(policy=policy, members=n) as running:
        runs = Runs(running, plan)
        running.start(*replicas(n), "commit")
        running.until_applied(sum(runs.feed.offset.values()))
        taken = [runs.one(1) for _ in range(_WARM + plan.idle)][_WARM:]
        row.figure(f"N = {n}, one decision idle: p50", quantile(taken, 0.5), "ms")
        row.figure(f"N = {n}, one decision idle: p99", quantile(taken, 0.99), "ms")
        for size, epochs in plan.epochs.items():
            rate, used = runs.many(size, epochs)
            row.figure(f"N = {n}, epochs of {size:,}", rate, "decisions/s")
            row.series[f"CPU ms per epoch of {size:,}, N = {n}"] = used
        running.stop()
        recovered = []
        for _ in range(plan.kills):
            running.start(*replicas(n), "commit")
            runs.one(_RECOVERY_SIZE)
            os.kill(running.pids()[f"replica-{primary(running)}"], signal.SIGKILL)
            recovered.append(runs.one(_RECOVERY_SIZE))
            running.stop(died=True)
        row.figure(f"N = {n}, primary killed: p50", quantile(recovered, 0.5), "ms")
        row.figure(f"N = {n}, primary killed: largest", max(recovered), "ms")
        runs.close()


class Runs:
    """Nominates what was never nominated, in the order of the shards' epochs."""

    def __init__(self, running: Parts, plan: Plan) -> None:
        self.feed, self._running = Feed(running), running
        self._decided = dict.fromkeys(self.feed.shards, 0)
        self._used = dict.fromkeys(self.feed.shards, 0)
        bulk = sum(size * epochs for size, epochs in plan.epochs.items())
        alone = _WARM + plan.idle + 2 * plan.kills * _RECOVERY_SIZE
        for shard in self.feed.shards:
            self.feed.episodes(shard, bulk + (alone if shard == 0 else 0))
        self._ticks = {shard: self.feed.tick(shard, LATE) for shard in self.feed.shards}
        self.feed.flush()
        self._connection = psycopg.connect(running.settings.memory_dsn, autocommit=True)
        self._connection.execute("LISTEN journal")

    def one(self, size: int) -> float:
        """An epoch of shard 0 while nothing else goes on: milliseconds until it is in the store."""
        began = time.perf_counter()
        self._nominate(0, size, 1)
        self._decided[0] += 1
        until_decided(self._connection, self._decided[0])
        return (time.perf_counter() - began) * 1000

    def many(self, size: int, epochs: int) -> tuple[float, dict[str, float]]:
        """So many epochs of every shard at once: decisions a second, and processor time of each process for an epoch
        in milliseconds. The rate leaves out each shard's first epoch."""
        first, since, counted = dict(self._decided), 0.0, 0
        sent, before = dict.fromkeys(first, 0), self._running.cpu_s()
        while True:
            done = {shard: epoch - first[shard] for shard, epoch in self._epochs().items()}
            if not counted and min(done.values()) >= 1:
                since, counted = time.perf_counter(), sum(done.values())
            if min(done.values()) >= epochs:
                break
            for shard in sent:
                while sent[shard] < min(epochs, done[shard] + _AHEAD):
                    sent[shard] += 1
                    self._nominate(shard, size, sent[shard])
            self._running.check()
            for _ in self._connection.notifies(timeout=0.5, stop_after=1):
                pass
        total = epochs * len(sent)
        rate = (total - counted) * size / (time.perf_counter() - since)
        self._decided = {shard: epoch + epochs for shard, epoch in first.items()}
        used = Counter[str]()
        for name, seconds in difference(before, self._running.cpu_s()).items():
            used["replicas" if name.startswith("replica-") else name] += seconds
        return rate, {name: round(s / total * 1e3, 2) for name, s in used.items()}

    def _epochs(self) -> dict[int, int]:
        return dict(self._connection.execute("SELECT shard, last_epoch FROM shard").fetchall())

    def _nominate(self, shard: int, size: int, ahead: int) -> None:
        begin = self._used[shard]
        self._used[shard] += size
        proposed = self.feed.memories[shard][begin : begin + size]
        self.feed.nominate(shard, self._decided[shard] + ahead, LATE, self._ticks[shard], proposed)

    def close(self) -> None:
        self._connection.close()
        self.feed.close()
