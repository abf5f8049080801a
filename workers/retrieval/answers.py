"""Bodies as they are read, and errors as they are told: an object with `error`, `field` and `detail`."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Self

import msgspec
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from memquorum.core.access import Denied, NoEntry
from memquorum.core.api import parts
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval.limits import Busy

AGAIN = {"Retry-After": "1"}
# MessagePack writes a number with a fraction as these bytes where it is NaN or infinite. They may also stand there by
# chance: then Python's encoder, which takes 20 times as long, has the last word.
_NO_NUMBER = re.compile(rb"\xcb[\x7f\xff][\xf0-\xff]")


class StructResponse(JSONResponse):
    """A struct of `core.api.answers` as JSON."""

    told: Struct

    def render(self, content: Any) -> bytes:
        """The bytes. Raises ValueError for NaN and infinity, of which msgspec's encoder of JSON would make null."""
        self.told = content
        try:
            sure = _NO_NUMBER.search(msgspec.msgpack.encode(content)) is None
        except OverflowError:  # an integer of more than 64 bits, which an attribute may be
            sure = False
        return msgspec.json.encode(content) if sure else super().render(msgspec.to_builtins(content))

    def cut(self, rights: Collection[str]) -> Self:
        """The answer with what these rights do not show left empty."""
        shown = parts.cut(self.told, rights)
        return self if shown is self.told else type(self)(shown, self.status_code)


async def body(request: Request, bounds: Bounds = DEFAULTS) -> bytes:
    """The JSON body, as long as it is one and not too long. Raises BadRequest."""
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != "application/json":
        raise BadRequest("wrong_type", None, "send Content-Type: application/json")
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdecimal() and int(length[:20]) > bounds.body_bytes:
        raise BadRequest("too_long", None, f"more than {bounds.body_bytes} bytes")
    read = bytearray()
    async for chunk in request.stream():
        read += chunk
        if len(read) > bounds.body_bytes:
            raise BadRequest("too_long", None, f"more than {bounds.body_bytes} bytes")
    return bytes(read)


async def bad_request(_: Request, error: Exception) -> Response:
    """Answers a BadRequest with 400; 404 for an unknown name, 413 for a body that is too long, 409 where a hold forbids
    it."""
    assert isinstance(error, BadRequest)
    told = {"error": error.code, "field": error.field, "detail": error.detail}
    # The rest of a body that is too long is not read.
    long = error.code == "too_long" and error.field is None
    return JSONResponse(told, 413 if long else {"held": 409, "not_found": 404}.get(error.code, 400))


async def unavailable(_: Request, error: Exception) -> Response:
    """Answers a StoreUnavailable, or a door that is Locked, with 503 and when to ask again."""
    told = {"error": "unavailable", "field": None, "detail": f"{error}; try again"}
    return JSONResponse(told, 503, headers=AGAIN)


async def no_entry(_: Request, error: Exception) -> Response:
    """Answers a NoEntry with 401 and what to do."""
    assert isinstance(error, NoEntry)
    told = {"error": error.code, "field": "authorization", "detail": error.detail}
    return JSONResponse(told, 401, headers={"WWW-Authenticate": "Bearer"})


async def denied(_: Request, error: Exception) -> Response:
    """Answers a Denied with 403 and which right or namespace is missing; whether there is anything, nobody has
    looked."""
    assert isinstance(error, Denied)
    return JSONResponse({"error": "forbidden", "field": error.field, "detail": error.detail}, 403)


async def busy(_: Request, error: Exception) -> Response:
    """Answers a Busy with 429 where one key asks too much at once, with 503 where all do, and when to ask again."""
    assert isinstance(error, Busy)
    told = {"error": "busy", "field": None, "detail": error.detail}
    return JSONResponse(told, 429 if error.own else 503, headers=AGAIN)


async def late(_: Request, error: Exception) -> Response:
    """Answers a Late with 504."""
    return JSONResponse({"error": "timeout", "field": None, "detail": str(error)}, 504)


async def not_yet(_: Request, error: Exception) -> Response:
    """Answers a NotYet with 504 and what to do."""
    return JSONResponse({"error": "not_yet", "field": "after", "detail": str(error)}, 504)


async def gone(_: Request, __: Exception) -> Response:
    """Answers a client that went away in the middle of its request; nobody reads it."""
    return Response(status_code=400)


async def other(_: Request, error: Exception) -> Response:
    """Answers paths and methods that there are not, like everything else."""
    assert isinstance(error, HTTPException)
    code = error.detail.lower().replace(" ", "_")
    detail = f"{error.detail}: /openapi.json has what there is"
    return JSONResponse({"error": code, "field": None, "detail": detail}, error.status_code, headers=error.headers)


def unknown(field: str, detail: str) -> Response:
    """Returns a 404 for an unknown name."""
    return JSONResponse({"error": "not_found", "field": field, "detail": detail}, 404)
