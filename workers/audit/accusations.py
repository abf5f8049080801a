"""The evidence that members have published against each other, read whole and told fault by fault."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, partial

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.evidence import BadEvidence, Verdict, convict, describe
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.messages import BadMessage, UnknownConfiguration, open_any
from memquorum.core.records import Misbehaved
from workers.audit import configurations
from workers.kafka.partition import standing


@dataclass(frozen=True, slots=True)
class Report:
    """A record that a member signed, in which configuration, and when it was written, in milliseconds, by the broker's
    word."""

    at: int
    record: Misbehaved
    by: Genesis


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
    # The journal is long: it is asked for configurations only where somebody speaks of a later one.
    known = cache(partial(configurations.read, bootstrap, genesis, codec))
    for message in standing(bootstrap, topics.EVIDENCE, genesis.shards):
        data, shard = message.value() or b"", message.partition() or 0
        try:
            try:
                record, by = open_any(codec, genesis, data, Misbehaved)
            except UnknownConfiguration:
                record, by = open_any(codec, known()[shard], data, Misbehaved)
        except BadMessage:
            strangers += 1
            continue
        if record.shard == shard:
            found.append(Report(message.timestamp()[1], record, by))
        else:
            strangers += 1
    return sorted(found, key=lambda report: report.at), strangers


def faults(codec: Codec, reports: Iterable[Report], *, verify: bool) -> list[Fault]:
    """The reports by fault, first reported first. With `verify` each is judged anew, from its originals alone; what
    one reporter cannot prove another may, so the two stand apart."""
    found: dict[tuple[object, ...], Fault] = {}
    for report in reports:
        record = report.record
        what, verdict, wrong = describe(codec, record), None, None
        if verify:
            try:
                verdict = convict(codec, report.by, record)
            except BadEvidence as error:
                wrong = str(error)
        key = (record.shard, record.accused, what, wrong)
        fault = found.setdefault(key, Fault(report.at, record.shard, record.accused, what))
        fault.reporters.add(record.member)
        fault.verdict, fault.wrong = fault.verdict or verdict, wrong
    return list(found.values())
