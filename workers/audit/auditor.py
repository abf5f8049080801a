"""Audits a cluster: reads the journal's topics from their beginning, and Postgres beside them (`core.audit.verify`).

It needs only the topics and the genesis file, and the database if one is given. It writes nothing. On a live system the
ends of the topics are noted before the snapshot of the database is taken, in the order that `core.audit.verify`
explains, so that concurrent changes are no findings.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from msgspec.structs import replace

from db.audit_rows import Snapshot, snapshot
from memquorum import topics
from memquorum.core.audit.agreed import Words
from memquorum.core.audit.chain import Record
from memquorum.core.audit.findings import Finding, Findings, Kind, ShardReport, VerifyReport
from memquorum.core.audit.verify import verify_shard
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.journal.effects import Rules
from memquorum.ports import Vault
from workers.audit import authors, contents, erased_queries, task_digests, worth_checks
from workers.audit.contents import Checked
from workers.kafka.partition import Partition
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.audit")

# The time that entries or heads which must follow may take: the commit worker publishes within milliseconds.
PATIENCE_S = 5.0

_TELL_EVERY = 500


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of long work: records of the journal read, of all records."""

    shard: int
    done: int
    total: int


def verify(
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    memory_dsn: str | None = None,
    *,
    vault: Vault | None = None,
    stamps: Reader | None = None,
    patience_s: float = PATIENCE_S,
    progress: Callable[[Progress], None] | None = None,
) -> VerifyReport:
    """Audits every shard. Without `memory_dsn` the topics alone are verified. With a `vault` the contents of the
    database are compared with the journal's commitments; those without a key there, or all, are counted as unchecked.
    With it, agents' signatures, given or required, are checked too, as far as there are keys.

    `stamps` identifies strangers' records in the journal's topics, which are counted and ignored; without it they are
    taken for the journal's own, and are findings.

    Raises StoreUnavailable, KafkaException or TopicUnreadable if a source cannot be read: that is no finding.
    """
    with ExitStack() as stack:
        strangers = Strangers(_LOG, stamps)
        said = _open(stack, bootstrap, topics.CHECKPOINTS, genesis.shards, None)
        read = _open(stack, bootstrap, topics.ACCEPTED, genesis.shards, strangers)
        scored = _open(stack, bootstrap, topics.SCORED, genesis.shards, strangers)
        accepted = _open(stack, bootstrap, topics.ACCEPTED, genesis.shards, strangers)
        heads = _open(stack, bootstrap, topics.HEADS, genesis.shards, strangers)
        asked = _open(stack, bootstrap, topics.ASKED, genesis.shards, strangers)
        entries = _open(stack, bootstrap, topics.JOURNAL, genesis.shards, strangers)
        found = stack.enter_context(snapshot(memory_dsn)) if memory_dsn is not None else None
        total, before = sum(partition.end for partition in entries), 0
        reports = []
        for shard in range(genesis.shards):
            report = verify_shard(
                Rules(codec, genesis),
                shard,
                entries=entries[shard].source(patience_s),
                heads=heads[shard].source(patience_s),
                accepted=accepted[shard].source(patience_s),
                words=Words(said[shard].source(0), read[shard].source(patience_s), scored[shard].source(patience_s)),
                store=found.store(shard) if found is not None else None,
                progress=_teller(progress, shard, before, total),
            )
            before += entries[shard].end
            reports.append(report)
        reports = [_with_authors(report, _authors(codec, genesis, report.shard, accepted, vault)) for report in reports]
        reports = [_with_authors(report, _worths(codec, report.shard, accepted, scored, vault)) for report in reports]
        reports = [_with_authors(report, _queries(codec, report.shard, asked, entries, vault)) for report in reports]
        bodies, unchecked = Checked(), 0
        if found is not None:
            reports[0] = _with_strays(reports[0], found, genesis.shards)
            told = task_digests.check(found.contexts(), range(genesis.shards))
            reports = [_with_authors(report, told[report.shard]) for report in reports]
            bodies = contents.check(found.bodies(), vault)
            unchecked = bodies.unchecked + _still_there(memory_dsn, bodies.keyless)
            reports = [_with_bodies(report, bodies) for report in reports]
    return VerifyReport(
        tuple(reports),
        store_compared=found is not None,
        unchecked=unchecked,
        strangers=strangers.counts.total(),
        altered=tuple(strangers.altered),
    )


def _open(stack: ExitStack, bootstrap: str, topic: str, shards: int, strangers: Strangers | None) -> list[Partition]:
    found = []
    for shard in range(shards):
        partition = Partition(bootstrap, topic, shard, strangers)
        stack.callback(partition.close)
        found.append(partition)
    return found


def _teller(
    progress: Callable[[Progress], None] | None, shard: int, before: int, total: int
) -> Callable[[int], None] | None:
    if progress is None:
        return None

    def tell(offset: int) -> None:
        if offset % _TELL_EVERY == 0:
            progress(Progress(shard, before + offset, max(total, before + offset)))

    return tell


def _still_there(memory_dsn: str | None, keyless: Sequence[str]) -> int:
    """Counts the contents without a key that are still in the store. A memory forgotten during the audit lost its key
    rightly: the audit's rows are those of its beginning, the vault's keys the present ones.
    """
    if memory_dsn is None or not keyless:
        return 0
    with snapshot(memory_dsn) as now:
        return len(now.held(keyless))


def _authors(
    codec: Codec, genesis: Genesis, shard: int, accepted: Sequence[Partition], vault: Vault | None
) -> Findings:
    """Checks the signatures in the accepted stream of a shard, up to its end at the beginning of the audit."""
    ended = _ended(accepted[shard])
    return authors.check(codec, genesis, shard, ((record.offset, record.data) for record in ended), vault)


def _worths(
    codec: Codec, shard: int, accepted: Sequence[Partition], scored: Sequence[Partition], vault: Vault | None
) -> Findings:
    """Checks the worths in the accepted and the scored stream of a shard, up to their ends at the beginning of the
    audit."""
    said, scores = (
        ((record.offset, record.data) for record in _ended(partition)) for partition in (accepted[shard], scored[shard])
    )
    return worth_checks.check(codec, shard, said, scores, vault)


def _queries(
    codec: Codec, shard: int, asked: Sequence[Partition], entries: Sequence[Partition], vault: Vault | None
) -> Findings:
    """Checks a shard's queries against its journal, up to their ends at the beginning of the audit."""
    said, journal = (lambda of=of: (record.data for record in _ended(of[shard])) for of in (asked, entries))
    return erased_queries.check(codec, shard, said, journal, vault)


def _ended(partition: Partition) -> Iterator[Record]:
    return itertools.takewhile(lambda record: record.offset < partition.end, partition.records(0))


def _with_authors(report: ShardReport, found: Findings) -> ShardReport:
    report.counts.add(found.counts)
    return replace(report, findings=report.findings + tuple(found.kept), more=report.more + found.more)


def _with_bodies(report: ShardReport, bodies: Checked) -> ShardReport:
    """Adds the results for the shard's contents to the report."""
    report.counts.contents += bodies.checked[report.shard]
    altered = tuple(finding for finding in bodies.findings if finding.shard == report.shard)
    return replace(report, findings=report.findings + altered, more=report.more + bodies.more[report.shard])


def _with_strays(report: ShardReport, found: Snapshot, shards: int) -> ShardReport:
    """Adds rows of shards that the cluster does not have to a report, as no other check covers them."""
    strays = tuple(
        Finding(Kind.ROW_ADDED, shard, None, f"table {table}", f"shards 0 to {shards - 1} only", "rows")
        for table, shard in found.strays(shards)
    )
    return replace(report, findings=report.findings + strays) if strays else report
