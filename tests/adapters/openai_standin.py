"""Replaces the SQLite session of OpenAI's agents: its tests get ours, and for each database a namespace of its own."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from standing_in import taking

from memquorum.client import Memory
from memquorum.openai_agents import MemquorumSession

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
_open: dict[str, Memory] = {}


class Stored(MemquorumSession):
    """The session that the tests make with the path of a database."""

    def __init__(self, session_id: str, db_path: str | Path = ":memory:", **more: Any) -> None:
        where = str(db_path) if str(db_path) != ":memory:" else uuid.uuid4().hex
        if where not in _open:
            _open[where] = Memory(namespace=f"test-{uuid.uuid4().hex}", agent="tests")
        super().__init__(session_id, _open[where], **more)

    def close(self) -> None:
        """The client is closed behind the test."""


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    while _open:
        _open.popitem()[1].close()


def _replace(module: Any) -> None:
    module.SQLiteSession = Stored


# `test_responses.py` has what they are made with.
pytest_pycollect_makemodule = taking(_replace, "test_session.py", "test_session_limit.py")
