"""The operations that every interface is asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from memquorum.client import Memory

PATH, SUBJECT, AGENT = "sessions/ada", "ada", "mem0"
"""The path, subject and agent of all that is written, as far as an interface can say them."""
STRANGE_PATHS = (
    "sessions/ad", "sessions/adam", "sessions/ada2", "session", "sessions/ADA", "sessions/\u0430da",
    "sessions/a\u0300da", "sessions/ada%", "sessions/ada_", "sessions/%", "sess_ons/ada", "sessions/ada/ada",
)  # fmt: skip
"""Paths that are neither that path nor above it."""
STRANGE_SUBJECTS = ("ad", "adam", "ADA", "\u0430da", "a%", "ad_", "%", "ada\u200b", "ada ")
CLIMBS = ("..", "../ada", "../../ada", "%2e%2e/ada", "..%2Fada", "x/../../sessions/ada", "./ada", "\u2024\u2024/ada")
OPERATORS: tuple[dict[str, Any], ...] = (
    {"kind": {"$ne": "x"}}, {"kind": {"$in": ["animal"]}}, {"kind": {"$gte": ""}}, {"kind": "animal"},
)  # fmt: skip
Read = list[tuple[str | None, str]]
"""Ids of memories, where the way shows them, and what it shows of each."""
Probe = tuple[str, Callable[[], object]]
"""The name of a probe, and the probe; its answer may show nothing from another namespace or path."""


@dataclass(frozen=True)
class Known:
    """Facts about a memory in a foreign namespace: its id, key and path, a cursor, a token and an order of that
    namespace, and its name.
    """

    space: str
    memory_id: str
    key: str
    cursor: str
    token: str
    order_id: str


class Way(ABC):
    """An interface to a namespace. What it opens is closed with it."""

    def __init__(self, space: str) -> None:
        self.space, self.open = space, ExitStack()
        self.memory = self.open.enter_context(self.client(space))

    def client(self, space: str) -> Memory:
        """The client that it goes over."""
        return Memory(namespace=space, agent=AGENT)

    @abstractmethod
    def write(self, key: str, text: str) -> None:
        """Writes a memory at PATH, or where the way writes."""

    @abstractmethod
    def read(self, path: str, texts: list[str]) -> Read:
        """Reads the memories at a path; `texts`: the questions for an interface that only answers questions."""

    def explain(self, memory_ids: Iterable[str]) -> dict[str, str]:
        """Explains in words where each memory is and why."""
        return {one: str(self.memory.explain(one)) for one in memory_ids}

    @abstractmethod
    def probes(self, known: Known) -> Iterator[Probe]:
        """All by which somebody in another namespace could come to what is known."""

    @abstractmethod
    def beside(self, known: Known) -> Iterator[Probe]:
        """All by which somebody at another place of the same namespace could."""
