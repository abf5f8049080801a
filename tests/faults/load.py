r"""A steady load on an installation: episodes and accesses under known event ids, bad records, time, searches.

Publishing is idempotent and waits for all acknowledgements without an end, so that an outage delays and never drops.
The published records and their offsets are kept: `unsettled` and `sums` account for them.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import httpx
import psycopg
from confluent_kafka import KafkaError, Message, Producer

from infra import genesis
from infra.settings import Settings
from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.experience.texts import EVENTS
from memquorum.core.payloads import PAYLOAD
from memquorum.core.reasons import Reason
from memquorum.core.records import ClockRequested, JournalEntry, Stored
from memquorum.schema_files import load_codec
from tests.builders.poisoned import TEXTS
from tests.faults.flood import Found, Place, find
from tests.faults.publications import AGENTS, START, WORDS
from tests.faults.witness import Event, Witness
from workers.kafka import loop

_SEARCH_S = 3.0
_BAD = (b"{", b"[]", b'{"content": 1}', b"\xc3\x01no such schema")
_CODE = "The code of gate {0} is {1}."
_LESSON = "Prime pump {0} of hall {0} for {1} seconds before it is opened."
_HEEDED = "Primed pump {0} of hall {0} for {1} seconds, and then opened it without a leak."
_TASKS_OF_A_LESSON = 4
# So many episodes say what is beyond any rule besides, and so long a content may be.
_POISONED, _LONGEST = 0.02, 60_000
# So many are plans with a deadline, some of which are over.
_PLANNED = 0.1
_SENT_MOST = 5
# The outcomes of a good episode or access; another one (unscored, unreadable) is a loss.
_GOOD = {"stored", "reinforced", "below_threshold", "accessed", "assessed", *EVENTS}


@dataclass(frozen=True, slots=True)
class Rates:
    """The load per second, and how far a tick moves time."""

    episodes: float = 8.0
    accesses: float = 3.0
    tasks: float = 1.0
    feedback: float = 0.5
    lessons: float = 0.1
    corrections: float = 0.2
    bad: float = 0.5
    ticks: float = 1.0
    searches: float = 1.0
    step_ms: int = 60_000


@dataclass(slots=True)
class Book:
    """The records handed to the producer.

    All good ones are in `given`; those that the broker has confirmed are in `kept`.
    """

    given: dict[Event, float] = field(default_factory=dict)
    kept: dict[Event, float] = field(default_factory=dict)
    bad: set[Place] = field(default_factory=set)
    bad_given: int = 0
    as_of: int = START
    errors: list[str] = field(default_factory=list)
    sent_again: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    used: int = 0
    # Uses that searches may have published besides, one each: their answer was late, or said that it did not know.
    unsure: int = 0
    answered_at: float = 0.0


def unencoded(codec: Codec, dropped: Iterable[bytes]) -> list[str]:
    """Episodes that salience could not judge: below the threshold like others, but with a reason for an encoder.

    Every text of the load can be encoded and every key of it is there, so each is a loss. `dropped`: journal entries.
    """
    entries = [codec.decode_as(JournalEntry, data) for data in dropped]
    told = [(entry, codec.decode_as(Stored, entry.detail).encoder) for entry in entries]
    return [f"{(e.namespace, e.event_id)} was not encoded: {why}" for e, why in told if why.startswith("none:")]


def unmarked(codec: Codec, pairs: Iterable[tuple[bytes, bytes]]) -> list[str]:
    """Corrections whose later memory denies no statement of the earlier one. `pairs`: the journal entries of both."""
    found = []
    for pair in pairs:
        first, then = (codec.decode_as(JournalEntry, data) for data in pair)
        said = codec.decode_as(Stored, then.detail)
        if not any(one.older == first.memory_id and one.statements for one in said.denies):
            found.append(f"{(then.namespace, then.event_id)} marks no statement of {first.event_id}, which it corrects")
    return found


def let_in_before(found: Found, place: Place) -> bool:
    """Whether what is refused at a place was let in from there, too."""
    reason = found.refused[place].reason
    if reason == Reason.CLOCK_BACKWARDS:
        return ids.origin_event_id(None, *place) in found.ticks
    return reason == Reason.FORGOTTEN and place in found.episodes


class Load:
    """Threads of its own until the block ends. `pause` lets what is under way arrive and holds the rest back."""

    def __init__(self, running: Settings, witness: Witness, seed: int, rates: Rates) -> None:
        self._running, self._witness, self._rates = running, witness, rates
        self._dice = random.Random(seed)
        self._shards = genesis.read(running).shards
        self._namespaces = [f"fault-{i}" for i in range(8 * self._shards)]
        self._producer: Producer = loop.producer(running.bootstrap)
        self._lock, self._over, self._go = threading.Lock(), threading.Event(), threading.Event()
        self._number = self._probes = 0
        self._recent: list[Event] = []
        # Tasks, each with a memory that it was given; and those by which a lesson is judged that state nothing, each
        # with the lesson, and whether that helped.
        self._tasks: dict[Event, str] = {}
        self._silent: dict[Event, tuple[str, bool]] = {}
        # Pairs of a statement and the one by which the same agent corrected it at once.
        self._corrected: list[tuple[Event, Event]] = []
        # Lessons that tasks bear out, so that verifiers, members and the consolidator have work.
        self._taught = [n for n in self._namespaces if ids.shard_of(n, self._shards) == 0][:2]
        self.book = Book()
        self._threads = [
            threading.Thread(target=work, daemon=True) for work in (self._publish, self._search)
        ]  # fmt: skip

    def __enter__(self) -> Load:
        self._tick()
        self._go.set()
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._go.set()
        self._over.set()
        for thread in self._threads:
            thread.join(10)
        self._producer.flush(5)

    def pause(self) -> None:
        """Publishes nothing more until `resume`; searches nothing either."""
        self._go.clear()

    def resume(self) -> None:
        self._go.set()

    def handed(self) -> set[Event]:
        """Everything good that was handed over and is not in the journal yet."""
        with self._lock:
            given = list(self.book.given)
        return self._witness.missing(given)

    def probe(self) -> None:
        """One episode for every shard, now."""
        for shard in range(self._shards):
            namespace = next(n for n in self._namespaces if ids.shard_of(n, self._shards) == shard)
            with self._lock:
                self._probes += 1
                event = (namespace, f"p{self._probes}")
            fields = {"namespace": namespace, "event_id": event[1], "agent": "planner", "content": f"Probe {event[1]}."}
            self._send(topics.EPISODES, json.dumps(fields).encode(), event, b"probe")

    # Threads -------------------------------------------------------------------------------------------------------

    def _publish(self) -> None:
        r = self._rates
        makers = [
            (r.episodes, self._episode), (r.accesses, self._access), (r.tasks, self._task),
            (r.feedback, self._feedback), (r.lessons, self._lesson), (r.corrections, self._correction),
            (r.bad, self._bad), (r.ticks, self._tick),
        ]  # fmt: skip
        due = [time.monotonic()] * len(makers)
        while not self._over.is_set():
            if not self._go.is_set():
                self._producer.poll(0.05)
                due = [time.monotonic()] * len(makers)
                continue
            now = time.monotonic()
            for i, (rate, make) in enumerate(makers):
                if rate and due[i] <= now:
                    due[i] = max(due[i] + 1 / rate, now - 1)
                    make()
            self._producer.poll(max(0.0, min(0.05, min(due) - time.monotonic())))

    def _fresh(self) -> str:
        self._number += 1
        return f"e{self._number}"

    def _episode(self) -> None:
        event = (self._dice.choice(self._namespaces), self._fresh())
        content = " ".join(self._dice.choices(WORDS, k=12)) + f" {self._dice.randrange(10_000)}"
        if self._dice.random() < _POISONED:
            # Beside what others say of the same, so that it is compared, voted on and summed up with it.
            content = f"{content} {self._dice.choice(TEXTS)}"[:_LONGEST]
        more: dict[str, Any] = (
            {"reward": round(self._dice.random(), 3), "confidence": 0.9} if self._dice.random() < 0.5 else {}
        )
        if self._dice.random() < _PLANNED:
            deadline = self.book.as_of + self._dice.randrange(-2, 3) * self._rates.step_ms
            plan = {"status": self._dice.choice(("open", "blocked", "done")), "deadline": deadline}
            more |= {"type": "task", "attributes": {PAYLOAD: plan}}
        fields = {"namespace": event[0], "event_id": event[1], "agent": self._dice.choice(AGENTS), "content": content}
        self._recent = [*self._recent[-499:], event]
        self._send(topics.EPISODES, json.dumps(fields | more).encode(), event, self._key())

    def _correction(self) -> None:
        """Publishes a statement and its correction, which has to mark it as overtaken."""
        namespace, agent, key = self._dice.choice(self._namespaces), self._dice.choice(AGENTS), self._key()
        pair = (namespace, self._fresh()), (namespace, self._fresh())
        code = self._dice.randrange(1_000, 9_000)
        for event, said in zip(pair, (code, code + 1), strict=True):
            fields = {"namespace": namespace, "event_id": event[1], "agent": agent, "explicit": True}
            content = _CODE.format(self._number, said)
            self._send(topics.EPISODES, json.dumps(fields | {"content": content}).encode(), event, key)
        self._corrected.append(pair)

    def _access(self) -> None:
        if not self._recent:
            return
        namespace, of = self._dice.choice(self._recent)
        event = (namespace, self._fresh())
        memory_id = ids.memory_id(namespace, of)
        fields = {"namespace": namespace, "event_id": event[1], "agent": "planner", "memory_ids": [memory_id]}
        self._send(topics.ACCESSES, json.dumps(fields).encode(), event, self._key())

    def _task(self) -> None:
        if not self._recent:
            return
        namespace, of = self._dice.choice(self._recent)
        event, given = (namespace, self._fresh()), ids.memory_id(namespace, of)
        fields = {
            "namespace": namespace, "event_id": event[1], "agent": self._dice.choice(AGENTS), "retrieved": [given],
            "goal": " ".join(self._dice.choices(WORDS, k=8)), "outputs": " ".join(self._dice.choices(WORDS, k=8)),
            "outcome": self._dice.choice(("succeeded", "failed", "unknown")),
        }  # fmt: skip
        self._tasks[event] = given
        self._send(topics.TASKS, json.dumps(fields).encode(), event, self._key())

    def _feedback(self) -> None:
        """Publishes feedback on a task that the broker has: feedback counts only behind its task."""
        with self._lock:
            there = next((event for event in (*self._silent, *self._tasks) if event in self.book.kept), None)
        if there is None:
            return
        namespace, event = there[0], (there[0], self._fresh())
        if there in self._silent:
            given, helped = self._silent.pop(there)
        else:
            given, helped = self._tasks.pop(there), self._dice.random() < 0.5
        fields = {
            "namespace": namespace, "event_id": event[1], "agent": "planner", "task": ids.memory_id(*there),
            "helped" if helped else "did_not_help": [given],
        }  # fmt: skip
        self._send(topics.FEEDBACK, json.dumps(fields).encode(), event, self._key())

    def _lesson(self) -> None:
        r"""Publishes a lesson, and finished tasks that confirm it: it is tried, voted on, and gets a general form at
        last.

        The tasks of every third lesson state nothing: their feedback is the evidence.
        """
        namespace, event_id = self._dice.choice(self._taught), self._fresh()
        named = self._number, self._dice.randrange(10, 60)
        fields = {"namespace": namespace, "event_id": event_id, "agent": "planner", "explicit": True}
        said = json.dumps(fields | {"content": _LESSON.format(*named)}).encode()
        self._send(topics.EPISODES, said, (namespace, event_id), self._key())
        lesson, silent, helped = ids.memory_id(namespace, event_id), self._dice.random() < 1 / 3, named[0] % 2 == 0
        for at in range(_TASKS_OF_A_LESSON):
            event = namespace, self._fresh()
            told = {
                "namespace": namespace, "event_id": event[1], "agent": self._dice.choice(AGENTS),
                "retrieved": [lesson] if silent else [],
                "goal": f"Open pump {named[0]} of hall {named[0]} for shift {at}.",
                "outputs": "Done." if silent else _HEEDED.format(*named), "outcome": "succeeded",
            }  # fmt: skip
            if silent:
                self._silent[event] = lesson, helped
            self._send(topics.TASKS, json.dumps(told).encode(), event, self._key())

    def _key(self) -> bytes:
        return b"k%d" % self._dice.randrange(64)

    def _bad(self) -> None:
        self._send(topics.EPISODES, self._dice.choice(_BAD), None)

    def _tick(self) -> None:
        self.book.as_of += self._rates.step_ms
        self._producer.produce(topics.CLOCK, load_codec().encode(ClockRequested(self.book.as_of)), partition=0)

    def _send(self, topic: str, value: bytes, event: Event | None, key: bytes | None = None) -> None:
        left = _SENT_MOST

        def send() -> None:
            self._producer.produce(topic, value=value, key=key, on_delivery=answered)

        def answered(error: KafkaError | None, message: Message) -> None:
            nonlocal left
            left -= 1
            with self._lock:
                if error is not None and left:
                    # A broker whose disk is full may not know itself whether it wrote the record: an id counts once.
                    self.book.sent_again += 1
                    send()
                elif error is not None:
                    self.book.errors.append(f"the broker did not take {event}: {error}")
                elif event is None:
                    self.book.bad.add((*loop.place(message), loop.offset(message)))
                else:
                    self.book.kept[event] = time.monotonic()

        with self._lock:
            if event is None:
                self.book.bad_given += 1
            else:
                self.book.given[event] = time.monotonic()
        send()

    def _search(self) -> None:
        dice = random.Random(self._dice.random())
        with httpx.Client(base_url=self._running.retrieval_url, timeout=_SEARCH_S) as client:
            while not self._over.wait(1 / self._rates.searches):
                if not self._go.is_set():
                    continue
                asked: dict[str, Any] = {
                    "namespace": dice.choice(self._namespaces), "query": " ".join(dice.choices(WORDS, k=5)), "k": 3,
                    "agent": "planner", "peek": dice.random() < 0.7,
                }  # fmt: skip
                # Without, what was answered may be lost with the process before Kafka has it.
                confirmed = dice.random() < 0.5
                began = time.monotonic()
                try:
                    answer = client.post("/search", json=asked, params={"confirm": confirmed})
                except httpx.TransportError as error:
                    self.book.unsure += 1
                    self._told(type(error).__name__)
                    continue
                if answer.status_code == 200:
                    found = answer.json()
                    sure = confirmed and "warning" not in found
                    self.book.used += bool(found["used"]) if sure else 0
                    self.book.unsure += 0 if sure or asked["peek"] else bool(found["hits"])
                    self.book.answered_at = began
                self._told(str(answer.status_code))

    def _told(self, answer: str) -> None:
        self.book.answers[answer] += 1
        with self._witness.changed:
            self._witness.changed.notify_all()

    # Accounting ----------------------------------------------------------------------------------------------------

    def _pairs(self, connection: psycopg.Connection[Any]) -> Iterator[tuple[bytes, bytes]]:
        """The entries of each correction that was stored while what it corrects could not have been forgotten."""
        for pair in self._corrected:
            rows = connection.execute(
                "SELECT shard, seq, entry FROM journal"
                " WHERE effect = 'stored' AND namespace = %s AND event_id = ANY(%s) ORDER BY seq",
                [pair[0][0], [event_id for _, event_id in pair]],
            ).fetchall()
            if len(rows) < 2:
                continue
            (shard, since, first), (_, until, then) = rows
            between = "SELECT count(*) FROM journal WHERE shard = %s AND seq BETWEEN %s AND %s AND effect = 'decided'"
            if connection.execute(between, [shard, since, until]).fetchone() == (0,):
                yield first, then

    def sums(self) -> tuple[dict[str, int], list[str]]:
        """Returns the sums of what was published and of its outcomes; and the problems, a line each.

        The fleet must be at rest.
        """
        book, seen, found = self.book, self._witness.seen, find(self._running)
        problems = list(book.errors)
        mine = {event: found.events.get(event, ("nothing", None))[0] for event in book.given}
        problems += [f"{event} became {outcome}" for event, outcome in mine.items() if outcome not in _GOOD]
        problems += [f"{event} was never confirmed" for event in book.given.keys() - book.kept.keys()]
        refused = found.refused.keys()
        problems += [f"the bad record at {place} was not refused" for place in book.bad - refused]
        # Intake reads a record again that it accepted before it was killed and had noted that. By then the key of its
        # content may be destroyed, or a later tick accepted: it then has its outcome, and a dead letter of the second
        # delivery besides.
        again = {p for p in refused - book.bad if let_in_before(found, p)}
        problems += [f"{place} was refused: {found.refused[place].detail}" for place in refused - book.bad - again]
        with psycopg.connect(self._running.memory_dsn) as connection:
            rows = connection.execute("SELECT outcome, count(*) FROM event GROUP BY 1").fetchall()
            taken = connection.execute("SELECT cause, count(*) FROM weight WHERE version = 1 GROUP BY 1").fetchall()
            dropped = connection.execute("SELECT entry FROM journal WHERE effect = 'dropped' ORDER BY shard, seq")
            problems += unencoded(load_codec(), (row[0] for row in dropped))
            marked = list(self._pairs(connection))
            problems += unmarked(load_codec(), marked)
        stored = {str(outcome): int(count) for outcome, count in rows}
        journal = {outcome: seen.effects[outcome] for outcome in ("stored", "reinforced")}
        # General forms are the consolidator's, which published them itself.
        forms = seen.effects["drafted"]
        journal["stored"] += forms
        journal["below_threshold"] = seen.effects["dropped"]
        journal["accessed"] = seen.effects["accessed"] + seen.effects["asked"]
        journal |= {effect: seen.effects[effect] for effect in ("assessed", "finished")}
        stored["finished"] = sum(stored.pop(outcome, 0) for outcome in EVENTS)
        for outcome, entries in journal.items():
            if stored.get(outcome, 0) != entries:
                problems.append(f"{stored.get(outcome, 0)} events {outcome}, {entries} entries of such")
        total = sum(journal.values()) - forms
        if not 0 <= total - len(mine) - book.used <= book.unsure:
            problems.append(
                f"{total} events, but {len(mine)} published, {book.used} by searches and at most {book.unsure} more"
            )
        outcomes = Counter(mine.values())
        sums = {"published": len(mine) + book.bad_given, **outcomes, "refused": len(book.bad & refused)}
        sums |= {"accesses_of_searches": total - len(mine), "repeated_deliveries": seen.effects["repeated"]}
        sums["letters_of_repeated_deliveries"] = len(again)
        sums |= {f"in_experience_{cause}": int(count) for cause, count in taken}
        sums["corrections_checked"] = len(marked)
        sums["general_forms_published"], sums["sent_again"] = forms, book.sent_again
        if sum(outcomes.values()) + sums["refused"] != sums["published"]:
            problems.append(f"the sum does not add up: {sums}")
        return sums, problems
