"""A request to roll a weight back names one memory and one older version, and has an epoch of its own."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import BadCertificate, check_nomination
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import DecayCrossed, NominationProposed, OrderFound, Proposal, Standing
from memquorum.core.vote import asking
from tests.builders import erasures, genesis, votes
from tests.builders.shard import NAMESPACE, memory_id

GENESIS = genesis.make(**erasures.entitled())
A, B = memory_id("a"), memory_id("b")
ORDER = votes.rollback(GENESIS, A, 2)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"version": None}, "version"),
        ({"version": 0}, "version"),
        ({"version": -1}, "version"),
        ({"version": 2**31}, "version"),
        ({"memory_ids": (A, B)}, "memory_ids"),
        ({"memory_ids": ()}, "memory_ids"),
        ({"memory_ids": ("a",)}, "memory_ids"),
        ({"action": "restore"}, "version"),
        ({"action": "forget"}, "version"),
        ({"action": "reweigh"}, "action"),
    ],
)
def test_what_no_request_may_say_is_refused(changed: dict[str, Any], field: str) -> None:
    with pytest.raises(BadOrder) as wrong:
        REQUEST.check(replace(ORDER, **changed), GENESIS.policy)
    assert wrong.value.field == field
    REQUEST.check(ORDER, GENESIS.policy)


def test_it_is_a_request_and_those_may_sign_it_who_may_sign_these(codec: Codec) -> None:
    for signer in ("operator", "service:erasure"):
        assert REQUEST.opened(codec, GENESIS, votes.signed(codec, GENESIS, signer, ORDER))[1] == ORDER
    with pytest.raises(BadOrder, match="may not ask"):
        REQUEST.opened(codec, GENESIS, votes.signed(codec, GENESIS, "member:1", ORDER))
    assert REQUEST.topic == topics.RESTORES


def nominated(codec: Codec) -> NominationProposed:
    found = OrderFound(votes.signed(codec, GENESIS, "operator", ORDER), 5_100, 8)
    return asking.build(codec, GENESIS, Standing(0, 0, 0, 0), DecayCrossed(0, 6_000, 9, 3, ()), (REQUEST, found, ORDER))


def test_its_epoch_proposes_it_alone_and_nothing_else_may_stand_for_it(codec: Codec) -> None:
    proposed = nominated(codec)
    assert proposed.proposals == (Proposal((A,), NAMESPACE, "rollback", "requested", 5_100, 5_100, 0),)
    assert proposed.trigger == f"restore/{ORDER.order_id}"
    check_nomination(codec, GENESIS, votes.signed(codec, GENESIS, "service:nomination", proposed))
    for wrong in (
        replace(proposed.proposals[0], kind="restore"),
        replace(proposed.proposals[0], memory_ids=(B,)),
        replace(proposed.proposals[0], namespace="elsewhere"),
    ):
        with pytest.raises(BadCertificate, match="not what the order names"):
            forged = replace(proposed, proposals=(wrong,))
            check_nomination(codec, GENESIS, votes.signed(codec, GENESIS, "service:nomination", forged))
