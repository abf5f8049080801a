"""The operator's `hold`: memories that a law asks to keep are neither forgotten nor erased until they are released."""

from __future__ import annotations

import argparse
import time
import uuid

from db import erasure_rows
from db.connection import READER, Link
from db.store import protections
from infra import genesis
from infra.settings import Settings, SettingsError
from memquorum.core.avro import Codec
from memquorum.core.consensus.membership import OPERATOR
from memquorum.core.ids import DEFAULT_NAMESPACE
from memquorum.core.orders import BadOrder
from memquorum.core.protection import orders
from memquorum.core.protection.orders import ENDS, HOLD, PIN, RELEASE, UNPIN
from memquorum.core.records import ProtectionOrdered
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec
from workers.orders import publish_protections

_LOOK_S = 0.2


def options(command: argparse.ArgumentParser) -> None:
    """Adds what `hold` takes."""
    command.add_argument("memory_ids", nargs="+", metavar="ID")
    command.add_argument("-n", "--namespace", default=DEFAULT_NAMESPACE, help="default: default")
    how = command.add_mutually_exclusive_group()
    how.add_argument("--release", dest="action", action="store_const", const=RELEASE, help="hold them no longer")
    how.add_argument("--pin", dest="action", action="store_const", const=PIN, help="pin them: an erasure goes over it")
    how.add_argument("--unpin", dest="action", action="store_const", const=UNPIN, help="pin them no longer")
    command.add_argument("--ordered-by", default="operator", metavar="NAME", help="who asked (default: operator)")
    command.add_argument("--reference", metavar="TEXT", help="the case's name, which refused erasures are told")
    command.add_argument("--wait", type=float, default=30.0, metavar="SECONDS", help="until it holds; 1 if not")
    command.set_defaults(action=HOLD)


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    """Orders, and waits until it holds. Raises SettingsError for what cannot be ordered, KeyFileError, and
    `infra.erase.UNREACHABLE`."""
    settings.require("bootstrap", "memory_dsn")
    made, codec = genesis.read(settings), load_codec()
    if made.operator is None:
        raise SettingsError(f"{settings.genesis_file} names no operator: nobody can order as that")
    seed, now = genesis.signing_seed(settings, OPERATOR, made.operator), time.time_ns() // 1_000_000
    link = Link(settings.memory_dsn, READER, StoreUnavailable)
    try:
        named = [memory_id.lower() for memory_id in parsed.memory_ids]
        ends = _standing(link, named, parsed.action) if parsed.action in ENDS else dict.fromkeys(named)
        wanted = [
            ProtectionOrdered(
                made.cluster, str(uuid.uuid4()), parsed.namespace, memory_id, parsed.action, parsed.ordered_by,
                now, parsed.reference, ends[memory_id],
            )
            for memory_id in named
            if memory_id in ends
        ]  # fmt: skip
        try:
            signed = [(order, orders.make(codec, made, OPERATOR, seed, order)) for order in wanted]
        except BadOrder as wrong:
            raise SettingsError(f"hold: {wrong}") from None
        publish_protections(settings.bootstrap, signed)
        done = _wait(link, wanted, parsed.wait)
        if parsed.action == RELEASE:
            tell_withheld(link, codec)
        return done if len(wanted) == len(named) else 1
    finally:
        link.close()


def _standing(link: Link, memory_ids: list[str], action: str) -> dict[str, str | None]:
    """Of the memories that there is something to end of, the order that stands; says of which there is not."""
    with link.use() as connection:
        standing = protections(connection, memory_ids)
    found: dict[str, str | None] = {}
    for memory_id in memory_ids:
        stands = standing.get((memory_id, ENDS[action]))
        if stands is None:
            print(f"nothing to {action}: no {ENDS[action]} stands of {memory_id}")
        else:
            found[memory_id] = stands.order_id
    return found


def tell_withheld(link: Link, codec: Codec) -> None:
    """Lists the orders to erase that were withheld and that nobody has given again. Raises StoreUnavailable."""
    with link.use() as connection:
        left = erasure_rows.to_order_again(connection, codec)
    if left:
        print("withheld, and to be ordered again (`memquorum erase`, `python -m infra erase`):")
    for one in left:
        print(f"  {one}")


def _wait(link: Link, wanted: list[ProtectionOrdered], seconds: float) -> int:
    until = time.monotonic() + seconds
    while True:
        with link.use() as connection:
            standing = protections(connection, [order.memory_id for order in wanted])
        left = [order for order in wanted if _waits(order, (order.memory_id, orders.kind_of(order)) in standing)]
        if not left:
            for order in wanted:
                print(f"{order.action}: {order.memory_id} in {order.namespace!r}")
            return 0
        if time.monotonic() >= until:
            for order in left:
                print(f"not so yet: {order.action} {order.memory_id}: it is gone, of another namespace, or on its way")
            return 1
        time.sleep(_LOOK_S)


def _waits(order: ProtectionOrdered, stands: bool) -> bool:
    return stands == (order.action in ENDS)
