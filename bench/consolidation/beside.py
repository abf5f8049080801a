"""The row of consolidating beside ingest: the whole line stores episodes while as many older ones are consolidated."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import LiteralString

import psycopg

from bench.consolidation.frame import Material
from bench.ingest import STORE_ALL, publish, send, wait
from bench.kept import Row
from bench.parts import AGENTS, WHOLE, Parts, difference, parts
from bench.reference import quantile
from bench.texts import sentences
from memquorum import topics
from memquorum.core.policy import PPM, UNCAPPED
from memquorum.core.records import EpisodeRecorded, SessionEnded
from tests.support.waiting import until
from workers.kafka import loop

# Sessions give way to the batch, so their summaries come once it is stored, and no further record opens an epoch.
_POLICY = STORE_ALL | {
    "caps": UNCAPPED,
    "consolidate": {"lost_rank_ppm": PPM + 1, "idle_ms": 24 * 3600 * 1000},
    "epoch": {"interval_ms": 5_000},
}
_NOTES = 20
"""So many notes has a session. With a batch end so many sessions that as many notes are consolidated as are stored."""
_SLOWED = 10.0


def beside(material: Material) -> Row:
    """Stores batches in turn, every other one while sessions end, are summed up and voted on."""
    row = Row("beside-ingest", "consolidating beside ingest: a batch of episodes, published to stored, by the line")
    size, rounds = (200, 1) if material.quick else (1_500, 5)
    ending = size // _NOTES
    alone, while_ending, done = [], [], []
    used: dict[bool, list[dict[str, float]]] = {False: [], True: []}
    with parts(*WHOLE, policy=_POLICY, clock="wall") as running:
        publish(running, "warm", sentences(200, 9))
        wait(running, 200)
        _live(running, ending * rounds)
        for at in range(rounds):
            before, first = running.cpu_s(), at * ending
            alone.append(_stored(running, f"alone-{at}", size, ()))
            used[False].append(difference(before, running.cpu_s()))
            before = running.cpu_s()
            while_ending.append(_stored(running, f"beside-{at}", size, range(first, first + ending)))
            done.append(_consolidated(running) - first)
            until(lambda due=first + ending: _summaries(running) >= due)
            used[True].append(difference(before, running.cpu_s()))
            running.check()
    plain, busy = quantile(alone, 0.5), quantile(while_ending, 0.5)
    row.figure("stored, alone, p50", plain, "episodes/s")
    row.figure("stored, while sessions are consolidated, p50", busy, "episodes/s")
    row.figure("ingest slowed by", 100 * (1 - busy / plain), "%")
    row.at_most("ingest slowed by", _SLOWED)
    row.figure("sessions that end with a batch", ending, f"of {_NOTES} notes")
    row.figure("of them consolidated before the batch was stored, p50", quantile(done, 0.5), "")
    row.figure("processor time of a batch, alone", _mean(used[False]), "s")
    row.figure("processor time of a batch, and of as many notes consolidated", _mean(used[True]), "s")
    for name in sorted(used[True][0]):
        row.figure(f"more for consolidating: {name}", _mean(used[True], name) - _mean(used[False], name), "s")
    row.compare("stored, while sessions are consolidated, p50", "the same without", plain, "episodes/s")
    row.series["episodes/s"] = {"alone": alone, "beside": while_ending}
    row.note(f"{rounds} batches of {size} episodes each way, in turn; as many notes are consolidated as are stored")
    return row


def _live(running: Parts, count: int) -> None:
    """The sessions that are to end, each in a namespace of its own agent."""
    texts = iter(sentences(_NOTES * count, 18))
    agents = list(AGENTS)
    now = time.time_ns() // 1_000_000
    send(running, (
        EpisodeRecorded(
            agent=agents[session % len(agents)], content=next(texts), namespace=f"lived-{session % 8}",
            event_id=f"lived-{session}-{note}", occurred_at=now, session=f"s{session}",
        )
        for session in range(count) for note in range(_NOTES)
    ))  # fmt: skip
    wait(running, 200 + _NOTES * count)


def _stored(running: Parts, tag: str, size: int, ending: Sequence[int]) -> float:
    """Episodes a second, from the first that is published until the last is stored."""
    before, texts = _memories(running), sentences(size, sum(tag.encode()))
    began = time.perf_counter()
    _end(running, ending)
    publish(running, tag, texts)
    until(lambda: _memories(running) >= before + size)
    return size / (time.perf_counter() - began)


def _end(running: Parts, sessions: Sequence[int]) -> None:
    agents = list(AGENTS)
    producer = loop.producer(running.bootstrap)
    for session in sessions:
        agent, namespace = agents[session % len(agents)], f"lived-{session % 8}"
        told = SessionEnded(f"s{session}", agent, namespace, f"ended-{session}")
        producer.produce(topics.ENDS, running.codec.encode(told), namespace.encode())
    assert producer.flush(10) == 0
    producer.close()


def _memories(running: Parts) -> int:
    """Counts the stored memories of the batches' episodes."""
    return _count(running, "SELECT count(*) FROM memory WHERE namespace LIKE 'ns-%'")


def _summaries(running: Parts) -> int:
    """Counts the summaries that members have agreed to: one or two per session."""
    return _count(running, "SELECT count(*) FROM memory WHERE made_by IS NOT NULL AND tier = 'short-term'")


def _consolidated(running: Parts) -> int:
    """Counts the sessions with a summary that members have agreed to."""
    return _count(
        running, "SELECT count(DISTINCT session) FROM memory WHERE namespace LIKE 'lived-%' AND tier = 'sealed'"
    )


def _mean(used: Sequence[Mapping[str, float]], name: str | None = None) -> float:
    """Seconds of the processor a batch, of a process or of all."""
    return sum(sum(one.values()) if name is None else one[name] for one in used) / len(used)


def _count(running: Parts, statement: LiteralString) -> int:
    with psycopg.connect(running.settings.memory_dsn) as connection:
        return int((connection.execute(statement).fetchone() or (0,))[0])


ROWS = {"beside-ingest": beside}
