"""Load beside a test or a measurement: in a thread, and in transactions of agents."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from confluent_kafka import Producer


@contextmanager
def beside(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """Runs work in a thread during the block. The work ends once the event that it is given is set."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextmanager
def transactions(
    kafka: str,
    topic: str,
    partitions: int,
    how: str,
    value: bytes = b"{}",
) -> Iterator[None]:
    """Runs a transaction with a record in each partition of a topic: "committed", "aborted", or left open for the
    duration, for as long as brokers allow at most.
    """
    opened = list[Producer]()
    try:
        for partition in range(partitions):
            producer = Producer({
                "bootstrap.servers": kafka, "transactional.id": f"{topic}/{partition}/{time.time_ns()}",
                "transaction.timeout.ms": 60_000, "log_level": 0,
            })  # fmt: skip
            producer.init_transactions(30)
            producer.begin_transaction()
            opened.append(producer)
            producer.produce(topic, value, partition=partition)
            assert producer.flush(10) == 0
            if how != "open":
                opened.remove(producer)
                (producer.commit_transaction if how == "committed" else producer.abort_transaction)(30)
                producer.close()
        yield
    finally:
        for producer in opened:
            producer.abort_transaction(30)
            producer.close()
