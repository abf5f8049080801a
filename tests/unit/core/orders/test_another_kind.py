"""Another kind of order: what its own file and a line of the table are enough for (decision 0062)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace as but
from types import MappingProxyType
from typing import Any

import pytest
from msgspec.structs import replace

from db import order_rows
from memquorum.core import access
from memquorum.core.avro import Codec
from memquorum.core.journal.effects import EFFECTS
from memquorum.core.orders import table
from memquorum.core.orders.envelope import BadOrder, OrderKind, check_said
from memquorum.core.orders.table import ORDERS
from memquorum.core.records import JournalEntry, OrderFound, Proposal, ProtectionOrdered, Protected, Standing
from memquorum.core.retrieval import ordered
from memquorum.core.vote import asking
from tests import ROOT
from tests.builders import genesis, protections
from tests.builders.shelf import TICK
from tests.builders.votes import signed

GENESIS = genesis.make()
NOTE: OrderKind[Any] = OrderKind(
    name="note", body=ProtectionOrdered, topic="memory.note.ordered.v1", told="a note", command="`memquorum note`",
    right=access.FORGET, check=lambda order, _: check_said(order), entitled=lambda *_: None,
    effects={"noted": Protected}, named=lambda order: (order.memory_id,),
    proposals=lambda order, at: (Proposal((order.memory_id,), order.namespace, "note", "noted", at, at, 0),),
)  # fmt: skip
ORDER = protections.wanted("pin", protections.order_id(2), cluster=GENESIS.cluster)
