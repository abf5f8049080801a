"""A store encoded anew on a real broker and a real Postgres, while the commit worker works; stopped, gone on with."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from db.migrate import migrate
from db.reads import Reads
from db.vault import PostgresVault
from infra.embedded.postgres import Postgres
from memquorum import topics
from memquorum.core import sealing
from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.core.ids import memory_id
from memquorum.core.records import MemoryReencoded
from memquorum.encoders.hashing import HashingEncoder
from memquorum.encoders.multilingual import MultilingualEncoder
from memquorum.encoders.onnx import OnnxEncoder
from tests.support.commit_process import GENESIS, MASTER
from tests.support.flow import Flow
from tests.support.installed import NO_MULTILINGUAL
from tests.support.watch import Worker, await_seq, check_journal, rows
from workers.audit.auditor import verify
from workers.kafka.loop import Stop, headers, producer
from workers.rebuild.worker import compare, rebuild
from workers.upkeep import reencode
from workers.upkeep.reencode import Progress, ReencodeResult, Stalled

SHARDS = (0, 2)
COUNT = 40


@pytest.fixture
def vault(databases: tuple[str, str]) -> PostgresVault:
    return PostgresVault(databases[1], MASTER)


@pytest.fixture
def flow(fresh_kafka: str, codec: Codec, vault: PostgresVault) -> Flow:
    return Flow(fresh_kafka, codec, GENESIS, vault)


@pytest.fixture
def stored(flow: Flow, databases: tuple[str, str]) -> Flow:
    """Eighty memories on two shards by an encoder named `random`."""
    with Worker(flow.bootstrap, flow.codec, databases):
        for shard in SHARDS:
            flow.episodes(shard, [f"e{i}" for i in range(COUNT)])
        flow.flush()
        for shard in SHARDS:
            await_seq(databases, shard, COUNT)
    return flow


class Encoder(HashingEncoder):
    """Refuses a text that holds `poison`. Takes small batches, of which there are several."""

    poison = "\0"
    batch = 16

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if any(self.poison in text for text in texts):
            raise FloatingPointError("not this one")
        return super().encode(texts)


ENCODER = Encoder(64)


def run_reencode(flow: Flow, databases: tuple[str, str], **changes: object) -> ReencodeResult:
    arguments: dict[str, object] = {"encoder": ENCODER, "stop": Stop()}
    return reencode.run(
        flow.bootstrap, flow.codec, memory_dsn=databases[0], vault=flow.vault, **(arguments | changes)  # type: ignore[arg-type]
    )  # fmt: skip


def encoders(databases: tuple[str, str]) -> dict[tuple[str, int], int]:
    found = rows(
        databases,
        "SELECT m.encoder, vector_dims(e.vector::vector), count(*) FROM memory m "
        "JOIN embedding e ON e.memory_id = m.id GROUP BY 1, 2",
    )
    return {(name, length): count for name, length, count in found}


@contextmanager
def empty(postgres: Postgres) -> Iterator[str]:
    with psycopg.connect(postgres.dsn("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE reencode_rebuilt")
        try:
            migrate(postgres.dsn("reencode_rebuilt"), "memory")
            yield postgres.dsn("reencode_rebuilt")
        finally:
            connection.execute("DROP DATABASE reencode_rebuilt WITH (FORCE)")


def test_all_are_encoded_anew_and_a_rebuild_is_equal(
    stored: Flow, databases: tuple[str, str], postgres: Postgres, codec: Codec
) -> None:
    told: list[Progress] = []
    with Worker(stored.bootstrap, codec, databases) as worker:
        report = run_reencode(stored, databases, progress=told.append)
        # Life goes on: what was encoded anew is used, forgotten and destroyed as all else.
        shard, namespace = SHARDS[0], stored.namespace(SHARDS[0])
        stored.access(shard, memory_id(namespace, "e1"), 2_000)
        stored.tick(shard, 1_000_000)
        stored.flush()
        await_seq(databases, shard, 2 * COUNT + 2, worker)
        stored.decide(shard, [stored.proposal(shard, "e0", "forget")])
        stored.flush()
        await_seq(databases, shard, 2 * COUNT + 4, worker)
    assert (report.done, report.left, report.failed) == (2 * COUNT, 0, ())
    assert told[-1] == Progress(2 * COUNT, 2 * COUNT)
    assert encoders(databases) == {("hashing-64/1", 64): 2 * COUNT - 1}
    text, vector = rows(
        databases,
        "SELECT c.body, e.vector::text FROM content c JOIN embedding e USING (memory_id) WHERE memory_id = %s",
        memory_id(namespace, "e7"),
    )[0]
    expected = ENCODER.encode([text])[0].astype(np.float16)
    assert np.allclose(np.array(vector.strip("[]").split(","), np.float32), expected, atol=1e-6)
    for shard in SHARDS:
        check_journal(databases, codec, shard)
    assert verify(stored.bootstrap, GENESIS, codec, databases[0]).ok
    with empty(postgres) as rebuilt:
        rebuild(stored.bootstrap, GENESIS, codec, rebuilt, stored.vault)
        assert compare(databases[0], rebuilt).equal
        with psycopg.connect(rebuilt, autocommit=True) as connection:
            connection.execute("UPDATE embedding SET vector = (SELECT vector FROM embedding LIMIT 1)")
        assert not compare(databases[0], rebuilt).equal


@NO_MULTILINGUAL
def test_from_the_default_encoder_to_the_multilingual_one_and_back(
    stored: Flow, databases: tuple[str, str], codec: Codec
) -> None:
    """Vectors of 384 and 512 numbers; the question is in another language than what it asks for."""
    default, multilingual = OnnxEncoder(threads=1), MultilingualEncoder(threads=1)
    namespace = stored.namespace(SHARDS[0])
    with Worker(stored.bootstrap, codec, databases):
        for encoder in (default, multilingual, default):
            report = run_reencode(stored, databases, encoder=encoder)
            assert (report.done, report.left, report.failed) == (2 * COUNT, 0, ())
            assert encoders(databases) == {(encoder.name, encoder.dimensions): 2 * COUNT}
            if encoder is multilingual:
                (asked,) = encoder.encode(["Bei welchem Druck öffnet das Ventil e7?"])
                assert nearest(databases, namespace, encoder.name, asked) == memory_id(namespace, "e7")
    check_journal(databases, codec, SHARDS[0])
    assert verify(stored.bootstrap, GENESIS, codec, databases[0]).ok


def nearest(databases: tuple[str, str], namespace: str, encoder: str, vector: NDArray[np.float32]) -> str:
    async def ask() -> str:
        reads = Reads(databases[0])
        await reads.open()
        try:
            (hit,) = await reads.search(Sight((namespace,)), namespace, encoder, vector, 1)
        finally:
            await reads.close()
        return hit.memory_id

    return asyncio.run(ask())


def test_a_run_that_was_stopped_is_gone_on_with_and_nothing_is_done_twice(
    stored: Flow, databases: tuple[str, str], codec: Codec
) -> None:
    stop = Stop()

    def halt(at: Progress) -> None:
        if at.done:
            stop.set()

    with Worker(stored.bootstrap, codec, databases):
        first = run_reencode(stored, databases, stop=stop, progress=halt)
        assert 0 < first.done < 2 * COUNT and first.left > 0
        second = run_reencode(stored, databases)
    assert (second.left, encoders(databases)) == (0, {("hashing-64/1", 64): 2 * COUNT})
    entries = rows(databases, "SELECT memory_id FROM journal WHERE effect = 'reencoded'")
    assert len(entries) == len(set(entries)) == 2 * COUNT


def test_without_a_commit_worker_it_stops_and_what_it_published_counts_once(
    stored: Flow, databases: tuple[str, str], codec: Codec
) -> None:
    for _ in range(2):
        with pytest.raises(Stalled, match="does the commit worker run"):
            run_reencode(stored, databases, patience_s=0.2)
    assert encoders(databases) == {("random", 384): 2 * COUNT}
    with Worker(stored.bootstrap, codec, databases):
        report = run_reencode(stored, databases)
    assert (report.left, encoders(databases)) == (0, {("hashing-64/1", 64): 2 * COUNT})
    entries = rows(databases, "SELECT memory_id FROM journal WHERE effect = 'reencoded'")
    assert len(entries) == len(set(entries)) == 2 * COUNT


def test_what_cannot_be_encoded_is_told_and_holds_up_nobody(
    stored: Flow, databases: tuple[str, str], codec: Codec
) -> None:
    encoder = Encoder(64)
    encoder.poison = "Valve e7 "
    with Worker(stored.bootstrap, codec, databases):
        report = run_reencode(stored, databases, encoder=encoder)
    unfit = sorted(memory_id(stored.namespace(shard), "e7") for shard in SHARDS)
    assert (report.done, report.left, report.failed) == (2 * COUNT - 2, 2, tuple(unfit))
    assert encoders(databases) == {("hashing-64/1", 64): 2 * COUNT - 2, ("random", 384): 2}


def test_the_fleet_stores_on_meanwhile(stored: Flow, databases: tuple[str, str], codec: Codec) -> None:
    """Also with the encoder of before: the next round finds it."""
    shard = SHARDS[0]
    more = threading.Event()

    def meanwhile(at: Progress) -> None:
        if at.done and not more.is_set():
            more.set()
            stored.episodes(shard, [f"late{i}" for i in range(30)])
            stored.flush()

    with Worker(stored.bootstrap, codec, databases) as worker:
        run_reencode(stored, databases, progress=meanwhile)
        await_seq(databases, shard, 2 * COUNT + 30, worker)
        report = run_reencode(stored, databases)
    assert (report.left, encoders(databases)) == (0, {("hashing-64/1", 64): 2 * COUNT + 30})


def test_what_is_no_embedding_is_passed_over(
    stored: Flow, databases: tuple[str, str], codec: Codec, vault: PostgresVault
) -> None:
    shard, namespace = SHARDS[0], stored.namespace(SHARDS[0])
    victim, other = memory_id(namespace, "e0"), memory_id(namespace, "e1")
    keys, seqs = vault.open([victim, other]), dict(rows(databases, "SELECT id::text, seq FROM memory"))
    good = np.eye(8, dtype=np.float32)[0]

    def record(key: bytes, vector: NDArray[np.float32], memory: str = victim, encoder: str = "bad/1") -> bytes:
        sealed = sealing.seal_vector(key, bytes(12), vector, memory)
        return codec.encode(MemoryReencoded(memory, namespace, "random", encoder, sealed, seqs.get(memory, 0)))

    wrong = [
        b"\xc3\x01nonsense",
        codec.encode(MemoryReencoded(victim, namespace, "random", "bad/1", b"short", seqs[victim])),
        record(keys[other], good),
        record(keys[victim], np.zeros(0, np.float32)),
        record(keys[victim], good * np.nan),
        record(keys[victim], good, memory="no-uuid"),
        record(keys[victim], good, encoder="bad\0/1"),
    ]
    sender = producer(stored.bootstrap)
    for value in (*wrong, record(keys[other], good, other, "good/1")):
        sender.produce(topics.REENCODED, value, partition=shard, headers=headers("MemoryReencoded", "tests", "e"))
    assert sender.flush(10) == 0
    with Worker(stored.bootstrap, codec, databases) as worker:
        await_seq(databases, shard, COUNT + 1, worker)
    assert encoders(databases) == {("random", 384): 2 * COUNT - 1, ("good/1", 8): 1}
    cursors = "SELECT next_offset FROM cursor WHERE topic = %s AND shard = %s"
    assert rows(databases, cursors, topics.REENCODED, shard) == [(len(wrong) + 1,)]
