"""Bounds the idle connections of a server, and answers 503 if too many connections are busy.

A connection is idle while it has sent no request, or only a part of one. Half of the connections may be idle. For each
further one, the server ends the connection that has been idle longest, of the peer that has most of them. A peer that
opens many idle connections therefore ends its own, and a client that connects and sends its request is answered.

If more connections are busy than there may be in all, requests are answered with 503, except `/livez`. `/livez` costs
nothing but the connection, and a supervisor that gets no answer would end a service that works.
"""

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from typing import Protocol

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from workers.retrieval.answers import AGAIN

_LIVE = "/livez"
_NETWORK_BYTES = 8


class Standing(Protocol):
    """A connection, which can be ended."""

    def end(self) -> None:
        """Ends it at once."""


class Crowd:
    """Counts the connections of one server, and keeps the idle ones of each peer in the order in which they became
    idle."""

    def __init__(self, most: int) -> None:
        """`most`: connections of all peers."""
        self._most, self._idle_most = most, max(1, most // 2)
        self._idle: dict[str, OrderedDict[Standing, None]] = {}
        self._idling = self._all = 0

    @property
    def full(self) -> bool:
        """Whether there are more connections than there may be."""
        return self._all > self._most

    def come(self) -> None:
        """A connection was made."""
        self._all += 1

    def gone(self, peer: str, one: Standing) -> None:
        """A connection ended."""
        self._all -= 1
        self.asks(peer, one)

    def idles(self, peer: str, one: Standing) -> None:
        """A connection waits for a request. Ends the one that has waited longest, of the peer that has most, where
        too many wait."""
        own = self._idle.setdefault(peer, OrderedDict())
        if one in own:
            return
        own[one] = None
        self._idling += 1
        if self._idling > self._idle_most:
            largest = max(self._idle, key=lambda name: len(self._idle[name]))
            longest = next(iter(self._idle[largest]))
            self.asks(largest, longest)
            longest.end()

    def asks(self, peer: str, one: Standing) -> None:
        """A connection does not wait for a request any more."""
        own = self._idle.get(peer)
        if own is None or one not in own:
            return
        del own[one]
        self._idling -= 1
        if not own:
            del self._idle[peer]


def peer_of(address: object) -> str:
    """The peer's name by the address of its socket: the /64 network for IPv6, since one host may use all of it."""
    said = str(address[0]) if isinstance(address, tuple) and address else ""
    try:
        found = ipaddress.ip_address(said.partition("%")[0])
    except ValueError:
        return said
    return said if found.version == 4 else found.packed[:_NETWORK_BYTES].hex()


class Uncrowded:
    """Passes requests on while there is room, and `/livez` always; answers 503 to all others."""

    def __init__(self, app: ASGIApp, crowd: Crowd) -> None:
        self._app, self._crowd = app, crowd

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers."""
        if scope["type"] == "http" and self._crowd.full and scope["path"] != _LIVE:
            told = {"error": "busy", "field": None, "detail": "too many connections are busy; try again"}
            answer = JSONResponse(told, 503, headers={**AGAIN, "Connection": "close"})
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)
