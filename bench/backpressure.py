"""Publishes at five times what the line can take, and sees that it bears it.

First the capacity, measured over a backlog; then ten minutes, or `--minutes`, of publishing at five times that; then
nothing until the backlog is gone, which takes about four times as long again. Every few seconds the resident memory of
every process and the lag that it shows at /metrics are noted. Then the sums: every episode has one outcome, none was
refused.
"""

from __future__ import annotations

import threading
import time
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count

import psycopg

from bench import kept, page
from bench.ingest import STORE_ALL, outcomes, publish, wait
from bench.kept import Outcome, Row
from bench.parts import AGENTS, WHOLE, Parts, parts
from bench.texts import sentences
from infra.status import scrapes
from memquorum import topics
from memquorum.core.records import EpisodeRecorded
from memquorum.telemetry import metrics
from workers.kafka import loop

TIMES = 5
_STORES = ("postgres", "kafka")
_LOOK_S = 5.0


@dataclass
class Course:
    """The figures of every few seconds, from the first publication on."""

    began: float = field(default_factory=time.monotonic)
    at: list[float] = field(default_factory=list)
    mib: list[dict[str, float]] = field(default_factory=list)
    lag: list[int] = field(default_factory=list)
    published: list[int] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)

    def look(self, running: Parts, connection: psycopg.Connection, published: int) -> None:
        """Notes how it is now."""
        running.check()
        self.at.append(round(time.monotonic() - self.began, 1))
        self.mib.append({name: round(mib, 1) for name, mib in running.memory_mib().items()})
        self.lag.append(lag(running))
        self.published.append(published)
        self.stored.append(outcomes(connection))
        worst = max((n for n in self.mib[-1] if n not in _STORES), key=lambda n: self.mib[-1][n])
        print(
            f"  {self.at[-1]:7.0f} s: {published:8,} published, {self.stored[-1]:8,} stored, lag {self.lag[-1]:8,}; "
            f"{worst} {self.mib[-1][worst]:.0f} MiB, most of the line's processes", flush=True,
        )  # fmt: skip


def lag(running: Parts) -> int:
    """Returns the backlog that the processes report, intake's and salience's sources together."""
    found = scrapes(running.settings)
    return int(sum(s.total(metrics.LAG.name, stage=stage) for s in found.values() for stage in ("intake", "salience")))


def measure(minutes: float, capacity_texts: int) -> Row:
    """The row; prints its course meanwhile."""
    row = Row("backpressure", f"{minutes:g} minutes of publishing at {TIMES} times the capacity")
    with parts(*WHOLE, policy=STORE_ALL) as running, running.reader() as connection:
        publish(running, "warm", sentences(200, 9))
        wait(running, 200)
        began = time.perf_counter()
        publish(running, "capacity", sentences(capacity_texts, 8))
        wait(running, 200 + capacity_texts)
        capacity = capacity_texts / (time.perf_counter() - began)
        print(f"capacity {capacity:.0f} episodes/s; the flood takes {minutes:g} minutes, and to drain it some "
              f"{minutes * (TIMES - 1):.0f} more", flush=True)  # fmt: skip
        course = Course()
        course.look(running, connection, 0)
        flooding = _Flood(running, TIMES * capacity, minutes * 60)
        flooding.start()
        while flooding.is_alive():
            flooding.join(_LOOK_S)
            course.look(running, connection, flooding.published)
        ended, flooded = time.monotonic(), len(course.at)
        pause = _LOOK_S
        while course.stored[-1] < course.stored[0] + flooding.published:
            time.sleep(pause)
            course.look(running, connection, flooding.published)
            pause = min(30.0, pause * 1.1)
        drained = time.monotonic() - ended
        while lag(running) and time.monotonic() - ended < drained + 60:
            time.sleep(1)
        course.look(running, connection, flooding.published)
        _tell(row, running, course, flooding, flooded=flooded, capacity=capacity, drained=drained)
    return row


class _Flood(threading.Thread):
    """Publishes evenly at a rate, for a time. `published`: what the broker has confirmed."""

    def __init__(self, running: Parts, rate: float, seconds: float) -> None:
        super().__init__(daemon=True)
        self.published = 0
        self.failed = 0
        self._parts, self._rate, self._seconds = running, rate, seconds

    def run(self) -> None:
        producer = loop.producer(self._parts.bootstrap, linger_ms=20)
        records = self._records()
        began = time.monotonic()
        sent = 0
        while (elapsed := time.monotonic() - began) < self._seconds:
            while sent < elapsed * self._rate:
                key, value = next(records)
                try:
                    producer.produce(topics.EPISODES, value, key, on_delivery=self._confirmed)
                except BufferError:
                    producer.poll(0.05)
                    continue
                sent += 1
            producer.poll(0.02)
        assert producer.flush(60) == 0

    def _confirmed(self, error: object, _: object) -> None:
        if error is None:
            self.published += 1
        else:
            self.failed += 1

    def _records(self) -> Iterator[tuple[bytes, bytes]]:
        agents = list(AGENTS)
        for block in count():
            for i, text in enumerate(sentences(1_000, 10_000 + block)):
                namespace = f"ns-{i % 8}"
                record = EpisodeRecorded(
                    agent=agents[i % 4], content=text, namespace=namespace, event_id=f"flood-{block}-{i}",
                    occurred_at=time.time_ns() // 1_000_000,
                )  # fmt: skip
                yield namespace.encode(), self._parts.codec.encode(record)


def _tell(
    row: Row, running: Parts, course: Course, flood: _Flood, *, flooded: int, capacity: float, drained: float
) -> None:
    """`flooded`: how many looks were taken while it was published."""
    with running.reader() as connection:
        ends = dict(connection.execute("SELECT outcome, count(*) FROM event GROUP BY outcome").fetchall())
    row.figure("capacity", capacity, "episodes/s")
    row.figure("published", flood.published, "episodes")
    row.figure("published, rate", flood.published / course.at[flooded - 1], "episodes/s")
    row.figure("drained after", drained, "s")
    row.figure("largest lag shown", max(course.lag), "records")
    row.figure("lag shown at the end", course.lag[-1], "records")
    row.figure("not stored", flood.published - (course.stored[-1] - course.stored[0]), "episodes")
    row.figure("refused", _end(running, topics.REFUSED), "records")
    row.figure("failed to publish", flood.failed, "episodes")
    for name in ("not stored", "refused", "failed to publish", "lag shown at the end"):
        row.at_most(name, 0)
    half = flooded // 2
    growth = {}
    for name in course.mib[0]:
        row.figure(f"{name}: most", max(m[name] for m in course.mib), "MiB")
        # Buffers fill in the first half; what still grows in the second, while four fifths of it wait, is unbounded.
        growth[name] = max(m[name] for m in course.mib[half:]) - max(m[name] for m in course.mib[:half])
    worst = max((name for name in growth if name not in _STORES), key=lambda name: growth[name])
    row.figure("most growth after the first half of the flood", growth[worst], "MiB")
    row.at_most("most growth after the first half of the flood", 32)
    row.compare("published, rate", "the capacity", capacity, "episodes/s")
    row.note(f"outcomes {ends}; most growth is {worst}'s. Postgres is the store, and the broker's heap ends at 512 MiB")
    row.series = {"s": course.at, "MiB": course.mib, "lag": course.lag, "published": course.published,
                  "stored": [n - course.stored[0] for n in course.stored], "flooded": flooded}  # fmt: skip


def _end(running: Parts, topic: str) -> int:
    """Records that a topic holds, over all partitions."""
    client = loop.consumer(running.bootstrap)
    ends = loop.ends(client, ((topic, shard) for shard in range(running.genesis.shards)))
    client.close()
    return sum(ends.values())


def run(given: Namespace) -> Outcome:
    """Measures; 1 where a goal is not met."""
    minutes = given.minutes or (0.5 if given.quick else 10.0)
    begun = kept.begin()
    quick = minutes < 10
    began = time.perf_counter()
    row = measure(minutes, 400 if minutes < 1 else 3_000)
    row.seconds = round(time.perf_counter() - began, 1)
    print("\n" + "\n".join(row.lines()))
    print(f"\nkept as {kept.write([row], begun, quick=quick).relative_to(kept.ROOT)}")
    if not quick:
        page.draw()
    return Outcome([row], 0 if all(goal.met for goal in row.goals) else 1)
