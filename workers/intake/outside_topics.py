"""Reads the outside topics for one process of intake: keeps its positions and pauses partitions.

Agents may publish in transactions, and aborted records do not count. So their topics are read up to the last stable
offset: a record after an open transaction waits for its end, for a minute at most. Orders are signed, each counts by
itself, and no publisher of orders uses transactions. So orders, and requests for a tick, are read by a second client
regardless of open transactions: no transaction of others delays an erasure. The group shares out the partitions of all
topics, and keeps their offsets; the first client is its member, and never reads the second's topics.

The progress in a partition is a position, not the offset of a record: after the last record there may be a transaction
marker, or aborted records, which no consumer gets. Kafka reports when the end of a partition is reached.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

from confluent_kafka import Consumer, Message, TopicPartition

from memquorum import topics
from workers.kafka import loop

Place = tuple[str, int]

ORDERS = frozenset(
    (
        topics.ERASURES,
        topics.PROTECTIONS,
        topics.PROFILES,
        topics.RECLASSIFICATIONS,
        topics.RESTORES,
        topics.PATCHES,
        topics.DISCLOSURES,
        topics.COMPARISONS,
        topics.CLOCK,
    )
)
"""The topics that are read regardless of open transactions."""
_TURN_S = 0.05
"""The seconds it waits for agents' records before it polls for orders."""


class Reading:
    """Two clients and the positions of both. `given` and `lost` are called from the group's callbacks."""

    def __init__(self, bootstrap: str, instance: str | None = None) -> None:
        # Bounds the prefetched records: the default is 64 MiB, and large records take as much again on their way out.
        # An order waits until earlier records are let in, so the end of a partition must be reported soon.
        shared: dict[str, Any] = {
            "queued.max.messages.kbytes": 16_384,
            "enable.partition.eof": True,
            "fetch.wait.max.ms": 200,
        }
        member: dict[str, Any] = {"session.timeout.ms": 6000, **shared, **loop.COMMITTED}
        if instance:
            member["group.instance.id"] = instance
        self.member = loop.consumer(bootstrap, "intake", **member)
        self._orders = loop.consumer(bootstrap, None, **shared, **{"auto.offset.reset": "earliest"})
        # On the connection that fetches records, a request waits for the next of them: 50 ms for each partition.
        self._ended_asker = loop.consumer(bootstrap, **loop.COMMITTED)
        self._asker = loop.consumer(bootstrap)
        self.next: dict[Place, int] = {}
        """The next offset of each assigned partition."""
        self._paused: set[Place] = set()
        self._full: frozenset[Place] = frozenset()
        self._wanted: frozenset[Place] | None = None
        self._waits = False

    def close(self) -> None:
        """Leaves the group."""
        for client in (self.member, self._orders, self._ended_asker, self._asker):
            client.close()

    # The group

    def given(self, partitions: Iterable[TopicPartition]) -> dict[Place, int]:
        """Reads these partitions from now on, and no others; returns the offset at which each begins."""
        began: dict[Place, int] = {}
        for p in self.member.committed(list(partitions), timeout=10):
            low, _ = self.member.get_watermark_offsets(p, timeout=10)
            began[p.topic, p.partition] = max(p.offset, low)
        self.next |= began
        self.member.assign([TopicPartition(*place, at) for place, at in began.items()])
        self._orders.assign([TopicPartition(*place, at) for place, at in self.next.items() if place[0] in ORDERS])
        self._paused = set()
        self.member.pause([TopicPartition(*place) for place in began if place[0] in ORDERS])
        self._pause()
        return began

    def lost(self, partitions: Iterable[TopicPartition]) -> None:
        """Stops reading revoked partitions."""
        for p in partitions:
            self.next.pop((p.topic, p.partition), None)
        self._paused &= self.next.keys()
        self._orders.assign([TopicPartition(*place, at) for place, at in self.next.items() if place[0] in ORDERS])
        self._orders.pause([TopicPartition(*place) for place in self._paused if place[0] in ORDERS])

    # Records

    def records(self, most: int, wait_s: float) -> list[Message]:
        """Returns the available records, at most `most` of each client; waits for the first, `wait_s` at most."""
        reached: dict[Place, int] = {}
        found = loop.records(self._orders, most, 0, reached=reached)
        found += loop.records(self.member, most, 0 if found else min(wait_s, _TURN_S), reached=reached)
        self.note(found)
        for place, offset in reached.items():
            if place in self.next:
                self.next[place] = max(self.next[place], offset)
        return found

    def note(self, messages: Iterable[Message]) -> None:
        """Advances the positions past these messages."""
        for message in messages:
            self.next[loop.place(message)] = loop.offset(message) + 1

    def only(self, places: Collection[Place] | None) -> None:
        """Reads only these partitions until it is called again; None: all."""
        self._wanted = None if places is None else frozenset(places)
        self._pause()

    def full(self, places: Collection[Place]) -> None:
        """Pauses these partitions until it is called again."""
        if self._full != places:
            self._full = frozenset(places)
            self._pause()

    def stay(self) -> None:
        """Pauses all partitions until `go_on`, and keeps the membership of the group: to be called repeatedly."""
        self._waits = True
        self._pause()
        for client in (self.member, self._orders):
            message = client.poll(0)
            if message is not None and message.error() is None:
                # It came just before the pause: it is read again later.
                client.seek(TopicPartition(*loop.place(message), loop.offset(message)))

    def go_on(self) -> None:
        """Resumes reading."""
        self._waits = False
        self._pause()

    def _pause(self) -> None:
        wanted = self.next.keys() if self._wanted is None else self.next.keys() & self._wanted
        paused = set(self.next) - (set() if self._waits else wanted - self._full)
        for client, orders in ((self.member, False), (self._orders, True)):
            for call, places in ((client.pause, paused - self._paused), (client.resume, self._paused - paused)):
                if mine := [TopicPartition(*place) for place in places if (place[0] in ORDERS) == orders]:
                    call(mine)
        self._paused = paused

    # Ends

    def ends(self, places: Iterable[Place], stop: loop.Stop, turn: Callable[[], None]) -> dict[Place, int]:
        """Returns the end of each partition now, as far as it can be read: in agents' topics the first open
        transaction. Waits for the broker, calling `turn` between attempts; returns fewer partitions if told to stop."""
        wanted = list(places)
        agents = [p for p in wanted if p[0] in topics.OUTSIDE and p[0] not in ORDERS]
        others = [p for p in wanted if p not in agents]
        found = loop.ends_at_last(self._ended_asker, agents, stop, turn) if agents else {}
        return found | (loop.ends_at_last(self._asker, others, stop, turn) if others else {})

    def commit(self, ends: Sequence[TopicPartition]) -> None:
        """Commits these offsets for the group. Raises KafkaException."""
        self.member.commit(offsets=list(ends), asynchronous=False)

    def subscribe(
        self,
        names: Sequence[str],
        assigned: Callable[[Consumer, list[TopicPartition]], None],
        revoked: Callable[[Consumer, list[TopicPartition]], None],
    ) -> None:
        """Joins the group; partitions are assigned with the first reads."""
        self.member.subscribe(list(names), on_assign=assigned, on_revoke=revoked)
