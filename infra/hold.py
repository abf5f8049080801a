"""The operator's `hold`: protects memories from being forgotten and erased, as a law may require, until they are
released."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import dataclass, field

from db import erasure_rows
from db.connection import Link
from db.store import memories, protections
from infra.operator_command import NAMESPACE, ORDERED_BY, WAIT, command
from infra.operator_orders import desk
from infra.settings import Settings
from memquorum.commands import REFERENCE, Option, one_of, option
from memquorum.core import names
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import OPERATOR
from memquorum.core.journal.rows import Memory
from memquorum.core.orders.protect import ENDS, HOLD, PIN, PROTECTION, RELEASE, UNPIN
from memquorum.core.records import ProtectionOrdered
from memquorum.core.tiers import GONE, SEALED


def _action(name: str, action: str, told: str) -> Option:
    return option(name, dest="action", action="store_const", const=action, default=HOLD, help=told)


@command(
    "memories hold",
    option("memory_ids", nargs="+", metavar="ID"),
    NAMESPACE,
    one_of(
        _action("--release", RELEASE, "hold them no longer"),
        _action("--pin", PIN, "pin them, which an erasure overrides"),
        _action("--unpin", UNPIN, "pin them no longer"),
    ),
    ORDERED_BY,
    REFERENCE.but(help="the case's name, which refusals of erasures show"),
    WAIT,
    kafka="operator",
    failed="the store cannot be asked, or no order be given",
    example="memories hold -n greenhouse 11936ca0-73b1-5c8b-a836-cd85fc13cdfc --reference case-9",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Keeps memories from being forgotten and erased, or releases them.

    Gives the order and waits until it is in force. Raises SettingsError for an invalid order, KeyFileError, and an
    error of OUT_OF_REACH if a server does not answer.
    """
    named = list(dict.fromkeys(memory_id.lower() for memory_id in parsed.memory_ids))
    with desk(settings, parsed) as at:
        said = _said(at.link, named, parsed.namespace, parsed.action)
        for line in said.lines:
            print(line)
        wanted = [
            at.named(PROTECTION, ProtectionOrdered(
                b"", "", parsed.namespace, memory_id, parsed.action, "", 0, parsed.reference, ends
            ))
            for memory_id, ends in said.to_order.items()
        ]  # fmt: skip
        done = at.give(PROTECTION, wanted) if wanted else 0
        if parsed.action == RELEASE:
            tell_withheld(at.link, at.codec)
        return 1 if said.refused else done


@dataclass(slots=True)
class _Said:
    """The state in the store before an order. `to_order`: the memories that an order changes, each with the order that
    it ends, if it ends one; `lines`: why the others need none, and how many were `refused`."""

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
    """The reason why an order would change nothing, or None; the commit worker skips such an order silently."""
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
    """Lists the withheld orders to erase that were not given again. Raises StoreUnavailable."""
    with link.use() as connection:
        left = erasure_rows.to_order_again(connection, codec)
    if left:
        print("withheld, and to be ordered again (`memquorum erase`, `memquorum admin memories erase`):")
    for one in left:
        print(f"  {one}")
