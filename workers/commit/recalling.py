"""Opens what is to be restored: the journal tells where it lies, the topics hold it sealed, the vault has its key."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from confluent_kafka import KafkaException
from msgspec.structs import replace

from db.standing import Clear
from db.store import PostgresStore
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.journal.recall import Recalled, recall
from memquorum.core.journal.replay import CannotReplay, Sealed, SealedAnew
from memquorum.core.records import Restored
from workers.kafka.loop import TopicUnreadable
from workers.rebuild.shard import Contents, open_shelves

log = logging.getLogger("memquorum.commit")

_UNREADABLE = (CannotReplay, TopicUnreadable, KafkaException, DecodeError)


class Recalling:
    """Brings memories back for one session of the commit worker."""

    def __init__(
        self, codec: Codec, bootstrap: str, store: PostgresStore, keys: Callable[[list[str]], dict[str, bytes]]
    ) -> None:
        """`keys`: of those memories that have one, and returns only once the vault has answered."""
        self._codec, self._bootstrap, self._store, self._keys = codec, bootstrap, store, keys

    def recall(self, shard: int, memory_ids: Sequence[str]) -> tuple[dict[str, Restored], dict[str, Clear]]:
        """Returns the journal's entries on those of the memories that can be opened, and their contents.

        The others stay sealed, and may be asked for again. Raises StoreUnavailable, and what `keys` raises.
        """
        told: dict[str, Restored] = {}
        clear: dict[str, Clear] = {}
        entries = self._store.about(self._codec, memory_ids)
        with ExitStack() as stack:
            contents: Contents | None = None
            for memory_id in memory_ids:
                try:
                    past = recall(self._codec, entries.get(memory_id, ()))
                    if past is None:
                        continue
                    contents = contents or Contents(
                        self._codec, self._keys, *open_shelves(stack, self._bootstrap, shard)
                    )
                    found = _opened(contents, past)
                except _UNREADABLE as error:
                    log.warning("shard %d: memory %s cannot be restored now: %s", shard, memory_id, error)
                    continue
                if found is not None:
                    told[memory_id], clear[memory_id] = past.restored, found
        return told, clear


def _opened(contents: Contents, past: Recalled) -> Clear | None:
    entry, detail = past.born
    memory_id, namespace = past.restored.memory_id, entry.namespace or ""
    found = contents.of([Sealed(entry.seq, memory_id, namespace, entry.event_id, detail)]).get(memory_id)
    if found is None or past.encoded is None:
        return found
    entry, encoded = past.encoded
    vectors = contents.anew([SealedAnew(entry.seq, memory_id, namespace, entry.source_offset, encoded)])
    return replace(found, vector=vectors[memory_id]) if memory_id in vectors else None
