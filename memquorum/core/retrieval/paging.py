"""Pages of lists: where a page begins, how long it is, and the cursor of the next one. Every list has them from here.

A page begins after the last entry of the one before, so that new and removed entries move nothing. A cursor has a mark
of its list and of its namespace or shard, and is refused anywhere else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Sequence
from typing import Any, TypeVar

from msgspec import Struct, structs

from memquorum.core import names
from memquorum.core.ids import shard_of
from memquorum.core.retrieval.bounds import Bounds
from memquorum.core.retrieval.query import (
    ALL,
    BadRequest,
    Filters,
    read_between,
    read_gates,
    read_namespace,
    read_number,
)

LATEST = 2**62
"""Behind no entry: the place of a list's first page where the latest come first."""
_DIGITS = 15
_MARK = 8

T = TypeVar("T")
P = TypeVar("P", bound="Page")


class Page(Struct, frozen=True, kw_only=True):
    """A page of a list that is wanted: `limit` entries at most, of a time `since` ≤ time < `until`, in milliseconds.

    `gates`: the filters that its memories pass. Subclasses have `behind`: the place of the last entry before the page.
    """

    what: str
    """The list."""
    limit: int
    gates: Filters = ALL
    since: int | None = None
    until: int | None = None

    @property
    def where(self) -> str | int:
        """The namespace or the shard that is listed."""
        raise NotImplementedError

    def cut(self, rows: Sequence[T], place: Callable[[T], str | int]) -> tuple[tuple[T, ...], str | None]:
        """Returns the page's rows, and the cursor of the next page, None at the end. `rows`: one more than `limit`, if
        there are so many; `place`: the place of a row."""
        found = tuple(rows[: self.limit])
        return found, cursor(self.what, self.where, place(found[-1])) if len(rows) > self.limit else None


class Spaced(Page, frozen=True, kw_only=True):
    """A page of a namespace's entries."""

    namespace: str

    @property
    def where(self) -> str | int:
        """The namespace."""
        return self.namespace


class Sharded(Page, frozen=True, kw_only=True):
    """A page of a shard's entries: of those that concern a namespace, or of all."""

    namespace: str | None
    shard: int

    @property
    def where(self) -> str | int:
        """The namespace, or the shard where none is named."""
        return self.shard if self.namespace is None else self.namespace


def cursor(what: str, where: str | int, place: str | int) -> str:
    """Returns the cursor with which a reader requests the page after a place. `what`: the list; `where`: the namespace
    or the shard."""
    # A name may hold what a shell takes for its own.
    return f"{_mark(what, where)}.{place.encode().hex() if isinstance(place, str) else place}"


def read_page(
    kind: type[P], asked: Struct, place: Callable[[str], Any], bounds: Bounds, /, *, shards: int = 0, **more: Any
) -> P:
    """Returns the page that a request asks for. `place`: reads a place of this list, and raises ValueError for what is
    none; `shards`: how many there are, where one may be listed; `more`: the fields that other pages lack. Raises
    BadRequest and names the field."""
    said = structs.asdict(asked)
    since, until = said.get("since"), said.get("until")
    if since is not None and until is not None and since >= until:
        raise BadRequest("out_of_range", "until", "must be later than since")
    where = read_where(said["namespace"], said["shard"], shards) if shards else {}
    more |= where or {"namespace": read_namespace(said["namespace"])}
    more.setdefault("gates", read_gates(said.get("sensitivity_max"), said.get("purpose"), said.get("jurisdictions")))
    page = kind(limit=read_number(asked, "limit", bounds), since=since, until=until, **more)
    if said["cursor"] is None:
        return page
    return structs.replace(page, behind=read_place(page.what, page.where, said["cursor"], place))


def read_where(namespace: str | None, shard: int | None, shards: int) -> dict[str, Any]:
    """Returns the namespace of a page, or None where a shard was named, and the shard. Raises BadRequest."""
    if shard is None:
        named = read_namespace(namespace)
        return {"namespace": named, "shard": shard_of(named, shards)}
    if namespace is not None:
        raise BadRequest("too_many", "shard", "send a namespace, which is of one shard, or a shard")
    return {"namespace": None, "shard": read_between("shard", shard, 0, shards - 1)}


def read_some(field: str, asked: tuple[str, ...] | None, known: Collection[str]) -> tuple[str, ...] | None:
    """Returns the values that a list is limited to, None for all. Raises BadRequest."""
    if asked is None:
        return None
    if not asked or not set(asked) <= set(known):
        raise BadRequest("out_of_range", field, f"must be one or more of {', '.join(known)}; leave it out for all")
    return asked


def read_place(what: str, where: str | int, value: str, read: Callable[[str], T]) -> T:
    """Returns the place that a cursor names. `read`: raises ValueError for what is no place of this list. Raises
    BadRequest."""
    mark, found, place = value.partition(".")
    if found and mark != _mark(what, where):
        raise _no_cursor("a cursor of another list, or of another namespace")
    try:
        return read(place if found else "")
    except ValueError:
        raise _no_cursor("no cursor") from None


def number(place: str) -> int:
    """Reads a place that is a number. Raises ValueError."""
    if not (place.isascii() and place.isdecimal() and len(place) <= _DIGITS):
        raise ValueError(place)
    return int(place)


def text(place: str) -> str:
    """Reads a place that is a name. Raises ValueError."""
    said = bytes.fromhex(place).decode()
    if names.name_fault(said) is not None:
        raise ValueError(place)
    return said


def pair(place: str) -> tuple[int, str]:
    """Reads a place that is a number and an id. Raises ValueError."""
    at, _, named = text(place).partition("/")
    found = names.uuid(named)
    if found is None:
        raise ValueError(place)
    return -number(at[1:]) if at.startswith("-") else number(at), found


def _no_cursor(told: str) -> BadRequest:
    return BadRequest("bad_id", "cursor", f"{told}; send what the page before gave as next")


def _mark(what: str, where: str | int) -> str:
    # A namespace is a text, and a shard a number, so none is taken for the other.
    return hashlib.sha256(repr((what, where)).encode()).hexdigest()[:_MARK]
