"""The break-even of a promotion: what members spend on one, over what each later read of it spares.

The source spends 31.5 ms on a claim and spares 198 ms of an agent's own inference at each later access, so that 0.16
accesses pay it. No model is part of this project, so the inference is the source's, at its 50, 200 and 400 ms; the cost
and the read are ours.
"""

from __future__ import annotations

import time

import httpx
import psycopg

from bench.epochs import until_decided
from bench.feed import HOUR, START, Feed
from bench.kept import Row
from bench.parts import REPLICAS, Parts, difference, parts
from bench.reference import quantile
from bench.texts import sentences
from memquorum.encoders.onnx import OnnxEncoder

POLICY = {"promote": {"salience_ppm": 0, "age_ms": 0, "yes_ppm": 0, "validity_ppm": 0}}
"""Members promote whatever is proposed; they judge it by the same terms."""
_INFERENCE_MS = (50, 200, 400)
_GOAL_MS = 200
"""The inference that the source takes a read to spare."""
_SIZE, _WARM, _AT = 64, 5, START + HOUR


def measure(quick: bool) -> Row:
    """Promotions one by one and many at once, and searches for what was promoted; then the quotient."""
    row = Row("break-even", "a promotion's cost, and the accesses after which it is paid")
    singles, epochs, tries = (20, 4, 40) if quick else (150, 40, 250)
    with parts(policy=POLICY) as running:
        feed = Feed(running)
        count = (singles + _WARM) + epochs * _SIZE
        feed.episodes(0, count)
        tick = feed.tick(0, _AT)
        feed.flush()
        running.start(*REPLICAS, "commit", "retrieval")
        running.until_applied(count + 1)
        memories = iter(feed.memories[0])
        taken = list[float]()
        with running.reader() as connection:
            for epoch in range(1, singles + _WARM + 1):
                taken.append(_promoted(feed, connection, epoch, tick, [next(memories)]))
            before = running.cpu_s()
            for epoch in range(singles + _WARM + 1, singles + _WARM + epochs + 1):
                _promoted(feed, connection, epoch, tick, [next(memories) for _ in range(_SIZE)])
            used = difference(before, running.cpu_s())
            ((promoted,),) = connection.execute("SELECT count(*) FROM memory WHERE tier = 'long-term'").fetchall()
            assert promoted == count, f"{promoted} of {count} memories were promoted"
            reads = _read(running, connection, feed.namespaces[0], tries)
        feed.close()
    cost, read = quantile(taken[_WARM:], 0.5), quantile(reads, 0.5)
    processor = 1000 * sum(used.values()) / (epochs * _SIZE)
    row.figure("one promotion, nomination to applied: p50", cost, "ms")
    row.figure(f"a promotion's processor time, of {_SIZE} in an epoch", processor, "ms")
    row.figure("a read of what was promoted: p50", read, "ms")
    for inference in _INFERENCE_MS:
        if inference <= read:
            row.note(
                f"a read takes longer than {inference} ms of inference, so a promotion that spares those never pays"
            )
            continue
        spared = f"{inference} ms of inference spared: accesses that pay"
        row.figure(f"{spared} a promotion", cost / (inference - read), "")
        row.figure(f"{spared} its processor time", processor / (inference - read), "")
        if inference == _GOAL_MS:
            row.at_most(f"{spared} a promotion", 1)
    row.compare("one promotion, nomination to applied: p50", "a read in the same go, p50", read, "ms")
    row.note(
        "the source: 31.5 ms ÷ 198 ms = 0.16 accesses. A promotion makes no read faster here: both tiers are rows of "
        "one store (row `tiers`), so against a read of a short-term memory it never pays. It pays where the memory "
        "would be gone otherwise and the agent had to find out again; the time of that is the source's, since no model "
        "is part of this"
    )
    row.note("the feed stands for intake and salience; all processes share the machine's cores; an access is a search")
    row.series["ms"] = {"promotion": [round(ms, 2) for ms in taken[_WARM:]], "read": [round(ms, 2) for ms in reads]}
    return row


def _promoted(feed: Feed, connection: psycopg.Connection, epoch: int, tick: int, memories: list[str]) -> float:
    began = time.perf_counter()
    feed.nominate(0, epoch, _AT, tick, memories, "promote", "salient")
    until_decided(connection, epoch)
    return (time.perf_counter() - began) * 1000


def _read(running: Parts, connection: psycopg.Connection, namespace: str, tries: int) -> list[float]:
    """Milliseconds of searches among what was promoted, each with a query that comes once."""
    # The feed's vectors are of no encoder that the service has: they count as its own from here on.
    for table in ("memory", "embedding"):
        connection.execute(f"UPDATE {table} SET encoder = %s", [OnnxEncoder().name])
    taken = list[float]()
    with httpx.Client(base_url=running.settings.retrieval_url, timeout=30) as client:
        for place, query in enumerate(sentences(tries + _WARM, 8)):
            asked = {"namespace": namespace, "query": query, "peek": True, "tiers": ["long-term"]}
            began = time.perf_counter()
            answer = client.post("/search", json=asked)
            if place >= _WARM:
                taken.append((time.perf_counter() - began) * 1000)
            assert answer.raise_for_status().json()["hits"], "nothing was found"
    return taken
