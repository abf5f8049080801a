"""Rebuilds the database `memory` from the topics and the vault, and compares two databases (DESIGN 8).

It follows the journal: nothing is scored and no vote is taken again. Content comes from the accepted records and
embeddings from the scored ones, at the offsets that the journal names; keys from the vault. What was forgotten stays
forgotten: its key is gone, and the journal says so. Afterwards a commit worker can go on from the database.

`verify` says whether the journal can be trusted; `rebuild` checks the chain's links and every certificate's ballots as
it goes, and stops at the first that is wrong.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TypeVar

from db.audit_rows import Snapshot, snapshot
from db.connection import READER, Link
from db.queries import QUERIES
from db.store import Clear, PostgresStore
from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.consensus.membership import Genesis
from memquorum.core.crypto.stamps import Reader
from memquorum.core.journal import digest
from memquorum.core.journal.digest import Difference, StateDigest
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.replay import (
    CannotReplay,
    Read,
    Replay,
    Sealed,
    SealedAnew,
    open_content,
    open_embedding,
)
from memquorum.core.journal.rows import Keys, ShardState
from memquorum.core.records import EpisodeAccepted, EpisodeScored, MemoryReencoded
from memquorum.ports import StoreUnavailable, Vault, Vector
from workers.audit import PATIENCE_S, Progress
from workers.partition import Partition, Shelf
from workers.strangers import Strangers

_LOG = logging.getLogger("memquorum.replay")

# Entries written in one transaction.
_BATCH = 2_000
_NAMED_MOST = 5
# Shards rebuilt at once: each holds its memories' rows, without content.
_AT_ONCE = 3
_SHELVES = (topics.ACCEPTED, topics.SCORED, topics.REENCODED)

T = TypeVar("T")


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
    """Two databases side by side. `standing`: shards that do not stand at the same journal entry."""

    left: StateDigest
    right: StateDigest
    differences: tuple[Difference, ...]
    standing: tuple[tuple[ShardState | None, ShardState | None], ...]

    @property
    def equal(self) -> bool:
        """Whether both hold the same state of the same journals."""
        return not self.differences and not self.standing


def rebuild(
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    memory_dsn: str,
    vault: Vault,
    *,
    until_as_of: int | None = None,
    until_seq: Mapping[int, int] | None = None,
    namespace: str | None = None,
    stamps: Reader | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> RebuildReport:
    """Makes the state again in an empty, migrated database: everything that the topics hold at this moment.

    `until_as_of`: stops where the shard's time passes this, in milliseconds: the state as it was then. `until_seq`:
    shard → last journal sequence to follow (absent: none), to be compared with a snapshot of a store that goes on;
    entries that are still being published are waited for. `namespace`: only this one's memories. The first and the last
    make a database to look at, from which no commit worker should go on. `stamps` tells what strangers wrote to the
    journal's topic, which is passed over; None: it stops the rebuild.

    Raises NotEmpty, CannotReplay, KeysMissing (after everything was written), Fenced (another cluster's), and
    StoreUnavailable, VaultUnavailable, KafkaException or TopicUnreadable where a part cannot be reached.
    """
    began = time.monotonic()
    _refuse_unless_empty(memory_dsn)
    store = PostgresStore(memory_dsn)
    try:
        store.start(genesis.cluster, genesis.shards)
    finally:
        store.close()
    with ExitStack() as stack:
        journals = [
            _open(stack, bootstrap, topics.JOURNAL, shard, Strangers(_LOG, stamps)) for shard in range(genesis.shards)
        ]
        told = _Told(progress, sum(partition.end for partition in journals))

        def one(shard: int) -> tuple[int, int, int]:
            replay = Replay(Rules(codec, genesis), shard, namespace)
            last = None if until_seq is None else until_seq.get(shard, 0)
            links = told.along(shard, _links(replay, journals[shard], until_as_of, last))
            return _rebuild_shard(bootstrap, memory_dsn, replay, links, vault)

        done = _each(one, range(genesis.shards), told)
    entries, memories, written = (sum(counts) for counts in zip(*done, strict=True))
    unreadable = _unreadable(memory_dsn)
    if unreadable and until_as_of is None and until_seq is None:
        names = ", ".join(unreadable[:_NAMED_MOST]) + (", …" if len(unreadable) > _NAMED_MOST else "")
        raise KeysMissing(f"{len(unreadable)} memories are alive, and the vault has no keys for them: {names}")
    return RebuildReport(entries, memories, written, unreadable, time.monotonic() - began)


def compare(left_dsn: str, right_dsn: str, namespace: str | None = None) -> Comparison:
    """The state digests of two databases, of everything or of one namespace. Raises StoreUnavailable."""
    with snapshot(left_dsn) as left, snapshot(right_dsn) as right:
        ours, theirs = left.digest(namespace), right.digest(namespace)
        return Comparison(ours, theirs, tuple(digest.compare(ours, theirs)), tuple(_apart(left, right)))


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


def _open(stack: ExitStack, bootstrap: str, topic: str, shard: int, strangers: Strangers | None = None) -> Partition:
    partition = Partition(bootstrap, topic, shard, strangers)
    stack.callback(partition.close)
    return partition


def _links(
    replay: Replay, partition: Partition, until_as_of: int | None, last: int | None
) -> Iterator[tuple[int, Read]]:
    """The chain's links with their offsets, to the partition's end or the entry `last`; published twice, given once."""
    reached = 0
    if last == 0:
        return
    for record in partition.records(0 if last is None else PATIENCE_S):
        if last is None and record.offset >= partition.end:
            return
        read = replay.read(record.data)
        if until_as_of is not None and read.entry.as_of > until_as_of:
            return
        if read.entry.seq > reached:
            reached = read.entry.seq
            yield record.offset, read
        if reached == last:
            return


def _each(one: Callable[[int], tuple[int, int, int]], shards: range, told: _Told) -> list[tuple[int, int, int]]:
    """What `one` answers for each shard. Some at once: while Postgres writes for one, this process reads for others.

    Where one raises, or this thread is interrupted, the others end at their next entry, and that is raised.
    """
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="rebuild") as threads:
        try:
            running = [threads.submit(one, shard) for shard in shards]
            ended, _ = wait(running, return_when=FIRST_EXCEPTION)
            for future in ended:
                future.result()
        except BaseException:
            told.stop = True
            threads.shutdown(wait=False, cancel_futures=True)
            raise
        return [future.result() for future in running]


def _rebuild_shard(
    bootstrap: str, memory_dsn: str, replay: Replay, links: Iterable[Read], vault: Vault
) -> tuple[int, int, int]:
    """Entries, memories and contents of one shard, once they are written."""
    entries = memories = written = 0
    shard, codec = replay.state.shard, replay.codec
    with ExitStack() as stack:
        store = PostgresStore(memory_dsn)
        stack.callback(store.close)
        shelves = [_open(stack, bootstrap, topic, shard) for topic in _SHELVES]
        contents = _Contents(codec, vault, *(Shelf(shelf) for shelf in shelves))
        for batch in _batches(links):
            step = replay.take(batch)
            clear, vectors = contents.of(step.sealed), contents.anew(step.anew)
            with store.transaction({step.net.before: Keys()}) as transaction:
                transaction.write([step.net], clear, {}, vectors)
            entries += len(batch)
            memories += len(step.net.new_memories)
            written += len(clear)
        # It comes from the topic: nothing of it is to be published.
        store.published({shard: replay.state.seq})
    return entries, memories, written


def _batches(links: Iterable[Read]) -> Iterator[list[Read]]:
    batch: list[Read] = []
    for link in links:
        batch.append(link)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


class _Contents:
    """Opens what the journal names. The topics are read beside it: accepted order is the journal's order."""

    def __init__(self, codec: Codec, vault: Vault, accepted: Shelf, scored: Shelf, reencoded: Shelf) -> None:
        self._codec, self._vault = codec, vault
        self._accepted, self._scored, self._reencoded = accepted, scored, reencoded

    def of(self, wanted: Iterable[Sealed]) -> dict[str, Clear]:
        """What can be opened, by memory; absent is what the vault has no key for. Raises CannotReplay."""
        listed = list(wanted)
        keys = self._vault.open([sealed.memory_id for sealed in listed]) if listed else {}
        found = {}
        for sealed in listed:
            key = keys.get(sealed.memory_id)
            if key is not None:
                accepted = self._record(EpisodeAccepted, self._accepted.at(sealed.detail.accepted_offset), sealed)
                scored = self._record(EpisodeScored, self._scored.at(sealed.detail.scored_offset), sealed)
                found[sealed.memory_id] = Clear(*open_content(key, sealed, accepted, scored))
        return found

    def anew(self, wanted: Sequence[SealedAnew]) -> dict[str, Vector]:
        """The embeddings that took another's place and can be opened, by memory. Raises CannotReplay."""
        keys = self._vault.open([sealed.memory_id for sealed in wanted]) if wanted else {}
        found = {}
        for sealed in sorted(wanted, key=lambda sealed: sealed.offset):
            key = keys.get(sealed.memory_id)
            if key is not None:
                record = self._record(MemoryReencoded, self._reencoded.at(sealed.offset), sealed)
                found[sealed.memory_id] = open_embedding(key, sealed, record)
        return found

    def _record(self, kind: type[T], data: bytes, sealed: Sealed | SealedAnew) -> T:
        try:
            return self._codec.decode_as(kind, data)
        except DecodeError as error:
            raise CannotReplay(f"entry {sealed.seq}, memory {sealed.memory_id}: {error}") from None


class _Told:
    """Tells of progress over all shards, by whichever of their threads comes first. `stop`: they are to end."""

    def __init__(self, progress: Callable[[Progress], None] | None, total: int) -> None:
        self.stop = False
        self._progress, self._total, self._done = progress, total, dict[int, int]()
        self._turn = threading.Lock()

    def along(self, shard: int, links: Iterable[tuple[int, Read]]) -> Iterator[Read]:
        """The links, told of in passing."""
        for at, (offset, link) in enumerate(links):
            if self.stop:
                raise _Ended
            if at % 500 == 0:
                self._tell(shard, offset)
            yield link

    def _tell(self, shard: int, offset: int) -> None:
        with self._turn:
            self._done[shard] = offset
            if self._progress is not None:
                self._progress(Progress(shard, sum(self._done.values()), self._total))


class _Ended(Exception):
    """Another shard could not be rebuilt, or the whole was interrupted."""
