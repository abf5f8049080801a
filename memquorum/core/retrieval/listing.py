"""What is listed of a namespace: memories that pass, page by page in the order of time. To list them is no use of them.

A page begins behind the last memory of the one before, so that what comes in or goes meanwhile moves nothing: what was
there all the time is listed once.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import labelling, names
from memquorum.core.api.requests import ListRequest, PathsRequest, SlotRequest
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.query import (
    TIERS,
    BadRequest,
    Filters,
    read_body,
    read_filed,
    read_filters,
    read_gates,
    read_name,
    read_namespace,
    read_number,
    read_speaker,
)

KEPT = (*TIERS, "sealed", "superseded")
"""What may be listed: what is alive, and what rests without a text that is shown. What is gone, erased or still to be
voted on is in no list."""
LIMIT_DEFAULT = 100
_PLACE_DIGITS = 15


class Listing(Struct, frozen=True):
    """A page that is wanted: `limit` memories at most, from `behind` that time and id on."""

    namespace: str
    filters: Filters
    limit: int
    behind: tuple[int, str] | None = None
    redact: bool = False


class Slot(Struct, frozen=True):
    """The slot whose memory is wanted."""

    namespace: str
    key: str
    path: str | None
    filters: Filters
    redact: bool = False
    user: str | None = None
    """The agent that uses what it is given; None: it only looks."""


class Branch(Struct, frozen=True):
    """A page of paths that is wanted: `limit` at most, from `behind` that path on."""

    namespace: str
    filters: Filters
    limit: int
    behind: str | None = None


def cursor(occurred_at: int, memory_id: str) -> str:
    """What a reader sends to have what comes behind a memory."""
    return f"{occurred_at}/{memory_id}"


def read_list(body: bytes, bounds: Bounds = DEFAULTS) -> Listing:
    """The page that a JSON body asks for. Raises BadRequest and names the field."""
    asked = read_body(body, ListRequest)
    tiers = TIERS if asked.tiers is None else asked.tiers
    if not tiers or not set(tiers) <= set(KEPT):
        raise BadRequest("out_of_range", "tiers", f"must be one or more of {', '.join(KEPT)}")
    return Listing(
        namespace=read_namespace(asked.namespace),
        filters=replace(read_filters(replace(asked, tiers=None)), tiers=tiers),
        limit=read_number("limit", asked.limit, 1, bounds.listed_most, min(LIMIT_DEFAULT, bounds.listed_most)),
        behind=None if asked.cursor is None else _read_cursor(asked.cursor),
        redact=bool(asked.redact),
    )


def read_slot(body: bytes) -> Slot:
    """The slot that a JSON body asks for. Raises BadRequest and names the field."""
    asked = read_body(body, SlotRequest)
    if asked.use and asked.agent is None:
        raise BadRequest("missing_field", "agent", "who uses it? Send agent with use: true")
    return Slot(
        user=read_speaker(asked.agent) if asked.use and asked.agent is not None else None,
        namespace=read_namespace(asked.namespace),
        key=read_name("key", asked.key),
        path=read_filed(asked.path, None)["path"],
        filters=read_gates(asked.sensitivity_max, asked.purpose, asked.jurisdictions),
        redact=bool(asked.redact),
    )


def read_paths(body: bytes, bounds: Bounds = DEFAULTS) -> Branch:
    """The page of paths that a JSON body asks for. Raises BadRequest and names the field."""
    asked = read_body(body, PathsRequest)
    if asked.cursor is not None and labelling.path_fault(asked.cursor) is not None:
        raise BadRequest("bad_id", "cursor", "no cursor; send what the page before gave as next")
    gates = read_gates(asked.sensitivity_max, asked.purpose, asked.jurisdictions)
    return Branch(
        namespace=read_namespace(asked.namespace),
        filters=replace(gates, **read_filed(asked.path, asked.where)),
        limit=read_number("limit", asked.limit, 1, bounds.listed_most, min(LIMIT_DEFAULT, bounds.listed_most)),
        behind=asked.cursor,
    )


def _read_cursor(value: str) -> tuple[int, str]:
    at, _, memory_id = value.partition("/")
    digits = at.removeprefix("-")
    found = names.uuid(memory_id)
    if found is None or not (digits.isascii() and digits.isdecimal() and len(digits) <= _PLACE_DIGITS):
        raise BadRequest("bad_id", "cursor", "no cursor; send what the page before gave as next")
    return int(at), found
