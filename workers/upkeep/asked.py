"""Reads agents' queries from their topic and opens them with the vault's keys."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable, Iterator

from memquorum import topics
from memquorum.core import asked, sealing
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.stamps import Reader
from memquorum.core.records import QueryAsked
from memquorum.ports import Vault
from workers.kafka import loop
from workers.kafka.partition import standing
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.queries")
# The number of queries whose keys are requested from the vault at a time.
_OPEN_MOST = 500


def read(bootstrap: str, shards: int, codec: Codec, stamps: Reader | None) -> Iterator[QueryAsked]:
    """Yields the queries now in the topic, each partition's in its order, without repetitions.

    Strangers' records are left out. Raises KafkaException or TopicUnreadable.
    """
    strangers, seen = Strangers(_LOG, stamps), set[tuple[str, str]]()
    for message in standing(bootstrap, topics.ASKED, shards):
        if strangers.wrote(message):
            continue
        try:
            record = codec.decode_as(QueryAsked, message.value() or b"")
        except DecodeError as error:
            strangers.note(*loop.place(message), loop.offset(message), str(error))
            continue
        if (record.namespace, record.event_id) not in seen:
            seen.add((record.namespace, record.event_id))
            yield record


def texts(vault: Vault, queries: Iterable[QueryAsked]) -> Iterator[tuple[QueryAsked, str | None]]:
    """Yields each query with its text; None if its key is gone. Raises VaultUnavailable."""
    rest = iter(queries)
    while batch := tuple(itertools.islice(rest, _OPEN_MOST)):
        keys = vault.open(dict.fromkeys(one.key_id for one in batch))
        for one in batch:
            key = keys.get(one.key_id)
            try:
                yield one, None if key is None else asked.opened(one, key)[0]
            except sealing.SealError as error:
                _LOG.error("query %s cannot be opened: %s", one.event_id, error)
                yield one, None
