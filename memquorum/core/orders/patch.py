"""Patches of roll-ups: an order that only the consolidator signs, with the sentences that enter and leave roll-ups.

They are accepted like orders, so that a later reader of the journal can check their signer, and each applies once. They
name places in memories; no text is known here.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence

from memquorum import topics
from memquorum.core import access
from memquorum.core.identity.membership import CONSOLIDATOR, Genesis
from memquorum.core.names import name_fault
from memquorum.core.orders.envelope import AGENT, BadOrder, OrderKind, check_id, check_name, check_said
from memquorum.core.records import Patch, Patched, RollupPatched
from memquorum.core.records.rollups import ADD, OPS

SIGNER = f"{AGENT}{CONSOLIDATOR}"
PATCHES_MOST = 64
"""The maximum number of patches in one record."""
_TIME_MAX = 2**53
_PLACE_MAX = 2**31 - 1

# Fixed for ever: the same patches give the same order.
_ORDERS = uuid.UUID("5f2f1a74-1c67-5d0e-9a3c-726f6c6c7570")


def ordered(cluster: bytes, namespace: str, patches: Sequence[Patch]) -> RollupPatched:
    """Makes the record of patches for publishing: the same patches always give the same record. Its time is that of
    their latest sentence."""
    at = max(one.at for one in patches)
    named = "\0".join((namespace, *(patch_digest(namespace, one).hex() for one in patches)))
    return RollupPatched(cluster, str(uuid.uuid5(_ORDERS, named)), namespace, CONSOLIDATOR, at, tuple(patches))


def patch_digest(namespace: str, patch: Patch) -> bytes:
    """Returns the digest of a patch by its change: a repeated patch, in whichever record, changes nothing."""
    said = (
        "rollup patch", namespace, patch.topic, patch.op, patch.memory_id, patch.start, patch.end,
        patch.replaces or "", patch.replaces_start, patch.replaces_end,
    )  # fmt: skip
    return hashlib.sha256("\0".join(map(str, said)).encode()).digest()


def memories(order: RollupPatched) -> tuple[str, ...]:
    """Returns the memories that patches name, each once."""
    named = (i for one in order.patches for i in (one.memory_id, one.replaces) if i is not None)
    return tuple(dict.fromkeys(named))


def check(order: RollupPatched) -> None:
    """Raises BadOrder unless the patches' fields are valid."""
    check_said(order)
    if not order.patches:
        raise BadOrder("missing_field", "patches", "name at least one patch")
    if len(order.patches) > PATCHES_MOST:
        raise BadOrder("too_many", "patches", f"{len(order.patches)} patches; at most {PATCHES_MOST} at once")
    for one in order.patches:
        _check_patch(one)
    if len({patch_digest(order.namespace, one) for one in order.patches}) != len(order.patches):
        raise BadOrder("bad_order", "patches", "a change is named twice")


def _check_patch(one: Patch) -> None:
    check_id("topic", one.topic, "send the id that follows from the roll-up's first sentence")
    check_id("memory_id", one.memory_id, "send a memory's id")
    check_name("section", name_fault(one.section))
    if one.op not in OPS:
        raise BadOrder("bad_order", "op", f"must be one of {', '.join(OPS)}")
    if not 0 <= one.start <= one.name_start < one.name_end <= one.end <= _PLACE_MAX or not 0 <= one.at <= _TIME_MAX:
        raise BadOrder("out_of_range", "patches", "a sentence with an impossible place, or without its name inside")
    if (one.replaces is None) != (one.op == ADD):
        raise BadOrder("bad_order", "replaces", "revise and supersede need the replaced sentence, add has none")
    if one.replaces is None:
        return
    check_id("replaces", one.replaces, "send a memory's id")
    if not 0 <= one.replaces_start < one.replaces_end <= _PLACE_MAX:
        raise BadOrder("out_of_range", "replaces_start", "a sentence with an impossible place")
    if (one.replaces, one.replaces_start, one.replaces_end) == (one.memory_id, one.start, one.end):
        raise BadOrder("bad_order", "replaces", "a sentence cannot replace itself")


def _check_entitled(genesis: Genesis, signer: str, order: RollupPatched) -> None:
    if signer != SIGNER or order.ordered_by != CONSOLIDATOR or genesis.key_of(signer) is None:
        raise BadOrder("not_entitled", "signer", f"only {CONSOLIDATOR} may patch roll-ups")


PATCH = OrderKind(
    name="patch",
    body=RollupPatched,
    topic=topics.PATCHES,
    told="patches of roll-ups",
    command="nothing: only the consolidator publishes these",
    right=access.AUDIT,
    check=lambda order, _: check(order),
    entitled=_check_entitled,
    effects={"patched": Patched},
    named=memories,
    within=lambda order: tuple(patch_digest(order.namespace, one) for one in order.patches),
)
