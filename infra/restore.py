"""The operator's `restore`: asks for memories back that were forgotten and rest sealed, with the operator's own key.

For who runs the server: it reads the database itself and needs no API key. The members vote on it as on any request.
"""

from __future__ import annotations

import argparse
import time
import uuid
from collections.abc import Iterable

import psycopg
from confluent_kafka import KafkaException
from msgspec.structs import replace

from db import restore_rows
from db.connection import READER, Link
from db.queries import QUERIES
from infra import genesis
from infra.settings import Settings, SettingsError
from memquorum.core.api.answers import Restoring
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import OPERATOR
from memquorum.core.ids import DEFAULT_NAMESPACE
from memquorum.core.orders import restore as orders
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.restore import REQUEST
from memquorum.core.records import RestoreOrdered
from memquorum.core.retrieval import restoring
from memquorum.ports import StoreUnavailable
from memquorum.schema_files import load_codec
from workers.upkeep.orders import publish

UNREACHABLE = (KafkaException, StoreUnavailable, psycopg.OperationalError)

_LOOK_S = 0.2


def options(command: argparse.ArgumentParser) -> None:
    """Adds what `restore` takes."""
    command.add_argument("memory_ids", nargs="+", metavar="ID", help="memories that were forgotten")
    command.add_argument("-n", "--namespace", default=DEFAULT_NAMESPACE, help="default: default")
    command.add_argument("--ordered-by", default="operator", metavar="NAME", help="who asked (default: operator)")
    command.add_argument("--reference", metavar="TEXT", help="the request's name elsewhere")
    command.add_argument("--wait", type=float, default=30.0, metavar="SECONDS", help="until it is decided; 1 if not")


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    """Asks and waits; 1 unless all came back. Raises SettingsError for what cannot be asked, KeyFileError, and
    UNREACHABLE."""
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
