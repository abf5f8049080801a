"""The consolidator's notice of the texts that it is about to send to another host, as intake accepts it."""

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
    """Returns the accepted notice that these memories go to a host."""
    order_id = memory_id("disclosed", namespace)
    order = SourcesDisclosed(genesis.cluster, order_id, namespace, memory_ids, HOST, CONSOLIDATOR, 1_000)
    data = votes.signed(codec, genesis, SIGNER, order)
    return OrderAccepted(order_id, "disclose", namespace, memory_ids, data, 1_000, topics.DISCLOSURES, 0, 7)
