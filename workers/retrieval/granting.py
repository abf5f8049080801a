"""API keys over HTTP: who has the right `admin` lists, makes and revokes them, as far as his own key goes.

The rules are in `core.access`. They are judged on the file as it is under its lock, so that a key that was revoked a
moment ago makes no other.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from msgspec import structs
from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import ADMIN, AccessError, ApiKey, Caller, Keys
from memquorum.core.accounts import pages
from memquorum.core.api.answers import ApiKeys, KeyInShort, KeyMade
from memquorum.core.retrieval.query import BadRequest
from workers.retrieval import keyfile
from workers.retrieval.answers import StructResponse, body, unknown
from workers.retrieval.service import Service

_LOG = logging.getLogger("memquorum.retrieval")
T = TypeVar("T")


async def keys(service: Service, request: Request, caller: Caller) -> Response:
    """The keys that the caller may revoke, the latest first."""
    page, now = pages.read_keys(await body(request, service.bounds), service.bounds), _now_ms()
    by, file = _place(service, caller)
    found = await _on_file(lambda: keyfile.read(file).under(by, now))
    order = sorted(((one.created_at, one.id, one) for one in found), reverse=True)
    rows = [one for at, key_id, one in order if page.behind is None or (at, key_id) < page.behind]
    shown, behind = page.cut(rows, lambda one: f"{one.created_at}/{one.id}")
    return StructResponse(ApiKeys(tuple(_in_short(one, now) for one in shown), behind))


async def make_key(service: Service, request: Request, caller: Caller) -> Response:
    """A new key, which is told this once."""
    asked, now = pages.read_new_key(await body(request, service.bounds)), _now_ms()
    by, file = _place(service, caller)
    try:
        told, made = keyfile.make(**structs.asdict(asked), now_ms=now)
    except AccessError as error:
        raise BadRequest("out_of_range", error.field, error.detail) from None
    after = await _changed(file, lambda all_keys: all_keys.granted(by, made, now))
    made = next(one for one in after if one.id == made.id)
    _LOG.info("the key %s made the key %s: %s in %s", by, made.id, ", ".join(made.rights), ", ".join(made.namespaces))
    return StructResponse(KeyMade(told, _in_short(made, now)), 201)


async def revoke_key(service: Service, request: Request, caller: Caller) -> Response:
    """A key that opens nothing any more."""
    key_id, now = pages.read_old_key(await body(request, service.bounds)), _now_ms()
    by, file = _place(service, caller)
    try:
        after = await _changed(file, lambda all_keys: all_keys.without(key_id, now, by))
    except AccessError as error:
        if error.field != "key_id":
            raise
        return unknown("key_id", error.detail)
    _LOG.info("the key %s revoked the key %s", by, key_id)
    return StructResponse(_in_short(next(one for one in after if one.id == key_id), now))


def _place(service: Service, caller: Caller) -> tuple[str, Path]:
    """Returns the caller's own key and the file of keys. Raises Denied for a caller without a key."""
    caller.sight(ADMIN)
    file = service.door.file
    assert caller.id is not None and file is not None  # no key, no right to make others
    return caller.id, file


async def _changed(file: Path, change: Callable[[Keys], Keys]) -> Keys:
    return await _on_file(lambda: keyfile.change(file, change))


async def _on_file(look: Callable[[], T]) -> T:
    """Does it in a thread: another process may hold the lock."""
    try:
        return await asyncio.to_thread(look)
    except OSError as error:
        _LOG.error("the file of API keys: %s", error)
        told = "this service cannot change its file of API keys: its log says why. Use `memquorum admin keys`"
        raise BadRequest("not_entitled", None, told) from error


def _in_short(key: ApiKey, now_ms: int) -> KeyInShort:
    return KeyInShort(
        key_id=key.id,
        name=key.name,
        namespaces=key.namespaces,
        rights=key.rights,
        slots=key.slots,
        subjects=key.subjects,
        opens=key.fault(now_ms) is None,
        created_at=key.created_at,
        expires_at=key.expires_at,
        revoked_at=key.revoked_at,
        made_by=key.made_by,
        revoked_by=key.revoked_by,
    )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
