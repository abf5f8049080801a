"""Publications to the outside topics, with the end that each must meet; and the good kinds, some of them odd.

The expected end is written down, kind by kind, and never asked of the code that is tested.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

from msgspec import Struct
from msgspec.structs import replace
from nacl.signing import SigningKey

from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.identity import signatures
from memquorum.core.records import EpisodeRecorded, TaskFinished
from memquorum.schema_files import load_codec
from tests.builders.genesis import seed_of

START = 1_750_000_000_000
DAY = 24 * 3600 * 1000
NAMESPACES = tuple(f"flood-{i}" for i in range(16))
SIGNED, SIGNER = "flood-signed", "planner"
AGENTS = ("planner", "executor", "reviewer", "observer")
SEED = seed_of(f"agent:{SIGNER}")
PUBLIC = bytes(SigningKey(SEED).verify_key)
WORDS = tuple(
    """
    valve pump tank basket crate lamp sensor bay nitrate pressure motor belt filter hose gauge relay cable spare shelf
    opens closes holds leaks drops rises measured checked near under above before after
    """.split()  # noqa: SIM905
)

REFUSED, KEPT, TURNED_AWAY, EITHER = "refused", "kept", "turned away", "either"


class Publication(Struct, frozen=True):
    """One record to be published. `end`: where it must end; `event`: whose row tells of it, once kept (an event id of
    None is the one that intake gives); `packed`: how its producer packs it."""

    kind: str
    topic: str
    value: bytes | None
    end: str = KEPT
    reason: str | None = None
    field: str | None = None
    event: tuple[str, str | None] | None = None
    key: bytes | None = None
    partition: int | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp: int | None = None
    packed: str = "none"


@dataclass(slots=True)
class Maker:
    """Tools that the kinds share: the dice, a number for names that must not repeat, and the codec."""

    dice: Random
    cluster: bytes
    shards: int
    codec: Codec = field(default_factory=load_codec)
    number: int = 0

    def fresh(self) -> str:
        self.number += 1
        return f"e{self.number}"

    def say(self) -> str:
        """Says what nobody has said, and what contradicts nothing: of a contradiction the members would decide."""
        name = "".join(self.dice.choices(("ba", "de", "fi", "go", "ku", "la", "me", "ni", "ro", "su"), k=4))
        return " ".join([*self.dice.choices(WORDS, k=12), name])

    def episode(self, **changes: Any) -> dict[str, Any]:
        """The fields of a good episode."""
        made = {
            "namespace": self.dice.choice(NAMESPACES), "event_id": self.fresh(), "agent": self.dice.choice(AGENTS),
            "content": self.say(),
        }  # fmt: skip
        return made | changes

    def good(self, kind: str, fields: dict[str, Any], value: bytes | None = None, **more: Any) -> Publication:
        event = (fields.get("namespace", "default"), fields.get("event_id"))
        return Publication(kind, topics.EPISODES, value or json.dumps(fields).encode(), event=event, **more)

    def task(self, **changes: Any) -> dict[str, Any]:
        """The fields of a finished task."""
        made = {
            "namespace": self.dice.choice(NAMESPACES), "event_id": self.fresh(), "agent": self.dice.choice(AGENTS),
            "goal": self.say(), "outcome": self.dice.choice(("succeeded", "failed")), "outputs": self.say(),
        }  # fmt: skip
        return made | changes

    def finished(self, kind: str, fields: dict[str, Any], value: bytes | None = None, **more: Any) -> Publication:
        event = (fields["namespace"], fields["event_id"])
        return Publication(kind, topics.TASKS, value or json.dumps(fields).encode(), event=event, **more)

    def feedback(self, namespace: str, task: str, helped: str) -> dict[str, Any]:
        """The fields of feedback about a task."""
        return {"namespace": namespace, "event_id": self.fresh(), "agent": "planner", "task": task, "helped": [helped]}

    def assessed(self, kind: str, fields: dict[str, Any]) -> Publication:
        event = (fields["namespace"], fields["event_id"])
        return Publication(kind, topics.FEEDBACK, json.dumps(fields).encode(), event=event)

    def bad(self, kind: str, value: Any, reason: str, field: str | None = None, **more: Any) -> Publication:
        data = value if isinstance(value, bytes | None) else json.dumps(value).encode()
        topic = more.pop("topic", topics.EPISODES)
        return Publication(kind, topic, data, REFUSED, reason, field, **more)


Make = Callable[[Maker], Publication | tuple[Publication, ...]]
GOOD: dict[str, Make] = {}
# One publication in so many of its side is of this kind; the others share the rest.
SELDOM: dict[str, int] = {}


def kind(table: dict[str, Make], seldom: int = 0) -> Callable[[Make], Make]:
    def enter(make: Make) -> Make:
        name = make.__name__.removeprefix("_").replace("_", " ")
        table[name] = make
        if seldom:
            SELDOM[name] = seldom
        return make

    return enter


# Good traffic, some of it odd --------------------------------------------------------------------------------------


@kind(GOOD)
def _plain_json(m: Maker) -> Publication:
    return m.good("plain json", m.episode())


@kind(GOOD)
def _avro(m: Maker) -> Publication:
    fields = m.episode(reward=round(m.dice.random(), 3), occurred_at=START - m.dice.randrange(DAY))
    return m.good("avro", fields, m.codec.encode(EpisodeRecorded(**fields)))


@kind(GOOD)
def _without_an_event_id(m: Maker) -> Publication:
    fields = m.episode()
    del fields["event_id"]
    return m.good("without an event id", fields)


@kind(GOOD)
def _null_key(m: Maker) -> Publication:
    return m.good("null key", m.episode(), key=None)


@kind(GOOD)
def _key_of_nothing(m: Maker) -> Publication:
    return m.good("key of nothing", m.episode(), key=m.dice.choice([b"", b"\xff\xfe\0", b"k" * 5_000]))


@kind(GOOD)
def _wrong_partition(m: Maker) -> Publication:
    fields = m.episode()
    wrong = (ids.shard_of(fields["namespace"], m.shards) + 1 + m.dice.randrange(m.shards - 1)) % m.shards
    return m.good("wrong partition", fields, partition=wrong)


@kind(GOOD)
def _strange_headers(m: Maker) -> Publication:
    headers: tuple[tuple[str, bytes | None], ...] = m.dice.choice([
        (("traceparent", b"\xff\xfe not a trace"),),
        (("traceparent", None), ("ce_id", b"\0")),
        tuple((f"h{i}", b"x" * 50) for i in range(100)),
        (("ce_type", b"JournalEntry"), ("ce_type", b"ClockTicked"), ("content-type", b"text/html")),
    ])  # fmt: skip
    return m.good("strange headers", m.episode(), headers=headers)


@kind(GOOD)
def _blanks_around(m: Maker) -> Publication:
    fields = m.episode()
    return m.good("blanks around", fields, b"\r\n\t " + json.dumps(fields).encode() + b"\n ")


@kind(GOOD)
def _packed(m: Maker) -> Publication:
    return m.good("packed", m.episode(), packed=m.dice.choice(["gzip", "lz4", "snappy", "zstd"]))


@kind(GOOD)
def _at_the_limits(m: Maker) -> Publication:
    names = {"event_id": f"{m.fresh():é>128}", "agent": "名" * 128, "session": "s" * 128, "role": "🫖", "reward": 1}
    return m.good("at the limits", m.episode(**names, occurred_at=946_684_800_000, confidence=0.0))


@kind(GOOD, seldom=1_000)
def _as_long_as_may_be(m: Maker) -> Publication:
    return m.good("as long as may be", m.episode(content="né " * 16_384))


@kind(GOOD)
def _access_to_nothing(m: Maker) -> Publication:
    namespace, event_id = m.dice.choice(NAMESPACES), m.fresh()
    value = {
        "namespace": namespace, "event_id": event_id, "agent": "a", "memory_ids": [ids.memory_id(namespace, "no such")]
    }  # fmt: skip
    return Publication("access to nothing", topics.ACCESSES, json.dumps(value).encode())


@kind(GOOD)
def _one_id_with_two_contents(m: Maker) -> tuple[Publication, ...]:
    first = m.episode()
    second = first | {"content": m.say()}
    # In one partition, so that the first stays the first.
    at = m.dice.randrange(m.shards)
    return tuple(m.good("one id with two contents", fields, partition=at) for fields in (first, second))


@kind(GOOD)
def _finished_task(m: Maker) -> Publication:
    fields = m.task(inputs=m.say(), retrieved=[ids.memory_id(NAMESPACES[0], f"e{m.number}")], tools=["valve: opened"])
    return m.finished("finished task", fields)


@kind(GOOD)
def _task_in_avro(m: Maker) -> Publication:
    fields = m.task(seed=2**63 - 1, configuration="0" * 64, sensitivity=1.0)
    return m.finished("task in avro", fields, m.codec.encode(TaskFinished(**fields)))


@kind(GOOD)
def _task_of_which_nobody_can_tell(m: Maker) -> Publication:
    return m.finished("task of which nobody can tell", m.task(outcome="unknown"))


@kind(GOOD)
def _task_that_ended_twice(m: Maker) -> tuple[Publication, ...]:
    first = m.task()
    # With another outcome what was said first stands, and the same one is said again.
    second = first | {"outcome": m.dice.choice(("failed", "succeeded", "unknown")), "goal": m.say()}
    at = m.dice.randrange(m.shards)
    return tuple(m.finished("task that ended twice", fields, partition=at) for fields in (first, second))


@kind(GOOD)
def _feedback_of_a_task(m: Maker) -> tuple[Publication, ...]:
    given = ids.memory_id(NAMESPACES[0], "no such")
    task = m.task(retrieved=[given])
    said = m.feedback(task["namespace"], ids.memory_id(task["namespace"], task["event_id"]), given)
    return m.finished("feedback of a task", task), m.assessed("feedback of a task", said)


@kind(GOOD)
def _feedback_of_no_task(m: Maker) -> Publication:
    namespace = m.dice.choice(NAMESPACES)
    nowhere = ids.memory_id(namespace, "no such")
    return m.assessed("feedback of no task", m.feedback(namespace, nowhere, nowhere))


@kind(GOOD)
def _feedback_for_what_was_never_retrieved(m: Maker) -> tuple[Publication, ...]:
    task = m.task()
    never = ids.memory_id(task["namespace"], "never")
    said = m.feedback(task["namespace"], ids.memory_id(task["namespace"], task["event_id"]), never)
    return m.finished("feedback for what was never retrieved", task), m.assessed(
        "feedback for what was never retrieved", said
    )


@kind(GOOD)
def _signed(m: Maker) -> Publication:
    fields = m.episode(namespace=SIGNED, agent=SIGNER)
    return replace(m.good("signed", fields), headers=signature(m, json.dumps(fields).encode(), SEED))


def signature(m: Maker, value: bytes, seed: bytes) -> tuple[tuple[str, bytes], ...]:
    return ((signatures.HEADER, signatures.sign(m.cluster, topics.EPISODES, seed, value)),)
