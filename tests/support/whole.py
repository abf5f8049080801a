"""The checks at the end of a test of the commit worker: the journal is audited, and gives the same store again."""

from __future__ import annotations

from typing import Any

from db.vault import PostgresVault
from infra.embedded.postgres import Postgres
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import Genesis
from tests.support.watch import database
from workers.audit.auditor import verify
from workers.rebuild.worker import compare, rebuild


def check_whole(
    bootstrap: str,
    genesis: Genesis,
    codec: Codec,
    memory_dsn: str,
    *,
    vault: PostgresVault,
    postgres: Postgres,
    **stamped: Any,
) -> None:
    """Audits the store, rebuilds it in an empty database, compares both, and audits the second.

    `stamped`: see `verify`.
    """
    report = verify(bootstrap, genesis, codec, memory_dsn, vault=vault, **stamped)
    assert report.ok, report.findings
    with database(postgres, "template_memory") as again:
        rebuild(bootstrap, genesis, codec, again, vault, **stamped)
        assert compare(memory_dsn, again).equal
        report = verify(bootstrap, genesis, codec, again, vault=vault, **stamped)
        assert report.ok, report.findings
