"""What stands in the place of the SQLite session of OpenAI's agents: its tests get ours, and for each database a
namespace of its own."""

from __future__ import annotations

import os
import tomllib
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memquorum.client import Memory
from memquorum.openai_agents import MemquorumSession

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
EXCLUDED: dict[str, str] = tomllib.loads((Path(__file__).with_name("excluded.toml")).read_text())
_open: dict[str, Memory] = {}


class Stored(MemquorumSession):
    """What the tests make with the path of a database."""

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


class _Module(pytest.Module):
    def _getobj(self) -> ModuleType:
        module: ModuleType = super()._getobj()
        module.SQLiteSession = Stored  # type: ignore[attr-defined]
        return module


def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> Any:
    """Takes the files of the SDK; `test_responses.py` has what they are made with."""
    taken = module_path.name in {"test_session.py", "test_session_limit.py"}
    return _Module.from_parent(parent, path=module_path) if taken else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves out what is excluded by name, which has to be there."""
    names = {item.name.split("[")[0] for item in items}
    if strange := EXCLUDED.keys() - names:
        raise pytest.UsageError(f"excluded.toml names what is no test: {', '.join(sorted(strange))}")
    for item in items:
        if (reason := EXCLUDED.get(item.name.split("[")[0])) is not None:
            item.add_marker(pytest.mark.skip(reason=reason))
