"""What the consolidator says of texts that it is about to send out of the house, as it is let in."""

from __future__ import annotations

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import CONSOLIDATOR, Genesis
from memquorum.core.orders.disclose import SIGNER
from memquorum.core.records import OrderAccepted, SourcesDisclosed
from tests.builders import votes
from tests.builders.shard import NAMESPACE, memory_id

HOST = "llm.example.org"


def accepted(codec: Codec, genesis: Genesis, *memory_ids: str, namespace: str = NAMESPACE) -> OrderAccepted:
    """That these memories go to a host, behind the wall."""
    order_id = memory_id("disclosed", namespace)
    order = SourcesDisclosed(genesis.cluster, order_id, namespace, memory_ids, HOST, CONSOLIDATOR, 1_000)
    data = votes.signed(codec, genesis, SIGNER, order)
    return OrderAccepted(order_id, "disclose", namespace, memory_ids, data, 1_000, topics.DISCLOSURES, 0, 7)
