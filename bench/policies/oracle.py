"""The row of the oracle share: how far each policy gets from chance to the best that was found, at 30 % of the tokens.

`length` lets the shortest go first; it is no policy, and what any policy has to be better than. Intervals are of 2,000
bootstraps by conversation, with the same draws for all policies, so that differences are paired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from bench.consolidation.sessions import TAU
from bench.kept import Row
from bench.policies.frame import Material
from bench.policies.streams import AFTER, ALONG, ReplayCourse
from bench.sets import AMI, LOCOMO, there
from memquorum.core.policy import FORGETTING
from memquorum.core.whatif.events import Came, Course
from memquorum.core.whatif.keepers import Setting
from memquorum.core.whatif.replaying import Trial, replay
from memquorum.core.whatif.report import RANDOM, SEEDS, attempt

SETS = (LOCOMO, AMI, TAU)
SHARE = 0.3
LENGTH = "length"
OURS, OTHERS = ("worth", "hybrid"), ("lru", "fifo", LENGTH)
_ORACLE, _CEILING, _READS = "oracle", "ceiling", "reads"
_GOAL, _DRAWS = 0.25, 2_000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Served:
    """By policy, the reads that were served of each conversation; random's are means of its seeds."""

    hits: Mapping[str, Floats]

    def share(self, policy: str, some: NDArray[np.intp] | slice = slice(None)) -> float:
        """The oracle share over some conversations."""
        hits, chance, best = (self.hits[name][some].sum() for name in (policy, RANDOM, _ORACLE))
        return float((hits - chance) / (best - chance)) if best > chance else 0.0

    def lead(self, policy: str, some: NDArray[np.intp] | slice = slice(None)) -> float:
        """By how much it is above the best of the others; random's share is 0."""
        return self.share(policy, some) - max(0.0, *(self.share(one, some) for one in OTHERS))

    def interval(self, of: Callable[[NDArray[np.intp]], float]) -> tuple[float, float]:
        """95 % of what comes of conversations that are drawn anew."""
        count = len(self.hits[RANDOM])
        draws = np.random.default_rng(0).integers(0, count, (_DRAWS, count))
        low, high = np.quantile([of(draw) for draw in draws], (0.025, 0.975))
        return float(low), float(high)


def served(told: Sequence[ReplayCourse], material: Material) -> Served:
    """Measures each policy's hits with a share of each conversation's tokens as the budget."""
    trial = Trial(material.policy.budget)
    found: dict[str, list[float]] = {}
    for one in told:
        budget = max(1, int(one.tokens * SHARE))
        tried = [Setting(name, budget) for name in FORGETTING if name != RANDOM]
        tried += [Setting(RANDOM, budget, seed) for seed in range(SEEDS)]
        made = attempt(one.course, tried, trial)
        (long, *_), _ = replay(by_length(one.course), [Setting("fifo", budget)], trial)
        hits: dict[str, list[int]] = {LENGTH: [long.counts.hits]}
        for result in made.results:
            hits.setdefault(result.setting.policy, []).append(result.counts.hits)
        for name, counts in hits.items():
            found.setdefault(name, []).append(sum(counts) / len(counts))
        found.setdefault(_ORACLE, []).append(max(made.best.counts.hits, long.counts.hits))
        found.setdefault(_CEILING, []).append(made.ceiling)
        found.setdefault(_READS, []).append(one.reads - one.unstored)
    return Served({name: np.array(values, np.float64) for name, values in found.items()})


def by_length(course: Course) -> Course:
    """The same, in which the shortest is the oldest."""
    events = [
        replace(one, item=replace(one.item, created=one.item.tokens)) if isinstance(one, Came) else one
        for one in course.events
    ]
    return replace(course, events=events)


def oracle_share(material: Material) -> Row:
    """The oracle share of every policy."""
    row = Row("oracle-share", f"the oracle share of every policy at {SHARE:.0%} of the tokens that are stored")
    for name in [one for one in SETS if there(material.data, one)] or SETS:
        for when in (ALONG,) if name == TAU else (ALONG, AFTER):
            told = material.courses(name, when)
            _figures(row, name if when == ALONG else f"{name}, {when}", served(told, material), goal=when == ALONG)
        lost, reads = sum(one.unstored for one in told), sum(one.reads for one in told)
        row.note(f"{name}: {lost} of {reads} reads are of what salience did not store, and are left out")
    return row


def _figures(row: Row, name: str, of: Served, *, goal: bool) -> None:
    best = max(OURS, key=of.share)
    row.figure(f"{name}: {best}, the better of ours", of.share(best), "")
    low, high = of.interval(lambda draw: of.lead(best, draw))
    row.figure(f"{name}: its lead over the best of LRU, FIFO, Random, length", of.lead(best), "")
    row.figure(f"{name}: its lead, low end of 95 %", low, "")
    row.figure(f"{name}: its lead, high end of 95 %", high, "")
    if goal:
        row.at_least(f"{name}: {best}, the better of ours", _GOAL)
        row.at_least(f"{name}: its lead, low end of 95 %", 0.0)
    for policy in (*FORGETTING, LENGTH):
        if policy != RANDOM:
            low, high = of.interval(lambda draw, policy=policy: of.share(policy, draw))  # type: ignore[misc]
            row.figure(f"{name}: {policy}", of.share(policy), f"({low:.2f} to {high:.2f})")
    reads = of.hits[_READS].sum()
    for policy in (RANDOM, _ORACLE, _CEILING):
        row.figure(f"{name}: reads served, {policy}", 100 * of.hits[policy].sum() / reads, "%")


ROWS: Mapping[str, Callable[[Material], Row]] = {"oracle-share": oracle_share}
