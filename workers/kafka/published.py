"""Reads how far the journal's topic goes, to check a returning store: the topic never has more than the store, unless
the store has lost committed data."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from memquorum import topics
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.journal.rows import ShardState
from memquorum.core.records import JournalAppended, JournalEntry
from memquorum.ports import StoreLost
from workers.kafka import loop
from workers.kafka.strangers import Strangers

log = logging.getLogger("memquorum.commit")

# The records before a partition's end among which the last genuine one is searched, and the factor by which the search
# widens.
_WINDOW = 64
_WIDER = 16
_READ_MOST = 2_000
_ANSWER_S = 2.0
_POLL_S = 0.1
_PAUSE_S = 0.5


@dataclass(frozen=True, slots=True)
class Last:
    """The last entry of a shard's journal in its topic."""

    seq: int
    hash: bytes


def last_entries(
    bootstrap: str, codec: Codec, strangers: Strangers, shards: Sequence[int], still: Callable[[str | None], None]
) -> dict[int, Last]:
    """Returns the highest genuine entry among the last ones of each shard's journal topic; shards without one are
    absent.

    Waits for an unavailable broker, and meanwhile calls `still` with the reason, or with None once the broker answers;
    an exception of it ends the wait. Raises KafkaException for permanent errors.
    """
    told, outage = False, loop.Outage()
    while True:
        consumer = loop.reader(bootstrap)
        try:
            return _last_entries(consumer, codec, strangers, shards, still)
        except KafkaException as error:
            if not outage.passes(error.args[0]):
                raise
            if not told:
                log.warning("waiting for the broker, to see how far the journal goes: %s", error)
            told = True
        finally:
            consumer.close()
        still("it does not say how far the journal goes")
        time.sleep(_PAUSE_S)


def _last_entries(
    consumer: Consumer, codec: Codec, strangers: Strangers, shards: Iterable[int], still: Callable[[str | None], None]
) -> dict[int, Last]:
    spans = {
        shard: consumer.get_watermark_offsets(TopicPartition(topics.JOURNAL, shard), timeout=_ANSWER_S)
        for shard in shards
    }
    starts, window, found = {shard: end for shard, (_, end) in spans.items()}, _WINDOW, dict[int, Last]()
    while wanted := [shard for shard, (low, _) in spans.items() if shard not in found and starts[shard] > low]:
        ends = {shard: starts[shard] for shard in wanted}
        starts |= {shard: max(spans[shard][0], ends[shard] - window) for shard in wanted}
        for message in between(consumer, {shard: (starts[shard], ends[shard]) for shard in wanted}, still):
            entry = None if strangers.wrote(message) else _entry(codec, message)
            shard = loop.place(message)[1]
            if entry is not None and (shard not in found or entry.seq >= found[shard].seq):
                found[shard] = entry
        window *= _WIDER
    still(None)
    return found


def check(state: ShardState, published: int, last: Last | None, hash_at: Callable[[int], bytes]) -> None:
    """Raises StoreLost if a shard's journal is longer in the topic than in the store, or differs.

    `published`: a sequence known to be in the topic. `hash_at`: the hash of the store's own entry of a sequence.
    """
    reached = max(published, last.seq if last else 0)
    advice = (
        "To go on would give one sequence two entries: `rebuild --whole` makes the store again from the topics, into a "
        "database beside it"
    )
    if reached > state.seq:
        raise StoreLost(
            f"shard {state.shard} stands at sequence {state.seq} in Postgres, but {reached} is published: what was "
            f"committed is lost there. {advice}"
        )
    if last is not None and (ours := hash_at(last.seq)) != last.hash:
        raise StoreLost(
            f"shard {state.shard} has an entry {last.seq} with the hash {ours.hex()[:16]}… in Postgres, but the one "
            f"that is published has {last.hash.hex()[:16]}…: this database has another history. {advice}"
        )


def between(
    consumer: Consumer, spans: Mapping[int, tuple[int, int]], still: Callable[[str | None], None]
) -> Iterable[Message]:
    """Yields the records of the shards' partitions from the first offset on and before the second."""
    places = {(topics.JOURNAL, shard): span for shard, span in spans.items()}
    loop.assign(consumer, {place: first for place, (first, _) in places.items()})
    ended: set[tuple[str, int]] = set()
    while set(places) - ended:
        messages = loop.records(consumer, _READ_MOST, _POLL_S, ended)
        still(None if messages else "it does not deliver the journal's end")
        for message in messages:
            place, offset = loop.place(message), loop.offset(message)
            if offset < places[place][1]:
                yield message
            if offset + 1 >= places[place][1]:
                ended.add(place)


def _entry(codec: Codec, message: Message) -> Last | None:
    try:
        link = codec.decode_as(JournalAppended, message.value() or b"")
        return Last(codec.decode_as(JournalEntry, link.entry).seq, link.hash)
    except DecodeError:
        return None
