"""Refuses the requests of web pages, except pages of the origins that the operator names.

A browser sends requests of any page to any address, also to a service that listens on the loopback interface alone and
asks for no key. It asks before it sends JSON, and says from where a request comes. So what changes something has to be
JSON, and what says that it comes from a foreign page is refused, whatever it asks: some reads count as uses. This
stands before all routes, MCP's and mem0's included, so that no route can do without it. Links of other sites may open
the console, whose files tell nothing.
"""

from __future__ import annotations

from collections.abc import Collection

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from memquorum.core.retrieval.query import BadRequest
from workers.retrieval import console

CHANGING = frozenset({"POST", "PUT", "PATCH"})
"""The methods whose requests need a body of JSON."""
_JSON = "application/json"
# A page of this very service, or a person who typed the address.
_OWN_SITES = frozenset({"same-origin", "none"})
_FORBIDDEN, _BAD = 403, 400


class Guarded:
    """Refuses what a foreign web page sends, and what is to change something and is no JSON."""

    def __init__(self, app: ASGIApp, origins: Collection[str] = ()) -> None:
        """`origins`: whose pages may ask all the same, as `https://board.example.org`."""
        self._app, self._origins = app, frozenset(one.lower() for one in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a refusal, or has the request answered."""
        if scope["type"] == "http":
            headers = Headers(scope=scope)
            opened = console.opens(scope["method"], scope["path"], headers)
            foreign = None if opened else _foreign(headers, self._origins)
            wrong = foreign or _no_json(scope["method"], headers)
            if wrong is not None:
                told = {"error": wrong.code, "field": wrong.field, "detail": wrong.detail}
                await JSONResponse(told, _BAD if foreign is None else _FORBIDDEN)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _foreign(headers: Headers, origins: Collection[str]) -> BadRequest | None:
    """The refusal if a header shows that a foreign page sent the request, else None."""
    own = {f"{scheme}://{headers.get('host', '')}".lower() for scheme in ("http", "https")}
    said = [one.lower() for one in headers.getlist("origin")]
    if any(one not in own and one not in origins for one in said):
        told = (
            "a web page of another origin may not ask here: an agent sends no Origin; if the page is your own, name "
            "its origin in the setting retrieval_origins"
        )
        return BadRequest("forbidden", "origin", told)
    # A page that is named by its origin may be of another site. A request of a page without an origin is refused, also
    # of the same site: all ports of this machine are one site.
    sites = headers.getlist("sec-fetch-site")
    if not said and any(one.lower() not in _OWN_SITES for one in sites):
        told = "a web page of another origin may not ask here: an agent sends no Sec-Fetch-Site"
        return BadRequest("forbidden", "sec-fetch-site", told)
    return None


def _no_json(method: str, headers: Headers) -> BadRequest | None:
    """The refusal if the request is to change something and has no body of JSON, else None."""
    kinds = headers.getlist("content-type")
    sound = len(kinds) == 1 and kinds[0].split(";")[0].strip().lower() == _JSON
    if method not in CHANGING or sound:
        return None
    return BadRequest("wrong_type", "content-type", f"{method} takes a body of JSON: send Content-Type: {_JSON}")
