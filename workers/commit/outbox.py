"""The journal's way out: what Postgres has committed goes to the topic, in order, with signed heads (DESIGN 8).

Entries are sent after their transaction, so the topic never knows more than the store. Entries that a crash kept from
being sent are sent on the next start; a consumer may see an entry twice and tells it by its sequence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from confluent_kafka import KafkaException, Producer

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.keys import Keys
from memquorum.core.identity.membership import Genesis
from memquorum.core.identity.stamps import Writer
from memquorum.core.journal.rows import ShardState
from memquorum.core.records import JournalAppended, JournalHead
from memquorum.telemetry.tracing import NOTHING, Hop
from workers.kafka import loop
from workers.kafka.strangers import stamped

SIGNER = "service:journal"
_SOURCE = "memquorum/commit"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A journal entry to be sent: its sequence, its event's id, its link, and the span that it comes from."""

    seq: int
    event_id: str
    link: JournalAppended
    hop: Hop = NOTHING


class Outbox:
    """Sends journals and heads. `delivered`: the last sequence of each shard that the broker has acknowledged."""

    def __init__(self, producer: Producer, codec: Codec, keys: Keys, stamps: Writer | None = None) -> None:
        """`keys`: of service:journal. `stamps`: what entries and heads bear."""
        self.delivered: dict[int, int] = {}
        self._producer, self._codec, self._keys = producer, codec, keys
        self._stamps = stamps
        self._failed: Exception | None = None

    @property
    def pending(self) -> bool:
        """Whether acknowledgements are awaited."""
        return len(self._producer) > 0

    def signs(self, genesis: Genesis) -> bool:
        """Whether it has the key that a configuration names for heads."""
        return self._keys.signer(genesis) is not None

    def send(self, entries: Sequence[Outgoing], state: ShardState, genesis: Genesis) -> None:
        """Sends a shard's next entries, and once they are acknowledged the head `state`, where they lead to. `genesis`:
        the configuration in force there; it `signs` for it."""
        head = self.signed_head(state, genesis)
        for entry in entries:
            last, event_id = entry.seq == state.seq, f"{state.shard}/{entry.seq}"
            parent = entry.hop.send(topics.JOURNAL, state.shard, event_id)
            self._produce(
                topics.JOURNAL,
                state.shard,
                self._codec.encode(entry.link),
                loop.headers("JournalAppended", _SOURCE, event_id, parent),
                on_delivery=self._note(
                    state.shard, entry.seq, partial(self._head, state, head) if last else None, entry.hop
                ),
            )

    def signed_head(self, state: ShardState, genesis: Genesis) -> bytes:
        """A journal that ends before this has been cut. `genesis`: the configuration in force there."""
        sign = self._keys.signer(genesis)
        if sign is None:
            raise KeyError(f"none of the keys of {SIGNER} is the one of configuration {genesis.config}")
        head = JournalHead(genesis.cluster, genesis.config, state.shard, state.seq, state.hash, state.as_of)
        return sign(self._codec.encode(head))

    def head(self, state: ShardState, genesis: Genesis) -> None:
        """Sends a signed head."""
        self._head(state, self.signed_head(state, genesis))

    def _head(self, state: ShardState, signed: bytes) -> None:
        self._produce(
            topics.HEADS,
            state.shard,
            signed,
            loop.headers("JournalHead", _SOURCE, f"head/{state.shard}/{state.seq}"),
            on_delivery=self._note(state.shard, 0, None),
        )

    def poll(self, wait_s: float = 0) -> None:
        """Serves acknowledgements. Raises the error that kept a record from being sent permanently."""
        self._producer.poll(wait_s)
        if self._failed is not None:
            raise self._failed

    def flush(self, seconds: float) -> None:
        """Waits for the acknowledgements of everything sent, heads included, at most so long."""
        if self._producer.flush(seconds) == 0:
            self.poll()

    def close(self) -> None:
        """Ends the producer; what was not acknowledged is sent again on the next start."""
        self._producer.purge()
        self._producer.close()

    def _note(self, shard: int, seq: int, head: Callable[[], None] | None, hop: Hop = NOTHING) -> Any:
        def acknowledged(error: Any, _: Any) -> None:
            if error is not None:
                self._failed = KafkaException(error)
                return
            self.delivered[shard] = max(seq, self.delivered.get(shard, 0))
            hop.end()
            if head is not None:
                head()

        return acknowledged

    def _produce(self, topic: str, shard: int, value: bytes, headers: loop.Headers, on_delivery: Any) -> None:
        headers = stamped(headers, self._stamps, topic, shard, value)
        while True:
            try:
                self._producer.produce(
                    topic, value, str(shard).encode(), partition=shard, headers=headers, on_delivery=on_delivery
                )
                return
            except BufferError:
                # The broker is slow: wait for room, which is what slows this stage down.
                self._producer.poll(0.1)
