"""Reads a request to roll back a weight: checks it like a record, and describes its result."""

from __future__ import annotations

from msgspec import Struct

from memquorum.core.accounts.telling import why
from memquorum.core.api.answers import Ordered, Rollback
from memquorum.core.api.requests import RollbackRequest
from memquorum.core.journal.weighing import WEIGHED
from memquorum.core.orders import restore as orders
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.restore import ROLLBACK
from memquorum.core.policy import PPM, Policy
from memquorum.core.records import RestoreOrdered
from memquorum.core.retrieval.query import NOBODY, BadRequest, read_body, read_memory_id, read_namespace
from memquorum.core.tiers import ALIVE
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.rollback import NO_VERSION, NOT_ALIVE, NOT_IN_EXPERIENCE, NOT_OLDER

NOTHING = "nothing to roll back"
_FIELDS = {"version": "to", "memory_ids": "memory_id"}
"""The names of the order's fields in the request."""


class Weighed(Struct, frozen=True):
    """A memory and its weight in experience as the rows have them; `status`, `version`, `weight_ppm`: None of one that
    nobody has tried."""

    memory_id: str
    tier: str
    status: str | None
    version: int | None
    weight_ppm: int | None
    versions: tuple[int, ...]

    @property
    def now(self) -> tuple[int, float | None]:
        """The version in force, and the weight."""
        return self.version or 0, None if self.weight_ppm is None else self.weight_ppm / PPM


def read_rollback(body: bytes, policy: Policy) -> RestoreOrdered:
    """Returns the order that a JSON body requests; its signer, time and id are still open. Raises BadRequest."""
    asked = read_body(body, RollbackRequest)
    order = RestoreOrdered(
        b"", NOBODY, read_namespace(asked.namespace), (read_memory_id(asked.memory_id),), "x", 0, asked.reference,
        ROLLBACK, asked.to,
    )  # fmt: skip
    try:
        orders.check(order, policy)
    except BadOrder as wrong:
        raise BadRequest(wrong.code, wrong.field and _FIELDS.get(wrong.field, wrong.field), wrong.detail) from None
    return order


def in_the_way(found: Weighed, to: int) -> str | None:
    """Returns why the request needs no vote in the memory's current state, or None if it does."""
    kind, version = KINDS[ROLLBACK], found.version or 0
    if found.tier not in ALIVE:
        return why(kind, NOT_ALIVE)
    if found.status not in WEIGHED:
        return f"{why(kind, NOT_IN_EXPERIENCE)} ({found.status or 'nobody has tried it'})"
    if to >= version:
        return f"{why(kind, NOT_OLDER)}: that is version {version}"
    return None if to in found.versions else why(kind, NO_VERSION)


def rollback_result(asked: RestoreOrdered, found: Weighed, order_id: str, done: Ordered | None) -> Rollback:
    """Returns the result of a request. `found`: where the memory stands now; `done`: what became of the order, None
    where it is on its way."""
    (memory_id,), to = asked.memory_ids, asked.version or 0
    version, weight = found.now
    one = done.memories[0] if done is not None and done.memories else None
    if done is None or one is None:
        # Declined where something changed between the look and the order.
        status, detail = ("asked", "it is on its way") if done is None else (done.status, done.why or "")
    else:
        status, detail = one.status, one.detail
    shard, epoch, seq = (None, None, None) if done is None else (done.shard, done.epoch, done.journal_seq)
    return Rollback(asked.namespace, memory_id, to, status, detail, version, weight, order_id, shard, epoch, seq)
