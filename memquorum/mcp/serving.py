"""Serves one namespace over standard input and output, for a host of MCP that starts the server as its child."""

from __future__ import annotations

from mcp.server.stdio import stdio_server

from memquorum.client.memory import AsyncMemory
from memquorum.mcp.calls import Call, Last
from memquorum.mcp.server import Context, server


class Own:
    """Makes calls with one client. It asks for the rights of its key when the tools are listed, and before the first
    call."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory, self._last = memory, Last()
        self._rights: frozenset[str] | None = None

    async def __call__(self, context: Context) -> Call:
        """Makes the call of a request. Raises MemquorumError if the service does not return the rights."""
        if self._rights is None or context.method == "tools/list":
            self._rights = frozenset((await self._memory.access()).rights)
        return Call(self._memory, self._rights, self._last)


async def serve(memory: AsyncMemory) -> None:
    """Serves until the input ends. Raises NotConfigured at once if the service's address is unknown."""
    _ = memory.url
    async with memory, stdio_server() as (incoming, outgoing):
        one = server(Own(memory))
        await one.run(incoming, outgoing, one.create_initialization_options())
