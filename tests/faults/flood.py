"""Floods a whole fleet with good and bad records and accounts for every one of them.

`python -m tests.faults.flood --records 100000 --seed 1` starts an installation of its own, publishes, waits until
everything is applied, and prints what became of each kind and what it cost each process. `--keep FILE` writes that as
JSON too. Exit status 1 if anything is not as it must be.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import psycopg
from confluent_kafka import KafkaError, Message, Producer
from rich.console import Console
from rich.table import Table

from infra import genesis, run_folder, settings, supervisor
from infra.settings import Settings
from memquorum import topics
from memquorum.core import ids
from memquorum.core.experience.texts import EVENTS
from memquorum.core.records import AccessAccepted, ClockTicked, EpisodeAccepted, IntakeRefused
from memquorum.core.tiers import ALIVE
from memquorum.schema_files import load_codec
from tests.faults import kept
from tests.faults.badrecords import traffic
from tests.faults.publications import EITHER, KEPT, PUBLIC, REFUSED, SIGNED, SIGNER, START, TURNED_AWAY, Publication
from tests.faults.resident import COURSE_S, watched
from tests.support.clock import tick
from tests.support.waiting import PATIENCE_S
from workers.kafka import loop
from workers.kafka.strangers import Strangers

Place = tuple[str, int, int]
"""Topic, partition, offset."""
# The outcomes of a good episode; another one (unscored, unreadable) is a loss.
OUTCOMES = {"stored", "reinforced", "below_threshold", *EVENTS}
_ASSESSED = {"assessed", "unfounded"}


LET_GO = "(let go)"
"""In place of the content of what was stored, and is not alive any more: members let it go since."""


@dataclass(slots=True)
class Sent:
    """A publication and what the broker said to it."""

    publication: Publication
    place: Place | None = None
    error: KafkaError | None = None


@dataclass(slots=True)
class Found:
    """The contents of topics and store after a flood. Events: (namespace, event id) → (outcome, content)."""

    refused: dict[Place, IntakeRefused]
    refused_times: Counter[Place]
    episodes: Counter[Place]
    accesses: set[tuple[str, str]]
    events: dict[tuple[str, str], tuple[str, str | None]]
    repeated: int
    ticks: set[str] = field(default_factory=set)
    """The event ids of ticks that were let in."""


@dataclass(slots=True)
class Report:
    """The result of a flood. `problems` is empty if every record met its end and no process died."""

    sent: list[Sent]
    problems: list[str]
    seconds: float
    memory: dict[str, tuple[int, int, int]] = field(default_factory=dict)
    """Process → resident memory before, at most and after, in KiB."""
    course: dict[str, list[int]] = field(default_factory=dict)
    """Process → resident memory every COURSE_S seconds, in KiB."""
    letters: Counter[str] = field(default_factory=Counter)
    """Reason → how many dead letters give it."""
    outcomes: Counter[str] = field(default_factory=Counter)
    """Outcome → how many episodes met it."""


@contextmanager
def installation(folder: Path) -> Iterator[Settings]:
    """A fleet with a driven clock, at START, in which one namespace takes signed records alone."""
    configured = replace(settings.load({}, folder), clock="driven", encoder="hashing", throwaway=True)
    genesis.create(configured, agent_keys={SIGNER: PUBLIC}, signed=[SIGNED])
    with supervisor.started(configured) as running:
        tick(running, START)
        yield running


def flood(running: Settings, seed: int, count: int, *, bad: float = 0.5, patience_s: float = PATIENCE_S) -> Report:
    """Publishes `count` records drawn by `seed`, waits until all of it is applied, and accounts for it."""
    course: dict[str, list[int]] = {}
    with watched({name: process["pid"] for name, process in processes(running).items()}, course) as memory:
        began = time.monotonic()
        cluster = genesis.read(running).cluster
        sent = publish(running.bootstrap, traffic(seed, count, cluster=cluster, bad=bad))
        tick(running, START + 1000, patience_s)
        seconds = time.monotonic() - began
    found = find(running)
    problems = [*account(sent, found), *deaths(running)]
    letters = Counter(letter.reason for letter in found.refused.values())
    return Report(sent, problems, seconds, memory, course, letters, Counter(o for o, _ in found.events.values()))


# Publishing --------------------------------------------------------------------------------------------------------


def publish(bootstrap: str, publications: Iterable[Publication]) -> list[Sent]:
    """Sends everything, and returns it with its places once the broker has answered for all of it."""
    sent: list[Sent] = []
    producers: dict[tuple[str, bool], Producer] = {}
    for publication in publications:
        one = Sent(publication)
        sent.append(one)
        # A record that the broker rejects fails its whole batch, so it travels alone.
        alone = publication.end == TURNED_AWAY
        key = (publication.packed, alone)
        if key not in producers:
            producers[key] = _producer(bootstrap, *key)
        _produce(producers[key], one)
    for producer in producers.values():
        assert producer.flush(PATIENCE_S) == 0
    return sent


def _producer(bootstrap: str, packed: str, alone: bool) -> Producer:
    return Producer({
        "bootstrap.servers": bootstrap, "compression.type": packed, "linger.ms": 5, "log_level": 3,
        "message.max.bytes": 20_000_000, "batch.size": 1 if alone else 500_000, "acks": "all",
    })  # fmt: skip


def _produce(producer: Producer, one: Sent) -> None:
    def answered(error: KafkaError | None, message: Message) -> None:
        one.error = error
        if error is None:
            topic, partition, offset = message.topic(), message.partition(), message.offset()
            assert topic is not None and partition is not None and offset is not None
            one.place = (topic, partition, offset)

    p = one.publication
    more: dict[str, Any] = {"headers": list(p.headers)} if p.headers else {}
    if p.partition is not None:
        more["partition"] = p.partition
    if p.timestamp is not None:
        more["timestamp"] = p.timestamp
    while True:
        try:
            producer.produce(p.topic, value=p.value, key=p.key, on_delivery=answered, **more)
            producer.poll(0)
            return
        except BufferError:
            producer.poll(0.1)


# Accounting --------------------------------------------------------------------------------------------------------


def find(running: Settings) -> Found:
    """Everything that the line wrote behind the wall and outside of it, as it stands."""
    shards = genesis.read(running).shards
    codec, found = load_codec(), Found({}, Counter(), Counter(), set(), {}, 0)
    for topic, data in _read(running, (topics.REFUSED, topics.ACCEPTED), shards):
        record = codec.decode(data)
        if topic == topics.REFUSED:
            place = (record.origin_topic, record.origin_partition, record.origin_offset)
            found.refused[place] = record
            found.refused_times[place] += 1
        elif isinstance(record, EpisodeAccepted):
            found.episodes[record.origin_topic, record.origin_partition, record.origin_offset] += 1
        elif isinstance(record, AccessAccepted):
            found.accesses.add((record.namespace, record.event_id))
        elif isinstance(record, ClockTicked):
            found.ticks.add(record.event_id)
    with psycopg.connect(running.memory_dsn) as connection:
        rows = connection.execute(
            """SELECT e.namespace, e.event_id, e.outcome,
                      CASE WHEN m.tier = ANY(%s) THEN c.body WHEN e.outcome = 'stored' THEN %s END
               FROM event e LEFT JOIN memory m ON m.id = e.memory_id AND e.outcome = 'stored'
               LEFT JOIN content c ON c.memory_id = m.id""",
            [list(ALIVE), LET_GO],
        )
        found.events = {(namespace, event_id): (outcome, body) for namespace, event_id, outcome, body in rows}
        counted = connection.execute(
            "SELECT count(*) FROM journal WHERE effect IN ('repeated', 'contradicted')"
        ).fetchone()
        found.repeated = counted[0] if counted else 0
    return found


def _read(running: Settings, wanted: Iterable[str], shards: int) -> Iterator[tuple[str, bytes]]:
    strangers = Strangers(logging.getLogger(__name__), genesis.service_stamps(running))
    reader = loop.consumer(running.bootstrap)
    places = [(topic, shard) for topic in wanted for shard in range(shards)]
    left = {place: end for place, end in loop.ends(reader, iter(places)).items() if end > 0}
    loop.assign(reader, dict.fromkeys(places))
    deadline = time.monotonic() + PATIENCE_S
    while left:
        assert time.monotonic() < deadline, f"not read to the end: {left}"
        for message in loop.records(reader, 5_000, 0.5):
            topic, shard, offset = message.topic(), message.partition(), message.offset()
            assert topic is not None and shard is not None and offset is not None
            if not strangers.wrote(message):
                yield topic, message.value() or b""
            if offset + 1 >= left.get((topic, shard), sys.maxsize):
                left.pop((topic, shard))
    reader.close()


def account(sent: list[Sent], found: Found) -> list[str]:
    """Returns the problems of a flood, a line each."""
    problems = [f"{one.publication.kind} at {one.place}: {said}" for one in sent if (said := wrong(one, found))]
    published = {one.place for one in sent if one.place is not None}
    problems += [f"a dead letter of {place}, where nothing stands" for place in found.refused.keys() - published]
    problems += [f"{n} dead letters of {place}" for place, n in found.refused_times.items() if n > 1]
    problems += [f"{place} came in {n} times" for place, n in found.episodes.items() if n > 1]
    twice = Counter(one.publication.event for one in sent if one.publication.event and one.publication.event[1])
    again = sum(n - 1 for n in twice.values())
    if found.repeated != again:
        problems.append(f"{found.repeated} events were taken for repeated or contradicted, {again} are")
    first: dict[tuple[str, str | None], Sent] = {}
    for one in sent:
        event = one.publication.event
        if one.publication.end == KEPT and event is not None and event[1] is not None:
            first.setdefault(event, one)
    for event, one in first.items():
        outcome, content = found.events.get((event[0], str(event[1])), ("nothing", None))
        said = _content(one.publication)
        if outcome == "stored" and said is not None and content not in (said, LET_GO):
            problems.append(f"{one.publication.kind} at {one.place}: the store holds another content")
    return problems


def _content(publication: Publication) -> str | None:
    """Returns a JSON episode's content."""
    if publication.topic != topics.EPISODES:
        return None
    try:
        return str(json.loads(publication.value or b"")["content"])
    except ValueError:
        return None


def _agent(publication: Publication) -> str:
    """The agent of a publication without an event id: all of these are JSON."""
    return str(json.loads(publication.value or b"")["agent"])


def wrong(one: Sent, found: Found) -> str | None:
    """Returns what is wrong with a publication's end; None if nothing."""
    expected = one.publication
    if expected.end == TURNED_AWAY or one.place is None:
        turned = one.error is not None and not one.error.retriable()
        return None if expected.end == TURNED_AWAY and turned else f"the broker said {one.error}"
    letter, came_in = found.refused.get(one.place), one.place in found.episodes
    if expected.end == EITHER:
        return None if (letter is not None) != came_in else f"refused: {letter is not None}, came in: {came_in}"
    if expected.end == REFUSED:
        if came_in or letter is None:
            return "was not refused"
        told = (letter.reason, letter.field)
        return None if told == (expected.reason, expected.field) else f"refused for {told}, not {expected.reason}"
    if letter is not None:
        return f"was refused: {letter.reason} {letter.field or ''}: {letter.detail}"
    if expected.topic == topics.FEEDBACK:
        assert expected.event is not None
        became = found.events.get((expected.event[0], str(expected.event[1])), ("no outcome", None))[0]
        # A task and its feedback are in two topics: feedback that overtakes its task is unfounded.
        return None if became in (_ASSESSED if expected.kind == "feedback of a task" else {"unfounded"}) else became
    if expected.topic == topics.ACCESSES:
        value = json.loads(expected.value or b"")
        return None if (value["namespace"], value["event_id"]) in found.accesses else "did not come in"
    assert expected.event is not None
    namespace, event_id = expected.event
    event_id = event_id or ids.origin_event_id(_agent(expected), *one.place)
    outcome, _ = found.events.get((namespace, event_id), ("no outcome", None))
    return None if outcome in OUTCOMES and came_in else outcome


# Processes ---------------------------------------------------------------------------------------------------------


def processes(running: Settings) -> dict[str, dict[str, Any]]:
    """The fleet's processes, as pids.json has them."""
    found: dict[str, dict[str, Any]] = run_folder.read_pids(running.run_dir)["processes"]
    return found


def deaths(running: Settings) -> list[str]:
    """Processes that were started more than once, or do not run."""
    return [
        f"{name}: {process}"
        for name, process in processes(running).items()
        if process["state"] != "running" or process.get("starts", 1) != 1
    ]


# Telling -----------------------------------------------------------------------------------------------------------


def show(report: Report, console: Console) -> None:
    """Prints a report: kinds, processes, problems."""
    kinds: dict[tuple[str, str], list[Sent]] = defaultdict(list)
    for one in report.sent:
        p = one.publication
        kinds[p.end, p.kind].append(one)
    table = Table("kind", "records", "must end", "reason", "field", box=None, pad_edge=False)
    for (end, kind), members in sorted(kinds.items(), key=lambda item: (item[0][0] != KEPT, item[0])):
        reasons = {m.publication.reason for m in members} - {None}
        fields = sorted({m.publication.field for m in members if m.publication.field})
        table.add_row(kind, f"{len(members):,}", end, ", ".join(map(str, reasons)), ", ".join(fields))
    console.print(table)
    memory = Table("process", "resident before, MiB", "at most", "after", box=None, pad_edge=False)
    for name, figures in report.memory.items():
        memory.add_row(name, *(f"{kib / 1024:.0f}" for kib in figures))
    console.print(memory)
    ends = Counter(one.publication.end for one in report.sent)
    console.print(
        f"{len(report.sent):,} records in {report.seconds:.1f} s ({len(report.sent) / report.seconds:,.0f} a second): "
        + ", ".join(f"{n:,} {end}" for end, n in sorted(ends.items()))
    )
    for problem in report.problems[:50]:
        console.print(f"  WRONG {problem}", soft_wrap=True)
    console.print(
        f"{len(report.problems):,} problems" if report.problems else "every record met its end, no process died"
    )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults.flood", description=__doc__)
    parser.add_argument("--records", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bad", type=float, default=0.5, help="share of bad records (default: 0.5)")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="write the result there, as JSON")
    parsed = parser.parse_args(arguments)
    console = Console(highlight=False, width=120)
    console.print(f"{parsed.records:,} records, seed {parsed.seed}, {parsed.bad:.0%} bad; {os.cpu_count()} cores, load "
                  f"{os.getloadavg()[0]:.1f} before")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder, installation(Path(folder)) as running:
        report = flood(
            running, parsed.seed, parsed.records, bad=parsed.bad, patience_s=PATIENCE_S + parsed.records / 100
        )
    show(report, console)
    if parsed.keep is not None:
        ran = {"command": f"python -m tests.faults.flood --records {parsed.records} --seed {parsed.seed}"}
        kept.keep(parsed.keep, ran | {"bad_share": parsed.bad, "course_every_s": COURSE_S} | kept.figures(report))
    console.print(f"load {os.getloadavg()[0]:.1f} after")
    return 1 if report.problems else 0


if __name__ == "__main__":
    sys.exit(main())
