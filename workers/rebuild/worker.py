"""Rebuilds the database `memory` from the topics and the vault, and compares two databases (DESIGN 8).

It follows the journal: it does not score or vote again. Content comes from the accepted records and embeddings from the
scored ones, at the offsets that the journal names; keys from the vault. Forgotten memories stay forgotten: their keys
are gone, and the journal says so. Afterwards a commit worker can continue from the database.

`verify` tells whether the journal can be trusted; `rebuild` checks the chain's links and every certificate's ballots as
it goes, and stops at the first wrong one.
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
from memquorum.core.showing.plurals import many
from memquorum.ports import Follows, StoreUnavailable
from workers.audit.auditor import Progress
from workers.kafka.journals import Journals
from workers.kafka.partition import Partition
from workers.rebuild.apart import Apart
from workers.rebuild.shard import Counts, Course, Job, together

_NAMED_MOST = 5
# The shards that a process rebuilds at once, alone and beside others. It holds their memories' rows, without content.
_AT_ONCE_ALONE, _AT_ONCE = 3, 2


class NotEmpty(RuntimeError):
    """The database to rebuild into is not empty; the message says what to do."""


class KeysMissing(RuntimeError):
    """The vault has no keys for memories that are alive by the journal. The message names some."""


@dataclass(frozen=True, slots=True)
class RebuildReport:
    """The result of a rebuild. `unreadable`: memories that were alive at the requested time and are destroyed since.
    `resumed`: how many of the entries a rebuild that was cut off had written before."""

    entries: int
    memories: int
    contents: int
    unreadable: tuple[str, ...]
    seconds: float
    resumed: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of two databases. `standing`: shards that are at different journal entries. `tables`: differences
    beside the memories."""

    left: StateDigest
    right: StateDigest
    differences: tuple[Difference, ...]
    standing: tuple[tuple[ShardState | None, ShardState | None], ...]
    tables: tuple[TableDifference, ...]

    @property
    def equal(self) -> bool:
        """True if both hold the same state of the same journals."""
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
    resume: bool = False,
    without_keys: bool = False,
) -> RebuildReport:
    """Rebuilds the state in an empty, migrated database: everything that the topics hold at this moment.

    `until_as_of`: stops where the shard's time passes this, in milliseconds: the state as of then. `until_seq`: shard →
    last journal sequence to follow (absent: none), for a comparison with a snapshot of a live store; waits for entries
    that are still being published. `namespace`: only this one's memories. `until_as_of` and `namespace` make a database
    to look at, from which no commit worker should continue. `stamps` identifies strangers' records in the journal's
    topic, which are ignored; None: they stop the rebuild. `processes`: how many share the shards, this one among them;
    with more than one the vault is pickled for the others. `resume`: the database holds what a rebuild of the same had
    written when it was cut off. Each shard goes on at its last transaction: entries before that are followed again, in
    memory, and their rows and contents are not written again. `without_keys`: memories whose keys the vault lacks stay
    without content.

    Raises NotEmpty, NotResumable, CannotReplay, KeysMissing (after everything was written), Fenced (another cluster's),
    PartLost, and StoreUnavailable, VaultUnavailable, KafkaException or TopicUnreadable if a part cannot be reached.
    """
    began = time.monotonic()
    if not resume:
        _refuse_unless_empty(memory_dsn)
    with closing(PostgresStore(memory_dsn)) as store:
        begun = store.start(genesis.cluster, genesis.shards)
    reached = {shard: one.state for shard, one in begun.items()} if resume else None
    ends = [_end(bootstrap, shard) for shard in range(genesis.shards)]
    course = Course(_summed(progress, sum(ends)))
    # A vault restored from a backup may hold destroyed keys: they are not used; the commit worker destroys them again,
    # once there is a store.
    told = Journals(bootstrap, genesis.shards, codec, stamps).destroyed(vault.followed())
    gone = frozenset(memory_id for _, _, ids in told for memory_id in ids)
    job = Job(bootstrap, genesis, codec, memory_dsn, vault, until_as_of, until_seq, namespace, stamps, gone, reached)
    mine, *others = dealt(ends, processes)
    with ExitStack() as stack:
        apart = [stack.enter_context(Apart(job, shards, _AT_ONCE, course)) for shards in others]
        calls: list[Callable[[], Counts]] = [one.result for one in apart]
        calls += [partial(job.shard, shard, course) for shard in mine]
        done = together(calls, course, len(apart) + (_AT_ONCE if apart else _AT_ONCE_ALONE))
    unreadable = _unreadable(memory_dsn)
    if unreadable and until_as_of is None and until_seq is None and not without_keys:
        names = ", ".join(unreadable[:_NAMED_MOST]) + (", …" if len(unreadable) > _NAMED_MOST else "")
        raise KeysMissing(
            f"the vault has no keys of live memories, {many(len(unreadable), 'memory')}: {names}. If it is newer than "
            "the topics, they were erased or forgotten in between: `--without-keys` goes on"
        )
    took = time.monotonic() - began
    return RebuildReport(done.entries, done.memories, done.contents, unreadable, took, done.resumed)


def dealt(ends: Sequence[int], processes: int) -> list[list[int]]:
    """Distributes shards over processes by the number of records: the longest first, to the process with the fewest.

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
    """Reports the progress over all shards, in the thread in which it occurs."""
    done: dict[int, int] = {}
    turn = threading.Lock()

    def tell(shard: int, offset: int) -> None:
        with turn:
            done[shard] = offset
            if progress is not None:
                progress(Progress(shard, sum(done.values()), total))

    return tell


def compare(left_dsn: str, right_dsn: str, namespace: str | None = None) -> Comparison:
    """Compares two databases: all rows that follow from the journal, or one namespace's. Raises StoreUnavailable."""
    with snapshot(left_dsn) as left, snapshot(right_dsn) as right:
        ours, theirs = left.digest(namespace), right.digest(namespace)
        tables = tuple(differing(left, right, namespace))
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
