"""Serves the console: the static files of `memquorum/console`, under /console/.

The files hold nothing of an installation. The page is a client like any other: it asks the endpoints of the service,
with the reader's API key. So the files need no key, and a link from another site may open the page.

All of them are read when the service starts, and kept as they are and packed by gzip. A browser keeps them too, and
asks with their tag if they have changed.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from msgspec import Struct
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

import memquorum
from memquorum.core.retrieval.query import BadRequest

FOLDER = Path(memquorum.__file__).parent / "console"
AT, DOCS = "/console", "/docs"
"""The addresses of the console and of the API's description, below that of the service."""
POLICY = "; ".join(
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:",
        "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'", "require-trusted-types-for 'script'",
    )
)  # fmt: skip
"""The sources that a browser may load for the page: scripts and styles of the service alone, and none inline."""
_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}
_KINDS: Mapping[str, str] = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""The kinds of files that are served; licences and the manifest of the vendored files are not."""
_INDEX = "index.html"
_NOT_CHANGED = 304


class Asset(Struct, frozen=True):
    """A file as it is served: its bytes, the same packed by gzip, its type, and the tag by which a browser knows it."""

    plain: bytes
    packed: bytes
    kind: str
    tag: str


@cache
def assets(folder: Path = FOLDER) -> Mapping[str, Asset]:
    """Returns the files of the console by their paths below it."""
    return {file.relative_to(folder).as_posix(): _asset(file) for file in _served(folder)}


def routes() -> list[Route]:
    """Returns the routes of the console, and reads its files."""
    assets()
    return [
        Route(AT, console_at, methods=["GET"], name="console_at"),
        Route(DOCS, docs, methods=["GET"], name="docs"),
        Route(f"{AT}/{{path:path}}", console, methods=["GET"], name="console"),
    ]


def opens(method: str, path: str, headers: Headers) -> bool:
    """True if a browser asks for the page because a person followed a link, of whatever site, or typed its address."""
    below = path in {AT, DOCS} or path.startswith(f"{AT}/")
    return below and method in {"GET", "HEAD"} and headers.getlist("sec-fetch-mode") == ["navigate"]


async def console(request: Request) -> Response:
    """Answers with a file of the console. Raises BadRequest where there is none."""
    path = request.path_params["path"] or _INDEX
    found = assets().get(path)
    if found is None:
        raise BadRequest("not_found", "path", f"the console has no such file; it begins at {AT}/")
    headers = {**_HEADERS, "ETag": found.tag, "Content-Type": found.kind}
    if found.tag in request.headers.get("if-none-match", ""):
        return Response(status_code=_NOT_CHANGED, headers=headers)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, headers={**headers, "Content-Encoding": "gzip"})
    return Response(found.plain, headers=headers)


async def console_at(_: Request) -> Response:
    """Sends a browser to the address below which the files are, also behind a proxy that puts a path before it."""
    return RedirectResponse(f"{AT.removeprefix('/')}/", headers=_HEADERS)


async def docs(_: Request) -> Response:
    """Sends a browser to the page of the console that describes the API."""
    return RedirectResponse(f"{AT.removeprefix('/')}/#/api", headers=_HEADERS)


def _served(folder: Path) -> Iterator[Path]:
    return (file for file in sorted(folder.rglob("*")) if file.is_file() and file.suffix in _KINDS)


def _asset(file: Path) -> Asset:
    plain = file.read_bytes()
    # The same bytes each time: the time of packing would be in them.
    packed = gzip.compress(plain, mtime=0)
    return Asset(plain, packed, _KINDS[file.suffix], f'"{hashlib.sha256(plain).hexdigest()[:32]}"')
