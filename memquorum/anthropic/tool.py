"""Anthropic's memory tool over the files of a namespace: for a program with an event loop, and for one without."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaCacheControlEphemeralParam,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from memquorum.anthropic.files import Files, Saying
from memquorum.anthropic.naming import Refused
from memquorum.client import Invalid, Memory, MemquorumError
from memquorum.core import labelling


def _files(memory: Memory, path: str, saying: Saying | None) -> Files:
    if (fault := labelling.path_fault(path)) is not None:
        raise Invalid(fault.code, "path", fault.detail)
    return Files(memory.entries, path, saying)


async def _told(work: Coroutine[Any, Any, str]) -> str:
    """Awaits the answer, and turns errors into the model's tool errors."""
    try:
        return await work
    except (Refused, MemquorumError) as error:
        raise ToolError(str(error)) from error


class MemquorumMemoryTool(BetaAbstractMemoryTool):
    """Anthropic's memory tool, whose files are memories of a client's namespace. Safe to share between threads."""

    def __init__(
        self,
        memory: Memory,
        *,
        path: str = "memories",
        saying: Saying | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """`memory`: the client; it stays open for others. `path`: the path in the namespace of the model's `/memories`,
        as `users/ada`. `saying`: returns further fields of a file's episode, as `lambda path: {"subject": "ada"}`.
        Raises Invalid."""
        super().__init__(cache_control=cache_control)
        self._memory, self._files = memory, _files(memory, path, saying)

    def _do(self, work: Coroutine[Any, Any, str]) -> str:
        return self._memory.loop.run(_told(work))

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Shows a file, or a directory."""
        return self._do(self._files.view(command.path, command.view_range))

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Creates a file."""
        return self._do(self._files.create(command.path, command.file_text))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replaces a text in a file."""
        return self._do(self._files.str_replace(command.path, command.old_str, command.new_str))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Inserts a text after a line of a file."""
        return self._do(self._files.insert(command.path, command.insert_line, command.insert_text))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Hides a file or a directory at once."""
        return self._do(self._files.delete(command.path))

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Moves a file or a directory."""
        return self._do(self._files.rename(command.old_path, command.new_path))

    def clear_all_memory(self) -> str:
        """Hides all files at once; `Memory.erase` destroys them."""
        return self._do(self._files.clear())


class AsyncMemquorumMemoryTool(BetaAsyncAbstractMemoryTool):
    """Anthropic's memory tool for a program with an event loop, on any loop."""

    def __init__(
        self,
        memory: Memory,
        *,
        path: str = "memories",
        saying: Saying | None = None,
        cache_control: BetaCacheControlEphemeralParam | None = None,
    ) -> None:
        """See `MemquorumMemoryTool`. Raises Invalid."""
        super().__init__(cache_control=cache_control)
        self._memory, self._files = memory, _files(memory, path, saying)

    async def _do(self, work: Coroutine[Any, Any, str]) -> str:
        return await self._memory.loop.wait(_told(work))

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        """Shows a file, or a directory."""
        return await self._do(self._files.view(command.path, command.view_range))

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        """Creates a file."""
        return await self._do(self._files.create(command.path, command.file_text))

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        """Replaces a text in a file."""
        return await self._do(self._files.str_replace(command.path, command.old_str, command.new_str))

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        """Inserts a text after a line of a file."""
        return await self._do(self._files.insert(command.path, command.insert_line, command.insert_text))

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Hides a file or a directory at once."""
        return await self._do(self._files.delete(command.path))

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        """Moves a file or a directory."""
        return await self._do(self._files.rename(command.old_path, command.new_path))

    async def clear_all_memory(self) -> str:
        """Hides all files at once; `Memory.erase` destroys them."""
        return await self._do(self._files.clear())
