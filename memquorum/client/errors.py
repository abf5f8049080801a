"""The client's errors, and what to do about each. Named MemquorumError, as Python's MemoryError means something
else."""

from __future__ import annotations

from collections.abc import Sequence

from memquorum.client.values import Receipt


class MemquorumError(Exception):
    """Base of all errors that the client raises on purpose."""


class Closed(MemquorumError, RuntimeError):
    """The client was closed before. Make another one."""


class NotConfigured(MemquorumError):
    """An address or the agent's name is missing; the message says which, and where to give it."""


class NotInstalled(NotConfigured, ImportError):
    """A part of the package was not installed; the message says which command installs it."""


class Invalid(MemquorumError, ValueError):
    """The arguments do not form a valid record or request. Nothing was sent."""

    def __init__(self, reason: str, field: str | None, detail: str) -> None:
        """`reason`: a reason code of intake; `field`: the field at fault, if there is one."""
        super().__init__(f"{field}: {detail}" if field else detail)
        self.reason, self.field, self.detail = reason, field, detail


class Held(Invalid):
    """An erasure names memories under a legal hold: it was refused as a whole."""


class NotAllowed(MemquorumError, PermissionError):
    """The API key is missing or lacks the right or the namespace; or the brokers do not grant the login a topic."""


class Unreachable(MemquorumError, ConnectionError):
    """Kafka or the retrieval service cannot be reached, or answered that it is unavailable. Try again later."""


class Busy(Unreachable):
    """The retrieval service is overloaded and names a time: ask again in a second. `own`: this key alone has too many
    requests."""

    def __init__(self, detail: str, own: bool = False) -> None:
        super().__init__(detail)
        self.own = own


class NotFound(MemquorumError, LookupError):
    """There is no such memory."""


class Contested(MemquorumError):
    """A deletion had no effect because it is not one agent's to make: another agent wrote the memory, or it is pinned.
    `memory_ids`: the memories that stay; `forget` has the members vote on them."""

    def __init__(self, memory_ids: Sequence[str], why: str = "another agent wrote it, or it is pinned") -> None:
        super().__init__(f"{', '.join(memory_ids)} stays: {why}. `forget` has the members vote on it")
        self.memory_ids = tuple(memory_ids)


class NotYet(MemquorumError, TimeoutError):
    """A read named a write with `after`, and the service did not see it in time. Read again, or without `after`."""


class Refused(MemquorumError):
    """Intake refused the record, and nothing of it is stored. `reason`: its code; `field`: the field at fault, if there
    is one; `detail`: what was wrong and what to do. Corrected, it may be published under the same event id."""

    def __init__(self, receipt: Receipt, reason: str, field: str | None, detail: str) -> None:
        what = f"{field}: {detail}" if field else detail
        super().__init__(f"event {receipt.event_id!r} in {receipt.namespace!r} was refused ({reason}): {what}")
        self.receipt, self.reason, self.field, self.detail = receipt, reason, field, detail


class NoOutcome(MemquorumError, TimeoutError):
    """The episode was published and is safe, but its outcome was not known in time. `receipt` says how to ask again."""

    def __init__(self, receipt: Receipt, seconds: float) -> None:
        super().__init__(
            f"event {receipt.event_id!r} in {receipt.namespace!r} is published, but has no outcome in {seconds:g} s: "
            "the line is behind or stands (`make status`). It is not lost, so do not add it again under a new id; "
            "`outcome` of its receipt waits again"
        )
        self.receipt = receipt
