"""The memory behind Anthropic's memory tool: `pip install 'memquorum[anthropic]'`.

    from anthropic import Anthropic
    from memquorum.anthropic import MemquorumMemoryTool
    from memquorum.client import Memory

    with Memory(namespace="greenhouse", agent="planner") as memory:
        tool = MemquorumMemoryTool(memory, path="users/ada")
        Anthropic().beta.messages.tool_runner(..., tools=[tool]).until_done()

`MemquorumMemoryTool` is for `Anthropic`, `AsyncMemquorumMemoryTool` for `AsyncAnthropic`.
docs/use/integrations/anthropic.md describes storage, forgetting and the limits.

Inside: `tool` has the two classes, `files` executes the model's commands, and `naming` maps files to slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from memquorum.anthropic.tool import AsyncMemquorumMemoryTool, MemquorumMemoryTool

__all__ = ["AsyncMemquorumMemoryTool", "MemquorumMemoryTool"]


def __getattr__(name: str) -> Any:
    """Imports the tools, which need Anthropic's SDK, on first use. Raises ImportError and says what to install."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from memquorum.anthropic import tool
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "anthropic":
            raise
        told = "the memory tool needs anthropic 2.0 or newer: pip install 'memquorum[anthropic]'"
        raise ImportError(told) from error
    return getattr(tool, name)
