"""From publishing to searchable on an idle line, by the client as agents use it."""

from __future__ import annotations

import asyncio
import time

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

from bench.ingest import STORE_ALL
from bench.kept import Row
from bench.parts import WHOLE, Parts, parts
from bench.reference import quantile
from bench.texts import sentences
from memquorum import topics
from memquorum.client import AsyncMemory


def measure(quick: bool) -> Row:
    """One `add(wait=True)` after the other; every tenth is then searched for, to see that it is found."""
    row = Row("searchable", "publish to searchable, idle")
    with parts(*WHOLE, policy=STORE_ALL) as running:
        taken, trip = asyncio.run(_times(running, 60 if quick else 400))
    row.figure("p50", quantile(taken, 0.5), "ms")
    row.figure("p99", quantile(taken, 0.99), "ms")
    row.at_most("p50", 60)
    row.at_most("p99", 200)
    row.compare("p50", "produce → consume of one record with the client's aiokafka", trip, "ms")
    row.series["ms"] = [round(t, 2) for t in taken]
    return row


async def _times(running: Parts, tries: int) -> tuple[list[float], float]:
    trip = await _round_trip_ms(running.bootstrap)
    texts = sentences(tries + 20, 5)
    taken = []
    url = running.settings.retrieval_url
    async with AsyncMemory(namespace="bench", agent="ada", kafka=running.bootstrap, url=url) as memory:
        for i, text in enumerate(texts):
            began = time.perf_counter()
            receipt = await memory.add(text, wait=True)
            spent = (time.perf_counter() - began) * 1000
            assert receipt.outcome == "stored", receipt
            if i >= 20:  # what is started first is slow: connections, plans, just-in-time compilers
                taken.append(spent)
            if i % 10 == 0:
                hits = await memory.search(text, k=3, peek=True)
                assert receipt.memory_id in {hit.memory_id for hit in hits}, "told that it is searchable, not found"
    return taken, trip


async def _round_trip_ms(bootstrap: str, tries: int = 200) -> float:
    producer = AIOKafkaProducer(bootstrap_servers=bootstrap, enable_idempotence=True, acks="all")
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
    await producer.start()
    await consumer.start()
    place = TopicPartition(topics.HEADS, 0)
    consumer.assign([place])
    await consumer.seek_to_end(place)
    await consumer.position(place)
    taken = []
    for _ in range(tries):
        began = time.perf_counter()
        await producer.send(topics.HEADS, bytes(400), partition=0)
        await consumer.getone()
        taken.append((time.perf_counter() - began) * 1000)
    await consumer.stop()
    await producer.stop()
    return quantile(taken[tries // 5 :], 0.5)
