"""The operator's `sweep`: removes erased and forgotten content from the databases' files, too (docs/use/erasing.md)."""

from __future__ import annotations

import json
import logging
import time
from argparse import Namespace
from collections.abc import Iterator

from rich.console import Console

from db import sweeping
from db.sweeping import MayNotSweep, Swept
from infra import copies, genesis, sweeps
from infra.operator_command import command
from infra.settings import Settings
from memquorum import terminal
from memquorum.commands import JSON, flag
from memquorum.core.accounts.telling import moment
from workers.intake import outside
from workers.intake.outside import TopicState

log = logging.getLogger(__name__)


@command(
    "database sweep",
    flag("--outside", "also delete what intake let in from the outside topics; it cannot be read there again"),
    JSON,
    login="administrator",
    kafka="admin",
    failed="not everything was swept",
    failing=(MayNotSweep,),
    example="database sweep --outside",
)
def run(settings: Settings, parsed: Namespace) -> int:
    """Removes erased and forgotten content from the databases' files, too.

    It sweeps both databases, drops rebuilds that were kept, and reports the records left in the outside topics. Returns
    0.
    """
    settings.require("bootstrap", "memory_dsn", "vault_dsn")
    console = terminal.console()
    with terminal.console(stderr=True).status("sweeping") as line:
        for database, step in databases(settings):
            line.update(f"sweeping: {database}, {step.what} is done")
            if parsed.json:
                print(json.dumps({"database": database, "what": step.what, "before": step.before, "after": step.after}))
            else:
                console.print(f"{database:>8}  {step.what:<16} {_mib(step.before)} MiB → {_mib(step.after)} MiB")
    try:
        sweeps.note(settings, time.time_ns() // 1_000_000, sweeps.HAND)
    except OSError as error:
        log.warning("swept, but not recorded for `status`: %s", error)
    for name in copies.drop_all(settings):
        told = f"dropped the database {name!r}, a rebuild that was kept"
        print(json.dumps({"database": name, "what": "rebuild", "dropped": True}) if parsed.json else told)
    if sweeping.recycles(settings.memory_dsn):
        told = "the server keeps old files of its write-ahead log: set wal_recycle = off, or they hold what was deleted"
        print(json.dumps({"warning": told}) if parsed.json else told)
    shards = genesis.read(settings).shards
    taken = outside.topic_states(settings.bootstrap, shards)
    if parsed.outside:
        outside.delete(settings.bootstrap, taken)
    for each in taken:
        _tell(console, each, deleted=parsed.outside, as_json=parsed.json)
    return 0


def databases(settings: Settings) -> Iterator[tuple[str, Swept]]:
    """Sweeps both databases; reports each step when it is done. Raises MayNotSweep, psycopg.OperationalError."""
    for database, dsn, tables in (
        ("memory", settings.memory_dsn, sweeping.MEMORY),
        ("vault", settings.vault_dsn, sweeping.VAULT),
    ):
        for step in sweeping.sweep(dsn, tables):
            yield database, step


def _tell(console: Console, taken: TopicState, *, deleted: bool, as_json: bool) -> None:
    if as_json:
        oldest = {"topic": taken.topic, "records": taken.records, "oldest": taken.oldest, "deleted": deleted}
        print(json.dumps(oldest))
    elif deleted:
        console.print(f"{taken.topic}: {taken.records:,} records deleted; their files go when the next ones begin")
    elif taken.records:
        since = "" if taken.oldest is None else f", the oldest of {moment(taken.oldest)}"
        console.print(f"{taken.topic}: {taken.records:,} records that intake has let in lie there as they came{since}")


def _mib(size: int) -> str:
    return f"{size / 2**20:,.1f}"
