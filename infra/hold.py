"""The operator's `hold`: memories that a law asks to keep are neither forgotten nor erased until they are released."""

from __future__ import annotations

import time
import uuid
from argparse import Namespace
from dataclasses import dataclass, field

from db import erasure_rows
from db.connection import READER, Link
from db.store import memories, protections
from infra import genesis
from infra.command import NAMESPACE, ORDERED_BY, WAIT, command
from infra.settings import Settings, SettingsError
from memquorum.commands import REFERENCE, Option, one_of, option
from memquorum.core import names
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import OPERATOR
from memquorum.core.journal.rows import Memory, Protection
from memquorum.core.orders import protect as orders
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.protect import ENDS, HOLD, PIN, PROTECTION, RELEASE, UNPIN
from memquorum.core.records import ProtectionOrdered
from memquorum.core.tiers import GONE, SEALED
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec
from workers.upkeep.orders import publish

_LOOK_S = 0.2


def _action(name: str, action: str, told: str) -> Option:
    return option(name, dest="action", action="store_const", const=action, default=HOLD, help=told)


@command(
    "hold",
    option("memory_ids", nargs="+", metavar="ID"),
    NAMESPACE,
    one_of(
        _action("--release", RELEASE, "hold them no longer"),
        _action("--pin", PIN, "pin them: an erasure goes over it"),
        _action("--unpin", UNPIN, "pin them no longer"),
    ),
    ORDERED_BY,
    REFERENCE.but(help="the case's name, which refused erasures are told"),
    WAIT,
    kafka="operator",
    failed="the store cannot be asked, or no order be given",
    example="hold -n greenhouse 11936ca0-73b1-5c8b-a836-cd85fc13cdfc --reference case-9",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Keeps memories from being forgotten and erased, or releases them.

    It orders and waits until that holds. Raises SettingsError for what cannot be ordered, KeyFileError, and what says
    that a server does not answer.
    """
    settings.require("bootstrap", "memory_dsn")
    made, codec = genesis.read(settings), load_codec()
    if made.operator is None:
        raise SettingsError(f"{settings.genesis_file} names no operator: nobody can order as that")
    seed, now = genesis.signing_seed(settings, OPERATOR, made.operator), time.time_ns() // 1_000_000
    link = Link(settings.memory_dsn, READER, StoreUnavailable)
    try:
        named = list(dict.fromkeys(memory_id.lower() for memory_id in parsed.memory_ids))
        said = _said(link, named, parsed.namespace, parsed.action)
        for line in said.lines:
            print(line)
        wanted = [
            ProtectionOrdered(
                made.cluster, str(uuid.uuid4()), parsed.namespace, memory_id, parsed.action, parsed.ordered_by,
                now, parsed.reference, ends,
            )
            for memory_id, ends in said.to_order.items()
        ]  # fmt: skip
        try:
            signed = [(order, PROTECTION.make(codec, made, OPERATOR, seed, order)) for order in wanted]
        except BadOrder as wrong:
            raise SettingsError(f"hold: {wrong}") from None
        if signed:
            publish(settings.bootstrap, PROTECTION, signed)
        done = _wait(link, wanted, parsed.wait)
        if parsed.action == RELEASE:
            tell_withheld(link, codec)
        return 1 if said.refused else done
    finally:
        link.close()


@dataclass(slots=True)
class _Said:
    """What the store says before anything is ordered. `to_order`: the memories that an order changes, each with the
    order that it ends, if it ends one; `lines`: why the others need none, and how many were `refused`."""

    to_order: dict[str, str | None] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    refused: int = 0


def _said(link: Link, memory_ids: list[str], namespace: str, action: str) -> _Said:
    ids = [memory_id for memory_id in memory_ids if names.uuid(memory_id)]
    with link.use() as connection:
        standing, found = protections(connection, ids), memories(connection, ids)
    said = _Said()
    for memory_id in memory_ids:
        stands = standing.get((memory_id, ENDS.get(action, action)))
        why_not = None if memory_id not in ids else wrong(memory_id, found.get(memory_id), namespace, action)
        if why_not is not None:
            said.lines.append(why_not)
            said.refused += 1
        elif action not in ENDS and stands is not None and stands.signer == OPERATOR:
            why = f" ({stands.reference})" if stands.reference else ""
            already = f"stands already: by {stands.ordered_by}{why}, order {stands.order_id}"
            said.lines.append(f"{action}: {memory_id} in {namespace!r} {already}")
        elif action in ENDS and stands is None and memory_id in ids:
            said.lines.append(f"nothing to {action}: no {ENDS[action]} stands of {memory_id}")
        else:
            said.to_order[memory_id] = stands.order_id if stands is not None and action in ENDS else None
    return said


def wrong(memory_id: str, memory: Memory | None, namespace: str, action: str) -> str | None:
    """Why an order would change nothing; the commit worker passes over one without a word."""
    if memory is None:
        return f"not {action}: the store has no memory {memory_id}"
    if memory.namespace != namespace:
        return f"not {action}: {memory_id} is in {memory.namespace!r}, not in {namespace!r}"
    if action in ENDS:
        return None
    if memory.tier == GONE:
        told = f"the key of {memory_id} is destroyed: there is nothing to hold"
        return f"not {action}: {told if action == HOLD else f'{memory_id} is not alive'}"
    if memory.tier == SEALED and action == PIN:
        return f"not {action}: {memory_id} is not alive"
    return None


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
        left = [order for order in wanted if _waits(order, standing.get((order.memory_id, orders.kind_of(order))))]
        if not left:
            for order in wanted:
                print(f"{order.action}: {order.memory_id} in {order.namespace!r}")
            return 0
        if time.monotonic() >= until:
            for order in left:
                print(f"not so yet: {order.action} {order.memory_id}: it is on its way, or the memory has just gone")
            return 1
        time.sleep(_LOOK_S)


def _waits(order: ProtectionOrdered, stands: Protection | None) -> bool:
    if order.action in ENDS:
        return stands is not None and stands.order_id == order.ends
    # Of two orders of the operator's at once the first stands.
    return stands is None or stands.signer != OPERATOR
