"""Every kind of order checks its id in the same words."""

from __future__ import annotations

import pytest

from memquorum.core.orders.envelope import BadOrder, Body
from memquorum.core.orders.table import ORDERS
from memquorum.core.policy import Policy
from memquorum.core.records import (
    Comparison,
    ProfileOrdered,
    ReclassificationOrdered,
    SourcesDisclosed,
    StatementsCompared,
)
from tests.builders import rollups
from tests.builders.erasures import ordered
from tests.builders.genesis import make
from tests.builders.protections import wanted
from tests.builders.votes import restore

GENESIS = make()
MEMORY = "0b1f3f3e-2222-5c3a-9d2f-0d5c0f6f1a11"
BAD = {
    "erase": ordered(GENESIS, order_id="7"),
    "protect": wanted("pin", MEMORY, cluster=GENESIS.cluster, order_id="7"),
    "patch": rollups.wanted(GENESIS, rollups.patch(MEMORY), order_id="7"),
    "disclose": SourcesDisclosed(GENESIS.cluster, "7", "greenhouse", (MEMORY,), "llm.example.org", "consolidator", 1),
    "compare": StatementsCompared(
        GENESIS.cluster, "7", "greenhouse", MEMORY, (Comparison(MEMORY, ()),), "openai/m@host", "consolidator", 1
    ),
    "profile": ProfileOrdered(GENESIS.cluster, "7", "greenhouse", "ada", True, "counsel", 1),
    "reclassify": ReclassificationOrdered(GENESIS.cluster, "7", "greenhouse", MEMORY, "counsel", 1, 800_000),
    "restore": restore(GENESIS, MEMORY, order_id="7"),
}


@pytest.mark.parametrize("name", ORDERS)
def test_an_order_whose_id_is_no_uuid_is_told_the_same_whatever_its_kind(name: str) -> None:
    order: Body = BAD[name]
    with pytest.raises(BadOrder) as wrong:
        ORDERS[name].check(order, Policy())
    told = ("bad_id", "order_id", "not a UUID in lower case; make a new one for each order")
    assert (wrong.value.code, wrong.value.field, wrong.value.detail) == told
