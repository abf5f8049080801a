"""Orders to erase in the test cluster, signed by those who may give them, or may not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.identity import messages
from memquorum.core.identity.membership import Genesis
from memquorum.core.records import ErasedEpisode, ErasureOrdered, OrderAccepted
from tests.builders.genesis import public_key, seed_of

NAMESPACE = "greenhouse"  # a namespace of shard 0, where there are four
ORDER = ids.memory_id("orders", "1")


def entitled(signed: tuple[str, ...] = (NAMESPACE,)) -> dict[str, Any]:
    """Returns the further fields of a genesis for every signer: the service, and two agents with keys."""
    return {
        "services": {name: public_key(f"service:{name}") for name in ("nomination", "journal", "erasure", "rehearsal")},
        "agent_keys": {name: public_key(f"agent:{name}") for name in ("planner", "reviewer")},
        "signed": signed,
    }


def ordered(genesis: Genesis, selector: str = "subject", value: str = "ada", **changes: Any) -> ErasureOrdered:
    said: dict[str, Any] = {
        "cluster": genesis.cluster, "order_id": ORDER, "namespace": NAMESPACE, "selector": selector, "value": value,
        "ordered_by": "ada", "ordered_at": 5_000, "reference": "ticket-7",
    }  # fmt: skip
    return ErasureOrdered(**(said | changes))


def signed(
    codec: Codec, genesis: Genesis, order: ErasureOrdered, signer: str = "operator", seed: bytes | None = None
) -> bytes:
    """Signs an order whatever it says, also what `orders.make` would refuse."""
    body = codec.encode(order)
    return codec.encode(messages.sign(genesis.cluster, signer, seed or seed_of(signer), body))


def among(namespace: str, episodes: Mapping[str, str], *, commitment: bytes = b"c" * 32) -> list[ErasedEpisode]:
    """Returns episodes as an order finds them: event id → what it was."""
    remembered = ("short-term", "long-term", "sealed")
    return [
        ErasedEpisode(ids.memory_id(namespace, event_id), was, commitment if was in remembered else None)
        for event_id, was in episodes.items()
    ]


def accepted(order: ErasureOrdered, data: bytes, at: int) -> OrderAccepted:
    return OrderAccepted(order.order_id, "erase", order.namespace, (), data, at, "memory.erasure.ordered.v1", 0, 0)
