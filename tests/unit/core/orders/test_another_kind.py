"""Another kind of order: what a file of its own and a line of the table are enough for (decision 63)."""

from __future__ import annotations

import ast
import re
from types import MappingProxyType
from typing import Any

import pytest
from msgspec.structs import replace

from db import order_rows
from memquorum.core import access
from memquorum.core.accounts import order_words
from memquorum.core.avro import Codec
from memquorum.core.journal.effects import EFFECTS
from memquorum.core.orders import table
from memquorum.core.orders.envelope import OrderKind, check_said
from memquorum.core.orders.table import ORDERS
from memquorum.core.records import JournalEntry, OrderFound, Proposal, Protected, ProtectionOrdered, Standing
from memquorum.core.vote import asking
from tests import ROOT
from tests.builders import genesis, protections, votes
from tests.builders.shard import memory_id
from tests.builders.shelf import TICK

GENESIS = genesis.make()
NOTE: OrderKind[Any] = OrderKind(
    name="note", body=ProtectionOrdered, topic="memory.note.ordered.v1", told="a note", command="`memquorum note`",
    right=access.FORGET, check=lambda order, _: check_said(order), entitled=lambda *_: None,
    effects={"noted": Protected}, named=lambda order: (order.memory_id,),
    proposals=lambda order, at: (Proposal((order.memory_id,), order.namespace, "note", "noted", at, at, 0),),
)  # fmt: skip
ORDER = protections.wanted("pin", memory_id("a"), cluster=GENESIS.cluster)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind has its line in the table."""
    kinds = MappingProxyType({NOTE.name: NOTE, **ORDERS})
    for room in (table, asking):
        monkeypatch.setattr(room, "ORDERS", kinds)
    monkeypatch.setattr(table, "BY_TOPIC", {NOTE.topic: NOTE, **table.BY_TOPIC})


def test_it_is_let_in_put_to_the_vote_and_told_of(codec: Codec) -> None:
    data = votes.signed(codec, GENESIS, "operator", ORDER)
    record = table.let_in(codec, GENESIS, data, 5_100, (NOTE.topic, 0, 7))
    assert (record.kind, record.memory_ids, table.unfit(codec, GENESIS, record)) == ("note", (ORDER.memory_id,), None)
    forged = replace(record, order=votes.signed(codec, GENESIS, "operator", replace(ORDER, order_id="x")))
    assert "a note that is not valid" in (table.unfit(codec, GENESIS, forged) or "")

    found, tick = OrderFound(data, 5_100, 8), replace(TICK, shard=0)
    proposed = asking.build(codec, GENESIS, Standing(0, 0, 0, 0), tick, (NOTE, found, ORDER))
    assert proposed.trigger == f"note/{ORDER.order_id}"
    assert asking.check(codec, GENESIS, proposed) == (found, ORDER)

    detail = codec.encode(Protected(data, 5_100, True))
    entry = JournalEntry(0, 3, 5_100, "noted", ORDER.order_id, "t", 0, 8, detail, ORDER.namespace, ORDER.memory_id)
    told = order_rows.shown(codec, [(codec.encode(entry), *(None,) * 11)])
    assert told is not None and (told.kind, told.status, told.says["memory_id"]) == ("note", "noted", ORDER.memory_id)
    assert order_words.done(told) and next(order_words.lines(told)) == "pin: noted"


def test_whatever_is_no_answer_to_an_order_the_index_of_orders_leaves_out() -> None:
    """In the query as in the index, or the whole journal is read for one order."""
    others = set(EFFECTS) - {effect for kind in ORDERS.values() for effect in kind.effects}
    for file in ("db/queries.sql", "db/migrations/memory/0001_schema.sql"):
        listed, *_ = re.findall(r"event_id[^;]*?effect NOT IN \(([^)]*)\)", (ROOT / file).read_text())
        assert set(re.findall(r"'(\w+)'", listed)) == others


# Modules that ask of any order whether it is of a certain kind, and why. All else is in the kinds' objects.
ASKED = {
    "db/order_rows.py": "what was asked back or to be forgotten is told of beside its decision",
    "memquorum/core/audit/receipts.py": "a receipt is of an erasure",
    "memquorum/core/orders/uses.py": "a use asks back what rests, without a signed request",
    "streams/nomination_stage.py": "an erasure and a restore have an epoch alone",
    "streams/opened.py": "what an erasure takes is no longer counted",
    "workers/replica/stream_follower.py": "members keep in their view what is protected, and what is reclassified",
}


def asks(source: str) -> list[str]:
    """Comparisons with the object of a kind of orders, or of an order's kind with a name."""
    found, objects = [], {"ERASURE", "PROTECTION", "REQUEST"}
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Compare):
            sides = [ast.unparse(side) for side in (node.left, *node.comparators)]
            named = any(one in {repr(name) for name in ORDERS} for one in sides)
            of_object = any(one.partition(".")[0] in objects for one in sides)
            if of_object or (named and any(one.rpartition(".")[2] == "kind" for one in sides)):
                found.append(ast.unparse(node))
    return found


def test_who_asks_for_an_orders_kind_is_known() -> None:
    paths = [path for top in ("memquorum", "workers", "streams", "db", "infra") for path in (ROOT / top).rglob("*.py")]
    found = {str(path.relative_to(ROOT)) for path in paths if asks(path.read_text())}
    assert found == ASKED.keys()


@pytest.mark.parametrize("source", ["a = order.kind == 'erase'", "a = kind is REQUEST", "a = x != PROTECTION.name"])
def test_the_name_of_a_kind_of_orders_is_seen(source: str) -> None:
    assert asks(source)
