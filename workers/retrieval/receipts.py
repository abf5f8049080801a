"""The receipt of an erasure, to be kept: `memquorum receipt verify` checks it without this service."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response

from memquorum.core.access import AUDIT, ERASE, Caller
from memquorum.core.api.answers import ErasureReceipt
from memquorum.core.audit import receipts
from memquorum.core.retrieval import query
from workers.retrieval.answers import StructResponse, unknown
from workers.retrieval.service import Service


async def receipt(service: Service, request: Request, caller: Caller) -> Response:
    """Answers with the proof of an erasure, which also says if the members have not decided on it yet."""
    order_id = query.read_order_id(request.path_params["order_id"])
    proof = await service.reads.receipt(caller.sight(ERASE, AUDIT), order_id)
    if proof is None:
        return unknown("order_id", f"no erasure {order_id} was carried out")
    made = await asyncio.to_thread(receipts.make, service.codec, service.genesis, proof)
    return StructResponse(ErasureReceipt(**made))
