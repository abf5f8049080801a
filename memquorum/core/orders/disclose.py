"""The notice of texts that the consolidator is about to send to a recipient outside, given before it sends, so that the
giver of an erasure knows whom to inform.

It is a Signed whose body is a SourcesDisclosed, and is not voted on: it is only recorded. Only the consolidator may
give it, with the key by which it publishes summaries. It holds ids and the recipient's host, no content.
"""

from __future__ import annotations

from memquorum import topics
from memquorum.core import access, names
from memquorum.core.identity.membership import CONSOLIDATOR, Genesis
from memquorum.core.orders.envelope import AGENT, BadOrder, OrderKind, check_id, check_name, check_said
from memquorum.core.records import Disclosed, SourcesDisclosed

SIGNER = f"{AGENT}{CONSOLIDATOR}"
IDS_MOST = 64


def check(order: SourcesDisclosed) -> None:
    """Raises BadOrder unless its fields are valid."""
    check_said(order)
    check_name("recipient", names.name_fault(order.recipient))
    if not 1 <= len(order.memory_ids) <= IDS_MOST or len(set(order.memory_ids)) != len(order.memory_ids):
        raise BadOrder("bad_order", "memory_ids", f"1 to {IDS_MOST} memories, each once")
    for memory_id in order.memory_ids:
        check_id("memory_ids", memory_id, "send ids of memories")


def _check_entitled(genesis: Genesis, signer: str, order: SourcesDisclosed) -> None:
    if signer != SIGNER or genesis.key_of(signer) is None:
        raise BadOrder("not_entitled", "signer", "only the consolidator may give notice of what it sends")


DISCLOSURE = OrderKind(
    name="disclose",
    body=SourcesDisclosed,
    topic=topics.DISCLOSURES,
    told="a notice of sent texts",
    command="nothing: only the consolidator publishes these",
    right=access.FORGET,
    check=lambda order, _: check(order),
    entitled=_check_entitled,
    effects={"disclosed": Disclosed},
    named=lambda order: order.memory_ids,
)
