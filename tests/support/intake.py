"""Intake on a real broker and a real vault: publishes to the outside topics, and reads its output."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Message

from db.vault import PostgresVault
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Writer
from memquorum.core.quota import Plan
from tests.builders import erasures, genesis
from tests.support.waiting import PATIENCE_S
from workers.intake.registry import Registry
from workers.intake.worker import Clock, run
from workers.kafka import loop

START = 1_750_000_000_000
MASTER = bytes(range(32))
SHARDS = 4
GENESIS = genesis.make(
    shards=SHARDS,
    agent_keys={"planner": genesis.public_key("agent:planner")},
    services=erasures.entitled()["services"],
)


class Line:
    """Publishes to the outside topics and reads what intake makes of it."""

    def __init__(self, bootstrap: str, codec: Codec, vault: PostgresVault, made: Genesis = GENESIS) -> None:
        self.bootstrap, self.codec, self.vault, self.genesis = bootstrap, codec, vault, made
        self.producer = loop.producer(bootstrap)
        self.reader = loop.consumer(bootstrap)
        written = (topics.ACCEPTED, topics.REFUSED, topics.ASKED, topics.CLOSED)
        loop.assign(self.reader, {(t, p): None for t in written for p in range(SHARDS)})
        self.messages: list[Message] = []

    def publish(self, topic: str, *values: Any, headers: Any = None, partition: int = 0) -> None:
        for value in values:
            data = value if isinstance(value, bytes) else json.dumps(value).encode()
            self.producer.produce(topic, data, partition=partition, headers=headers)
        assert self.producer.flush(10) == 0

    def until(self, enough: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not enough():
            assert time.monotonic() < deadline, f"only {[type(r).__name__ for r in self.all()]}"
            self.messages += loop.records(self.reader, 100, 0.2)

    def all(self, topic: str | None = None) -> list[Any]:
        return [self.codec.decode(m.value() or b"") for m in self.messages if topic in (None, m.topic())]

    def of(self, kind: type) -> list[Any]:
        return [record for record in self.all() if isinstance(record, kind)]

    @contextmanager
    def intake(
        self,
        clock: Clock = "driven",
        *,
        tick_ms: int = 1000,
        stamps: Writer | None = None,
        limits: Plan | None = None,
        queries_ms: int = 3_600_000,
        registry: Registry | None = None,
    ) -> Iterator[None]:
        stop, failed = loop.Stop(), []

        def work() -> None:
            try:
                run(
                    self.bootstrap,
                    self.genesis,
                    self.codec,
                    self.vault,
                    clock=clock,
                    tick_ms=tick_ms,
                    stamps=stamps,
                    stop=stop,
                    limits=limits,
                    queries_ms=queries_ms,
                    registry=registry,
                )
            except BaseException as error:
                failed.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join(PATIENCE_S)
            assert not thread.is_alive(), "intake did not stop"
            assert not failed, failed

    def close(self) -> None:
        self.reader.close()
        self.vault.close()
