"""The command that serves a memory over MCP."""

from __future__ import annotations

import argparse
import asyncio
import os

from memquorum.client.command import addressed, command
from memquorum.client.errors import NotConfigured
from memquorum.client.memory import AsyncMemory
from memquorum.commands import OK

_AGENT = "mcp"


@command("mcp", example="memquorum mcp -n greenhouse -a planner")
def _mcp(parsed: argparse.Namespace) -> int:
    """Serves a namespace's memory as tools over MCP, on standard input and output, until the input ends. A host of MCP
    starts it; docs/use/integrations/mcp.md shows its configuration."""
    try:
        from memquorum.mcp.serving import serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise NotConfigured(
            "to speak MCP it needs the extra `mcp`, which is not installed: pip install 'memquorum[mcp]'"
        ) from None
    said = addressed(parsed)
    # Named, so that an id of another namespace is not found.
    said["namespace"] = said["namespace"] or os.environ.get("MEMQUORUM_NAMESPACE") or "default"
    said["agent"] = parsed.agent or os.environ.get("MEMQUORUM_AGENT") or _AGENT
    asyncio.run(serve(AsyncMemory(**said)))
    return OK
