"""Says whose text is about to be sent to whom, and waits until the journal does."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection

from confluent_kafka import Producer
from msgspec import Struct

from memquorum import topics
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import CONSOLIDATOR, Genesis
from memquorum.core.orders.disclose import DISCLOSURE, SIGNER
from memquorum.core.records import Signed, SourcesDisclosed
from memquorum.ports import SummariserUnavailable
from workers.consolidator.publishing import SOURCE
from workers.kafka import loop

# Seconds that the journal may take to say what may be sent.
_JOURNALLED_S = 30.0
# Fixed for ever: what is sent to the same recipient again is said by the same order.
_DISCLOSURES = uuid.UUID("7c7f0a52-0b1e-5d07-9d1c-646973636c6f")


class Disclosing(Struct, frozen=True):
    """The signer: the consolidator of an installation, with the seed of its key."""

    genesis: Genesis
    codec: Codec
    seed: bytes

    def order(self, producer: Producer, namespace: str, sent: Collection[str], recipient: str, at: int) -> None:
        """Hands the word to the producer, which has to be flushed. `at`: of when it is dated."""
        named = uuid.uuid5(_DISCLOSURES, "\0".join((namespace, recipient, *sorted(sent))))
        order = SourcesDisclosed(
            self.genesis.cluster, str(named), namespace, tuple(sorted(sent)), recipient, CONSOLIDATOR, at
        )
        producer.produce(
            topics.DISCLOSURES, DISCLOSURE.make(self.codec, self.genesis, SIGNER, self.seed, order),
            key=namespace.encode(), partition=ids.shard_of(namespace, self.genesis.shards),
            headers=loop.headers(Signed.__name__, SOURCE, order.order_id),
        )  # fmt: skip


def settled(
    sent: Collection[str],
    known: Callable[[], frozenset[str]],
    say: Callable[[], None],
    wait: Callable[[], None],
) -> None:
    """Says what is sent where the journal does not, and waits until it does: an erasure that comes later then knows
    whom to tell, and of one that came before nothing is sent.

    `known`: those of which the journal says so, and that are alive. Raises SummariserUnavailable, and what `wait`
    raises.
    """
    if known() == frozenset(sent):
        return
    say()
    until = time.monotonic() + _JOURNALLED_S
    while known() != frozenset(sent):
        if time.monotonic() > until:
            raise SummariserUnavailable("the journal does not say what may be sent, or something of it is gone")
        wait()
