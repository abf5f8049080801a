"""What may be asked of an erasure: a request checked like a record, and the order that is made of it."""

from __future__ import annotations

from msgspec import Struct

from memquorum.core.api.requests import ErasureRequest
from memquorum.core.orders import erase as orders
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.erase import AGENT, MEMORY, NAMESPACE, SOURCE, SUBJECT
from memquorum.core.records import ErasureOrdered
from memquorum.core.retrieval.bounds import DEFAULTS, Bounds
from memquorum.core.retrieval.query import BadRequest, read_body, read_memory_id, read_namespace, read_number

LISTED_DEFAULT = 100
# As the field of a request that gives a selector its value.
_FIELDS = {MEMORY: "memory_id", SUBJECT: "subject", AGENT: "agent", SOURCE: "source"}


class Asked(Struct, frozen=True):
    """An erasure that may be looked at, or ordered."""

    namespace: str
    selector: str
    value: str
    dry_run: bool
    reference: str | None
    listed: int


def read_erasure(body: bytes, bounds: Bounds = DEFAULTS) -> Asked:
    """The erasure that a JSON body asks for. Raises BadRequest."""
    asked = read_body(body, ErasureRequest)
    said = {selector: getattr(asked, field) for selector, field in _FIELDS.items()}
    named = [(selector, value) for selector, value in said.items() if value is not None]
    if asked.everything:
        named.append((NAMESPACE, ""))
    if len(named) != 1:
        told = "name exactly one of memory_id, subject, agent, source, or everything: true"
        raise BadRequest("missing_field" if not named else "too_many", None, told)
    ((selector, value),) = named
    if selector == MEMORY:
        value = read_memory_id(value)
    listed = read_number("listed", asked.listed, 0, bounds.listed_most, LISTED_DEFAULT)
    return _sound(
        Asked(
            namespace=read_namespace(asked.namespace),
            selector=selector,
            value=value,
            dry_run=asked.dry_run is not False,
            reference=asked.reference,
            listed=listed,
        )
    )


def order(asked: Asked, cluster: bytes, order_id: str, ordered_by: str, now_ms: int) -> ErasureOrdered:
    """The order, not yet signed."""
    return ErasureOrdered(
        cluster=cluster,
        order_id=order_id,
        namespace=asked.namespace,
        selector=asked.selector,
        value=asked.value,
        ordered_by=ordered_by,
        ordered_at=now_ms,
        reference=asked.reference,
    )


def _sound(asked: Asked) -> Asked:
    """The same. Raises BadRequest for what no order may say."""
    try:
        orders.check(order(asked, b"", "00000000-0000-0000-0000-000000000000", "x", 0))
    except BadOrder as wrong:
        field = _FIELDS.get(asked.selector, wrong.field) if wrong.field == "value" else wrong.field
        raise BadRequest(wrong.code, field, wrong.detail) from None
    return asked
