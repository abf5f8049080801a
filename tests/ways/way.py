"""What is asked of every way in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from memquorum.client import Memory

PATH, SUBJECT, AGENT = "sessions/ada", "ada", "mem0"
"""Where all write, about whom and in whose name, as far as they can say it."""
STRANGE_PATHS = (
    "sessions/ad", "sessions/adam", "sessions/ada2", "session", "sessions/ADA", "sessions/\u0430da",
    "sessions/a\u0300da", "sessions/ada%", "sessions/ada_", "sessions/%", "sess_ons/ada", "sessions/ada/ada",
)  # fmt: skip
"""What is none of that place, nor above it."""
STRANGE_SUBJECTS = ("ad", "adam", "ADA", "\u0430da", "a%", "ad_", "%", "ada\u200b", "ada ")
CLIMBS = ("..", "../ada", "../../ada", "%2e%2e/ada", "..%2Fada", "x/../../sessions/ada", "./ada", "\u2024\u2024/ada")
OPERATORS: tuple[dict[str, Any], ...] = (
    {"kind": {"$ne": "x"}}, {"kind": {"$in": ["animal"]}}, {"kind": {"$gte": ""}}, {"kind": "animal"},
)  # fmt: skip
Read = list[tuple[str | None, str]]
"""Ids of memories, where the way shows them, and what it shows of each."""
Probe = tuple[str, Callable[[], object]]
"""What is tried, and how; its answer may show nothing that is others'."""


@dataclass(frozen=True)
class Known:
    """What somebody knows of a memory in a namespace that is not theirs: its id, key and path, a cursor and a token
    that were given there, an order that was, and that namespace's name."""

    space: str
    memory_id: str
    key: str
    cursor: str
    token: str
    order_id: str


class Way(ABC):
    """A way to a namespace. What it opens is closed with it."""

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
        """What is at a path; `texts`: what a way that only answers is asked by."""

    def explain(self, memory_ids: Iterable[str]) -> dict[str, str]:
        """Of each why it is where it is, in words."""
        return {one: str(self.memory.explain(one)) for one in memory_ids}

    @abstractmethod
    def probes(self, known: Known) -> Iterator[Probe]:
        """All by which somebody in another namespace could come to what is known."""

    @abstractmethod
    def beside(self, known: Known) -> Iterator[Probe]:
        """All by which somebody at another place of the same namespace could."""
