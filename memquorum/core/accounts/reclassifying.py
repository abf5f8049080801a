"""Reads a request to reclassify memories: checks it like a record, and turns it into an order for each."""

from __future__ import annotations

from memquorum.core.api.requests import ReclassifyRequest
from memquorum.core.orders import reclassify
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.policy import PPM
from memquorum.core.records import ReclassificationOrdered
from memquorum.core.retrieval.query import NOBODY, BadRequest, read_body, read_memory_id, read_namespace

MOST = 100
"""The most memories of one request."""


def read_reclassify(body: bytes) -> list[ReclassificationOrdered]:
    """Returns the orders that a JSON body asks for; their names, who gives them and when are not said yet. Raises
    BadRequest."""
    asked = read_body(body, ReclassifyRequest)
    ids = tuple(dict.fromkeys(map(read_memory_id, asked.memory_ids)))
    if not 0 < len(ids) <= MOST:
        raise BadRequest("out_of_range", "memory_ids", f"{len(ids)} memories; name 1 to {MOST}")
    ppm = None if asked.sensitivity is None else round(asked.sensitivity * PPM)
    namespace, purposes = read_namespace(asked.namespace), tuple(dict.fromkeys(asked.purposes or ()))
    orders = [
        ReclassificationOrdered(
            b"", NOBODY, namespace, memory_id, "x", 0, ppm, asked.purposes is not None, purposes, asked.jurisdiction,
            asked.reference,
        )
        for memory_id in ids
    ]  # fmt: skip
    try:
        reclassify.check(orders[0])
    except BadOrder as wrong:
        raise BadRequest(wrong.code, wrong.field, wrong.detail) from None
    return orders
