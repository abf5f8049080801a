"""Makes, lists and drops the databases of rebuilds; some are kept (`rebuild --keep`; docs/use/erasing.md)."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import psycopg
from psycopg import conninfo

from db import kept_rebuilds
from db.migrate import migrate
from infra import genesis
from infra.settings import Settings, SettingsError


def begun(settings: Settings, name: str, scope: str, until_as_of: int | None) -> str | None:
    """Returns the connection string of the database that a rebuild of the same scope was writing when it was killed, if
    there is one that can be continued."""
    found = kept_rebuilds.unfinished(settings.memory_dsn, name, genesis.read(settings).cluster)
    if found is None:
        return None
    if until_as_of is not None:
        # A memory that was erased since still has its text in that database, and no later entry is followed.
        anew(name, "memories may have been erased since, and the state of an earlier time does not tell")
    elif found != scope:
        anew(name, f"it is of {found}, and not of {scope}")
    else:
        print(f"a rebuild into {name!r} was cut off: it goes on where each shard stands", file=sys.stderr)
        target = conninfo.make_conninfo(settings.memory_dsn, dbname=name)
        migrate(target, "memory")
        return target
    return None


def anew(name: str, why: str) -> None:
    """Says that a rebuild starts anew although one was cut off, and why."""
    print(f"a rebuild into {name!r} was cut off, and starts anew: {why}", file=sys.stderr)


def make_empty(settings: Settings, name: str, scope: str) -> str:
    """Returns the connection string of a new, migrated database beside the store; drops an old one of that name."""
    kept_rebuilds.drop(settings.memory_dsn, name)
    target = conninfo.make_conninfo(settings.memory_dsn, dbname=name)
    migrate(target, "memory")
    kept_rebuilds.mark(settings.memory_dsn, name, genesis.read(settings).cluster, scope)
    return target


def list_rebuilds(settings: Settings) -> list[str]:
    """Returns the databases that hold a rebuild of the store. Raises psycopg.Error."""
    return kept_rebuilds.list_rebuilds(settings.memory_dsn, genesis.read(settings).cluster, in_use(settings))


def in_use(settings: Settings) -> set[str]:
    """The databases of the installation itself."""
    return {str(conninfo.conninfo_to_dict(dsn).get("dbname")) for dsn in (settings.memory_dsn, settings.vault_dsn)}


def rebuild_lines(settings: Settings) -> list[str]:
    """Lists them, a line each; empty if the server does not answer, which others report."""
    try:
        found = list_rebuilds(settings)
    except (psycopg.OperationalError, SettingsError):
        return []
    return [
        f"database {name!r} is a kept rebuild: no erasure reaches it; `memquorum admin database sweep` drops it"
        for name in found
    ]


def drop_all(settings: Settings) -> Iterator[str]:
    """Drops them all, and reports each. Needs a superuser's login. Raises psycopg.Error."""
    for name in list_rebuilds(settings):
        kept_rebuilds.drop(settings.memory_dsn, name)
        yield name
