"""What the endpoints answer, as classes: `openapi` describes them, and tests hold the answers to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from memquorum.core.retrieval.query import Hit


@dataclass(frozen=True, slots=True)
class Found:
    """Of a search. `used`: for how many hits an access was published; `warning`: why not for all."""

    namespace: str
    hits: tuple[Hit, ...]
    used: int
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory. Times in milliseconds since the epoch; what only the living have is null of others."""

    memory_id: str
    namespace: str
    text: str | None
    tier: str
    agent: str
    subject: str
    session: str | None
    role: str | None
    event_id: str
    occurred_at: int
    changed: int
    sealed_until: int | None
    confidence: float | None
    last_access: int | None
    accesses: int | None
    reinforced: int | None
    salience: float | None
    due_at: int | None


@dataclass(frozen=True, slots=True)
class Explained:
    """A memory's account, in structure and in lines of words."""

    account: dict[str, Any]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Became:
    """What became of an event; nothing yet where the outcome is null."""

    namespace: str
    event_id: str
    outcome: str | None
    memory_id: str | None
    shard: int | None
    journal_seq: int | None


@dataclass(frozen=True, slots=True)
class Published:
    """An episode that Kafka has: what it is called, and what its memory will be."""

    namespace: str
    event_id: str
    memory_id: str


@dataclass(frozen=True, slots=True)
class Alive:
    """That it answers at all."""

    alive: bool


@dataclass(frozen=True, slots=True)
class Ready:
    """Whether it can answer, and what is wrong with each thing that it needs; empty where nothing is.

    `access`: "keys", or "everyone" where no key is wanted.
    """

    ready: bool
    encoder: str
    access: str
    store: str
    journal: str
    kafka: str
    keys: str


@dataclass(frozen=True, slots=True)
class Error:
    """What was wrong: a code, the field at fault if it is one, and what to do."""

    error: str
    field: str | None
    detail: str
