"""The journal's way out: what Postgres has committed goes to the topic, in order, with signed heads (DESIGN 8).

Entries are sent after their transaction, so the topic never knows more than the store. What a crash keeps from being
sent is sent on the next start; a consumer may see an entry twice and tells it by its sequence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confluent_kafka import KafkaException, Producer

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus import messages
from memquorum.core.consensus.membership import Genesis
from memquorum.core.crypto.stamps import Writer
from memquorum.core.journal.rows import ShardState
from memquorum.core.records import JournalAppended, JournalHead
from memquorum.telemetry.tracing import NOTHING, Hop
from workers import loop
from workers.strangers import stamped

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

    def __init__(
        self, producer: Producer, genesis: Genesis, codec: Codec, seed: bytes, stamps: Writer | None = None
    ) -> None:
        """`seed`: the 32-byte Ed25519 seed of service:journal. `stamps`: what entries and heads bear."""
        self.delivered: dict[int, int] = {}
        self._producer, self._genesis, self._codec, self._seed = producer, genesis, codec, seed
        self._stamps = stamps
        self._failed: Exception | None = None

    @property
    def pending(self) -> bool:
        """Whether acknowledgements are awaited."""
        return len(self._producer) > 0

    def send(self, entries: Sequence[Outgoing], state: ShardState) -> None:
        """Sends a shard's next entries, and once they are acknowledged the head `state`, where they lead to."""
        for entry in entries:
            last, event_id = entry.seq == state.seq, f"{state.shard}/{entry.seq}"
            parent = entry.hop.send(topics.JOURNAL, state.shard, event_id)
            self._produce(
                topics.JOURNAL,
                state.shard,
                self._codec.encode(entry.link),
                loop.headers("JournalAppended", _SOURCE, event_id, parent),
                on_delivery=self._note(state.shard, entry.seq, state if last else None, entry.hop),
            )

    def signed_head(self, state: ShardState) -> bytes:
        """A journal that ends before this has been cut."""
        cluster = self._genesis.cluster
        body = self._codec.encode(
            JournalHead(cluster=cluster, shard=state.shard, seq=state.seq, hash=state.hash, as_of=state.as_of)
        )
        return self._codec.encode(messages.sign(cluster, SIGNER, self._seed, body))

    def head(self, state: ShardState) -> None:
        """Sends a signed head."""
        self._produce(
            topics.HEADS,
            state.shard,
            self.signed_head(state),
            loop.headers("JournalHead", _SOURCE, f"head/{state.shard}/{state.seq}"),
            on_delivery=self._note(state.shard, 0, None),
        )

    def poll(self, wait_s: float = 0) -> None:
        """Serves acknowledgements. Raises what kept a record from being sent for good."""
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

    def _note(self, shard: int, seq: int, head: ShardState | None, hop: Hop = NOTHING) -> Any:
        def acknowledged(error: Any, _: Any) -> None:
            if error is not None:
                self._failed = KafkaException(error)
                return
            self.delivered[shard] = max(seq, self.delivered.get(shard, 0))
            hop.end()
            if head is not None:
                self.head(head)

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
