"""The cost of an epoch: its latency when idle, proposals per second, and the influence of the store's size."""

from __future__ import annotations

import time

import psycopg

from bench.feed import HOUR, START, Feed
from bench.kept import Row
from bench.parts import REPLICAS, Parts, difference, parts
from bench.reference import quantile, round_trip_ms, verifications
from memquorum import topics
from memquorum.core.identity.messages import read_signed
from memquorum.core.policy import UNCAPPED
from memquorum.core.records import Commit
from workers.kafka import loop

LATE = START + 10 * HOUR
# The due date is hours past, and the clock is the row's own.
POLICY = {
    "decay": {"scales_s": [10.0, 60.0, 3600.0]},
    "forget": {"grace_ms": 7 * 24 * HOUR},
    "caps": UNCAPPED,  # everything that is proposed goes
}
_WARM = 10


def latency(quick: bool) -> Row:
    """Nomination to applied, one epoch after the other, on one shard; replicas and commit worker are the line's."""
    row = Row("epoch", "an epoch of 64 proposals, nomination to applied, idle")
    epochs, size = (20 if quick else 150) + _WARM, 64
    with parts(policy=POLICY) as running:
        trip = round_trip_ms(running)
        feed = Feed(running)
        feed.episodes(0, epochs * size)
        tick = feed.tick(0, LATE)
        feed.flush()
        running.start(*REPLICAS, "commit")
        running.until_applied(epochs * size + 1)
        before = running.cpu_s()
        taken = []
        with running.reader() as connection:
            for epoch in range(1, epochs + 1):
                if epoch == _WARM + 1:
                    before = running.cpu_s()
                proposed = feed.memories[0][(epoch - 1) * size : epoch * size]
                began = time.perf_counter()
                feed.nominate(0, epoch, LATE, tick, proposed)
                until_decided(connection, epoch)
                taken.append((time.perf_counter() - began) * 1000)
            used = difference(before, running.cpu_s())
            ends = dict(connection.execute("SELECT outcome, count(*) FROM outcome GROUP BY outcome").fetchall())
        feed.close()
    warm = taken[_WARM:]
    row.figure("p50", quantile(warm, 0.5), "ms")
    row.figure("p99", quantile(warm, 0.99), "ms")
    row.at_most("p50", 32)
    row.at_most("p99", 140)
    row.compare("p50", "produce → consume of one record by the line's client", trip, "ms")
    row.series["ms"] = [round(t, 2) for t in warm]
    row.series["CPU ms per epoch"] = {name: round(s / len(warm) * 1e3, 2) for name, s in used.items()}
    row.note(f"{len(warm)} epochs; their proposals ended as {ends}; an epoch takes five records in a row through Kafka")
    return row


def until_decided(connection: psycopg.Connection, epoch: int, seconds: float = 30) -> None:
    """Until the shard's epoch stands in the store: what the commit worker notifies of."""
    deadline = time.monotonic() + seconds
    while True:
        for _ in connection.notifies(timeout=1, stop_after=1):
            pass
        row = connection.execute("SELECT last_epoch FROM shard WHERE shard = 0").fetchone()
        if row is not None and row[0] >= epoch:
            return
        assert time.monotonic() < deadline, f"epoch {epoch} is not applied after {seconds:.0f} s"


def throughput(quick: bool) -> Row:
    """Four shards at once; nominations are always there, so the replicas wait for nobody."""
    row = Row("decisions", "proposals decided a second over Kafka, N = 4, 4 shards, epochs of 256")
    epochs, size, warm = (6 if quick else 24), 256, 2
    with parts(policy=POLICY) as running:
        feed = Feed(running)
        for shard in feed.shards:
            feed.episodes(shard, epochs * size)
        ticks = {shard: feed.tick(shard, LATE) for shard in feed.shards}
        feed.flush()
        running.start(*REPLICAS)
        tracker = _Commits(running)
        sent = dict.fromkeys(feed.shards, 0)
        times: list[tuple[float, int]] = []
        before, warmed, began = running.cpu_s(), 0, time.perf_counter()
        total = epochs * len(sent)
        while len(times) < total:
            for shard in feed.shards:
                # Within the window that replicas keep ahead.
                while sent[shard] < min(epochs, tracker.decided[shard] + 3):
                    sent[shard] += 1
                    proposed = feed.memories[shard][(sent[shard] - 1) * size : sent[shard] * size]
                    feed.nominate(shard, sent[shard], LATE, ticks[shard], proposed)
            found = tracker.read(0.05)
            times += [(time.perf_counter() - began, size)] * found
            if not warmed and len(times) >= warm * len(sent):
                before, warmed = running.cpu_s(), len(times)
            running.check()
        used = difference(before, running.cpu_s())
        tracker.close()
        feed.close()
        span = times[-1][0] - times[warmed - 1][0]
        rate = (total - warmed) * size / span
        entries = feed.offset[0] * len(sent) + total
        running.stop()
        running.start("commit")
        began = time.perf_counter()
        running.until_applied(sum(feed.offset.values()))
        spine = time.perf_counter() - began
        running.until_applied(entries)
        decided = time.perf_counter() - began - spine
        running.stop()
    row.figure("decided", rate, "proposals/s")
    row.figure("epochs", rate / size, "epochs/s")
    row.at_least("decided", 5_500)
    row.figure("commit worker alone, episodes", sum(feed.offset.values()) / spine, "records/s")
    if decided > 0.2:
        row.figure("commit worker alone, decisions", total * size / decided, "proposals/s")
    row.compare("decided", "one core verifying Ed25519 signatures of 16 KB messages", verifications(16_000), "1/s")
    row.series["CPU ms per epoch"] = {n: round(s / (total - warmed) * 1e3, 2) for n, s in used.items()}
    row.note(f"{total} epochs; decided is q matching commits in the log, the commit worker is not running meanwhile")
    return row


class _Commits:
    """Counts decisions as they stand in the log: q commits of one sequence. For timing; proves nothing."""

    def __init__(self, running: Parts) -> None:
        self.decided = dict.fromkeys(range(running.genesis.shards), 0)
        self._parts, self._said = running, dict[tuple[int, int], set[int]]()
        self._consumer = loop.consumer(running.bootstrap)
        loop.assign(self._consumer, {(topics.COMMITS, shard): None for shard in self.decided})

    def read(self, seconds: float) -> int:
        """Reads what is there; how many were decided by it."""
        found = 0
        for message in loop.records(self._consumer, 500, seconds):
            data = message.value() or b""
            _, commit = read_signed(self._parts.codec, self._parts.genesis, data, Commit)
            said = self._said.setdefault((commit.shard, commit.seq), set())
            if commit.member not in said:
                said.add(commit.member)
                if len(said) == self._parts.genesis.quorum:
                    self.decided[commit.shard] += 1
                    found += 1
        return found

    def close(self) -> None:
        self._consumer.close()
