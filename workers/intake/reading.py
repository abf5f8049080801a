"""What one process of intake reads of the outside topics, how far it has read, and what it does not read for now.

Agents may publish in transactions, and what one of them aborts was not said. So their topics are read as far as
transactions are over: a record behind a transaction that is open waits for its end, for a minute at most. Orders are
signed, each counts by itself, and no publisher of orders uses transactions. So orders, and requests for a tick, are
read by a second client whatever is open: a stranger's transaction holds up no erasure. The group shares out the
partitions of all topics, and keeps their offsets; the first client is its member, and never reads the second's topics.

How far a partition was read is a position, not the offset of a record: behind the last record there may be the mark of
a transaction, or records that were aborted, which no reader gets. Kafka says when the end of a partition is reached.
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
        topics.RESTORES,
        topics.PATCHES,
        topics.DISCLOSURES,
        topics.COMPARISONS,
        topics.CLOCK,
    )
)
"""Read whatever transactions are open."""
_TURN_S = 0.05
"""How long it waits for records of agents before it looks for orders."""


class Reading:
    """Two clients and the positions of both. `given` and `lost` are called from the group's callbacks."""

    def __init__(self, bootstrap: str, instance: str | None = None) -> None:
        # What waits unread is bounded: the default is 64 MiB, and large records take as much again on their way out.
        # An order waits until what lies before it is let in, so the end of a partition is to be told soon.
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
        # On the connection that records come by, a question waits for the next of them: 50 ms for each partition.
        self._ended_asker = loop.consumer(bootstrap, **loop.COMMITTED)
        self._asker = loop.consumer(bootstrap)
        self.next: dict[Place, int] = {}
        """The next offset of each partition that was given to this process."""
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
        """Reads these partitions from now on, and no others; where each begins."""
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
        """The group took these partitions away."""
        for p in partitions:
            self.next.pop((p.topic, p.partition), None)
        self._paused &= self.next.keys()
        self._orders.assign([TopicPartition(*place, at) for place, at in self.next.items() if place[0] in ORDERS])
        self._orders.pause([TopicPartition(*place) for place in self._paused if place[0] in ORDERS])

    # Records

    def records(self, most: int, wait_s: float) -> list[Message]:
        """The records at hand, at most so many of each client; waits for the first, and no longer than a moment."""
        reached: dict[Place, int] = {}
        found = loop.records(self._orders, most, 0, reached=reached)
        found += loop.records(self.member, most, 0 if found else min(wait_s, _TURN_S), reached=reached)
        self.note(found)
        for place, offset in reached.items():
            if place in self.next:
                self.next[place] = max(self.next[place], offset)
        return found

    def note(self, messages: Iterable[Message]) -> None:
        """These were read."""
        for message in messages:
            self.next[loop.place(message)] = loop.offset(message) + 1

    def only(self, places: Collection[Place] | None) -> None:
        """Reads nothing but these partitions until it is called again; None: all."""
        self._wanted = None if places is None else frozenset(places)
        self._pause()

    def full(self, places: Collection[Place]) -> None:
        """Does not read these partitions until it is called again."""
        if self._full != places:
            self._full = frozenset(places)
            self._pause()

    def stay(self) -> None:
        """Reads nothing until `go_on`, and keeps its place in the group: to be called again and again."""
        self._waits = True
        self._pause()
        for client in (self.member, self._orders):
            message = client.poll(0)
            if message is not None and message.error() is None:
                # It came just before the pause: it is read again later.
                client.seek(TopicPartition(*loop.place(message), loop.offset(message)))

    def go_on(self) -> None:
        """Reads again."""
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
        """The end of each partition now, as far as it can be read: of agents' topics where the first open
        transaction begins. Waits for the broker, with a `turn` each time; of fewer partitions if told to stop."""
        wanted = list(places)
        agents = [p for p in wanted if p[0] in topics.OUTSIDE and p[0] not in ORDERS]
        others = [p for p in wanted if p not in agents]
        found = loop.ends_at_last(self._ended_asker, agents, stop, turn) if agents else {}
        return found | (loop.ends_at_last(self._asker, others, stop, turn) if others else {})

    def commit(self, ends: Sequence[TopicPartition]) -> None:
        """The group goes on from there. Raises KafkaException."""
        self.member.commit(offsets=list(ends), asynchronous=False)

    def subscribe(
        self,
        names: Sequence[str],
        assigned: Callable[[Consumer, list[TopicPartition]], None],
        revoked: Callable[[Consumer, list[TopicPartition]], None],
    ) -> None:
        """Joins the group; partitions come with the first reads."""
        self.member.subscribe(list(names), on_assign=assigned, on_revoke=revoked)
