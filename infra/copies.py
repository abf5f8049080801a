"""Rebuilds of the store that were kept (`rebuild --keep`): what is said of them, and their end (docs/erasing.md)."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
from psycopg import conninfo

from db import copies
from infra import genesis
from infra.settings import Settings, SettingsError


def kept(settings: Settings) -> list[str]:
    """The databases beside the store that hold a rebuild of it. Raises psycopg.Error."""
    return copies.kept(settings.memory_dsn, genesis.read(settings).cluster, in_use(settings))


def in_use(settings: Settings) -> set[str]:
    """The databases of the installation itself."""
    return {str(conninfo.conninfo_to_dict(dsn).get("dbname")) for dsn in (settings.memory_dsn, settings.vault_dsn)}


def told(settings: Settings) -> list[str]:
    """A line for each that is kept; none where the server does not answer, which others tell."""
    try:
        found = kept(settings)
    except (psycopg.OperationalError, SettingsError):
        return []
    return [
        f"database {name!r} is a rebuild that was kept: no erasure reaches it; `python -m infra sweep` drops it"
        for name in found
    ]


def drop_all(settings: Settings) -> Iterator[str]:
    """Drops them all, and tells of each. Needs a superuser's login. Raises psycopg.Error."""
    for name in kept(settings):
        copies.drop(settings.memory_dsn, name)
        yield name
