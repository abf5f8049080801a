"""The client inside the service: it asks the service's own endpoints, by the key that a call came with, so that a tool
may do nothing that the key may not."""

from __future__ import annotations

import httpx

from memquorum.client.memory import AsyncMemory
from memquorum.client.settings import Place


class Within(AsyncMemory):
    """The client of one call. What it publishes goes through the service. It need not be closed."""

    def __init__(self, http: httpx.AsyncClient, *, url: str, namespace: str, agent: str, api_key: str) -> None:
        """`http`: asks the service's application itself; all calls share it. `url`: where strangers reach it."""
        self._begin(Place("", url, namespace, agent, None, named=True, api_key=api_key))
        self._connections.http = http

    async def close(self) -> None:
        """Does nothing: what it asks with belongs to the service."""
