"""The client inside the service: it calls the service's own endpoints with the API key of the incoming call, so that a
tool may do nothing that the key may not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import unquote

import httpx
import msgspec
from msgspec import Struct

from memquorum.client import wire
from memquorum.client.errors import Invalid
from memquorum.client.memory import AsyncMemory
from memquorum.client.settings import Place

T = TypeVar("T")


class InnerRequest(NamedTuple):
    """A request to an endpoint of the same process. `query`: the query string."""

    method: str
    path: str
    query: bytes
    headers: Mapping[str, str]
    content: bytes


class Endpoints(Protocol):
    """Answers requests: with the answer itself, or with a response as it would go over HTTP."""

    async def __call__(self, request: InnerRequest, /) -> Struct | httpx.Response:
        """Answers a request."""


class Within(AsyncMemory):
    """The client of one incoming call. It publishes through the service. It need not be closed."""

    def __init__(self, endpoints: Endpoints, *, url: str, namespace: str, agent: str, api_key: str) -> None:
        """`endpoints`: of the service. `url`: the service's public address."""
        self._begin(Place("", url, namespace, agent, None, named=True, api_key=api_key))
        self._endpoints = endpoints

    async def close(self) -> None:
        """Does nothing: it has no connections."""

    async def _ask(self, kind: type[T], method: str, path: str, **more: Any) -> T:
        found = await self._endpoints(_request(self._place.api_key, method, path, **more))
        if isinstance(found, httpx.Response):
            return wire.body(found, kind)
        return found if type(found) is kind else msgspec.json.decode(msgspec.json.encode(found), type=kind)


def _request(
    api_key: str,
    method: str,
    path: str,
    *,
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    json: Mapping[str, Any] | None = None,
    content: bytes = b"",
) -> InnerRequest:
    """Builds a request as `wire.request` does. Raises Invalid, naming the field, for a value that JSON or a query
    string cannot hold."""
    told = wire.asking(api_key) | dict(headers or {})
    if json is not None:
        told, content = {**wire.JSON, **told}, wire.plain(json)
    try:
        query = str(httpx.QueryParams(params)).encode() if params else b""
    except (TypeError, ValueError) as error:  # UnicodeEncodeError is a ValueError
        raise Invalid("wrong_type", None, f"cannot be sent: {error}") from None
    return InnerRequest(method, unquote(path), query, told, content)
