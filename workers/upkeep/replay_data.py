"""Reads the data of a replay from an installation's topics: journal, query log, embeddings; keys from the vault.

Records are streamed; only features are kept, and for each embedding that can be opened a row of integers. Strangers'
records are left out.
"""

from __future__ import annotations

import itertools
import logging
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TypeVar

from memquorum import topics
from memquorum.core import asked as queries
from memquorum.core import sealing
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.stamps import Reader
from memquorum.core.policy import Policy
from memquorum.core.records import EpisodeScored, JournalAppended, JournalEntry, MemoryReencoded, QueryAsked
from memquorum.core.whatif.events import Course
from memquorum.core.whatif.gathering import Gathered
from memquorum.core.whatif.report import Spread
from memquorum.core.whatif.vectors import Numbers, Vectors, whole
from memquorum.ports import Encoder, Vault
from workers.kafka.partition import Partition
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.whatif")
_AT_ONCE = 1_000
_TELL_EVERY = 2_000

# Processes take a second to start.
_SPREAD_FROM = 50_000

R = TypeVar("R")
Tell = Callable[[str, int, int], None]
By = tuple[str, Numbers]
"""A vector and the encoder that made it."""


@contextmanager
def spreading(courses: Sequence[Course], least: int = _SPREAD_FROM) -> Iterator[Spread]:
    """Maps over namespaces in as many processes as there are processors. `least`: the number of events from which on
    this is faster."""
    workers = min(len(os.sched_getaffinity(0)), len(courses))
    if workers < 2 or sum(len(one.events) for one in courses) < least:
        yield map
        return
    # Each is spawned: a forked process would inherit locks held by threads of its parent.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        yield pool.map


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads shards. `vault`: None reads as if all keys were gone; `encoder`: for queries that were logged without a
    vector, None leaves them as they were answered; `tell`: called with the progress."""

    bootstrap: str
    codec: Codec
    stamps: Reader | None
    vault: Vault | None
    encoder: Encoder | None = None
    tell: Tell = lambda what, done, total: None

    def courses(self, shard: int, policy: Policy, namespace: str | None = None) -> list[Course]:
        """Returns the namespaces of a shard, or one of them if it exists.

        Raises KafkaException, TopicUnreadable, VaultUnavailable, and DecodeError for a malformed journal.
        """
        gathered = Gathered(self.codec, policy, namespace)
        reached = 0
        for link in self._records(topics.JOURNAL, shard, JournalAppended):
            entry = self.codec.decode_as(JournalEntry, link.entry)
            # An entry published twice counts once.
            if entry.seq > reached:
                reached = entry.seq
                gathered.take(entry)
        asked = self._queries(shard, gathered, namespace)
        vectors = self._vectors(shard, gathered)
        return list(_courses(gathered, vectors, asked))

    def _queries(self, shard: int, gathered: Gathered, namespace: str | None) -> dict[tuple[str, str], By]:
        """Reads the vector of each query that can still be opened, by namespace and event."""
        found: dict[tuple[str, str], By] = {}
        bare: dict[tuple[str, str], str] = {}
        for batch in _batches(self._records(topics.ASKED, shard, QueryAsked)):
            wanted = [one for one in batch if namespace in (None, one.namespace)]
            keys = self._keys([one.key_id for one in wanted])
            for one in wanted:
                gathered.ask(one)
                key = keys.get(one.key_id)
                if key is None:
                    continue
                try:
                    text, vector = queries.opened(one, key)
                except sealing.SealError:
                    continue
                if vector is None or one.encoder is None:
                    bare[one.namespace, one.event_id] = text
                else:
                    found[one.namespace, one.event_id] = one.encoder, whole(vector)
            found |= self._encoded(bare)
            bare.clear()
        return found

    def _encoded(self, texts: Mapping[tuple[str, str], str]) -> dict[tuple[str, str], By]:
        if self.encoder is None or not texts:
            return {}
        vectors = self.encoder.encode(list(texts.values()))
        return {name: (self.encoder.name, whole(vector)) for name, vector in zip(texts, vectors, strict=True)}

    def _vectors(self, shard: int, gathered: Gathered) -> dict[str, By]:
        """Reads the latest embedding of each memory that can still be opened."""
        found: dict[str, By] = {}
        known = gathered.memories
        for topic, kind in ((topics.SCORED, EpisodeScored), (topics.REENCODED, MemoryReencoded)):
            records: Iterator[EpisodeScored | MemoryReencoded] = self._records(topic, shard, kind)
            mine = (one for one in records if one.memory_id in known and one.sealed_embedding is not None)
            for batch in _batches(mine):
                keys = self._keys([one.memory_id for one in batch])
                for one in batch:
                    key = keys.get(one.memory_id)
                    if key is not None and one.sealed_embedding is not None:
                        try:
                            vector = sealing.open_vector(key, one.sealed_embedding, one.memory_id)
                        except sealing.SealError:
                            continue
                        found[one.memory_id] = one.encoder, whole(vector)
        return found

    def _keys(self, memory_ids: list[str]) -> Mapping[str, bytes]:
        return {} if self.vault is None or not memory_ids else self.vault.open(dict.fromkeys(memory_ids))

    def _records(self, topic: str, shard: int, kind: type[R]) -> Iterator[R]:
        """Yields the records of a partition; leaves out unreadable ones in a topic that others may write."""
        strangers = Strangers(_LOG, self.stamps)
        with closing(Partition(self.bootstrap, topic, shard, strangers)) as partition:
            for at, record in enumerate(partition.records(0)):
                if record.offset >= partition.end:
                    return
                if at % _TELL_EVERY == 0:
                    self.tell(f"{topic}, shard {shard}", record.offset, partition.end)
                try:
                    yield self.codec.decode_as(kind, record.data)
                except DecodeError:
                    if topic == topics.JOURNAL:
                        raise


def _batches(records: Iterator[R]) -> Iterator[list[R]]:
    while batch := list(itertools.islice(records, _AT_ONCE)):
        yield batch


def _courses(gathered: Gathered, vectors: Mapping[str, By], asked: Mapping[tuple[str, str], By]) -> Iterator[Course]:
    """Each namespace with the vectors of one encoder: of the latest query, else of most memories."""
    for name, events, numbers in gathered.namespaces():
        own = {one: vectors[one] for one in gathered.of(name) if one in vectors}
        by = {at: asked[name, event_id] for at, event_id in numbers.items() if (name, event_id) in asked}
        encoders = Counter(encoder for encoder, _ in own.values())
        encoder = by[max(by)][0] if by else max(encoders, key=lambda one: (encoders[one], one), default="")
        yield Course(
            name,
            events,
            Vectors({one: vector for one, (of, vector) in own.items() if of == encoder}),
            {at: vector for at, (of, vector) in by.items() if of == encoder},
        )
