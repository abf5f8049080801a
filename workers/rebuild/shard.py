"""Rebuilds one shard from its journal, and several of them at once: the work of one process of a rebuild.

While Postgres writes for one shard, the process reads for others. Content comes from the accepted records and
embeddings from the scored ones, at the offsets that the journal names; keys from the vault.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from db import profile_rows
from db.standing import Clear
from db.store import PostgresStore
from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Reader
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.replay import (
    CannotReplay,
    DecodedLink,
    Replay,
    Sealed,
    SealedAnew,
    open_content,
    open_embedding,
)
from memquorum.core.journal.rows import Memory, RowKeys, ShardState
from memquorum.core.records import EpisodeAccepted, EpisodeScored, MemoryReencoded
from memquorum.ports import Vault, Vector
from workers.audit.auditor import PATIENCE_S
from workers.kafka.partition import Partition, Shelf
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.replay")

# Entries written in one transaction.
_BATCH = 2_000
_TELL_EVERY = 500
_SHELVES = (topics.ACCEPTED, topics.SCORED, topics.REENCODED)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of journal entries, memories, and contents that were opened; and how many of the entries the database
    had before."""

    entries: int = 0
    memories: int = 0
    contents: int = 0
    resumed: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.entries + other.entries,
            self.memories + other.memories,
            self.contents + other.contents,
            self.resumed + other.resumed,
        )


class NotResumable(RuntimeError):
    """The database does not hold a beginning of what is to be rebuilt; the message says why."""


class Ended(Exception):
    """Another shard could not be rebuilt, or the whole rebuild was interrupted."""


class Course:
    """Reports the progress of shards, and stops them."""

    def __init__(self, tell: Callable[[int, int], None] = lambda shard, offset: None) -> None:
        """`tell`: called with shard and journal offset at intervals, from any thread."""
        self.stop = False
        self.on_halt: list[Callable[[], None]] = []
        self.tell = tell

    def halt(self) -> None:
        """Ends every shard at its next entry."""
        self.stop = True
        for act in self.on_halt:
            act()

    def along(self, shard: int, links: Iterable[tuple[int, DecodedLink]]) -> Iterator[DecodedLink]:
        """Yields the links of a shard and reports its progress. Raises Ended."""
        for at, (offset, link) in enumerate(links):
            if self.stop:
                raise Ended
            if at % _TELL_EVERY == 0:
                self.tell(shard, offset)
            yield link


@dataclass(frozen=True, slots=True)
class Job:
    """The source, target and extent of a rebuild (`workers.rebuild.worker.rebuild`). It can be sent to another process.

    `gone`: memories whose keys are destroyed by the journal and may still be in a vault restored from a backup.
    `reached`: by shard, where a rebuild that was cut off left the database.
    """

    bootstrap: str
    genesis: Genesis
    codec: Codec
    memory_dsn: str
    vault: Vault
    until_as_of: int | None = None
    until_seq: Mapping[int, int] | None = None
    namespace: str | None = None
    stamps: Reader | None = None
    gone: frozenset[str] = frozenset()
    reached: Mapping[int, ShardState] | None = None

    def shard(self, shard: int, course: Course) -> Counts:
        """Rebuilds a shard. Raises what `workers.rebuild.worker.rebuild` raises, and Ended."""
        replay = Replay(Rules(self.codec, self.genesis), shard, self.namespace)
        last = None if self.until_seq is None else self.until_seq.get(shard, 0)
        with ExitStack() as stack:
            journal = _open(stack, self.bootstrap, topics.JOURNAL, shard, Strangers(_LOG, self.stamps))
            links = course.along(shard, _links(replay, journal, self.until_as_of, last))
            contents = Contents(self.codec, self.keys, *open_shelves(stack, self.bootstrap, shard))
            store = PostgresStore(self.memory_dsn)
            stack.callback(store.close)
            there = None if self.reached is None else self.reached[shard]
            had = Counts() if there is None else _followed(replay, links, there)
            return had + _rebuild_shard(replay, links, contents, store)

    def keys(self, memory_ids: list[str]) -> dict[str, bytes]:
        """Returns the existing keys, as `Vault.open`, except destroyed ones."""
        return self.vault.open([memory_id for memory_id in memory_ids if memory_id not in self.gone])


def together(calls: Sequence[Callable[[], Counts]], course: Course, threads: int) -> Counts:
    """Runs the calls, `threads` at a time, in the order given; returns the sum of their counts.

    If one raises, or this thread is interrupted, the others end at their next entry, and that exception is raised.
    """
    with ThreadPoolExecutor(threads, thread_name_prefix="rebuild") as pool:
        try:
            running = [pool.submit(call) for call in calls]
            ended, _ = wait(running, return_when=FIRST_EXCEPTION)
            for future in ended:
                future.result()
        except BaseException:
            course.halt()
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        return sum((future.result() for future in running), Counts())


def _open(stack: ExitStack, bootstrap: str, topic: str, shard: int, strangers: Strangers | None = None) -> Partition:
    partition = Partition(bootstrap, topic, shard, strangers)
    stack.callback(partition.close)
    return partition


def open_shelves(stack: ExitStack, bootstrap: str, shard: int) -> tuple[Shelf, Shelf, Shelf]:
    """The accepted, scored and re-encoded records of a shard. Raises KafkaException."""
    accepted, scored, reencoded = (Shelf(_open(stack, bootstrap, topic, shard)) for topic in _SHELVES)
    return accepted, scored, reencoded


def _links(
    replay: Replay, partition: Partition, until_as_of: int | None, last: int | None
) -> Iterator[tuple[int, DecodedLink]]:
    """Yields the chain's links with their offsets, to the partition's end or the entry `last`; an entry published twice
    is yielded once."""
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


def _followed(replay: Replay, links: Iterator[DecodedLink], there: ShardState) -> Counts:
    """Follows the links up to where the database stands, which has their rows; returns their counts. Raises
    NotResumable."""
    done = Counts()
    for batch in _batches(islice(links, there.seq)):
        step = replay.take(batch)
        done += Counts(len(batch), len(step.net.new[Memory]), resumed=len(batch))
    if replay.state != there:
        raise NotResumable(
            f"shard {there.shard} of the database stands at entry {there.seq}, and the journal to follow reaches entry "
            f"{replay.state.seq}, or is another one"
        )
    return done


def _rebuild_shard(replay: Replay, links: Iterable[DecodedLink], contents: Contents, store: PostgresStore) -> Counts:
    """Writes one shard; returns its counts."""
    done = Counts()
    for batch in _batches(links):
        step = replay.take(batch)
        clear, vectors = contents.of(step.sealed), contents.anew(step.anew)
        with store.transaction({step.net.before: RowKeys()}) as transaction:
            transaction.write([step.net], clear, {}, vectors, profile_rows.opened([step.net], contents.keys))
        done += Counts(len(batch), len(step.net.new[Memory]), len(clear))
    # It comes from the topic: nothing has to be published.
    store.published({replay.state.shard: replay.state.seq})
    return done


def _batches(links: Iterable[DecodedLink]) -> Iterator[list[DecodedLink]]:
    batch: list[DecodedLink] = []
    for link in links:
        batch.append(link)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


class Contents:
    """Opens contents that the journal names. The topics are read in parallel with it: accepted order is the journal's
    order."""

    def __init__(
        self,
        codec: Codec,
        keys: Callable[[list[str]], dict[str, bytes]],
        accepted: Shelf,
        scored: Shelf,
        reencoded: Shelf,
    ) -> None:
        """`keys`: returns the keys of those memories that have one, as `Vault.open`."""
        self._codec, self.keys = codec, keys
        self._accepted, self._scored, self._reencoded = accepted, scored, reencoded

    def of(self, wanted: Iterable[Sealed]) -> dict[str, Clear]:
        """Returns the opened contents, by memory; without those for which the vault has no key. Raises CannotReplay."""
        listed = list(wanted)
        keys = self.keys([sealed.memory_id for sealed in listed]) if listed else {}
        found = {}
        for sealed in listed:
            key = keys.get(sealed.memory_id)
            if key is not None:
                accepted = self._record(EpisodeAccepted, self._accepted.at(sealed.detail.accepted_offset), sealed)
                scored = self._record(EpisodeScored, self._scored.at(sealed.detail.scored_offset), sealed)
                found[sealed.memory_id] = Clear(*open_content(key, sealed, accepted, scored))
        return found

    def anew(self, wanted: Sequence[SealedAnew]) -> dict[str, Vector]:
        """Returns the embeddings that replaced earlier ones and can be opened, by memory. Raises CannotReplay."""
        keys = self.keys([sealed.memory_id for sealed in wanted]) if wanted else {}
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
