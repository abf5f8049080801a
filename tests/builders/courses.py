"""Histories of namespaces, for tests of what replays them."""

from __future__ import annotations

import random

import numpy as np
from msgspec.structs import replace

from memquorum.core.budgets.items import PINNED, Item
from memquorum.core.policy import PPM
from memquorum.core.whatif.events import Asked, Came, Course, Ended, Epoch, Event, Guarded, SummedUp, Used, Voted
from memquorum.core.whatif.vectors import Numbers, Vectors, whole

BEGAN = 1_790_000_000_000
HOUR = 3_600_000
_WIDE = 16


def item(name: str, at: int = BEGAN, tokens: int = 10, **told: object) -> Item:
    """Builds a memory that came at a time."""
    return Item(name, "episodic", tokens, at, at, **told)  # type: ignore[arg-type]


def came(name: str, at: int, tokens: int = 10, **told: object) -> Came:
    """Builds the arrival of a memory."""
    return Came(at, item(name, at, tokens, **told))


def read(name: str, at: int) -> Used:
    """Builds a read of a memory."""
    return Used(at, name, at)


def course(*events: Event, namespace: str = "farm") -> Course:
    """Builds a namespace without a query log."""
    return Course(namespace, events, Vectors({}))


def of_use() -> Course:
    """Builds a namespace where a few old memories are read again and again while others come: a policy that goes by age
    loses them.
    """
    events: list[Event] = [came(f"old-{n}", BEGAN + n) for n in range(5)]
    for n in range(200):
        at = BEGAN + (n + 1) * HOUR
        events += [came(f"new-{n:03}", at), read(f"old-{n % 5}", at + 1), Epoch(at + 2)]
    return course(*events)


def of_types(*, later: str = "notes") -> Course:
    """Builds a namespace where two notes are asked for now and then among a flood of later tasks that
    nobody asks for.
    """
    events: list[Event] = []
    for n in range(240):
        at = BEGAN + n * HOUR
        if n % 40 == 0:
            events += [came(f"note-{n:03}-{k}", at) for k in range(2)]
        events += [Came(at + 1, replace(item(f"task-{n:03}-{k}", at + 1), type="task")) for k in range(3)]
        events.append(Epoch(at + 2))
        if n % 2 and n >= 40:
            noted = n < 120 or later == "notes"
            events.append(read(f"note-{n // 40 * 40:03}-{n // 2 % 2}" if noted else f"task-{n:03}-0", at + 3))
    return course(*events)


def wild(seed: int, namespace: str = "farm", *, memories: int = 60, plain: bool = False) -> Course:
    """Builds a namespace with random arrivals, reads, questions, protections, supersessions, erasures, summaries and
    votes. `plain`: only arrivals and reads, all of one weight.
    """
    lot = random.Random(seed)
    numbers = np.random.default_rng(seed)
    vectors: dict[str, Numbers] = {}
    queries: dict[int, Numbers] = {}
    events: list[Event] = []
    known: list[str] = []
    at = BEGAN
    for n in range(memories):
        at += lot.randrange(1, HOUR)
        name = f"{namespace}-{n:03}"
        tokens = 10 if plain else lot.randrange(1, 60)
        told = (
            {} if plain else {"worth": lot.randrange(90) * PPM, "sensitivity_ppm": lot.choice((0, 0, 400_000, 900_000))}
        )
        needs = (lot.choice(known),) if known and not plain and lot.random() < 0.1 else ()
        events.append(came(name, at, tokens, needs=needs, **told))
        known.append(name)
        if lot.random() < 0.9:
            vectors[name] = whole(_unit(numbers))
        for _ in range(lot.randrange(3)):
            at += lot.randrange(1, HOUR)
            events.append(read(lot.choice(known), at))
        if not plain:
            events += _anything(lot, numbers, known, queries, at=at)
        if lot.random() < 0.5:
            events.append(Epoch(at))
    return Course(namespace, events, Vectors(vectors), queries)


def _anything(
    lot: random.Random, numbers: np.random.Generator, known: list[str], queries: dict[int, Numbers], *, at: int
) -> list[Event]:
    found: list[Event] = []
    n = len(known)
    if lot.random() < 0.5:
        queries[n] = whole(_unit(numbers))
        found.append(Asked(at, tuple(lot.sample(known, min(3, len(known)))), n if lot.random() < 0.8 else None))
    if lot.random() < 0.1:
        found.append(Guarded(at, lot.choice(known), lot.choice((PINNED, None))))
    if lot.random() < 0.05:
        found.append(Ended(at, lot.choice(known), erased=lot.random() < 0.7))
    if lot.random() < 0.05:
        found.append(Voted(at, lot.choice(known)))
    if lot.random() < 0.05 and len(known) > 4:
        found.append(SummedUp(at, item(f"sum-{n}", at, 5), tuple(lot.sample(known, 3))))
    return found


def _unit(numbers: np.random.Generator) -> np.ndarray:
    found = numbers.normal(size=_WIDE)
    return found / np.linalg.norm(found)
