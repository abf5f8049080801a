"""The targets of webhooks as an operator writes them down, in TOML: a table for each, under its name."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from ipaddress import ip_network
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from memquorum.core import names
from memquorum.core.journal.effects import EFFECTS
from workers.events.addresses import Network
from workers.events.signing import BadSecret, key_of

_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
_ATTEMPTS_MOST = 100
_FIRST_S, _LONGEST_S = 1.0, 600.0


class TargetsError(ValueError):
    """The file of targets is wrong; the message names the target and holds no secret."""


class _Written(Struct, forbid_unknown_fields=True):
    """A table of the file."""

    url: str
    secrets: tuple[str, ...]
    types: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    addresses: tuple[str, ...] = ()
    ca: str | None = None
    attempts: int = 12
    begin: str = "now"


class Target(Struct, frozen=True):
    """Where events go. `keys`: that sign; `types` and `namespaces`: which events, all if empty; `addresses`: that may
    be reached though they are not public; `ca`: who signs its certificate, if not a public authority; `attempts`: until
    an event becomes a dead letter; `from_now`: it begins with what comes after it is first served."""

    name: str
    url: str
    keys: tuple[bytes, ...]
    types: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    addresses: tuple[Network, ...] = ()
    ca: Path | None = None
    attempts: int = 12
    from_now: bool = True

    @property
    def secure(self) -> bool:
        """True if it is reached by TLS."""
        return self.url.startswith("https:")


def read(text: str, folder: Path) -> tuple[Target, ...]:
    """Reads the targets of a file, in its order. `folder`: from where a relative `ca` counts. Raises TargetsError."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TargetsError(f"it is no TOML: {error}") from None
    return tuple(_target(name, table, folder) for name, table in tables.items())


def pause_s(attempt: int, draw: float) -> float:
    """Returns the pause after a failed attempt, from 1: up to twice as long each time, ten minutes at most.

    `draw`: a random number in [0, 1), which is the share of the longest pause (full jitter).
    """
    return draw * min(_LONGEST_S, _FIRST_S * 2.0 ** min(attempt - 1, 30))


def _target(name: str, table: object, folder: Path) -> Target:
    if not _NAME.fullmatch(name):
        raise TargetsError(f"[{name[:40]}]: a name has small letters, digits and hyphens, 40 at most")
    try:
        told = msgspec.convert(table, _Written)
        keys = tuple(key_of(secret) for secret in told.secrets)
    except (msgspec.ValidationError, BadSecret) as error:
        raise TargetsError(f"[{name}]: {error}") from None
    fault = _fault(told)
    if fault is not None:
        raise TargetsError(f"[{name}] {fault}")
    return Target(
        name=name,
        url=told.url,
        keys=keys,
        types=told.types,
        namespaces=told.namespaces,
        addresses=_networks(name, told.addresses),
        ca=None if told.ca is None else folder / told.ca,
        attempts=told.attempts,
        from_now=told.begin == "now",
    )


def _fault(told: _Written) -> str | None:
    """Returns what is wrong with a table, the field first; never a part of the address, which may hold a secret."""
    if not told.secrets:
        return "secrets: name one at least"
    if unknown := set(told.types) - set(EFFECTS):
        return f"types: there is no {', '.join(sorted(unknown))}; known are {', '.join(sorted(EFFECTS))}"
    for one in told.namespaces:
        if one != "*" and names.namespace_fault(one.removesuffix("*")) is not None:
            return f"namespaces: {one!r} is none, nor the beginning of one and `*`"
    if not 1 <= told.attempts <= _ATTEMPTS_MOST:
        return f"attempts: 1 to {_ATTEMPTS_MOST}"
    if told.begin not in ("now", "start"):
        return "begin: now or start"
    return _url_fault(told)


def _url_fault(told: _Written) -> str | None:
    try:
        where = urlsplit(told.url)
        _ = where.port
    except ValueError:
        return "url: it cannot be read"
    if where.scheme not in ("https", "http") or not where.hostname or not told.url.isascii():
        return "url: https://HOST/PATH in ASCII"
    if where.username is not None or where.fragment:
        return "url: no user and no fragment; a request is signed"
    if where.scheme == "http" and not told.addresses:
        return "url: http only to hosts whose `addresses` are named; all others need https"
    return None


def _networks(name: str, written: Sequence[str]) -> tuple[Network, ...]:
    try:
        return tuple(ip_network(one) for one in written)
    except ValueError as error:
        raise TargetsError(f"[{name}] addresses: {error}") from None
