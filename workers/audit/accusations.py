"""Reads the evidence that members have published against each other, and groups it by fault."""

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
from workers.audit import audited_configurations
from workers.kafka.partition import standing


@dataclass(frozen=True, slots=True)
class Accusation:
    """A record that a member signed, the configuration, and the broker's time, in milliseconds."""

    at: int
    record: Misbehaved
    by: Genesis


@dataclass(slots=True)
class Fault:
    """A fault that one or more members report alike. `verdict` or `wrong` is set once it was judged: proven, or the
    reason why not."""

    first_at: int
    shard: int
    accused: int
    what: str
    reporters: set[int] = field(default_factory=set)
    verdict: Verdict | None = None
    wrong: str | None = None


def read(bootstrap: str, genesis: Genesis, codec: Codec) -> tuple[list[Accusation], int]:
    """Returns all reports that members signed, in the order of their times, and the number of records that no member
    signed.

    Raises KafkaException or TopicUnreadable.
    """
    found, strangers = list[Accusation](), 0
    # The journal is long: it is read for configurations only if a report names a later one.
    known = cache(partial(audited_configurations.read, bootstrap, genesis, codec))
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
            found.append(Accusation(message.timestamp()[1], record, by))
        else:
            strangers += 1
    return sorted(found, key=lambda report: report.at), strangers


def faults(codec: Codec, reports: Iterable[Accusation], *, verify: bool) -> list[Fault]:
    """Groups the reports by fault, first reported first. With `verify` each is judged again, from its original messages
    alone; one reporter may prove what another cannot, so these two are kept apart."""
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
