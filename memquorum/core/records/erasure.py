"""The records of an erasure: the order, and what it erased."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ErasureOrdered:
    """Outside, within a Signed. Everything in a namespace that a selector names is to be erased."""

    cluster: bytes
    order_id: str
    namespace: str
    selector: str
    value: str
    ordered_by: str
    ordered_at: int
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class ErasedEpisode:
    """One episode whose key was destroyed."""

    memory_id: str
    was: str
    commitment: bytes | None = None


@dataclass(frozen=True, slots=True)
class Erased:
    """Detail of 'erased': what an order to erase destroyed; one of its entries."""

    order: bytes
    accepted_at: int
    part: int
    parts: int
    residue_until: int
    episodes: tuple[ErasedEpisode, ...] = ()
