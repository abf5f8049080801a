"""Reads requests for working memory: for which agent, about which query, within how many tokens."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.api.fields import numbers
from memquorum.core.api.requests import ContextRequest
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.query import (
    ALL,
    BadRequest,
    Filters,
    read_body,
    read_filed,
    read_gates,
    read_name,
    read_namespace,
    read_number,
    read_query,
    read_speaker,
    read_time,
)
from memquorum.core.retrieval.quotas import Quotas
from memquorum.core.retrieval.requests import Reader
from memquorum.core.retrieval.working import Frame

SHARE_DEFAULT = 0.5


class ContextAsked(Struct, frozen=True):
    """A context that may be made, for the agent that reads: of its `session`, or of all its sessions; without a query
    of its buffer alone. `hops`: in how many steps the query is looked for."""

    reader: Reader
    agent: str
    session: str | None
    query: str | None
    frame: Frame
    filters: Filters = ALL
    hops: int = numbers(ContextRequest)["hops"].default


def read_quotas(asked: Mapping[str, float] | None) -> Quotas:
    """The quotas that a body names, the others as they are by default. Raises BadRequest."""
    for part, share in (asked or {}).items():
        if part not in Quotas.__struct_fields__:
            raise BadRequest("unknown_field", "quotas", f"{part!r} is none of {', '.join(Quotas.__struct_fields__)}")
        if not 0 <= share <= 1:
            raise BadRequest("out_of_range", "quotas", f"{part} must lie between 0 and 1: that part of the budget")
    return Quotas(**(asked or {}))


def read_context(body: bytes, bounds: Bounds = DEFAULTS) -> ContextAsked:
    """The context that a JSON body asks for. Raises BadRequest."""
    asked = read_body(body, ContextRequest)
    agent = read_speaker(asked.agent)
    share = SHARE_DEFAULT if asked.buffer_share is None else asked.buffer_share
    if not 0 <= share <= 1:
        raise BadRequest("out_of_range", "buffer_share", "must lie between 0 and 1: that part of the budget")
    return ContextAsked(
        reader=Reader(read_namespace(asked.namespace), agent, bool(asked.peek), bool(asked.redact)),
        agent=agent,
        session=None if asked.session is None else read_name("session", asked.session),
        query=None if asked.query is None else read_query(asked.query, bounds),
        frame=Frame(
            budget=read_number(asked, "budget_tokens", bounds),
            share=share if asked.query is not None else 1.0,
            k_max=read_number(asked, "k_max", bounds),
            session=asked.session is not None,
            quotas=read_quotas(asked.quotas),
        ),
        filters=read_time(
            asked.as_of,
            replace(
                read_gates(asked.sensitivity_max, asked.purpose, asked.jurisdictions),
                **read_filed(asked.path, asked.where),
            ),
        ),
        hops=read_number(asked, "hops"),
    )
