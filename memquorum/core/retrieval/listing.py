"""The requests for the memories of a namespace that pass the filters, page by page in the order of time, for the paths
that they are filed at, and for the memory in a slot. To list memories is no use of them.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import labelling
from memquorum.core.api.requests import ListRequest, PathsRequest, SlotRequest
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.paging import Spaced, pair, read_page
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
    read_speaker,
)

KEPT = (*TIERS, "sealed", "superseded")
"""The states that may be listed: alive, and resting without a text that is shown. Memories that are gone, erased or
still to be voted on are never listed."""


class Listing(Spaced, frozen=True, kw_only=True):
    """A page of memories, `behind` a time and an id."""

    what: str = "memories"
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


class Branch(Spaced, frozen=True, kw_only=True):
    """A page of paths, `behind` one of them."""

    what: str = "paths"
    behind: str | None = None


def read_list(body: bytes, bounds: Bounds = DEFAULTS) -> Listing:
    """The page that a JSON body asks for. Raises BadRequest and names the field."""
    asked = read_body(body, ListRequest)
    tiers = TIERS if asked.tiers is None else asked.tiers
    if not tiers or not set(tiers) <= set(KEPT):
        raise BadRequest("out_of_range", "tiers", f"must be one or more of {', '.join(KEPT)}")
    filters = replace(read_filters(replace(asked, tiers=None)), tiers=tiers)
    return read_page(Listing, asked, pair, bounds, gates=filters, redact=bool(asked.redact))


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
    gates = read_gates(asked.sensitivity_max, asked.purpose, asked.jurisdictions)
    filters = replace(gates, **read_filed(asked.path, asked.where))
    return read_page(Branch, asked, _path, bounds, gates=filters)


def _path(place: str) -> str:
    found = bytes.fromhex(place).decode()
    if labelling.path_fault(found) is not None:
        raise ValueError(place)
    return found
