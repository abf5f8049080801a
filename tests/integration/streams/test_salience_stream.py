"""The salience stage on a real Kafka: order, repetitions, outages, poison, and a kill that loses nothing."""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest
from confluent_kafka import Message
from confluent_kafka.admin import AdminClient
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import ids, sealing
from memquorum.core.avro import Codec
from memquorum.core.policy import Policy
from memquorum.core.records import ClockTicked, EpisodeAccepted, EpisodeScored
from memquorum.encoders.hashing import HashingEncoder
from memquorum.ports import VaultUnavailable
from streams import faust_app, salience_stage
from tests import ROOT
from tests.conftest import SHARDS
from tests.inmemory.store import InMemoryNeighbourhoods, InMemoryStore
from tests.support import salience_worker
from tests.support.salience_worker import KeysByName
from tests.support.waiting import PATIENCE_S
from workers.kafka import loop

NOW = 1_700_000_000_000
NAMESPACES = {
    shard: next(n for n in map(str, itertools.count()) if ids.shard_of(n, SHARDS) == shard) for shard in range(4)
}


def accepted(codec: Codec, shard: int, event: str, text: str, **changes: object) -> bytes:
    namespace = NAMESPACES[shard]
    memory_id = ids.memory_id(namespace, event)
    key = KeysByName().open([memory_id])[memory_id]
    record = EpisodeAccepted(
        event_id=event, memory_id=memory_id, namespace=namespace, agent="ann", subject="ann", occurred_at=NOW,
        sealed_content=sealing.seal_text(key, os.urandom(12), text, memory_id), commitment=b"c", characters=len(text),
        origin_topic=topics.EPISODES, origin_partition=0, origin_offset=0,
    )  # fmt: skip
    return codec.encode(replace(record, **changes))  # type: ignore[arg-type]


def produce(bootstrap: str, records: Sequence[tuple[int, bytes]]) -> None:
    client = loop.producer(bootstrap)
    for shard, value in records:
        client.produce(topics.ACCEPTED, value, partition=shard, headers=[("traceparent", b"00-trace")])
        client.poll(0)
    assert client.flush(10) == 0


@contextmanager
def reading(bootstrap: str) -> Iterator[Iterator[Message]]:
    """Yields the records of the scored topic, from its beginning; fails where none comes."""
    client = loop.consumer(bootstrap)
    loop.assign(client, {(topics.SCORED, shard): None for shard in range(SHARDS)})

    def messages() -> Iterator[Message]:
        idle = time.monotonic()
        while time.monotonic() - idle < PATIENCE_S:
            for message in loop.records(client, 100, 1):
                idle = time.monotonic()
                yield message
        pytest.fail("nothing was scored")

    try:
        yield messages()
    finally:
        client.close()


class Ledger:
    """Reads outcomes as the commit worker does: what is not beyond the last seen offset of its shard is a duplicate."""

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self.outcomes: dict[int, list[EpisodeScored]] = {shard: [] for shard in range(SHARDS)}
        self.duplicates = 0

    def take(self, message: Message) -> None:
        shard = message.partition()
        scored = self.codec.decode_as(EpisodeScored, message.value() or b"")
        assert shard is not None
        known = self.outcomes[shard]
        if known and scored.accepted_offset <= known[-1].accepted_offset:
            self.duplicates += 1
        else:
            known.append(scored)

    @property
    def count(self) -> int:
        return sum(map(len, self.outcomes.values()))


def start(bootstrap: str, group: str, folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "tests.support.salience_worker", bootstrap, group, str(folder)]
    return subprocess.Popen(command, cwd=ROOT)


def test_a_kill_loses_nothing_and_a_stop_is_quick(fresh_kafka: str, tmp_path: Path, codec: Codec) -> None:
    group = f"test-salience-{uuid.uuid4()}"
    size = 200  # a shard
    produce(
        fresh_kafka,
        [
            # Every tenth record of a shard is a tick: it has no outcome.
            (
                s,
                codec.encode(ClockTicked(f"t{n}", NOW))
                if n % 10 == 9
                else accepted(codec, s, f"e{n}", f"Case {n * 7919}."),
            )
            for n in range(size)
            for s in range(SHARDS)
        ],
    )
    offsets = [n for n in range(size) if n % 10 != 9]
    ledger, worker = Ledger(codec), start(fresh_kafka, group, tmp_path)
    try:
        with reading(fresh_kafka) as messages:
            while ledger.count < 300:
                ledger.take(next(messages))
            # Into the middle of the next batch: whatever was acknowledged too early is committed by now.
            time.sleep(salience_worker.BATCH_S / 2)
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            assert ledger.count < len(offsets) * SHARDS, "killed too late to prove anything"
            worker = start(fresh_kafka, group, tmp_path)
            while ledger.count < len(offsets) * SHARDS:
                ledger.take(next(messages))
        for outcomes in ledger.outcomes.values():
            assert [o.accepted_offset for o in outcomes] == offsets
        asked = time.monotonic()
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(timeout=PATIENCE_S) == 0
        assert time.monotonic() - asked < 5
    finally:
        worker.kill()
        worker.wait()
    # Faust has declared nothing of its own.
    names = AdminClient({"bootstrap.servers": fresh_kafka, "log_level": 0}).list_topics(timeout=10).topics
    assert {name for name in names if not name.startswith("__consumer")} == set(topics.ALL)


def test_a_stop_amid_a_flood_is_quick_and_nothing_is_scored_twice(
    fresh_kafka: str, tmp_path: Path, codec: Codec
) -> None:
    group, size = f"test-salience-{uuid.uuid4()}", 300  # a shard
    flood = [(s, accepted(codec, s, f"e{n}", f"Case {n * 7919}.")) for n in range(size) for s in range(SHARDS)]
    produce(fresh_kafka, flood)
    ledger, worker = Ledger(codec), start(fresh_kafka, group, tmp_path)
    try:
        with reading(fresh_kafka) as messages:
            while ledger.count < 100:
                ledger.take(next(messages))
            asked = time.monotonic()
            worker.send_signal(signal.SIGTERM)
            assert worker.wait(timeout=PATIENCE_S) == 0
            assert time.monotonic() - asked < 5
            worker = start(fresh_kafka, group, tmp_path)
            while ledger.count < size * SHARDS:
                ledger.take(next(messages))
        for outcomes in ledger.outcomes.values():
            assert [o.accepted_offset for o in outcomes] == list(range(size))
        assert ledger.duplicates == 0
    finally:
        worker.kill()
        worker.wait()


@asynccontextmanager
async def running(bootstrap: str, folder: Path, codec: Codec, vault: KeysByName) -> AsyncIterator[None]:
    app = faust_app.create(bootstrap, folder, SHARDS, f"test-salience-{uuid.uuid4()}")
    near = InMemoryNeighbourhoods(InMemoryStore())
    stage = salience_stage.Salience(codec, Policy(), encoder=HashingEncoder(), vault=vault, neighbourhoods=near)
    salience_stage.attach(app, stage)
    app.finalize()
    await app.start()
    try:
        yield
    finally:
        await app.stop()


async def first(bootstrap: str, count: int) -> list[Message]:
    """The first outcomes that were written."""

    def read() -> list[Message]:
        with reading(bootstrap) as messages:
            return list(itertools.islice(messages, count))

    return await asyncio.to_thread(read)


async def test_outcomes_past_repetitions_erasure_and_poison(fresh_kafka: str, tmp_path: Path, codec: Codec) -> None:
    vault = KeysByName(gone=[ids.memory_id(NAMESPACES[2], "erased")])
    records = [
        accepted(codec, 2, "a", "The valve of line 3 is stuck again.", reward_ppm=600_000),
        b"\xc3\x01 no record",
        accepted(codec, 2, "b", "The valve of line 4 is stuck again.", reward_ppm=900_000),
        accepted(codec, 2, "c", "The valve of line 3 is stuck again"),
        accepted(codec, 2, "erased", "Gone before it was read."),
        accepted(codec, 2, "bad", "x", sealed_content=b"0" * 40),
        accepted(codec, 2, "d", "Quite another matter: the greenhouse roof."),
    ]
    async with running(fresh_kafka, tmp_path, codec, vault):
        produce(fresh_kafka, [(2, record) for record in records])
        messages = await first(fresh_kafka, 6)
    found = [codec.decode_as(EpisodeScored, message.value() or b"") for message in messages]
    assert [(o.event_id, o.accepted_offset, o.outcome) for o in found] == [
        ("a", 0, "stored"),
        ("b", 2, "stored"),
        ("c", 3, "reinforced"),
        ("erased", 4, "unreadable"),
        ("bad", 5, "unreadable"),
        ("d", 6, "stored"),
    ]
    assert found[2].reinforces == ids.memory_id(NAMESPACES[2], "a")
    assert [found[3].encoder, found[4].encoder] == ["none: key destroyed", "none: SealError"]
    assert {message.partition() for message in messages} == {2}
    assert messages[0].key() == NAMESPACES[2].encode()
    assert dict(messages[0].headers() or []) == {
        "ce_specversion": b"1.0",
        "ce_id": b"scored/2/0",
        "ce_type": b"EpisodeScored",
        "ce_source": b"memquorum/salience",
        "content-type": b"application/avro",
        "traceparent": b"00-trace",
    }


class Away(KeysByName):
    """A vault that cannot be reached for its first three calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def open(self, memory_ids: object) -> dict[str, bytes]:
        self.calls += 1
        if self.calls <= 3:
            raise VaultUnavailable("away")
        return super().open(memory_ids)  # type: ignore[arg-type]


async def test_an_outage_of_the_vault_delays_and_loses_nothing(fresh_kafka: str, tmp_path: Path, codec: Codec) -> None:
    vault = Away()
    async with running(fresh_kafka, tmp_path, codec, vault):
        produce(fresh_kafka, [(0, accepted(codec, 0, f"e{n}", f"Matter number {n * 7919}.")) for n in range(5)])
        messages = await first(fresh_kafka, 5)
    found = [codec.decode_as(EpisodeScored, message.value() or b"") for message in messages]
    assert [o.accepted_offset for o in found] == [0, 1, 2, 3, 4]
    assert {o.encoder for o in found} == {"hashing-384/1"}
    assert vault.calls > 3
