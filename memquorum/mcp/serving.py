"""One namespace served over standard input and output, for a host of MCP that starts the server as its child."""

from __future__ import annotations

from mcp.server.stdio import stdio_server

from memquorum.client.memory import AsyncMemory
from memquorum.mcp.calls import Call, Last
from memquorum.mcp.server import Context, server


class Own:
    """Makes the calls of one client's. What its key may do is asked when the tools are listed, and before the first
    call."""

    def __init__(self, memory: AsyncMemory) -> None:
        self._memory, self._last = memory, Last()
        self._rights: frozenset[str] | None = None

    async def __call__(self, context: Context) -> Call:
        """The call of a request. Raises MemquorumError where the service does not say what may be done."""
        if self._rights is None or context.method == "tools/list":
            self._rights = frozenset((await self._memory.access()).rights)
        return Call(self._memory, self._rights, self._last)


async def serve(memory: AsyncMemory) -> None:
    """Serves until the input ends. Raises NotConfigured at once where nobody says where the service is."""
    _ = memory.url
    async with memory, stdio_server() as (incoming, outgoing):
        one = server(Own(memory))
        await one.run(incoming, outgoing, one.create_initialization_options())
