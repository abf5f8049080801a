"""The records of a restore, and of a request to forget: the order, journalled, and carried out."""

from __future__ import annotations

from msgspec import Struct


class RestoreOrdered(Struct, frozen=True):
    """Outside, within a Signed. Somebody asks for memories back that were forgotten, that others be forgotten, or that
    a memory of experience weighs again what it did at an older `version`."""

    cluster: bytes
    order_id: str
    namespace: str
    memory_ids: tuple[str, ...]
    ordered_by: str
    ordered_at: int
    reference: str | None = None
    action: str = "restore"
    version: int | None = None


class RestoreRequested(Struct, frozen=True):
    """Detail of 'requested' and 'declined': the request as it came in. `why`: of one to roll a weight back that is
    declined, what is in its way; empty of any other."""

    order: bytes
    accepted_at: int
    why: str = ""


class Restored(Struct, frozen=True):
    """A memory that came back: what its use had made of it, and where its content and its embedding lie.

    `reencoded_offset`: of the record that holds the embedding, if another encoder made it anew; -1 if none did.
    """

    memory_id: str
    salience_ppm: int
    accesses: int
    reinforced: int
    accepted_offset: int
    scored_offset: int
    reencoded_offset: int = -1
    replays: int = 0
