"""Fixtures of several tests with servers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from db.reads import Reads
from infra import checks, settings
from tests.builders.genesis import make_bytes
from tests.support.commit_process import GENESIS, MASTER


@pytest.fixture
def installed(
    fresh_kafka: str, databases: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> settings.Settings:
    """The settings of an installation, with the files that they name."""
    found = settings.load({}, tmp_path)
    found.genesis_file.write_bytes(
        make_bytes(policy=GENESIS.policy, agent_keys=GENESIS.agent_keys, services=GENESIS.services)
    )
    found.master_key_file.write_text(MASTER.hex())
    found.master_key_file.chmod(0o600)
    # The flow writes its records without stamps.
    monkeypatch.setattr(checks.genesis, "service_stamps", lambda _: None)
    return replace(found, bootstrap=fresh_kafka, memory_dsn=databases[0], vault_dsn=databases[1])


@pytest.fixture
async def reads(databases: tuple[str, str]) -> AsyncIterator[Reads]:
    found = Reads(databases[0])
    await found.open()
    yield found
    await found.close()
