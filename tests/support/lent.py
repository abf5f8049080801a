"""A Postgres server, with migrated templates, that a process lends to the test sessions that it forks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from db.migrate import migrate
from infra.embedded.postgres import Postgres

TEMPLATES = ("memory", "vault")
servers: list[Postgres] = []
"""The lent server, if there is one: these tests use it instead of one of their own."""


@contextmanager
def started(folder: Path) -> Iterator[Postgres]:
    """Starts a server with a migrated template of each database."""
    with Postgres(folder, throwaway=True) as server:
        for name in TEMPLATES:
            server.create(f"template_{name}")
            migrate(server.dsn(f"template_{name}"), name)
        yield server


@contextmanager
def lending(folder: Path) -> Iterator[None]:
    """Lends one server to all processes that are forked within the block."""
    with started(folder) as server:
        servers.append(server)
        try:
            yield
        finally:
            servers.clear()
