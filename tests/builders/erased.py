"""A shard in which an order erases much."""

from __future__ import annotations

from typing import Any

from memquorum.core.avro import Codec
from memquorum.core.policy import ForgetPolicy
from memquorum.core.records import OrderAccepted
from tests.builders import genesis, votes
from tests.builders.erasures import accepted, entitled, ordered, signed
from tests.builders.policies import by_the_paper
from tests.builders.shard import Shard, memory_id

GENESIS = genesis.make(policy=by_the_paper(forget=ForgetPolicy(grace_ms=500)), **entitled(signed=()))
A, B, C, D = (memory_id(name) for name in "abcd")
AT = 5_000


def order(codec: Codec, selector: str = "subject", value: str = "ada", at: int = AT, **changes: Any) -> OrderAccepted:
    said = ordered(GENESIS, selector, value, **changes)
    return accepted(said, signed(codec, GENESIS, said), at)


def filled(shard: Shard) -> Shard:
    """Fills the shard.

    Ada's are A (long-term), B (sealed), an echo of A, and a dropped episode. C is made of A, D of nothing of hers.
    """
    shard.tick(1_000)
    for name in "ab":
        shard.episode(name, subject="ada", source="handbook.pdf")
    shard.episode("echo", outcome="reinforced", reinforces=A, subject="ada", source="handbook.pdf")
    shard.episode("faint", outcome="below_threshold", subject="ada")
    shard.episode("c", derives_from=(A, memory_id("nowhere")))
    shard.episode("d")
    shard.tick(1_100)
    shard.decide([votes.proposal(A, "promote"), votes.proposal(B, "forget")])
    return shard


ALL = {"a": "long-term", "b": "sealed", "c": "short-term", "echo": "reinforced", "faint": "dropped"}
