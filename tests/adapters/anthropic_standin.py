"""Replaces Anthropic's fixtures: its tests of the memory tool get ours, each in a namespace of its own, and see the
memory where they look at the disk.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from standing_in import taking

from memquorum.anthropic import AsyncMemquorumMemoryTool, MemquorumMemoryTool
from memquorum.anthropic.naming import content_of, text_of
from memquorum.client import Memory

_open: dict[str, Memory] = {}


class MemoryPath:
    """A file below the tool's directory, or that itself, as the tests look at it."""

    def __init__(self, at: str) -> None:
        self.space, _, self.name = at.partition("/memories")

    def __str__(self) -> str:
        return f"{self.space}/memories{self.name}"

    def __truediv__(self, name: str) -> MemoryPath:
        return MemoryPath(f"{self}/{name}")

    def mkdir(self, **_: Any) -> None:
        """There is nothing to make."""

    def is_dir(self) -> bool:
        return True

    def write_bytes(self, data: bytes) -> None:
        memory = _open[self.space]
        filed = {"explicit": True, "key": self.name[1:], "path": "memories"}
        memory.loop.run(memory.entries.write([filed | content_of(data.decode())]))

    def read_bytes(self) -> bytes:
        memory = _open[self.space]
        found = memory.loop.run(memory.entries.fills(self.name[1:], "memories"))
        assert found is not None
        return text_of(found).encode()


class LaterPlace(MemoryPath):
    async def is_dir(self) -> bool:  # type: ignore[override]
        return True


def snapshot(space: str) -> dict[str, str]:
    """Returns the memory as the files of a directory."""
    memory = _open[space]
    found = memory.loop.run(memory.entries.below("memories"))
    return {f"{one.path}/{one.key}": text_of(one) for one in found}


def _made(kind: Any, place: type[MemoryPath]) -> Iterator[Any]:
    space = f"test-{uuid.uuid4().hex}"
    with Memory(namespace=space, agent="tests") as memory:
        _open[space] = memory
        tool = kind(memory)
        tool.base_path, tool.memory_root = space, place(f"{space}/memories")
        yield tool


@pytest.fixture
def _sync() -> Iterator[Any]:
    yield from _made(MemquorumMemoryTool, MemoryPath)


@pytest.fixture
def _async() -> Iterator[Any]:
    yield from _made(AsyncMemquorumMemoryTool, LaterPlace)


def _replace(module: Any) -> None:
    module.sync_local_filesystem_tool, module.async_local_filesystem_tool = _sync, _async
    module.get_directory_snapshot, module.Path = snapshot, MemoryPath


pytest_pycollect_makemodule = taking(_replace)
