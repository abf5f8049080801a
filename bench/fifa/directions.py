"""Checks of FiFA itself: effects whose direction is known before anything is measured, and the size of each effect.

A benchmark that loses one of these measures something else than forgetting. A budget of 100 % holds all that an agent
is told, so there nothing is forgotten, whatever the policy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.fifa.measures import Measured
from bench.fifa.runs import Cell, Cells, Size
from bench.fifa.statistics import bootstrap, cliff_interval, hedges, holm, wilcoxon
from bench.kept import Row
from memquorum.core.policy import FORGETTING

SIZE = Size(seeds=10, agents=5, shares=(5, 10, 20, 40, 80, 100), paper=())
"""One agent of each archetype."""
_ALL = "100 %"
Values = NDArray[np.float64]
Seeds = Sequence[Mapping[Cell, Measured]]


@dataclass(frozen=True)
class Direction:
    """An effect that is expected: in each seed `more` is above `less`."""

    says: str
    more: Values
    less: Values


class Table:
    """The cells of some seeds."""

    def __init__(self, seeds: Seeds, shares: Sequence[int]) -> None:
        self._seeds, self.budgets = seeds, [f"{share} %" for share in shares]

    def of(self, budget: str, policy: str, name: str) -> Values:
        """Returns a figure by seed; `composite` and `ce` are held against FIFO of the same cell."""
        told = [(one[budget, policy], one[budget, "fifo"]) for one in self._seeds]
        if name in ("composite", "ce"):
            return np.array([getattr(own, name)(fifo) for own, fifo in told])
        return np.array([getattr(own, name) for own, _ in told], np.float64)

    def bound(self, policy: str, name: str) -> Values:
        """Returns the mean of a figure over the budgets under which something is forgotten, by seed."""
        return np.array([self.of(budget, policy, name) for budget in self.budgets if budget != _ALL]).mean(axis=0)

    def steps(self, policy: str, name: str) -> Values:
        """Returns the change of a figure from each budget to the next: shape (steps, seeds)."""
        return np.array([self.of(b, policy, name) - self.of(a, policy, name) for a, b in pairwise(self.budgets)])

    def slope(self, policy: str, name: str) -> Values:
        """Returns, by seed, by how much a figure grows where a budget doubles: the slope of a straight line."""
        doublings = np.log2([float(budget.split()[0]) for budget in self.budgets])
        values = np.array([self.of(budget, policy, name) for budget in self.budgets])
        return np.array(np.polyfit(doublings, values, 1)[0])


def expected(table: Table) -> list[Direction]:
    """The effects whose direction is known."""
    found = [
        Direction(f"nothing forgotten answers more than `{name}` (NC)", table.of(_ALL, name, "nc"),
                  table.bound(name, "nc"))
        for name in FORGETTING
    ]  # fmt: skip
    found += [
        Direction(f"`{name}` reaches more goals than chance (GCR)", table.bound(name, "gcr"),
                  table.bound("random", "gcr"))
        for name in FORGETTING if name != "random"
    ]  # fmt: skip
    return [
        *found,
        Direction("the newest kept contradict less than a draw (`fifo`)", table.bound("random", "contradicted"),
                  table.bound("fifo", "contradicted")),
        Direction("the more is held, the more strangers would find (`fifo`, without gates)",
                  table.bound("fifo", "bare_pp"), table.of(_ALL, "fifo", "bare_pp")),
        Direction("summaries cost less than they save (`reflection`, beside `worth`)", table.bound("worth", "cost"),
                  table.bound("reflection", "cost")),
    ]  # fmt: skip


def directions(cells: Cells) -> Row:
    """Measures the known directions, whether a larger budget ever costs anything, and the sizes of effects."""
    size = replace(cells.size, shares=(20, 100), paper=()) if cells.size.quick else SIZE
    seeds = Cells(size, cells.cache).of(distractors=True, votes=False)
    table = Table(seeds, size.shares)
    row = Row("directions", "directions that are known beforehand, and sizes of effects, with distractors")
    known, raw = expected(table), list[float]()
    lines = [_line(one, raw) for one in known]
    row.figure("known directions", len(lines), "")
    row.figure("found, with the whole interval", sum(line[2] > 0 for line in lines), "")
    row.figure("found reversed", sum(line[3] < 0 for line in lines), "")
    for name, told in (("NC", "nc"), ("GCR", "gcr")):
        steps = np.array([table.steps(policy, told) for policy in FORGETTING])
        row.figure(f"{name}: steps to a larger budget", steps.size, "")
        row.figure(f"{name}: of them it falls in", 100 * float((steps < 0).mean()), "%")
        row.figure(f"{name}: mean steps that fall", int((steps.mean(axis=2) < 0).sum()), "")
        row.figure(f"{name}: the largest fall of a seed", max(0.0, -float(steps.min())), "")
        row.at_most(f"{name}: mean steps that fall", 0)
    row.note(
        f"{size.seeds} seeds of {size.agents} agents, budgets {', '.join(table.budgets)}: a smaller run than the "
        "tables. Intervals are 95 % bootstrap over seeds; g is Hedges' of the paired differences; p Wilcoxon's, by Holm"
    )
    row.series = {
        "known": [[*line, float(f"{p:.3g}")] for line, p in zip(lines, holm(raw), strict=True)],
        "slopes": {policy: [_short(*vars(bootstrap(table.slope(policy, told))).values()) for told in ("nc", "gcr")]
                   for policy in FORGETTING},
        "pairs": list(_pairs(table)),
    }  # fmt: skip
    return row


def _line(one: Direction, raw: list[float]) -> list[Any]:
    """A line of the table of directions, and p: mean and interval, seeds in which it holds, δ and g with intervals."""
    apart = one.more - one.less
    raw.append(wilcoxon(apart))
    gain, delta, g = bootstrap(apart), cliff_interval(one.more, one.less), hedges(apart)
    spans = [_short(*vars(found).values()) for found in (delta, g)]
    return [one.says, *_short(gain.mean, gain.low, gain.high), round(float((apart > 0).mean()), 3), *spans]


def _pairs(table: Table) -> Sequence[list[Any]]:
    """The sizes of effects on the composite of each pair of policies."""
    by_policy = {name: table.bound(name, "composite") for name in FORGETTING}
    found = []
    for first, second in combinations(FORGETTING, 2):
        a, b = by_policy[first], by_policy[second]
        spans = (bootstrap(a - b), cliff_interval(a, b), hedges(a - b))
        found.append([first, second, *(_short(*vars(one).values()) for one in spans)])
    return found


def _short(*values: float) -> list[float]:
    return [round(value, 4) for value in values]
