"""Rebuilds the database `memory` from the topics and the vault, and compares two databases (DESIGN 8).

It follows the journal: nothing is scored and no vote is taken again. Content comes from the accepted records and
embeddings from the scored ones, at the offsets that the journal names; keys from the vault. What was forgotten stays
forgotten: its key is gone, and the journal says so. Afterwards a commit worker can go on from the database.

`verify` says whether the journal can be trusted; `rebuild` checks the chain's links and every certificate's ballots as
it goes, and stops at the first that is wrong.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial

from db.audit_rows import Snapshot, TableDifference, differing, snapshot
from db.connection import READER, Link
from db.queries import QUERIES
from db.store import PostgresStore
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.journal import digest
from memquorum.core.journal.digest import Difference, StateDigest
from memquorum.core.journal.rows import ShardState
from memquorum.core.text.plurals import many
from memquorum.ports import Follows, StoreUnavailable
from workers.audit.auditor import Progress
from workers.kafka.journals import Journals
from workers.kafka.partition import Partition
from workers.rebuild.apart import Apart
from workers.rebuild.shard import Counts, Course, Job, together

_NAMED_MOST = 5
# Shards that a process rebuilds at once, where it is alone and where there are others. It holds their memories' rows,
# without content.
_AT_ONCE_ALONE, _AT_ONCE = 3, 2


class NotEmpty(RuntimeError):
    """The database to rebuild into holds something already; the message says what to do."""


class KeysMissing(RuntimeError):
    """Memories that are alive by the journal cannot be read, because the vault has no keys for them. Named."""


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """What a rebuild did. `unreadable`: memories that were alive at the time asked for and are destroyed since."""

    entries: int
    memories: int
    contents: int
    unreadable: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two databases side by side. `standing`: shards that do not stand at the same journal entry. `tables`: what
    differs beside the memories."""

    left: StateDigest
    right: StateDigest
    differences: tuple[Difference, ...]
    standing: tuple[tuple[ShardState | None, ShardState | None], ...]
    tables: tuple[TableDifference, ...]

    @property
    def equal(self) -> bool:
        """Whether both hold the same state of the same journals."""
        return not (self.differences or self.standing or self.tables)


def rebuild(
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    memory_dsn: str,
    vault: Follows,
    *,
    until_as_of: int | None = None,
    until_seq: Mapping[int, int] | None = None,
    namespace: str | None = None,
    stamps: Reader | None = None,
    progress: Callable[[Progress], None] | None = None,
    processes: int = 1,
) -> RebuildReport:
    """Makes the state again in an empty, migrated database: everything that the topics hold at this moment.

    `until_as_of`: stops where the shard's time passes this, in milliseconds: the state as it was then. `until_seq`:
    shard → last journal sequence to follow (absent: none), to be compared with a snapshot of a store that goes on;
    entries that are still being published are waited for. `namespace`: only this one's memories. The first and the last
    make a database to look at, from which no commit worker should go on. `stamps` tells what strangers wrote to the
    journal's topic, which is passed over; None: it stops the rebuild. `processes`: how many share the shards, this one
    among them; more than one take the vault as it is pickled.

    Raises NotEmpty, CannotReplay, KeysMissing (after everything was written), Fenced (another cluster's), PartLost, and
    StoreUnavailable, VaultUnavailable, KafkaException or TopicUnreadable where a part cannot be reached.
    """
    began = time.monotonic()
    _refuse_unless_empty(memory_dsn)
    with closing(PostgresStore(memory_dsn)) as store:
        store.start(genesis.cluster, genesis.shards)
    ends = [_end(bootstrap, shard) for shard in range(genesis.shards)]
    course = Course(_summed(progress, sum(ends)))
    # Of a vault that was put back no revived key is opened; the commit worker destroys them, once there is a store.
    told = Journals(bootstrap, genesis.shards, codec, stamps).destroyed(vault.followed())
    gone = frozenset(memory_id for _, _, ids in told for memory_id in ids)
    job = Job(bootstrap, genesis, codec, memory_dsn, vault, until_as_of, until_seq, namespace, stamps, gone)
    mine, *others = dealt(ends, processes)
    with ExitStack() as stack:
        apart = [stack.enter_context(Apart(job, shards, _AT_ONCE, course)) for shards in others]
        calls: list[Callable[[], Counts]] = [one.result for one in apart]
        calls += [partial(job.shard, shard, course) for shard in mine]
        done = together(calls, course, len(apart) + (_AT_ONCE if apart else _AT_ONCE_ALONE))
    unreadable = _unreadable(memory_dsn)
    if unreadable and until_as_of is None and until_seq is None:
        names = ", ".join(unreadable[:_NAMED_MOST]) + (", …" if len(unreadable) > _NAMED_MOST else "")
        raise KeysMissing(f"of what is alive the vault has no keys of {many(len(unreadable), 'memory')}: {names}")
    return RebuildReport(done.entries, done.memories, done.contents, unreadable, time.monotonic() - began)


def dealt(ends: Sequence[int], processes: int) -> list[list[int]]:
    """The shards for each process, about as many records to each: the longest first, to whoever has least.

    `ends`: of each shard's journal. At most one process for each shard, and at least one.
    """
    hands: list[list[int]] = [[] for _ in range(max(1, min(processes, len(ends))))]
    for shard in sorted(range(len(ends)), key=lambda shard: -ends[shard]):
        min(hands, key=lambda hand: (sum(ends[s] for s in hand), len(hand))).append(shard)
    return hands


def _end(bootstrap: str, shard: int) -> int:
    with closing(Partition(bootstrap, topics.JOURNAL, shard)) as journal:
        return journal.end


def _summed(progress: Callable[[Progress], None] | None, total: int) -> Callable[[int, int], None]:
    """Tells of progress over all shards, in whichever thread it comes."""
    done: dict[int, int] = {}
    turn = threading.Lock()

    def tell(shard: int, offset: int) -> None:
        with turn:
            done[shard] = offset
            if progress is not None:
                progress(Progress(shard, sum(done.values()), total))

    return tell


def compare(left_dsn: str, right_dsn: str, namespace: str | None = None) -> Comparison:
    """Two databases side by side, all that follows from the journal or one namespace's. Raises StoreUnavailable."""
    with snapshot(left_dsn) as left, snapshot(right_dsn) as right:
        ours, theirs = left.digest(namespace), right.digest(namespace)
        tables = tuple(differing(left.tables(namespace), right.tables(namespace)))
        return Comparison(ours, theirs, tuple(digest.compare(ours, theirs)), tuple(_apart(left, right)), tables)


def _apart(left: Snapshot, right: Snapshot) -> Iterator[tuple[ShardState | None, ShardState | None]]:
    ours, theirs = left.standing(), right.standing()
    for shard in sorted(ours.keys() | theirs.keys()):
        if ours.get(shard) != theirs.get(shard):
            yield ours.get(shard), theirs.get(shard)


def _refuse_unless_empty(dsn: str) -> None:
    link = Link(dsn, READER, StoreUnavailable)
    with link.use() as connection:
        row = connection.execute(QUERIES["store_is_empty"]).fetchone()
    link.close()
    if not (row and row[0]):
        raise NotEmpty("this database holds memories or a journal: rebuild into a new, migrated one, and compare them")


def _unreadable(dsn: str) -> tuple[str, ...]:
    link = Link(dsn, READER, StoreUnavailable)
    with link.use() as connection:
        found = tuple(row[0] for row in connection.execute(QUERIES["alive_without_content"]))
    link.close()
    return found
