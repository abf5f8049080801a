"""The time without decisions in a shard after its primary is killed."""

from __future__ import annotations

import os
import signal
import time

from bench.epochs import LATE, POLICY, until_decided
from bench.feed import Feed
from bench.kept import Row
from bench.parts import REPLICAS, Parts, parts
from bench.reference import quantile
from memquorum import topics
from memquorum.core.identity.messages import read_signed
from memquorum.core.records import PrePrepare
from workers.kafka import loop

_SIZE = 16


def measure(quick: bool) -> Row:
    """kill -9 of the primary, then a nomination: until its epoch is applied. Before each try all replicas are up."""
    row = Row("recovery", "the primary killed with -9 before an epoch of 16, nomination to applied, default timers")
    tries = 3 if quick else 12
    with parts(policy=POLICY) as running:
        feed = Feed(running)
        feed.episodes(0, 2 * tries * _SIZE)
        tick = feed.tick(0, LATE)
        feed.flush()
        taken, usual = [], []
        with running.reader() as connection:
            for attempt in range(tries):
                running.start(*REPLICAS, "commit")
                for epoch, times in ((2 * attempt + 1, usual), (2 * attempt + 2, taken)):
                    if times is taken:
                        os.kill(running.pids()[f"replica-{primary(running)}"], signal.SIGKILL)
                    began = time.perf_counter()
                    feed.nominate(0, epoch, LATE, tick, feed.memories[0][(epoch - 1) * _SIZE : epoch * _SIZE])
                    until_decided(connection, epoch)
                    times.append((time.perf_counter() - began) * 1000)
                running.stop(died=True)
        feed.close()
    row.figure("p50", quantile(taken, 0.5), "ms")
    row.figure("largest", max(taken), "ms")
    row.at_most("p50", 1_500)
    row.compare("p50", "the same epoch with the primary alive", quantile(usual, 0.5), "ms")
    row.series["ms"] = [round(t, 1) for t in taken]
    row.note("1.25 s of it are the time that a primary is given: 0.25 s for the last ballots and 1 s to propose")
    return row


def primary(running: Parts) -> int:
    """Returns the last proposer in shard 0."""
    consumer = loop.consumer(running.bootstrap, **{"enable.partition.eof": True})
    loop.assign(consumer, {(topics.PRE_PREPARES, 0): 0})
    ended: set[tuple[str, int]] = set()
    member = 0
    while not ended:
        for message in loop.records(consumer, 100, 0.2, ended):
            member = read_signed(running.codec, running.genesis, message.value() or b"", PrePrepare)[1].member
    consumer.close()
    return member
