"""Records of strangers, mixed into good traffic by a seed: every kind with its expected end.

`traffic(seed, count)` is a stream of publications. Kinds whose end depends on chance (flipped bits) are marked: those
must end somewhere, once.
"""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Iterator
from random import Random

from memquorum import topics
from memquorum.core import ids
from memquorum.core.identity import signatures
from memquorum.core.records import AccessRecorded, ClockRequested, EpisodeRecorded, JournalEntry
from tests.faults.publications import (
    DAY,
    EITHER,
    GOOD,
    NAMESPACES,
    SEED,
    SELDOM,
    SIGNED,
    SIGNER,
    START,
    TURNED_AWAY,
    Make,
    Maker,
    Publication,
    kind,
    signature,
)

BAD: dict[str, Make] = {}


@kind(BAD)
def _tombstone(m: Maker) -> Publication:
    return m.bad("tombstone", None, "empty_record", key=m.fresh().encode())


@kind(BAD)
def _empty(m: Maker) -> Publication:
    return m.bad("empty", b"", "empty_record")


@kind(BAD)
def _random_bytes(m: Maker) -> Publication:
    first = m.dice.choice([b for b in range(1, 256) if b not in b"\xc3{ \t\r\n"])
    return m.bad("random bytes", bytes([first]) + m.dice.randbytes(m.dice.randrange(300)), "unknown_framing")


@kind(BAD)
def _random_avro(m: Maker) -> Publication:
    head = m.dice.choice([b"\0", b"\xc3\x01"])
    reason = "bad_avro" if head == b"\xc3\x01" else "unknown_framing"
    return m.bad("random avro", head + m.dice.randbytes(m.dice.randrange(300)), reason)


@kind(BAD)
def _random_after_the_fingerprint(m: Maker) -> Publication:
    # 0xff for ever is a number without an end.
    head = m.codec.encode(EpisodeRecorded("a", "c"))[:10]
    return m.bad("random after the fingerprint", head + b"\xff" * m.dice.randrange(12, 300), "bad_avro")


@kind(BAD)
def _truncated_avro(m: Maker) -> Publication:
    whole = m.codec.encode(EpisodeRecorded(**m.episode()))
    return m.bad("truncated avro", whole[: m.dice.randrange(2, len(whole))], "bad_avro")


@kind(BAD)
def _bytes_after_avro(m: Maker) -> Publication:
    return m.bad("bytes after avro", m.codec.encode(EpisodeRecorded(**m.episode())) + m.dice.randbytes(3), "bad_avro")


@kind(BAD)
def _avro_with_lengths_that_lie(m: Maker) -> Publication:
    head = m.codec.encode(EpisodeRecorded("a", "c"))[:10]
    lie = m.dice.choice([b"\xfe\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x01", b"\x09", b"\x80" * 50])
    return m.bad("avro with lengths that lie", head + lie + b"agent", "bad_avro")


@kind(BAD)
def _avro_with_bad_utf8(m: Maker) -> Publication:
    whole = m.codec.encode(EpisodeRecorded(**m.episode(content="c" * 40)))
    return m.bad("avro with bad utf8", whole.replace(b"c" * 40, b"\xff" * 40), "bad_avro")


@kind(BAD)
def _wrong_schema(m: Maker) -> Publication:
    strange = [ClockRequested(START), AccessRecorded("a", (ids.memory_id("n", "e"),)), _entry()]
    return m.bad("wrong schema", m.codec.encode(m.dice.choice(strange)), "wrong_record")


def _entry() -> JournalEntry:
    return JournalEntry(0, 1, START, "destroyed", "e", topics.ACCEPTED, 0, 0, b"")


@kind(BAD)
def _unknown_schema(m: Maker) -> Publication:
    own = m.codec.encode(EpisodeRecorded(**m.episode()))
    return m.bad("unknown schema", own[:2] + m.dice.randbytes(8) + own[10:], "bad_avro")


@kind(BAD)
def _framing_of_a_registry(m: Maker) -> Publication:
    own = m.codec.encode(EpisodeRecorded(**m.episode()))
    return m.bad("framing of a registry", struct.pack(">bI", 0, m.dice.randrange(2**32)) + own[10:], "unknown_framing")


@kind(BAD)
def _truncated_json(m: Maker) -> Publication:
    whole = json.dumps(m.episode()).encode()
    return m.bad("truncated json", whole[: m.dice.randrange(1, len(whole))], "bad_json")


@kind(BAD)
def _two_json_values(m: Maker) -> Publication:
    return m.bad("two json values", json.dumps(m.episode()).encode() * 2, "bad_json")


@kind(BAD)
def _json_that_is_no_object(m: Maker) -> Publication:
    value = m.dice.choice([[m.episode()], "text", 7, None, True, -1.5, []])
    return m.bad("json that is no object", json.dumps(value).encode(), "unknown_framing")


@kind(BAD)
def _invalid_utf8(m: Maker) -> Publication:
    broken = m.dice.choice([b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\xe2\x82"])
    value = json.dumps(m.episode(content="HERE")).encode().replace(b"HERE", b"a" + broken + b"b")
    return m.bad("invalid utf8", value, "bad_utf8")


@kind(BAD)
def _utf16(m: Maker) -> Publication:
    return m.bad("utf16", json.dumps(m.episode()).encode("utf-16"), "unknown_framing")


@kind(BAD)
def _unknown_field(m: Maker) -> Publication:
    return m.bad("unknown field", m.episode(occured_at=START), "unknown_field", "occured_at")


@kind(BAD)
def _unknown_field_with_a_secret(m: Maker) -> Publication:
    return m.bad("unknown field with a secret", m.episode() | {f"my secret: {m.say()}": 1}, "unknown_field")


@kind(BAD)
def _a_field_twice(m: Maker) -> Publication:
    value = json.dumps(m.episode())[:-1] + ', "agent": "another"}'
    return m.bad("a field twice", value.encode(), "duplicate_field", "agent")


@kind(BAD)
def _a_field_missing(m: Maker) -> Publication:
    name, value = m.dice.choice(["agent", "content"]), m.episode()
    value = value | {name: None} if m.dice.random() < 0.5 else {k: v for k, v in value.items() if k != name}
    return m.bad("a field missing", value, "missing_field", name)


@kind(BAD)
def _wrong_type(m: Maker) -> Publication:
    name, values = m.dice.choice([
        ("content", [7, {"text": "t"}, ["a"], True]), ("agent", [0, [], {}]), ("occurred_at", ["now", 1.5, True, []]),
        ("reward", ["0.5", False, [1], {}]), ("event_id", [12, {}]),
    ])  # fmt: skip
    return m.bad("wrong type", m.episode(**{name: m.dice.choice(values)}), "wrong_type", name)


@kind(BAD)
def _not_a_number(m: Maker) -> Publication:
    literal = m.dice.choice(["NaN", "Infinity", "-Infinity"])
    value = json.dumps(m.episode(reward="HERE")).replace('"HERE"', literal)
    return m.bad("not a number", value.encode(), "bad_json", "reward")


@kind(BAD)
def _not_a_number_in_avro(m: Maker) -> Publication:
    name, value = m.dice.choice(["reward", "confidence", "uncertainty"]), m.dice.choice(["nan", "inf", "-inf"])
    record = EpisodeRecorded(**m.episode(**{name: float(value)}))
    return m.bad("not a number in avro", m.codec.encode(record), "out_of_range", name)


@kind(BAD)
def _number_too_large(m: Maker) -> Publication:
    value = json.dumps(m.episode(reward="HERE")).replace('"HERE"', m.dice.choice(["1e999", "-1e400", "1" + "0" * 38]))
    return m.bad("number too large", value.encode(), "out_of_range", "reward")


@kind(BAD)
def _number_without_end(m: Maker) -> Publication:
    value = json.dumps(m.episode(occurred_at="HERE")).replace('"HERE"', "9" * m.dice.randrange(50, 5_000))
    return m.bad("number without end", value.encode(), "bad_json")


@kind(BAD)
def _share_out_of_range(m: Maker) -> Publication:
    name = m.dice.choice(["reward", "confidence", "uncertainty"])
    return m.bad(
        "share out of range", m.episode(**{name: m.dice.choice([-0.01, 1.01, 7, -3e300])}), "out_of_range", name
    )


@kind(BAD)
def _far_past(m: Maker) -> Publication:
    at = m.dice.choice([0, -1, 946_684_799_999, -(2**63), 1_750_000_000])  # the last: seconds for milliseconds
    return m.bad("far past", m.episode(occurred_at=at), "out_of_range", "occurred_at")


@kind(BAD)
def _far_future(m: Maker) -> Publication:
    # Ahead of every clock that a test is run by, and of the one that drives it.
    at = m.dice.choice([4_102_444_800_000, 7_258_118_400_001, 2**53, 2**63 - 1])
    record = m.episode(occurred_at=at)
    value = m.codec.encode(EpisodeRecorded(**record)) if m.dice.random() < 0.5 else record
    return m.bad("far future", value, "out_of_range", "occurred_at")


@kind(BAD)
def _beyond_64_bits(m: Maker) -> Publication:
    at = m.dice.choice([2**63, -(2**63) - 1, 10**30])
    return m.bad("beyond 64 bits", m.episode(occurred_at=at), "out_of_range", "occurred_at")


@kind(BAD)
def _bad_namespace(m: Maker) -> Publication:
    name = m.dice.choice(["", "a/b", "..", "näme", "a\n", " a", "!intake", "a b", "a\0", "\u202ea"])
    return m.bad("bad namespace", m.episode(namespace=name), "bad_name", "namespace")


@kind(BAD)
def _bad_name(m: Maker) -> Publication:
    name = m.dice.choice(["agent", "session", "role", "subject", "event_id"])
    value = m.dice.choice(["", " x", "x ", "a\0b", "\u202eevil", "a\tb", "\ud800"])
    return m.bad("bad name", m.episode(**{name: value}), "bad_name", name)


@kind(BAD)
def _name_too_long(m: Maker) -> Publication:
    name = m.dice.choice(["namespace", "agent", "session", "role", "subject", "event_id"])
    return m.bad("name too long", m.episode(**{name: "n" * m.dice.randrange(129, 5_000)}), "too_long", name)


@kind(BAD)
def _blank_content(m: Maker) -> Publication:
    return m.bad(
        "blank content", m.episode(content=m.dice.choice(["", " ", "\n\t", "\u2003"])), "empty_value", "content"
    )


@kind(BAD)
def _forbidden_characters(m: Maker) -> Publication:
    content = m.dice.choice(["a\0b", "\0", "half \ud83e", "\udc00"])
    return m.bad("forbidden characters", m.episode(content=content), "forbidden_character", "content")


@kind(BAD)
def _deep_nesting(m: Maker) -> Publication:
    opening = m.dice.choice(['{"agent":' + "[" * 5_000, '{"a":' * 3_000, '{"content":' + "[{" * 40])
    return m.bad("deep nesting", opening.encode(), "too_deep")


@kind(BAD, seldom=500)
def _content_too_long(m: Maker) -> Publication:
    return m.bad("content too long", m.episode(content="é" * 32_769), "too_long", "content")


@kind(BAD, seldom=1_000)
def _almost_a_megabyte(m: Maker) -> Publication:
    return m.bad("almost a megabyte", m.episode(content="x" * 990_000), "too_long", "content")


@kind(BAD, seldom=1_000)
def _over_a_megabyte(m: Maker) -> Publication:
    # As much as the topic takes, and more than intake does.
    return m.bad("over a megabyte", m.episode(content="x" * 1_020_000), "record_too_large")


@kind(BAD, seldom=1_000)
def _far_over_a_megabyte(m: Maker) -> Publication:
    value = json.dumps(m.episode(content="x" * 1_500_000)).encode()
    return Publication("far over a megabyte", topics.EPISODES, value, TURNED_AWAY)


@kind(BAD, seldom=1_000)
def _bomb(m: Maker) -> Publication:
    # Some kilobytes on the wire, megabytes when unpacked.
    value = json.dumps(m.episode(content="x" * 8_000_000)).encode()
    return Publication("bomb", topics.EPISODES, value, TURNED_AWAY, packed=m.dice.choice(["gzip", "zstd", "lz4"]))


@kind(BAD)
def _packed_by_hand(m: Maker) -> Publication:
    return m.bad("packed by hand", gzip.compress(json.dumps(m.episode()).encode(), mtime=0), "unknown_framing")


@kind(BAD)
def _kafka_time_in_the_future(m: Maker) -> Publication:
    value = json.dumps(m.episode()).encode()
    return Publication("kafka time in the future", topics.EPISODES, value, TURNED_AWAY, timestamp=4_102_444_800_000)


@kind(BAD)
def _bad_memory_id(m: Maker) -> Publication:
    memory = m.dice.choice(["", "x", "0" * 36, ids.memory_id("n", "e").replace("-", ""), "../../etc/passwd", "\0" * 36])
    return m.bad("bad memory id", {"agent": "a", "memory_ids": [memory]}, "bad_id", "memory_ids", topic=topics.ACCESSES)


@kind(BAD)
def _episode_among_accesses(m: Maker) -> Publication:
    return m.bad("episode among accesses", m.episode(), "unknown_field", "content", topic=topics.ACCESSES)


@kind(BAD)
def _task_without_an_outcome(m: Maker) -> Publication:
    value = m.task() | {"outcome": None}
    if m.dice.random() < 0.5:
        del value["outcome"]
    return m.bad("task without an outcome", value, "missing_field", "outcome", topic=topics.TASKS)


@kind(BAD)
def _task_that_ended_in_no_known_way(m: Maker) -> Publication:
    outcome = m.dice.choice(["", "success", "SUCCEEDED", "won", "finished_failed", "\ud800"])
    value = m.task(outcome=outcome)
    return m.bad("task that ended in no known way", value, "out_of_range", "outcome", topic=topics.TASKS)


@kind(BAD)
def _task_that_somebody_says_is_unknown(m: Maker) -> Publication:
    value = m.task(outcome="unknown", said_by="eve")
    return m.bad("task that somebody says is unknown", value, "out_of_range", "said_by", topic=topics.TASKS)


@kind(BAD)
def _task_of_wrong_fields(m: Maker) -> Publication:
    name, wrong, reason = m.dice.choice([
        ("goal", " \n", "empty_value"), ("goal", "a\0b", "forbidden_character"), ("inputs", "x" * 65_537, "too_long"),
        ("tools", ["x"] * 65, "too_many"), ("tools", ["x" * 4_097], "too_long"), ("tools", [" "], "empty_value"),
        ("tools", "valve", "wrong_type"), ("retrieved", ["e1"], "bad_id"), ("retrieved", "e1", "wrong_type"),
        ("configuration", "m-1", "bad_id"), ("seed", -1, "out_of_range"), ("seed", 2**63, "out_of_range"),
        ("seed", 0.5, "wrong_type"), ("finished_at", 1_750_000_000, "out_of_range"), ("said_by", "", "bad_name"),
        ("sensitivity", 1.5, "out_of_range"), ("outcome", True, "wrong_type"), ("lessons", ["x"], "unknown_field"),
    ])  # fmt: skip
    return m.bad("task of wrong fields", m.task() | {name: wrong}, reason, name, topic=topics.TASKS)


@kind(BAD)
def _episode_among_tasks(m: Maker) -> Publication:
    return m.bad("episode among tasks", m.episode(), "unknown_field", "content", topic=topics.TASKS)


@kind(BAD)
def _unsigned_task(m: Maker) -> Publication:
    return m.bad("unsigned task", m.task(namespace=SIGNED), "unsigned", "signature", topic=topics.TASKS)


@kind(BAD)
def _feedback_of_wrong_fields(m: Maker) -> Publication:
    task = ids.memory_id(NAMESPACES[0], "no such")
    name, changed, reason = m.dice.choice([
        ("helped", {"helped": []}, "missing_field"), ("did_not_help", {"did_not_help": [task]}, "out_of_range"),
        ("task", {"task": "e1"}, "bad_id"), ("task", {"task": None}, "missing_field"),
        ("helped", {"helped": ["e1"]}, "bad_id"), ("helped", {"helped": True}, "wrong_type"),
        ("agent", {"agent": ""}, "bad_name"), ("did_help", {"did_help": []}, "unknown_field"),
    ])  # fmt: skip
    value = m.feedback(NAMESPACES[0], task, task) | changed
    return m.bad("feedback of wrong fields", value, reason, name, topic=topics.FEEDBACK)


# Intake stops for each of these: what stands before a tick must come in before it.
@kind(BAD, seldom=300)
def _clock_backwards(m: Maker) -> Publication:
    value = {"as_of": START - 1 - m.dice.randrange(DAY)}
    return m.bad("clock backwards", value, "clock_backwards", "as_of", topic=topics.CLOCK, partition=0)


@kind(BAD, seldom=300)
def _clock_of_nowhere(m: Maker) -> Publication:
    value = {"as_of": m.dice.choice([-1, 0, 1, 7_258_118_400_000, 2**62])}
    return m.bad("clock of nowhere", value, "out_of_range", "as_of", topic=topics.CLOCK, partition=0)


@kind(BAD)
def _unsigned(m: Maker) -> Publication:
    return m.bad("unsigned", m.episode(namespace=SIGNED), "unsigned", "signature")


@kind(BAD)
def _signed_by_another(m: Maker) -> Publication:
    # In a namespace that asks for signatures, and in one that does not.
    fields = m.episode(namespace=m.dice.choice([SIGNED, NAMESPACES[0]]), agent=SIGNER)
    value = json.dumps(fields).encode()
    forged = m.dice.choice([
        signature(m, value, bytes(32)), signature(m, value + b" ", SEED), signature(m, value, SEED) * 2,
        ((signatures.HEADER, m.dice.randbytes(64)),), ((signatures.HEADER, b""),), ((signatures.HEADER, None),),
    ])  # fmt: skip
    return m.bad("signed by another", value, "bad_signature", "signature", headers=forged)


@kind(BAD)
def _flipped_bits(m: Maker) -> Publication:
    fields = m.episode()
    whole = bytearray(
        m.codec.encode(EpisodeRecorded(**fields)) if m.dice.random() < 0.5 else json.dumps(fields).encode()
    )
    for _ in range(m.dice.randrange(1, 4)):
        whole[m.dice.randrange(len(whole))] ^= 1 << m.dice.randrange(8)
    return Publication("flipped bits", topics.EPISODES, bytes(whole), EITHER)


KINDS = (*GOOD, *BAD)


def traffic(seed: int, count: int, *, cluster: bytes, shards: int = 4, bad: float = 0.5) -> Iterator[Publication]:
    """`count` publications, every kind among the first ones, then drawn: `bad` of them bad.

    `cluster`: SHA-256 of the genesis file, which signatures are for. The same seed gives the same records.
    """
    m = Maker(Random(seed), cluster, shards)
    every = list(KINDS)
    m.dice.shuffle(every)
    made = 0
    for table, name in _drawn(m.dice, every, bad):
        found = table[name](m)
        for publication in found if isinstance(found, tuple) else (found,):
            yield publication
            made += 1
        if made >= count:
            return


def _drawn(dice: Random, first: list[str], bad: float) -> Iterator[tuple[dict[str, Make], str]]:
    """Kinds without end: each of `first` once, then by chance."""
    for name in first:
        yield (GOOD if name in GOOD else BAD), name
    names = {id(table): list(table) for table in (GOOD, BAD)}
    weights = {id(t): [1 / max(1, SELDOM.get(name, 0) / len(t)) for name in t] for t in (GOOD, BAD)}
    while True:
        table = BAD if dice.random() < bad else GOOD
        yield table, dice.choices(names[id(table)], weights[id(table)])[0]
