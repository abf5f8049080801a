"""Reads a request to erase: checks it like a record, and turns it into an order."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import names
from memquorum.core.api.requests import ErasureRequest, ReportRequest
from memquorum.core.orders import aged
from memquorum.core.orders import erase as orders
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.erase import AGE, AGENT, MEMORY, NAMESPACE, SOURCE, SUBJECT
from memquorum.core.records import ErasureOrdered
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.query import (
    NOBODY,
    BadRequest,
    read_body,
    read_memory_id,
    read_namespace,
    read_number,
)

# As the field of a request that gives a selector its value.
_FIELDS = {MEMORY: "memory_id", SUBJECT: "subject", AGENT: "agent", SOURCE: "source"}


class ErasureAsked(Struct, frozen=True):
    """An erasure that may be looked at, or ordered: who gives the order, when and by which id is still open."""

    order: ErasureOrdered
    dry_run: bool
    listed: int

    @property
    def namespace(self) -> str:
        """The namespace that it is about."""
        return self.order.namespace

    @property
    def otherwise(self) -> tuple[ErasureOrdered, ...]:
        """The same of what earlier releases stored under other spellings of the name."""
        return otherwise(self.order)


def otherwise(order: ErasureOrdered) -> tuple[ErasureOrdered, ...]:
    """The same orders for other spellings of the name (`names.spellings`): an order takes exactly what it names."""
    if order.selector not in (SUBJECT, AGENT, SOURCE):
        return ()
    return tuple(replace(order, value=one) for one in names.spellings(order.value) if one != order.value)


def read_erasure(body: bytes, now_ms: int, bounds: Bounds = DEFAULTS) -> ErasureAsked:
    """The erasure that a JSON body asks for. `now_ms`: milliseconds since the epoch; what is to come is not erased.
    Raises BadRequest."""
    asked = read_body(body, ErasureRequest)
    named = read_named(asked)
    if asked.everything:
        named.append((NAMESPACE, ""))
    if asked.before is not None:
        named.append((AGE, _age(asked, asked.before)))
    elif asked.types:
        raise BadRequest("missing_field", "before", "types go by age: say before when they occurred")
    if len(named) != 1:
        told = "name exactly one of memory_id, subject, agent, source, before, or everything: true"
        raise BadRequest("missing_field" if not named else "too_many", None, told)
    ((selector, value),) = named
    value = read_value(selector, value)
    listed = read_number(asked, "listed", bounds)
    order = ErasureOrdered(b"", NOBODY, read_namespace(asked.namespace), selector, value, "x", now_ms, asked.reference)
    try:
        orders.check(order)
    except BadOrder as wrong:
        field = _FIELDS.get(selector, wrong.field) if wrong.field == "value" else wrong.field
        raise BadRequest(wrong.code, field, wrong.detail) from None
    return ErasureAsked(order, asked.dry_run is not False, listed)


def read_named(asked: ErasureRequest | ReportRequest) -> list[tuple[str, str]]:
    """Returns the selectors that a request names, each with its value as it was sent."""
    said = ((selector, getattr(asked, field)) for selector, field in _FIELDS.items())
    return [(selector, value) for selector, value in said if value is not None]


def read_value(selector: str, value: str) -> str:
    """Returns the value of a selector in the form in which it is stored. Raises BadRequest for no id of a memory."""
    if selector == MEMORY:
        return read_memory_id(value)
    return names.normal(value) if selector in (SUBJECT, SOURCE) else value


def _age(asked: ErasureRequest, before: int) -> str:
    try:
        return aged.written(asked.types, before)
    except aged.BadAge as wrong:
        raise BadRequest(
            "out_of_range" if wrong.field == "before" else "bad_order", wrong.field, wrong.detail
        ) from None
