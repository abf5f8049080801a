"""Reads the journal's topic in a consumer group, and makes an event of each entry, each once and in order.

A group commits the next offset of a shard and, beside it as metadata, the sequence of the last entry. So an entry that
the topic holds twice is told once, also after a restart.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition

from memquorum import topics
from memquorum.core.accounts.mirrored import JournalMirrored, event
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.stamps import Reader
from memquorum.core.records import JournalAppended
from memquorum.telemetry.bundle import Stage
from workers.kafka import loop
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.events")
_WAIT_S = 0.2
_ANSWER_S = 10.0
_AHEAD_MOST = 500


@dataclass(frozen=True, slots=True)
class Told:
    """A record of the journal's topic. `event`: None for one that is no entry, or an entry that was told before; `seq`:
    of the last entry up to here."""

    shard: int
    offset: int
    seq: int
    event: JournalMirrored | None
    traceparent: str | None


class JournalEvents:
    """A member of a group that follows the journal. Close it."""

    def __init__(
        self, bootstrap: str, group: str, codec: Codec, *, shown: Stage, stamps: Reader | None = None,
        instance: str | None = None, told: Callable[[int], int] = lambda _: 0, from_now: bool = False,
    ) -> None:  # fmt: skip
        """`stamps`: finds strangers' records, which are left out. `instance`: of the process, for its place in the
        group. `told`: the last sequence of a shard that is known elsewhere to be told. `from_now`: a group that is new
        begins at the journal's end, else at its beginning."""
        self._codec, self._shown, self._told, self._from_now = codec, shown, told, from_now
        self._strangers = Strangers(_LOG, stamps)
        self._ahead = deque[Message]()
        self._seqs: dict[int, int] = {}
        self._begins: list[TopicPartition] = []
        settings = {"group.instance.id": f"{group}-{instance}"} if instance else {}
        self._consumer = loop.consumer(bootstrap, group, **settings)
        self._consumer.subscribe([topics.JOURNAL], on_assign=self._assigned, on_revoke=self._revoked)

    def read(self, most: int) -> list[Told]:
        """Returns the next records, `most` at most; waits a moment for the first. `commit` says that they are done."""
        if not self._ahead:
            self._ahead.extend(loop.records(self._consumer, _AHEAD_MOST, _WAIT_S))
        if self._begins:
            # So the entries from here on are told, also if this process ends before the first of them.
            begins, self._begins = self._begins, []
            self._consumer.commit(offsets=begins, asynchronous=False)
        found = [self._ahead.popleft() for _ in range(min(most, len(self._ahead)))]
        self._shown.took([(topics.JOURNAL, len(found))])
        return [self._read(message) for message in found]

    def commit(self, told: Sequence[Told]) -> None:
        """Commits that these records, and all before them, are done."""
        last = {one.shard: one for one in told}
        places = [TopicPartition(topics.JOURNAL, s, one.offset + 1, str(one.seq)) for s, one in last.items()]
        try:
            self._consumer.commit(offsets=places, asynchronous=False)
        except KafkaException as error:
            # The group has given a shard to another member, which tells it again from the last place.
            _LOG.warning("%s: not committed: %s", topics.JOURNAL, error.args[0].str())
            return
        for shard, one in last.items():
            self._shown.at(topics.JOURNAL, shard, one.offset + 1)

    def idle(self, seconds: float, stop: loop.Stop) -> None:
        """Waits, and keeps its place in the group meanwhile."""
        assigned = self._consumer.assignment()
        self._consumer.pause(assigned)
        for _ in range(max(1, round(seconds / _WAIT_S))):
            if stop:
                break
            self._shown.health.turn()
            # Partitions that the group assigns meanwhile are not paused.
            self._ahead.extend(loop.records(self._consumer, 1, _WAIT_S))
        self._consumer.resume([one for one in assigned if one in self._consumer.assignment()])

    def close(self) -> None:
        """Leaves the group."""
        self._consumer.close()

    def _assigned(self, consumer: Consumer, partitions: Sequence[TopicPartition]) -> None:
        places = []
        for place in consumer.committed(list(partitions), timeout=_ANSWER_S):
            said = place.metadata or ""
            known = int(said) if said.isdecimal() else 0
            self._seqs[place.partition] = max(known, self._told(place.partition))
            if place.offset < 0 and self._from_now:
                end = consumer.get_watermark_offsets(place, timeout=_ANSWER_S)[1]
                self._begins.append(TopicPartition(topics.JOURNAL, place.partition, end))
            places.append(TopicPartition(topics.JOURNAL, place.partition, place.offset))
        begins = {one.partition: one for one in self._begins}
        consumer.assign([begins.get(place.partition, place) for place in places])

    def _revoked(self, _: Any, partitions: Sequence[TopicPartition]) -> None:
        lost = {one.partition for one in partitions}
        self._ahead = deque(message for message in self._ahead if message.partition() not in lost)
        for shard in lost:
            self._seqs.pop(shard, None)
        self._begins = [one for one in self._begins if one.partition not in lost]

    def _read(self, message: Message) -> Told:
        (_, shard), offset = loop.place(message), loop.offset(message)
        found = self._event(message)
        if found is not None and (found.shard != shard or found.seq <= self._seqs.get(shard, 0)):
            found = None
        if found is not None:
            self._seqs[shard] = found.seq
        return Told(shard, offset, self._seqs.get(shard, 0), found, loop.traceparent(message))

    def _event(self, message: Message) -> JournalMirrored | None:
        if self._strangers.wrote(message):
            return None
        try:
            return event(self._codec, self._codec.decode_as(JournalAppended, message.value() or b""))
        except DecodeError as error:
            self._strangers.note(*loop.place(message), loop.offset(message), str(error))
            return None
