"""What a replica's own view holds of memories (db/view.py)."""

from __future__ import annotations

from typing import NamedTuple

from memquorum.core.merging import Marks


class Known(NamedTuple):
    """What the replica has read about a memory; content and embedding sealed. Times in milliseconds."""

    memory_id: str
    namespace: str
    agent: str
    created: int
    last_access: int
    touched: int
    salience_ppm: int
    reinforced: int
    reward_ppm: int | None
    confidence_ppm: int | None
    uncertainty_ppm: int | None
    commitment: bytes
    sealed_content: bytes
    sealed_embedding: bytes | None
    encoder: str
    sealed_signed: bytes | None = None
    """What the agent signed, where the namespace takes nothing unsigned; elsewhere nobody asks."""
    witnessed: int = 0
    """How often another agent said the same, before it or after, in an episode that may be a memory of its own."""
    reads: int = 0
    sealed_counts: bytes | None = None
    """How often its words had been said before (`core.worth`)."""
    like: str | None = None
    """What its worth is ranked among."""
    accepted: int = 0
    """Where its episode stands in the accepted stream."""
    role: str | None = None
    """As whom its agent said it, in a conversation."""
    said: int = 0
    """When it was said last (`core.journal.repetitions.again`)."""
    said_offset: int = 0
    """Where that saying stands in the accepted stream."""
    marks: Marks = Marks("")
    """What a repetition of it has to agree on."""


class Recent(NamedTuple):
    """A late episode of one of the member's own agents."""

    memory_id: str
    sealed_content: bytes
    sealed_embedding: bytes
    encoder: str
    agent: str
    sealed_signed: bytes | None = None
    occurred_at: int = 0
    repeats: bool = False
    """Whether it only repeats a memory."""


class Fading(NamedTuple):
    """What a vote needs of a memory that looks at no more than its age, its words and its embedding."""

    at: int
    """Its place among those asked for."""
    memory_id: str
    namespace: str
    last_access: int
    sealed_embedding: bytes | None
    encoder: str
    sealed_content: bytes
    sealed_counts: bytes | None
    like: str | None


class Finished(NamedTuple):
    """A finished task as it was read: texts and vector sealed under its own key."""

    memory_id: str
    namespace: str
    accepted: int
    """Where it stands in the accepted stream."""
    agent: str
    occurred_at: int
    outcome: str
    said_by: str
    configuration: bytes
    seed: int
    encoder: str
    sealed_content: bytes
    sealed_embedding: bytes
    sealed_signed: bytes | None
    """What the agent signed, where the namespace takes nothing unsigned."""
    commitment: bytes
    retrieved: tuple[str, ...]


class Admitted(NamedTuple):
    """A version of the weight of a memory that was admitted to experience, from the decision of an epoch on."""

    namespace: str
    memory_id: str
    version: int
    epoch: int
    weight_ppm: int
    kept: str | None = None
    """What stands for it while that is alive, since they say the same."""
