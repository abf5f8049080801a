"""What the client gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was published. Kafka has confirmed it on all replicas before a receipt is given.

    `memory_id`: the memory that the episode is to become, or, once the outcome is known, the one that holds it: another
    where it `reinforced` one. `outcome`: stored, reinforced, below_threshold or accessed; None if nobody waited.
    """

    namespace: str
    event_id: str
    memory_id: str
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a memory is where it is: `account` as plain values, `lines` in words."""

    account: dict[str, Any]
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)
