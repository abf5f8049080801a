"""A real installation for the tests of an agent: one for all tests, and a namespace for each."""

from __future__ import annotations

import tempfile
import uuid
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from infra import settings, supervisor
from memquorum.client import Memory


@pytest.fixture(scope="session")
def installation() -> Iterator[settings.Settings]:
    """Starts Kafka, Postgres and all processes in a temporary folder; takes some 10 seconds."""
    with tempfile.TemporaryDirectory(prefix="agent-tests-") as folder:
        wanted = replace(settings.load({}, Path(folder)), throwaway=True)
        with supervisor.started(wanted) as running:
            yield running


@pytest.fixture
def memory(installation: settings.Settings) -> Iterator[Memory]:
    """A client of an agent in an empty namespace."""
    with Memory(
        namespace=f"test-{uuid.uuid4()}", agent="planner", kafka=installation.bootstrap, url=installation.retrieval_url
    ) as client:
        yield client
