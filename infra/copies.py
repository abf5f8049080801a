"""Lists and drops rebuilds of the store that were kept (`rebuild --keep`; docs/use/erasing.md)."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
from psycopg import conninfo

from db import kept_rebuilds
from infra import genesis
from infra.settings import Settings, SettingsError


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
