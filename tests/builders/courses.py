"""Namespaces in which anything may happen, for what replays them."""

from __future__ import annotations

import random

import numpy as np

from memquorum.core.budgets.items import PINNED, Item
from memquorum.core.policy import PPM
from memquorum.core.whatif.events import Asked, Came, Course, Ended, Epoch, Event, Guarded, SummedUp, Used, Voted
from memquorum.core.whatif.vectors import Numbers, Vectors, whole

BEGAN = 1_790_000_000_000
HOUR = 3_600_000
_WIDE = 16


def item(name: str, at: int = BEGAN, tokens: int = 10, **told: object) -> Item:
    """A memory that came at a time."""
    return Item(name, "episodic", tokens, at, at, **told)  # type: ignore[arg-type]


def came(name: str, at: int, tokens: int = 10, **told: object) -> Came:
    """A memory comes."""
    return Came(at, item(name, at, tokens, **told))


def read(name: str, at: int) -> Used:
    """A memory is read."""
    return Used(at, name, at)


def course(*events: Event, namespace: str = "farm") -> Course:
    """A namespace without a query log."""
    return Course(namespace, events, Vectors({}))


def wild(seed: int, namespace: str = "farm", *, memories: int = 60, plain: bool = False) -> Course:
    """A namespace in which things come, are read and asked for, protected, superseded, erased, summed up and voted
    away, at random. `plain`: they come and are read alone, all of one weight."""
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
