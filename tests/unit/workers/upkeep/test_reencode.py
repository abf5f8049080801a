"""Encoding anew where a part stands still: it ends when it is told to, and counts what was taken."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from db.encodings import Encoded, Waiting
from memquorum.core.avro import Codec
from memquorum.encoders.hashing import HashingEncoder
from tests.builders.shard import NAMESPACE, memory_id
from tests.inmemory.store import InMemoryVault
from workers.kafka import loop
from workers.upkeep import reencode

COUNT = 3
MEMORIES = [Encoded(memory_id(f"e{i}"), 0, NAMESPACE, "old/1", 1, f"text {i}") for i in range(COUNT)]


class Store:
    """Three memories; of what waits, `left` are not taken. `asked`: somebody waits. `most`: so many
    were asked for at once."""

    def __init__(self, left: int) -> None:
        self.left, self.asked, self.most = left, threading.Event(), 0

    def count(self, _: str) -> int:
        return self.left

    def others(self, _: str, after: str | None, most: int) -> list[Encoded]:
        self.most = most
        return MEMORIES if after is None else []

    def waiting(self, _: str, memories: Sequence[Encoded]) -> Waiting:
        assert list(memories) == MEMORIES
        self.asked.set()
        return Waiting(self.left, self.left)

    def close(self) -> None:
        pass


class Producer:
    """Takes what it is given; delivers it if `delivers`. `flushing`: somebody waits for it."""

    def __init__(self, delivers: bool) -> None:
        self._delivers, self._held, self.flushing = delivers, 0, threading.Event()

    def produce(self, *_: object, **__: object) -> None:
        self._held += not self._delivers

    def flush(self, seconds: float | None = None) -> int:
        self.flushing.set()
        threading.Event().wait(seconds if self._held else 0)
        return self._held

    def purge(self) -> None:
        self._held = 0

    def close(self) -> None:
        assert self.flush() == 0


def stopped(store: Store, producer: Producer, codec: Codec, patch: pytest.MonkeyPatch, at: threading.Event) -> int:
    """Runs, and stops it at that; what it says it has done."""
    vault, stop, reports = InMemoryVault(), loop.Stop(), list[reencode.ReencodeResult]()
    vault.create([(memory.memory_id, NAMESPACE, "planner") for memory in MEMORIES])
    patch.setattr(reencode, "Encodings", lambda _: store)
    patch.setattr(loop, "producer", lambda _: producer)

    def work() -> None:
        reports.append(reencode.run("", codec, memory_dsn="", vault=vault, encoder=HashingEncoder(), stop=stop))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert at.wait(5)
    stop.set()
    thread.join(5)
    assert not thread.is_alive()
    return reports[0].done


def test_it_ends_while_kafka_takes_nothing(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    producer = Producer(delivers=False)
    assert stopped(Store(COUNT), producer, codec, monkeypatch, producer.flushing) == 0


def test_of_a_batch_that_was_not_waited_for_only_what_was_taken_is_done(
    codec: Codec, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(left=COUNT - 1)
    assert stopped(store, Producer(delivers=True), codec, monkeypatch, store.asked) == 1


def test_as_many_are_encoded_at_once_as_keep_the_encoder_busy(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HashingEncoder, "batch", 4_096)
    store = Store(left=COUNT)
    stopped(store, Producer(delivers=True), codec, monkeypatch, store.asked)
    assert store.most == 4_096
