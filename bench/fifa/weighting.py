"""The order of the policies under other weights of the composite.

The composite is a weighted mean of five metrics, and each is a mean over seeds and budgets. So what the composite would
be under other weights follows from the five means of a kept run, and nothing is measured again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

METRICS = ("NC", "GCR", "SRA", "PP", "CE")
PAPER = (0.25, 0.25, 0.20, 0.15, 0.15)
_DRAWS = 10_000


def weightings() -> dict[str, tuple[float, ...]]:
    """Returns the weights of the paper, equal ones, and for each metric those without it and with twice its weight."""
    found: dict[str, tuple[float, ...]] = {"as published": PAPER, "equal": (0.2,) * 5}
    for at, metric in enumerate(METRICS):
        for word, factor in (("without", 0.0), ("twice", 2.0)):
            moved = [weight * (factor if one == at else 1) for one, weight in enumerate(PAPER)]
            found[f"{word} {metric}"] = tuple(weight / sum(moved) for weight in moved)
    return found


def order(policies: Mapping[str, Mapping[str, Any]], weights: Sequence[float]) -> list[tuple[str, float]]:
    """Returns the policies with their composites, the best first."""
    composite = {
        name: sum(weight * told[metric][0] for metric, weight in zip(METRICS, weights, strict=True))
        for name, told in policies.items()
    }
    return sorted(composite.items(), key=lambda one: -one[1])


def firsts(policies: Mapping[str, Mapping[str, Any]]) -> dict[str, float]:
    """Returns how often each policy is the best one, of 10,000 weightings drawn evenly from all that there are."""
    means = np.array([[told[metric][0] for metric in METRICS] for told in policies.values()])
    drawn = np.random.default_rng(0).dirichlet(np.ones(len(METRICS)), _DRAWS)
    best = (drawn @ means.T).argmax(axis=1)
    return {name: float((best == at).mean()) for at, name in enumerate(policies)}


def lines(tables: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[str]:
    """The section of the page. `tables`: row → its policies with their means."""
    yield from ("## With other weights", "")
    yield "The best policy of each table, and by how much it is ahead of the next, by the kept means. The last line"
    yield from (f"has, of {_DRAWS:,} weightings drawn evenly, the share in which each policy is the best.", "")
    yield from ("| weights | " + " | ".join(tables) + " |", "|---|" + "---|" * len(tables))
    for name, weights in weightings().items():
        cells = []
        for policies in tables.values():
            (best, value), (_, after), *_ = order(policies, weights)
            cells.append(f"`{best}` +{value - after:.3f}")
        yield f"| {name} | {' | '.join(cells)} |"
    shares = (
        ", ".join(f"`{name}` {share:.0%}" for name, share in sorted(firsts(one).items(), key=lambda each: -each[1])
                  if share >= 0.01)
        for one in tables.values()
    )  # fmt: skip
    yield from (f"| drawn | {' | '.join(shares)} |", "")
