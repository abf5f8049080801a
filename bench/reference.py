"""The bare thing, in the same go: what a row's figures are divided by."""

from __future__ import annotations

import time
from collections.abc import Callable

import psycopg
from nacl.signing import SigningKey

from bench.parts import Parts
from memquorum import topics
from workers.kafka import loop


def quantile(values: list[float], q: float) -> float:
    """The q-quantile, of sorted or unsorted values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * q))]


def round_trip_ms(parts: Parts, size: int = 400, tries: int = 300) -> float:
    """Median of produce → consume of one record by the line's own client settings, in milliseconds.

    On the topic of heads, whose partition 0 nobody reads in these rows.
    """
    producer, consumer = loop.producer(parts.bootstrap), loop.consumer(parts.bootstrap)
    place = (topics.HEADS, 0)
    loop.assign(consumer, {place: loop.ends(consumer, iter([place]))[place]})
    taken = []
    for _ in range(tries):
        began = time.perf_counter()
        producer.produce(topics.HEADS, bytes(size), partition=0)
        producer.poll(0)
        while not loop.records(consumer, 10, 1.0):
            pass
        taken.append((time.perf_counter() - began) * 1000)
    consumer.close()
    producer.close()
    return quantile(taken[tries // 5 :], 0.5)


def verifications(size: int = 400, seconds: float = 1.0) -> float:
    """Ed25519 signatures that one core verifies in a second, of messages of so many bytes."""
    key = SigningKey(bytes(32))
    signed = key.sign(bytes(size))
    return _rate(lambda: key.verify_key.verify(signed), seconds)


def copied(dsn: str, rows: int = 50_000, size: int = 700) -> float:
    """Rows a second that one COPY brings into a bare table, flushed, `size` bytes each: about a memory."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE bench_copy (id bigint PRIMARY KEY, body bytea NOT NULL)")
        body = bytes(size)
        began = time.perf_counter()
        with connection.cursor().copy("COPY bench_copy (id, body) FROM STDIN") as copy:
            for i in range(rows):
                copy.write_row((i, body))
        taken = time.perf_counter() - began
        connection.execute("DROP TABLE bench_copy")
    return rows / taken


def _rate(call: Callable[[], object], seconds: float) -> float:
    done, began = 0, time.perf_counter()
    while time.perf_counter() - began < seconds:
        for _ in range(100):
            call()
        done += 100
    return done / (time.perf_counter() - began)
