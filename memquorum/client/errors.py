"""What can go wrong for a client, and what to do about it. Python's own MemoryError means something else."""

from __future__ import annotations

from collections.abc import Sequence

from memquorum.client.values import Receipt


class MemquorumError(Exception):
    """Base of all errors that the client raises on purpose."""


class Closed(MemquorumError, RuntimeError):
    """The client was closed before. Make another one."""


class NotConfigured(MemquorumError):
    """No address, no agent: the message says which, and where it may be given."""


class Invalid(MemquorumError, ValueError):
    """What was handed over can be no record or request. Nothing was sent."""

    def __init__(self, reason: str, field: str | None, detail: str) -> None:
        """`reason`: a reason code of intake; `field`: the one at fault, if it is one."""
        super().__init__(f"{field}: {detail}" if field else detail)
        self.reason, self.field, self.detail = reason, field, detail


class Held(Invalid):
    """An erasure names what a legal hold keeps: it was refused, and nothing of it was done."""


class NotAllowed(MemquorumError, PermissionError):
    """The retrieval service wants an API key, or the key's rights or namespaces do not reach so far; or the brokers do
    not grant the login a topic."""


class Unreachable(MemquorumError, ConnectionError):
    """Kafka or the retrieval service cannot be reached, or said that it cannot answer now. Try again later."""


class Busy(Unreachable):
    """The retrieval service cannot answer now, and says when it can: ask again in a second. `own`: it has enough to do
    for this key alone."""

    def __init__(self, detail: str, own: bool = False) -> None:
        super().__init__(detail)
        self.own = own


class NotFound(MemquorumError, LookupError):
    """There is no such memory."""


class Contested(MemquorumError):
    """What was to be deleted stays, for it is not one agent's to take away: another agent wrote it, or it is pinned.
    `memory_ids`: what stays; `forget` has the members vote on it."""

    def __init__(self, memory_ids: Sequence[str], why: str = "another agent wrote it, or it is pinned") -> None:
        super().__init__(f"{', '.join(memory_ids)} stays: {why}. `forget` has the members vote on it")
        self.memory_ids = tuple(memory_ids)


class NotYet(MemquorumError, TimeoutError):
    """A read named a write with `after`, and the service did not see it in time. Read again, or without `after`."""


class Refused(MemquorumError):
    """Intake refused what was published, and nothing of it is stored. `reason`: its code; `field`: the one at fault, if
    it is one; `detail`: what was wrong and what to do. Mended, it may be published under the same event id."""

    def __init__(self, receipt: Receipt, reason: str, field: str | None, detail: str) -> None:
        what = f"{field}: {detail}" if field else detail
        super().__init__(f"event {receipt.event_id!r} in {receipt.namespace!r} was refused ({reason}): {what}")
        self.receipt, self.reason, self.field, self.detail = receipt, reason, field, detail


class NoOutcome(MemquorumError, TimeoutError):
    """The episode was published and is safe, but nothing became of it in time. `receipt` says how to ask again."""

    def __init__(self, receipt: Receipt, seconds: float) -> None:
        super().__init__(
            f"event {receipt.event_id!r} in {receipt.namespace!r} is published, but has no outcome in {seconds:g} s: "
            "the line is behind or stands (`make status`). It is not lost, so do not add it again under a new id; "
            "`outcome` of its receipt waits again"
        )
        self.receipt = receipt
