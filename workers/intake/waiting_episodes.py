"""Holds episodes that were read and judged until it is their namespace's turn.

Episodes are scored in the order of the accepted stream in each shard, shard by shard. A namespace that publishes much
would otherwise delay all others by hours. Records are let in if they can be scored within a moment (`core.fairness`);
all others wait here, and in Kafka, where their offsets are not committed until they are let in.

Records that refer to a held one wait behind it: the end of its session, feedback in its namespace, and an order to
erase that names it. All others are let in at once.
"""

from __future__ import annotations

import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from unicodedata import normalize

from memquorum.core import fairness
from memquorum.core.avro import Codec
from memquorum.core.fairness import Fair, Window
from memquorum.core.intake import EndIntent, EpisodeIntent, Intent, Refusal
from memquorum.core.orders import erase
from memquorum.core.records import ErasureOrdered, FeedbackAccepted, OrderAccepted, Signed
from workers.intake.arrivals import Judged
from workers.kafka import loop

Place = tuple[str, int]
Progress = Callable[[Iterable[int]], Mapping[int, int] | None]

RECORDS_MOST, BYTES_MOST = 20_000, 16 * 1024 * 1024
"""The limits of held records and bytes of one partition; at either the partition is paused."""
_ASK_S = 0.05


class Holding:
    """The records that wait, and the cost of those that were let in and are not scored yet."""

    def __init__(self, codec: Codec, progress: Progress, clock: Callable[[], float] = time.monotonic) -> None:
        """`progress`: the next offset of the accepted stream to be scored in each shard; None: unknown. No process
        scores a shard that it leaves out; records do not wait for it."""
        self._codec, self._progress, self._clock = codec, progress, clock
        self._fair = Fair[Judged]()
        self._window = Window(clock())
        # By shard, the records that this process let in and that are not scored yet: offset and cost. Their total cost,
        # including records without an offset yet: `_out`.
        self._on_way: dict[int, deque[tuple[int, int]]] = {}
        self._out = 0
        self._asked, self._waited = float("-inf"), False
        self._records: Counter[Place] = Counter()
        self._bytes: Counter[Place] = Counter()
        self.free = False
        """True if records are let in at once, without regard to those not scored yet."""

    def __len__(self) -> int:
        """The number of records that wait."""
        return len(self._fair)

    @property
    def namespaces(self) -> int:
        """The number of namespaces whose records wait."""
        return self._fair.namespaces

    @property
    def full(self) -> set[Place]:
        """The partitions to pause."""
        most = (place for place, size in self._bytes.items() if size >= BYTES_MOST)
        return {*most, *(place for place, count in self._records.items() if count >= RECORDS_MOST)}

    def takes(self, one: Judged) -> bool:
        """True if the record waits here, for a moment at least."""
        answer = one.answer
        if isinstance(answer, EpisodeIntent):
            self._put(answer.namespace, fairness.cost(one.size), one)
        elif isinstance(answer, EndIntent | FeedbackAccepted) and self._fair.waits(answer.namespace):
            self._put(answer.namespace, 0, one)
        elif isinstance(answer, OrderAccepted) and answer.kind == erase.ERASURE.name:
            return self._behind_what_it_names(answer, one)
        else:
            return False
        return True

    def released(self) -> Iterator[Judged]:
        """Yields the records to let in now, in order."""
        while len(self._fair):
            units = self._fair.peek()
            if units and not self.free and not self._room(units):
                self._waited = True
                return
            one = self._fair.pop()
            place = loop.place(one.message)
            self._records[place] -= 1
            self._bytes[place] -= one.size
            self._out += units
            yield one
        self._waited = False

    def placed(self, one: Judged, shard: int, offset: int) -> None:
        """Notes the place of a released episode in the accepted stream."""
        self._on_way.setdefault(shard, deque()).append((offset, fairness.cost(one.size)))

    def give_up(self, one: Judged) -> None:
        """Notes that a released episode is not let in."""
        self._out -= fairness.cost(one.size)

    def lose(self, places: Iterable[Place]) -> list[Judged]:
        """Drops and returns the waiting records of revoked partitions; their next owner reads them again."""
        gone = set(places)
        for place in gone:
            self._records.pop(place, None)
            self._bytes.pop(place, None)
        return self._fair.drop(lambda one: loop.place(one.message) in gone)

    def _put(self, namespace: str, units: int, one: Judged) -> None:
        self._count(one)
        self._fair.put(namespace, units, one)

    def _count(self, one: Judged) -> None:
        place = loop.place(one.message)
        self._records[place] += 1
        self._bytes[place] += one.size

    def _behind_what_it_names(self, answer: OrderAccepted, one: Judged) -> bool:
        if not self._fair.waits(answer.namespace):
            return False
        order = self._codec.decode_as(ErasureOrdered, self._codec.decode_as(Signed, answer.order).body)
        if not self._fair.put_behind(answer.namespace, 0, one, lambda held: _named(order, held.answer)):
            return False
        self._count(one)
        return True

    def _room(self, units: int) -> bool:
        """True if so many more units may wait for scoring."""
        now = self._clock()
        if self._out + units > self._window.limit / 2 and now - self._asked >= _ASK_S:
            self._look(now)
        return self._window.holds(self._out + units, units)

    def _look(self, now_s: float) -> None:
        self._asked, waits = now_s, self._waited
        found = self._progress(self._on_way)
        if found is None:
            self._window.saw(0, waits, now_s)
            return
        finished = 0
        for shard, on_way in self._on_way.items():
            reached = found.get(shard)
            while on_way and (reached is None or on_way[0][0] < reached):
                finished += on_way.popleft()[1]
        self._out -= finished
        self._window.saw(finished, waits, now_s)


def _named(order: ErasureOrdered, held: Intent | Refusal) -> bool:
    """True if an order to erase may name a record that waits. An order by age may name any record."""
    if not isinstance(held, EpisodeIntent):
        return False
    said = {
        erase.MEMORY: held.memory_id, erase.SUBJECT: held.subject, erase.AGENT: held.agent,
        erase.SOURCE: held.source or "",
    }  # fmt: skip
    # Publishers may use different normal forms of Unicode: a name in two spellings is the same name.
    return order.selector not in said or normalize("NFC", said[order.selector]) == normalize("NFC", order.value)
