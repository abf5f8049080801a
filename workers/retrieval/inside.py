"""Calls the service's own endpoints for other protocols, with the key of the call, so that no call may do more than its
key."""

from __future__ import annotations

from dataclasses import dataclass

import httpx
from starlette.requests import Request
from starlette.types import ASGIApp

from memquorum.client.within import Within
from memquorum.core.access import RIGHTS, Caller
from memquorum.core.retrieval import query
from workers.retrieval.service import Service


@dataclass(frozen=True)
class Entered:
    """The caller of a protocol, and its namespace."""

    caller: Caller
    namespace: str
    _http: httpx.AsyncClient
    _url: str
    _key: str

    def speaker(self, agent: str) -> Within:
        """The client that speaks in the name of an agent. It need not be closed."""
        return Within(self._http, url=self._url, namespace=self.namespace, agent=agent, api_key=self._key)


class Inside:
    """Checks a caller's key, and asks endpoints with it."""

    def __init__(self, service: Service, inner: ASGIApp) -> None:
        """`inner`: the service's endpoints."""
        self._service = service
        # It need not be closed, for it has no connections.
        self._http = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=inner), base_url="http://127.0.0.1", trust_env=False, timeout=None
        )

    def enter(self, request: Request, authorization: str | None) -> Entered:
        """Returns the caller and the namespace of the path. Raises NoEntry, Locked, Denied, BadRequest."""
        caller = self._service.door.enter(authorization)
        namespace = query.read_namespace(request.path_params["namespace"])
        caller.at(namespace, *RIGHTS)
        key = (authorization or "").strip().partition(" ")[2].strip() if caller.id is not None else ""
        return Entered(caller, namespace, self._http, str(request.base_url).rstrip("/"), key)
