"""Opens what rests sealed because of a summary that was erased: the accepted stream has it, the vault its key."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Sequence
from contextlib import closing

from confluent_kafka import KafkaException
from msgspec.structs import replace

from memquorum import topics
from memquorum.core import sealing
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.records import EpisodeAccepted
from memquorum.ports import SessionMemory, Vault, VaultUnavailable
from workers.kafka.loop import TopicUnreadable
from workers.kafka.partition import Partition, Shelf

_LOG = logging.getLogger("memquorum.consolidator")

UNREADABLE = (VaultUnavailable, TopicUnreadable, KafkaException)
"""The errors of memories that may be opened later."""


class Opening:
    """Gives memories their texts. A memory without a key is erased, or its grace time is over: it is left out."""

    def __init__(self, bootstrap: str, codec: Codec, vault: Vault) -> None:
        """`vault`: may open every memory's key."""
        self._bootstrap, self._codec, self._vault = bootstrap, codec, vault

    def opened(self, shard: int, memories: Sequence[SessionMemory]) -> list[SessionMemory]:
        """Those that can be read, in their order, with their texts. Raises what `UNREADABLE` holds."""
        places = {one.memory_id: one.lies for one in memories if one.lies is not None}
        texts = self._texts(shard, places) if places else {}
        found = (replace(one, text=texts.get(one.memory_id, one.text)) for one in memories if _has(one, texts))
        return list(found)

    def _texts(self, shard: int, places: dict[str, int]) -> dict[str, str]:
        keys, texts = self._vault.open(places), dict[str, str]()
        if not keys:
            return texts
        with closing(Partition(self._bootstrap, topics.ACCEPTED, shard)) as partition:
            shelf = Shelf(partition)
            for memory_id, key in sorted(keys.items(), key=lambda one: places[one[0]]):
                try:
                    record = self._codec.decode_as(EpisodeAccepted, shelf.at(places[memory_id]))
                    text = sealing.open_text(key, record.sealed_content, memory_id)
                except (DecodeError, ValueError) as error:
                    _LOG.error("memory %s left out: what is sealed cannot be opened: %s", memory_id, error)
                    continue
                if hmac.compare_digest(sealing.commitment(key, text), record.commitment):
                    texts[memory_id] = text
        return texts


def _has(memory: SessionMemory, texts: dict[str, str]) -> bool:
    return memory.lies is None or memory.memory_id in texts
