"""The records of an erasure: the order, and what it erased."""

from __future__ import annotations

from msgspec import Struct


class ErasureOrdered(Struct, frozen=True):
    """Outside, within a Signed. Everything in a namespace that a selector names is to be erased. `rule`: the number of
    the configuration whose rule of retention asks for it, where one does."""

    cluster: bytes
    order_id: str
    namespace: str
    selector: str
    value: str
    ordered_by: str
    ordered_at: int
    reference: str | None = None
    rule: int | None = None


class ErasedEpisode(Struct, frozen=True):
    """One episode whose key was destroyed. `summary`: of a summary, whether it is made anew of what is left, or why
    not (`core.journal.anew`). `recipients`: to whom its text was sent, in the order of their names."""

    memory_id: str
    was: str
    commitment: bytes | None = None
    summary: str | None = None
    recipients: tuple[str, ...] = ()


class Erased(Struct, frozen=True):
    """Detail of 'erased': what an order to erase destroyed; one of its entries."""

    order: bytes
    accepted_at: int
    part: int
    parts: int
    residue_until: int
    episodes: tuple[ErasedEpisode, ...] = ()
