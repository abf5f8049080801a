"""The order that carries a model's comparisons: the statements of older memories that a newer one overtakes.

It is a Signed whose body is a StatementsCompared, and is not voted on: it is recorded beside the rules' findings, marks
statements in answers, and opens no vote. Only the consolidator may give it. It holds ids and numbers, no content.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Sequence
from itertools import pairwise

from memquorum import topics
from memquorum.core import access
from memquorum.core.identity.membership import CONSOLIDATOR, Genesis
from memquorum.core.names import name_fault
from memquorum.core.orders.envelope import AGENT, BadOrder, OrderKind, check_id, check_name, check_said
from memquorum.core.records import Compared, Comparison, StatementsCompared

SIGNER = f"{AGENT}{CONSOLIDATOR}"
COMPARISONS_MOST = 16
NUMBER_MOST = 1_000

# Fixed for ever: the same comparisons give the same order.
_ORDERS = uuid.UUID("0c5b8a52-6d1e-5a77-8c1d-6c6162656c73")


def ordered(
    cluster: bytes,
    namespace: str,
    newer: str,
    comparisons: Sequence[Comparison],
    *,
    by: str,
    at: int,
) -> StatementsCompared:
    """Makes the record of comparisons for publishing. `at`: when the newer memory was said."""
    said = (f"{one.older} {','.join(map(str, one.statements))}" for one in comparisons)
    order_id = str(uuid.uuid5(_ORDERS, "\0".join((namespace, newer, by, *said))))
    return StatementsCompared(cluster, order_id, namespace, newer, tuple(comparisons), by, CONSOLIDATOR, at)


def pair_digest(namespace: str, newer: str, older: str) -> bytes:
    """Returns the digest of a pair of memories: a pair is compared once, in whichever record."""
    return hashlib.sha256("\0".join(("compare", namespace, newer, older)).encode()).digest()


def memories(order: StatementsCompared) -> tuple[str, ...]:
    """Returns the memories that comparisons name, the newer one first."""
    return order.newer, *(one.older for one in order.comparisons)


def check(order: StatementsCompared) -> None:
    """Raises BadOrder unless its fields are valid."""
    check_said(order)
    check_name("by", name_fault(order.by))
    check_id("newer", order.newer, "send a memory's id")
    if not 1 <= len(order.comparisons) <= COMPARISONS_MOST:
        raise BadOrder("bad_order", "comparisons", f"1 to {COMPARISONS_MOST} comparisons")
    named = memories(order)
    if len(set(named)) != len(named):
        raise BadOrder("bad_order", "comparisons", "a memory is named twice")
    for one in order.comparisons:
        check_id("older", one.older, "send a memory's id")
        _check_numbers(one.statements)


def sound(numbers: Sequence[int]) -> bool:
    """Whether these may be the numbers of statements: in ascending order, each once."""
    return all(a < b for a, b in pairwise(numbers)) and all(1 <= one <= NUMBER_MOST for one in numbers)


def _check_numbers(numbers: tuple[int, ...]) -> None:
    if not sound(numbers):
        told = f"numbers of statements from 1 to {NUMBER_MOST}, in ascending order, each once"
        raise BadOrder("out_of_range", "statements", told)


def _check_entitled(genesis: Genesis, signer: str, order: StatementsCompared) -> None:
    if signer != SIGNER or order.ordered_by != CONSOLIDATOR or genesis.key_of(signer) is None:
        raise BadOrder("not_entitled", "signer", f"only {CONSOLIDATOR} may give a model's comparisons")


COMPARE = OrderKind(
    name="compare",
    body=StatementsCompared,
    topic=topics.COMPARISONS,
    told="a model's comparisons",
    command="nothing: only the consolidator publishes these",
    right=access.AUDIT,
    check=lambda order, _: check(order),
    entitled=_check_entitled,
    effects={"compared": Compared},
    named=memories,
    within=lambda order: tuple(pair_digest(order.namespace, order.newer, one.older) for one in order.comparisons),
    contrasts=True,
)
