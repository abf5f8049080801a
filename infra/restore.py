"""Asks for memories back that were forgotten and rest sealed, with the operator's own key.

For who runs the server: it reads the database itself and needs no API key. The members vote on it as on any request.
"""

from __future__ import annotations

import time
import uuid
from argparse import Namespace
from collections.abc import Iterable

from msgspec.structs import replace

from db import restore_rows
from db.connection import READER, Link
from db.queries import QUERIES
from infra import genesis
from infra.command import NAMESPACE, ORDERED_BY, WAIT, command
from infra.settings import Settings, SettingsError
from memquorum.commands import REFERENCE, option
from memquorum.core.api.answers import Restoring
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import OPERATOR
from memquorum.core.orders import restore as orders
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import RestoreOrdered
from memquorum.core.retrieval import restoring
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec
from workers.upkeep.orders import publish

_LOOK_S = 0.2


@command(
    "restore",
    option("memory_ids", nargs="+", metavar="ID", help="memories that were forgotten"),
    NAMESPACE,
    ORDERED_BY,
    REFERENCE,
    WAIT,
    kafka="operator",
    failed="the store cannot be asked, or no request be given",
    example="restore -n greenhouse 11936ca0-73b1-5c8b-a836-cd85fc13cdfc",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Asks for memories back that rest sealed, with the operator's key.

    It waits until that is decided; 1 unless all came back. Raises SettingsError for what cannot be asked, KeyFileError,
    and what says that a server does not answer.
    """
    settings.require("bootstrap", "memory_dsn")
    made, codec = genesis.read(settings), load_codec()
    order = RestoreOrdered(
        cluster=made.cluster, order_id=str(uuid.uuid4()), namespace=parsed.namespace,
        memory_ids=tuple(dict.fromkeys(one.lower() for one in parsed.memory_ids)), ordered_by=parsed.ordered_by,
        ordered_at=time.time_ns() // 1_000_000, reference=parsed.reference,
    )  # fmt: skip
    try:
        orders.check(order, made.policy)
    except BadOrder as wrong:
        raise SettingsError(f"restore: {wrong}") from None
    link = Link(settings.memory_dsn, READER, StoreUnavailable)
    try:
        with link.use() as connection:
            wanted = {"namespace": order.namespace, "ids": list(order.memory_ids)}
            rows = restore_rows.resting(connection.execute(QUERIES["restore_asked"], wanted).fetchall())
        found = restoring.standing(order.memory_ids, rows)
        sealed = tuple(one.memory_id for one in found if one.status == restoring.SEALED)
        _tell(one for one in found if one.status != restoring.SEALED)
        if not sealed:
            print("nothing to restore: nobody was asked")
            return 1
        if made.operator is None:
            raise SettingsError(f"{settings.genesis_file} names no operator: nobody can ask as that")
        order, seed = replace(order, memory_ids=sealed), genesis.signing_seed(settings, OPERATOR, made.operator)
        publish(settings.bootstrap, REQUEST, [(order, REQUEST.make(codec, made, OPERATOR, seed, order))])
        print(f"asked for by request {order.order_id}", flush=True)
        return _wait(link, codec, order, parsed.wait)
    finally:
        link.close()


def _wait(link: Link, codec: Codec, order: RestoreOrdered, seconds: float) -> int:
    until = time.monotonic() + seconds
    while True:
        with link.use() as connection:
            rows = connection.execute(QUERIES["restore_shown"], {"id": order.order_id}).fetchall()
        done = restore_rows.shown(codec, order.order_id, rows)
        if done is not None and done.status != "asked":
            _tell(done.memories)
            return 0 if done.restored == len(order.memory_ids) else 1
        if time.monotonic() >= until:
            print("not decided yet: it will be, once intake, streams, members and commit run")
            return 1
        time.sleep(_LOOK_S)


def _tell(memories: Iterable[Restoring]) -> None:
    for one in memories:
        print(f"  {one.memory_id}  {one.status}: {one.detail}")
