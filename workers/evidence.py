"""The evidence that members have published against each other, read whole and told fault by fault."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from confluent_kafka import TopicPartition

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.evidence import BadEvidence, Verdict, convict, describe
from memquorum.core.consensus.membership import Genesis
from memquorum.core.consensus.messages import BadMessage, open_signed
from memquorum.core.records import Misbehaved
from workers import loop
from workers.partition import TopicUnreadable

_READ_MOST = 500
_STALLED_S = 60.0


@dataclass(frozen=True, slots=True)
class Report:
    """A record that a member signed, and when it was written, in milliseconds, by the broker's word."""

    at: int
    record: Misbehaved


@dataclass(slots=True)
class Fault:
    """What one or more members report alike. `verdict` and `wrong` once it was judged: proven, or why not."""

    first_at: int
    shard: int
    accused: int
    what: str
    reporters: set[int] = field(default_factory=set)
    verdict: Verdict | None = None
    wrong: str | None = None


def read(bootstrap: str, genesis: Genesis, codec: Codec) -> tuple[list[Report], int]:
    """All reports that members signed, in the order of their times, and how many records no member signed.

    Raises KafkaException or TopicUnreadable.
    """
    found, strangers = list[Report](), 0
    for shard, at, data in _records(bootstrap, genesis.shards):
        try:
            _, record = open_signed(codec, genesis, data, Misbehaved)
        except BadMessage:
            strangers += 1
            continue
        if record.shard == shard:
            found.append(Report(at, record))
        else:
            strangers += 1
    return sorted(found, key=lambda report: report.at), strangers


def faults(codec: Codec, genesis: Genesis, reports: Iterable[Report], *, verify: bool) -> list[Fault]:
    """The reports by fault, first reported first. With `verify` each is judged anew, from its originals alone; what
    one reporter cannot prove another may, so the two stand apart."""
    found: dict[tuple[object, ...], Fault] = {}
    for report in reports:
        record = report.record
        what, verdict, wrong = describe(codec, record), None, None
        if verify:
            try:
                verdict = convict(codec, genesis, record)
            except BadEvidence as error:
                wrong = str(error)
        key = (record.shard, record.accused, what, wrong)
        fault = found.setdefault(key, Fault(report.at, record.shard, record.accused, what))
        fault.reporters.add(record.member)
        fault.verdict, fault.wrong = fault.verdict or verdict, wrong
    return list(found.values())


def _records(bootstrap: str, shards: int) -> Iterator[tuple[int, int, bytes]]:
    """(shard, time, value) of everything that stands on the topic now."""
    reader = loop.consumer(bootstrap)
    try:
        left: dict[tuple[str, int], int] = {}
        for shard in range(shards):
            low, end = reader.get_watermark_offsets(TopicPartition(topics.EVIDENCE, shard), timeout=10)
            if end > low:
                left[topics.EVIDENCE, shard] = end
        loop.assign(reader, dict.fromkeys(left))
        heard = time.monotonic()
        while left:
            for message in loop.records(reader, _READ_MOST, 0.2):
                heard, place = time.monotonic(), loop.place(message)
                if loop.offset(message) < left.get(place, 0):
                    yield place[1], message.timestamp()[1], message.value() or b""
                if loop.offset(message) + 1 >= left.get(place, 2**63):
                    del left[place]
            if time.monotonic() - heard > _STALLED_S:
                raise TopicUnreadable(f"{topics.EVIDENCE}: nothing came for {_STALLED_S:.0f} s. Are all brokers up?")
    finally:
        reader.close()
