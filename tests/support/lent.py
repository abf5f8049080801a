"""A Postgres server, with migrated templates, that a process lends to the sessions of tests that it forks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from db.migrate import migrate
from infra.embedded.postgres import Postgres

TEMPLATES = ("memory", "vault")
servers: list[Postgres] = []
"""At most one, that these tests are to use instead of one of their own."""


@contextmanager
def started(folder: Path) -> Iterator[Postgres]:
    """A server with a migrated template of each database."""
    with Postgres(folder, throwaway=True) as server:
        for name in TEMPLATES:
            server.create(f"template_{name}")
            migrate(server.dsn(f"template_{name}"), name)
        yield server


@contextmanager
def lending(folder: Path) -> Iterator[None]:
    """Lends one to all that is forked within the block."""
    with started(folder) as server:
        servers.append(server)
        try:
            yield
        finally:
            servers.clear()
