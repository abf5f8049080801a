"""The client inside the service: it calls the service's own endpoints with the API key of the incoming call, so that a
tool may do nothing that the key may not."""

from __future__ import annotations

import httpx

from memquorum.client.memory import AsyncMemory
from memquorum.client.settings import Place


class Within(AsyncMemory):
    """The client of one incoming call. It publishes through the service. It need not be closed."""

    def __init__(self, http: httpx.AsyncClient, *, url: str, namespace: str, agent: str, api_key: str) -> None:
        """`http`: a client of the service's own application, shared by all calls. `url`: the service's public
        address."""
        self._begin(Place("", url, namespace, agent, None, named=True, api_key=api_key))
        self._connections.http = http

    async def close(self) -> None:
        """Does nothing: its HTTP client belongs to the service."""
