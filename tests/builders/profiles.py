"""An order to set a profile of a subject, as intake accepts it."""

from __future__ import annotations

from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import OrderAccepted, ProfileOrdered
from tests.builders import votes
from tests.builders.shard import NAMESPACE, memory_id


def accepted(
    codec: Codec, genesis: Genesis, subject: str = "ada", *, namespace: str = NAMESPACE, listed: bool = False
) -> OrderAccepted:
    """Returns the operator's accepted order that keeps memories of a subject for 30 days. `listed`: with a list."""
    own = memory_id("profile", namespace)
    order = ProfileOrdered(genesis.cluster, own, namespace, subject, True, "counsel", 1_000, retention=("episodic=30",))
    if listed:
        order = replace(order, commitment=b"c" * 32)
    data = votes.signed(codec, genesis, "operator", order)
    return OrderAccepted(
        own, "profile", namespace, (), data, 1_000, topics.PROFILES, 0, 7, b"sealed" if listed else None
    )
