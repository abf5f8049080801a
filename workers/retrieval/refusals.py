"""The refusals of intake, for `/events`: the tail of the dead letters, followed in a thread.

    intake ─► dead letter, with digests of the event ─► followed here ─► GET /events, and those who wait there

Reason, field, detail and place of the newest letters are kept; no letter is opened. A refusal is found by the digest of
namespace and event id: the asker has to know both, and needs rights in the namespace.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress

from confluent_kafka import Consumer, KafkaException, Message, TopicPartition
from msgspec import Struct

from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec, DecodeError
from memquorum.core.identity.stamps import Reader
from memquorum.core.records import IntakeRefused
from workers.kafka import loop
from workers.kafka.loop import TopicUnreadable
from workers.kafka.reach import BrokersLost
from workers.kafka.strangers import Strangers

_LOG = logging.getLogger("memquorum.retrieval.refusals")

MOST = 10_000
"""Refusals that are kept, and so many letters are read back at a start, all partitions together."""
BACK_MS = 3_600_000
"""No further than so long."""
# Characters of a field and of a detail. Intake writes fewer; the bound is for letters that a stranger wrote.
_TOLD_MOST = 2_000
_BATCH = 500
_POLL_S = 0.2
_ASK_S = 10
_PAUSE_S = 1.0
# A question to a broker that is away is not waited for at the end.
_END_S = 2.0
_KNOWN = (KafkaException, TopicUnreadable, BrokersLost)
_CLIENT = {
    # Letters hold payloads; they are to take little room while they wait to be read.
    "queued.max.messages.kbytes": 8_192,
    # In case retention has deleted the next offset.
    "auto.offset.reset": "earliest",
}


class Refused(Struct, frozen=True):
    """The reason of a refusal. `place`: of the refused record, as TOPIC/PARTITION/OFFSET."""

    reason: str
    field: str | None
    detail: str
    place: str
    refused_at: int = 0


class Asked(Struct, frozen=True):
    """The event that somebody asks about. `agent`: who published it; `place`: where Kafka has it; each if known."""

    namespace: str
    event_id: str
    agent: str | None = None
    place: str | None = None

    @property
    def event(self) -> bytes:
        """The digest that its refusal bears."""
        return ids.event_digest(self.namespace, self.event_id)

    @property
    def key(self) -> str | bytes:
        """The key of its refusal: the place if it is known, else the digest with the agent, or without."""
        if self.place is not None:
            return self.place
        return self.event if self.agent is None else ids.event_digest(self.namespace, self.event_id, self.agent)


class Refusals:
    """The newest refusals, by place and by digest; those who wait for one are woken."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        # By place and by digests: the refusal, and the digest of its event.
        self._known: OrderedDict[str | bytes, tuple[bytes, Refused]] = OrderedDict()
        self._waiting: dict[str | bytes, set[tuple[bytes, asyncio.Future[Refused]]]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def take(self, letter: IntakeRefused) -> None:
        """Takes a letter; one without a digest is not kept, since nobody could ask for it."""
        if letter.event is None:
            return
        place = f"{letter.origin_topic}/{letter.origin_partition}/{letter.origin_offset}"
        field = None if letter.field is None else letter.field[:_TOLD_MOST]
        detail = letter.detail[:_TOLD_MOST]
        found = letter.event, Refused(letter.reason[:_TOLD_MOST], field, detail, place, letter.refused_at)
        for key in (place, letter.event, *(() if letter.publisher is None else (letter.publisher,))):
            self._known[key] = found
            self._known.move_to_end(key)
            for event, future in self._waiting.get(key, ()):
                if event == letter.event and not future.done():
                    future.set_result(found[1])
        # A letter has three keys at most.
        while len(self._known) > 3 * self._most:
            self._known.popitem(last=False)

    def latest(self, most: int) -> list[Refused]:
        """Returns the newest refusals, the latest first."""
        return sorted(self._all(), key=lambda one: (one.refused_at, one.place), reverse=True)[:most]

    def counts(self) -> dict[str, int]:
        """Returns the number of refusals by reason."""
        return dict(Counter(one.reason for one in self._all()))

    def _all(self) -> Iterator[Refused]:
        """Each refusal once, by its place."""
        return (found for key, (_, found) in self._known.items() if key == found.place)

    def find(self, asked: Asked) -> Refused | None:
        """Returns the refusal, the last one of that event where no place is named; None where none is known."""
        event, found = self._known.get(asked.key, (b"", None))
        return found if event == asked.event else None

    async def wait(self, asked: Asked, seconds: float) -> Refused | None:
        """Returns the refusal as soon as it is known; None after so many seconds."""
        if (known := self.find(asked)) is not None:
            return known
        future: asyncio.Future[Refused] = asyncio.get_running_loop().create_future()
        one, key = (asked.event, future), asked.key
        self._waiting.setdefault(key, set()).add(one)
        try:
            return await asyncio.wait_for(future, seconds)
        except TimeoutError:
            return None
        finally:
            self._waiting[key].discard(one)
            if not self._waiting[key]:
                del self._waiting[key]


class Following:
    """Follows the dead letters for `Refusals`, in a thread of its own. `fails`: why it does not now; empty where it
    does."""

    def __init__(
        self, bootstrap: str, shards: int, codec: Codec, stamps: Reader | None, take: Callable[[IntakeRefused], None]
    ) -> None:
        """`stamps`: checks that the line wrote a letter; None: this process has no key for that, and all letters are
        believed. `take`: is called in the event loop."""
        self._bootstrap, self._shards, self._codec, self._take = bootstrap, shards, codec, take
        self._strangers = Strangers(_LOG, stamps)
        self._stop = threading.Event()
        # The next offset of each partition; empty before the first assignment.
        self._next: dict[tuple[str, int], int | None] = {}
        self.fails = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Follows for the duration."""
        asyncs = asyncio.get_running_loop()

        def take_letters(letters: Sequence[IntakeRefused]) -> None:
            for letter in letters:
                self._take(letter)

        def hand_over(letters: Sequence[IntakeRefused]) -> None:
            with suppress(RuntimeError):  # the event loop has ended
                asyncs.call_soon_threadsafe(take_letters, letters)

        def work() -> None:
            while not self._stop.is_set():
                self._follow(hand_over)

        thread = threading.Thread(target=work, name="refusals", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            await asyncio.to_thread(thread.join, _END_S)

    def _follow(self, told: Callable[[Sequence[IntakeRefused]], None]) -> None:
        """Reads until it is stopped or fails, and rests then."""
        client: Consumer | None = None
        try:
            client = loop.consumer(self._bootstrap, None, **_CLIENT)
            self._next = self._next or self._tail(client)
            loop.assign(client, self._next)
            while not self._stop.is_set():
                self._read(client, told)
        except Exception as error:  # whatever it is, all else is answered
            if not self.fails:
                _LOG.warning("the dead letters cannot be followed: %s", error, exc_info=not isinstance(error, _KNOWN))
            self.fails = str(error) or type(error).__name__
            self._stop.wait(_PAUSE_S)
        finally:
            if client is not None:
                client.close()

    def _tail(self, client: Consumer) -> dict[tuple[str, int], int | None]:
        """Finds the first offset of each partition: of the last hour, and of the last `MOST` letters at most."""
        since = time.time_ns() // 1_000_000 - BACK_MS
        asked = [TopicPartition(topics.REFUSED, shard, since) for shard in range(self._shards)]
        starts = dict[tuple[str, int], int | None]()
        for found in client.offsets_for_times(asked, timeout=_ASK_S):
            low, end = client.get_watermark_offsets(TopicPartition(topics.REFUSED, found.partition), timeout=_ASK_S)
            first = end if found.offset < 0 else found.offset
            starts[topics.REFUSED, found.partition] = max(low, first, end - MOST // self._shards)
        return starts

    def _read(self, client: Consumer, told: Callable[[Sequence[IntakeRefused]], None]) -> None:
        messages = loop.records(client, _BATCH, _POLL_S)
        letters = [letter for one in messages if (letter := self._letter(one)) is not None]
        if letters:
            told(letters)
        for one in messages:
            self._next[loop.place(one)] = loop.offset(one) + 1
        self.fails = ""

    def _letter(self, message: Message) -> IntakeRefused | None:
        if self._strangers.wrote(message):
            return None
        try:
            return self._codec.decode_as(IntakeRefused, message.value() or b"")
        except DecodeError as error:
            self._strangers.note(*loop.place(message), loop.offset(message), str(error))
            return None
