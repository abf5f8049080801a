"""Lets a single broker stand still for longer than its session, while clients look for their brokers as it wakes.

    python -m tests.faults.fenced_broker [--clients 24] [--rounds 12] [--plain]

In some rounds the broker, fenced until it registers again, names no brokers. Clients of librdkafka 2.10 and later then
drop the one they knew: they poll, report nothing, and get no partitions any more. `--plain` shows just that. Without it
each is a client of `workers.kafka.reach`, which ends itself with BrokersLost; the next client in its place works.
Prints for each round how many had no partitions 15 s after the broker woke; exits with 1 if there were any.
Loaded cores make the moment longer: beside two busy processes the third round mostly shows it.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import confluent_kafka
from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from infra import topic_files
from infra.embedded.kafka_broker import Kafka
from memquorum import topics as names
from workers.kafka import loop
from workers.kafka.reach import BrokersLost, ReachingConsumer

LIMIT_S = 15.0
_SILENT = logging.Logger("librdkafka", level=logging.CRITICAL + 1)


class Member(threading.Thread):
    """A group of one static member, as intake is, which begins again when its client fails."""

    def __init__(self, make: Callable[[], Consumer]) -> None:
        super().__init__(daemon=True)
        self._make, self.placed, self.ended, self.why = make, threading.Event(), threading.Event(), Counter[str]()

    def run(self) -> None:
        """Reads until told to end."""
        while not self.ended.is_set():
            client = self._make()
            client.subscribe(list(names.FROM_AGENTS), on_assign=self._given, on_revoke=self._taken)
            try:
                while not self.ended.is_set():
                    loop.records(client, 500, 0.2)
            except (KafkaException, BrokersLost) as error:
                self.why[_named(error)] += 1
            except BaseException as error:  # confluent-kafka raises a bare KafkaError out of its callbacks
                self.why[type(error).__name__] += 1
            self.placed.clear()
            try:
                client.close()
            except BaseException as error:
                self.why[f"close: {type(error).__name__}"] += 1

    def _given(self, _: Consumer, __: list[TopicPartition]) -> None:
        self.placed.set()

    def _taken(self, _: Consumer, __: list[TopicPartition]) -> None:
        self.placed.clear()


def _named(error: Exception) -> str:
    told = error.args[0]
    return told.name() if isinstance(told, KafkaError) else type(error).__name__


def main() -> int:
    """Prints what became of the clients in each round."""
    parser = argparse.ArgumentParser(description="Freezes a broker until it is fenced; see who finds it again.")
    parser.add_argument("--clients", type=int, default=24)
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--plain", action="store_true", help="clients that do not notice")
    args = parser.parse_args()
    kind = Consumer if args.plain else ReachingConsumer
    print(f"librdkafka {confluent_kafka.libversion()[0]}, {kind.__name__}, {args.clients} clients", flush=True)
    with tempfile.TemporaryDirectory() as folder, Kafka(Path(folder)) as kafka:
        topic_files.ensure(kafka.bootstrap, 4)
        settings = {
            **{"bootstrap.servers": kafka.bootstrap, "auto.offset.reset": "earliest", "enable.auto.commit": False},
            **{"session.timeout.ms": 6000, "socket.timeout.ms": 4000, "group.instance.id": "one", "logger": _SILENT},
            **{"reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 500},
        }
        members = [Member(lambda i=i: kind({**settings, "group.id": f"group-{i}"})) for i in range(args.clients)]
        for member in members:
            member.start()
        lost = sum(_round(kafka, members, number, args.seed) for number in range(args.rounds) if _begun(members))
        for member in members:
            member.ended.set()
    print("ends:", dict(sum((member.why for member in members), Counter())))
    return 1 if lost else 0


def _begun(members: list[Member]) -> bool:
    if _all(members, 30):
        return True
    print("not begun:", sum(not member.placed.is_set() for member in members), "clients have no partitions after 30 s")
    return False


def _all(members: list[Member], within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    return all(member.placed.wait(max(0.0, deadline - time.monotonic())) for member in members)


def _round(kafka: Kafka, members: list[Member], number: int, seed: int) -> int:
    still_s = random.Random(f"{seed}/{number}").choice([6, 7, 7, 8, 8, 9])
    assert kafka.process is not None
    kafka.process.send_signal(signal.SIGSTOP)
    time.sleep(still_s)
    kafka.process.send_signal(signal.SIGCONT)
    woke = time.monotonic()
    time.sleep(2)  # partitions are taken away only when the group hears of it
    _all(members, LIMIT_S - 2)
    away = sum(not member.placed.is_set() for member in members)
    print(
        f"round {number}: still for {still_s} s, without partitions {time.monotonic() - woke:.1f} s after: {away}, "
        f"load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    return away


if __name__ == "__main__":
    sys.exit(main())
