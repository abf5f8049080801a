"""Reads a request to restore: checks it like a record, and describes the state of each memory that it names."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from memquorum.core import names
from memquorum.core.accounts.telling import WHY, moment
from memquorum.core.api.answers import Restoring
from memquorum.core.api.requests import RestoreRequest
from memquorum.core.orders import restore as orders
from memquorum.core.orders.envelope import BadOrder
from memquorum.core.orders.restore import FORGET, RESTORE, ROLLBACK
from memquorum.core.policy import Policy
from memquorum.core.records import RestoreOrdered
from memquorum.core.retrieval.query import NOBODY, BadRequest, read_body, read_namespace
from memquorum.core.tiers import SUPERSEDED
from memquorum.core.vote.kinds import KINDS, LETS_GO

SEALED, RESTORED, ALIVE, DESTROYED, ERASED, UNKNOWN = "sealed", "restored", "alive", "destroyed", "erased", "unknown"
FORGOTTEN, KEPT = "forgotten", "kept"
NOT_NOMINATED = "it was not put to the vote"
"""The detail for a memory that an epoch about a request did not propose; `forgetting.passed_over` says why."""
ANSWERS = {RESTORE: frozenset({RESTORE}), FORGET: frozenset(LETS_GO.values()), ROLLBACK: frozenset({ROLLBACK})}
"""By what a request asks for, the kinds of proposals that answer it."""
_STEPS = {KINDS[name].outcome for name in ANSWERS[FORGET] if not KINDS[name].seals}


class Resting(Struct, frozen=True):
    """A memory as its row has it: `changed` and `sealed_until` in milliseconds, `as_of` its shard's time."""

    memory_id: str
    tier: str
    changed: int
    sealed_until: int | None
    as_of: int
    erased: bool


def read_restore(body: bytes, policy: Policy) -> RestoreOrdered:
    """Returns the order that a JSON body requests; its signer, time and id are still open. Raises BadRequest."""
    return checked(read_body(body, RestoreRequest), policy, RESTORE)


def checked(asked: RestoreRequest, policy: Policy, action: str) -> RestoreOrdered:
    """A request as an order without a name. Raises BadRequest."""
    ids = tuple(dict.fromkeys(names.uuid(one) or one for one in asked.memory_ids))
    wanted = RestoreOrdered(b"", NOBODY, read_namespace(asked.namespace), ids, "x", 0, asked.reference, action)
    try:
        orders.check(wanted, policy)
    except BadOrder as wrong:
        raise BadRequest(wrong.code, wrong.field, wrong.detail) from None
    return wanted


def why(action: str, code: str) -> str:
    """Returns in words why a request was declined, by its code."""
    return KINDS[action].words.why.get(code) or WHY.get(code, code)


def standing(memory_ids: Iterable[str], rows: Iterable[Resting]) -> tuple[Restoring, ...]:
    """Returns the state of each memory, in the order of the request; sealed ones may be requested."""
    known = {row.memory_id: row for row in rows}
    return tuple(_standing(memory_id, known.get(memory_id)) for memory_id in memory_ids)


def decided(memory_id: str, outcome: str, reason: str, *, action: str = RESTORE) -> Restoring:
    """Returns the outcome of a request for one memory: by the vote, and then by the commit worker."""
    said = WHY.get(reason, reason)
    if action == FORGET:
        return _left(memory_id, outcome, said)
    if action == ROLLBACK:
        return _rolled_back(memory_id, outcome, said)
    if outcome == KINDS[action].outcome:
        return Restoring(memory_id, RESTORED, "it is served again, and decays from the request on")
    if outcome == "kept":
        return Restoring(memory_id, SEALED, f"the members did not agree ({said}): it stays sealed; ask again")
    known = {"not forgotten": ALIVE, "unreadable": SEALED, "unknown memory": UNKNOWN, "": UNKNOWN}
    status = known.get(reason, DESTROYED)
    return Restoring(memory_id, status, said or "this namespace has no such memory")


def _rolled_back(memory_id: str, outcome: str, why: str) -> Restoring:
    done = KINDS[ROLLBACK].outcome
    if outcome == done:
        return Restoring(memory_id, done, "it weighs what it did; what came of its use until then moves it no more")
    if outcome == "kept":
        return Restoring(memory_id, KEPT, f"the members did not agree ({why}): its weight stays; ask again")
    return Restoring(memory_id, KEPT if outcome else UNKNOWN, why or "this namespace has no such memory")


def _left(memory_id: str, outcome: str, why: str) -> Restoring:
    if outcome == KINDS[FORGET].outcome:
        return Restoring(memory_id, FORGOTTEN, "it rests sealed for its grace time, and may be restored")
    if outcome in _STEPS:
        return Restoring(memory_id, outcome, "it is in short-term memory now: ask again to have it forgotten")
    if outcome == "kept":
        return Restoring(memory_id, KEPT, f"the members keep it: {why}")
    if outcome:
        return Restoring(memory_id, KEPT, why)
    return Restoring(memory_id, KEPT, NOT_NOMINATED)


def _standing(memory_id: str, row: Resting | None) -> Restoring:
    if row is None:
        return Restoring(memory_id, UNKNOWN, "this namespace has no such memory")
    if row.erased:
        return Restoring(memory_id, ERASED, "it was erased: there is no way back")
    if row.tier == "gone":
        return Restoring(memory_id, DESTROYED, f"its key was destroyed on {moment(row.changed)}")
    if row.tier == SUPERSEDED:
        return Restoring(memory_id, SEALED, "another memory took its place; its key is kept")
    if row.tier != SEALED or row.sealed_until is None:
        return Restoring(memory_id, ALIVE, "it is not forgotten")
    if row.sealed_until <= row.as_of:
        return Restoring(memory_id, DESTROYED, f"its grace time ended on {moment(row.sealed_until)}: its key goes")
    return Restoring(memory_id, SEALED, f"its key is kept until {moment(row.sealed_until)}")
