"""Shows everything that an erasure would take, and with --yes orders it with the operator's own key.

For who runs the server: it reads the database itself and needs no API key. What is ordered goes the way of all orders.
"""

from __future__ import annotations

import time
import uuid
from argparse import Namespace

from db import erasure_rows
from db.connection import READER, Link
from db.queries import QUERIES
from db.store import protections
from infra import copies, genesis
from infra.command import NAMESPACE, ORDERED_BY, WAIT, command
from infra.settings import Settings, SettingsError
from memquorum.commands import REFERENCE, flag, one_of, option
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import OPERATOR
from memquorum.core.journal.rows import Protection
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.erase import AGENT, ERASURE, MEMORY, SOURCE, SUBJECT, check
from memquorum.core.orders.erase import NAMESPACE as EVERYTHING
from memquorum.core.orders.protect import HOLD
from memquorum.core.records import ErasureOrdered
from memquorum.core.retrieval.telling import moment
from memquorum.core.text.plurals import many
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec
from workers.upkeep.orders import publish

_LISTED = 100
_LOOK_S = 0.2


@command(
    "erase",
    NAMESPACE,
    one_of(
        option(f"--{MEMORY}", metavar="ID", help="one memory, with its echoes"),
        option(f"--{SUBJECT}", metavar="NAME", help="everything about somebody"),
        option(f"--{AGENT}", metavar="NAME", help="everything that an agent has written"),
        option(f"--{SOURCE}", metavar="NAME", help="everything that came from a document, a tool, a feed"),
        flag("--everything", "the whole namespace"),
        required=True,
    ),
    flag("--yes", "order it: there is no way back"),
    ORDERED_BY,
    REFERENCE.but(help="the request's name elsewhere, for the receipt"),
    WAIT,
    kafka="operator",
    failed="the store cannot be asked, or no order be given",
    example="erase -n greenhouse --subject ada --yes --reference request-12",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Shows what an erasure takes; with --yes, orders it with the operator's key.

    Raises SettingsError for what cannot be ordered, KeyFileError, and what says that a server does not answer.
    """
    settings.require("bootstrap", "memory_dsn")
    made, codec = genesis.read(settings), load_codec()
    said = {selector: getattr(parsed, selector) for selector in (MEMORY, SUBJECT, AGENT, SOURCE)}
    selector, value = next(((name, text) for name, text in said.items() if text is not None), (EVERYTHING, ""))
    order = ErasureOrdered(
        cluster=made.cluster, order_id=str(uuid.uuid4()), namespace=parsed.namespace, selector=selector,
        value=value.lower() if selector == MEMORY else value, ordered_by=parsed.ordered_by,
        ordered_at=time.time_ns() // 1_000_000, reference=parsed.reference,
    )  # fmt: skip
    try:
        check(order)
    except BadOrder as wrong:
        raise SettingsError(f"erase: {wrong}") from None
    link = Link(settings.memory_dsn, READER, StoreUnavailable)
    try:
        shown, held = _found(link, order)
        if held:
            named = (f"{one.memory_id} ({one.reference or 'no reference'}, by {one.ordered_by})" for one in held[:5])
            told = ", ".join(named) + (f" and {len(held) - 5} more" if len(held) > 5 else "")
            raise SettingsError(f"erase: nothing of it is erased: a legal hold keeps {told}; `infra hold --release`")
        print("\n".join(shown))
        for one in copies.told(settings):
            print(one)
        if not parsed.yes:
            print("nothing was ordered: give --yes")
            return 0
        if made.operator is None:
            raise SettingsError(f"{settings.genesis_file} names no operator: nobody can order as that")
        seed = genesis.signing_seed(settings, OPERATOR, made.operator)
        publish(settings.bootstrap, ERASURE, [(order, ERASURE.make(codec, made, OPERATOR, seed, order))])
        print(f"ordered as {order.order_id}", flush=True)
        return _wait(link, codec, order, parsed.wait)
    finally:
        link.close()


def _found(link: Link, order: ErasureOrdered) -> tuple[list[str], list[Protection]]:
    """What would go, in words, and the holds that stand against it."""
    with link.use() as connection, connection.transaction():
        found = erasure_rows.found(connection, order.namespace, order.selector, order.value)
        ids = [one.episode.memory_id for one in found]
        staying = erasure_rows.staying(connection, order.namespace, order.selector, ids)
        standing = protections(connection, ids)
    memories = sum(one.episode.commitment is not None for one in found)
    if not found:
        told = [f"nothing was found for {_named(order)}: {many(0, 'memory')}"]
    else:
        told = [f"would erase {_count(memories, len(found))}, of {order.namespace!r}"]
    for one in found[:_LISTED]:
        because = f", because of {one.because}" if one.because else ""
        by = "" if one.agent is None or one.created is None else f", by {one.agent}, {moment(one.created)}"
        told.append(f"  {one.episode.memory_id}  {one.episode.was}{by}{because}")
    if len(found) > _LISTED:
        told.append(f"  and {len(found) - _LISTED:,} more")
    if staying:
        told.append("what says the same and stays, unless an order names it too:")
    told += [f"  {left.memory_id}  by {left.agent}, {moment(left.created)}: {left.why}" for left in staying[:_LISTED]]
    if len(staying) > _LISTED:
        told.append(f"  and {len(staying) - _LISTED:,} more")
    return told, [one for one in standing.values() if one.kind == HOLD]


def _named(order: ErasureOrdered) -> str:
    return f"{order.selector} {order.value!r} in {order.namespace!r}" if order.value else f"{order.namespace!r}"


def _count(memories: int, episodes: int) -> str:
    return f"{many(memories, 'memory')}, {many(episodes, 'episode')} in all"


def _wait(link: Link, codec: Codec, order: ErasureOrdered, seconds: float) -> int:
    until = time.monotonic() + seconds
    while True:
        with link.use() as connection:
            row = connection.execute(QUERIES["erasure_shown"], {"id": order.order_id}).fetchone()
            kept = connection.execute(QUERIES["erasure_withheld"], {"id": order.order_id}).fetchone()
        if row is not None:
            done = erasure_rows.shown(row)
            if done["episodes"]:
                print(f"erased: {_count(done['memories'], done['episodes'])}; ", end="")
            else:
                print(f"nothing was found for {_named(order)}: {many(0, 'memory')}; ", end="")
            print(f"journal of shard {done['shard']}, entry {done['last_seq']}")
            return 0
        if kept is not None:
            at = erasure_rows.withheld(codec, kept[0])
            print("withheld: nothing was erased, for a hold came first: ", end="")
            print(f"journal of shard {at['shard']}, entry {at['last_seq']}")
            print("`infra hold --release` ends it, and then it has to be ordered anew")
            return 1
        if time.monotonic() >= until:
            print("not carried out yet: it will be, once intake and commit run")
            return 1
        time.sleep(_LOOK_S)
