"""Gives the operator's orders of every kind: signs them with the operator's key, publishes them, and waits.

It reads obstacles and outcomes of orders in the database itself, without an API key, as it runs beside the server. The
orders take the same path as all others.
"""

from __future__ import annotations

import json
import time
import uuid
from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
from msgspec.structs import replace

from db import order_rows
from db.connection import READER, Link
from db.queries import QUERIES
from db.stored_orders import PostgresStoredOrders
from infra import configuration_change, genesis
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum.commands import JSON, option
from memquorum.core import names
from memquorum.core.accounts import order_words
from memquorum.core.api.answers import Ordered
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.orders.envelope import BadOrder, Order, OrderKind
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec
from workers.upkeep.operator_topic import publish

_LOOK_S = 0.2


@dataclass(frozen=True, slots=True)
class Desk:
    """The operator's context of a command: the installation, its store, and the arguments."""

    settings: Settings
    made: Genesis
    codec: Codec
    link: Link
    parsed: Namespace

    def named(self, kind: OrderKind[Order], order: Order) -> Order:
        """The order with an id, the person who asked, and the time. Raises SettingsError for an invalid order."""
        filled: Any = order
        filled = replace(
            filled, cluster=self.made.cluster, order_id=str(uuid.uuid4()), ordered_by=self.parsed.ordered_by,
            ordered_at=time.time_ns() // 1_000_000,
        )  # fmt: skip
        try:
            kind.check(filled, self.made.policy)
        except BadOrder as wrong:
            raise SettingsError(f"{kind.told}: {wrong}") from None
        found: Order = filled
        return found

    def give(self, kind: OrderKind[Order], orders: Sequence[Order]) -> int:
        """Signs orders, publishes them, waits, and prints the outcome of each. Returns 1 if one was not carried out
        whole, or not in time. Raises SettingsError if this machine cannot order, KeyFileError and KafkaException."""
        if self.made.operator is None:
            raise SettingsError(f"{self.settings.genesis_file} names no operator, so the operator cannot give orders")
        seed = genesis.signing_seed(self.settings, OPERATOR, self.made.operator)
        signed = [(order, kind.make(self.codec, self.made, OPERATOR, seed, order)) for order in orders]
        publish(self.settings.bootstrap, kind, signed)
        for order in orders:
            print(f"ordered as {order.order_id}", flush=True)
        found = answered(self.link, self.codec, [order.order_id for order in orders], self.parsed.wait)
        for order in orders:
            told = found.get(order.order_id)
            print("\n".join(order_words.lines(told)) if told is not None else _under_way(order.order_id))
        return 0 if len(found) == len(orders) and all(map(order_words.done, found.values())) else 1


@contextmanager
def desk(settings: Settings, parsed: Namespace) -> Iterator[Desk]:
    """Opens the operator's context while a command runs."""
    settings.require("bootstrap", "memory_dsn")
    link = Link(settings.memory_dsn, READER, StoreUnavailable)
    try:
        yield Desk(settings, genesis.read(settings), load_codec(), link, parsed)
    finally:
        link.close()


def answered(link: Link, codec: Codec, order_ids: Sequence[str], seconds: float) -> Mapping[str, Ordered]:
    """Returns the outcomes of orders, by their ids, once all are answered and voted on, or after `seconds`; without
    those that the journal has not answered yet. Raises StoreUnavailable."""
    until, found, left = time.monotonic() + seconds, dict[str, Ordered](), list(order_ids)
    while True:
        with link.use() as connection:
            for order_id in left:
                rows = connection.execute(QUERIES["order_shown"], order_rows.order_parameters(order_id)).fetchall()
                if (told := order_rows.shown(codec, rows)) is not None:
                    found[order_id] = told
        left = [one for one in left if one not in found or found[one].status == order_rows.ASKED]
        if not left or time.monotonic() >= until:
            return found
        time.sleep(_LOOK_S)


def _under_way(order_id: str) -> str:
    told = "it will be, once intake, streams, members and commit run"
    return f"not carried out yet: {told}; `memquorum admin orders show {order_id}` tells"


@command(
    "orders show",
    option("order_id", metavar="ID"),
    option("--wait", type=float, default=0.0, metavar="SECONDS", help="until it is answered (default: 0)"),
    JSON,
    failed="the store cannot be asked",
    example="orders show 0b9c7a1e-6f6e-4a55-9a43-5d2d4f0e8a11",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Shows the outcome of an order of any kind. Exits with 1 unless it was carried out whole."""
    settings.require("memory_dsn")
    order_id = names.uuid(parsed.order_id)
    if order_id is None:
        raise SettingsError(f"order: {parsed.order_id[:60]!r} is no id of an order")
    link, stored = Link(settings.memory_dsn, READER, StoreUnavailable), PostgresStoredOrders(settings.memory_dsn)
    try:
        # The vote on a configuration cannot be awaited by its order's id alone: `members` and `policy` wait.
        other = configuration_change.decided(stored, load_codec(), genesis.read(settings), order_id)
        found = answered(link, load_codec(), [order_id], parsed.wait).get(order_id) if other is None else None
    finally:
        link.close()
        stored.close()
    if parsed.json:
        print(json.dumps(msgspec.to_builtins(found or other)))
    elif other is not None:
        print("\n".join(other.lines()))
    else:
        print("\n".join(order_words.lines(found)) if found is not None else f"no order {order_id} was answered")
    return 0 if (found is not None and order_words.done(found)) or (other is not None and other.in_force) else 1
