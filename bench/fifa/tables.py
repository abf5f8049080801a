"""The figures of FiFA, made of its cells: the rows of the page, and what its tables and charts are drawn of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.fifa.living import CAP, OPEN_VOTE, OTHER, PROTECTED, REASONS
from bench.fifa.measures import METRICS, Measured
from bench.fifa.runs import Cell, Cells, budgets
from bench.fifa.statistics import bootstrap, cliff, effect, holm, mcnemar, wilcoxon
from bench.kept import Row
from memquorum.core.policy import FORGETTING

SIMPLE = ("fifo", "lru", "random")
"""The policies that the chosen one has to beat."""
HYBRID = "hybrid"
BEYOND = {
    CAP: "beyond the budget since the caps leave no room",
    PROTECTED: "beyond the budget since what is protected, rests or is needed is more than it",
    OPEN_VOTE: "beyond the budget until the next epoch",
    OTHER: "beyond the budget for another reason",
}
"""The figures of the excess by reason."""
Seeds = Sequence[Mapping[Cell, Measured]]


def _values(seeds: Seeds, budget: str, policy: str, metric: str = "composite") -> NDArray[np.float64]:
    """A metric by seed."""
    return np.array([one[budget, policy].metric(metric, one[budget, "fifo"]) for one in seeds])


def _over(seeds: Seeds, policy: str, metric: str = "composite") -> NDArray[np.float64]:
    """A metric by seed, the mean of all budgets that bind."""
    return np.mean([_values(seeds, budget, policy, metric) for budget in budgets(seeds)], axis=0)


def chosen(seeds: Seeds) -> str:
    """The policy of the highest composite on some seeds, over all budgets that bind."""
    return max(FORGETTING, key=lambda name: float(_over(seeds, name).mean()))


def composite(cells: Cells) -> Row:
    """The policy chosen on the first third of the seeds, beside the best of the simple ones on the others."""
    row = Row("composite", "the chosen policy and the best of FIFO, LRU and Random, with distractors, without votes")
    seeds = cells.of(distractors=True, votes=False)
    first, rest = seeds[: cells.size.chosen], seeds[cells.size.chosen :]
    name = chosen(first)
    best = max(SIMPLE, key=lambda one: float(_over(rest, one).mean()))
    differences = {one: _over(rest, name) - _over(rest, one) for one in SIMPLE}
    corrected = dict(zip(SIMPLE, holm([wilcoxon(differences[one]) for one in SIMPLE]), strict=True))
    gain = bootstrap(differences[best])
    row.figure("chosen: composite", float(_over(rest, name).mean()), "")
    row.figure("best of the three: composite", float(_over(rest, best).mean()), "")
    row.figure("difference", gain.mean, "")
    row.figure("difference, lower end of 95 %", gain.low, "")
    row.figure("difference, upper end of 95 %", gain.high, "")
    row.figure("p, Wilcoxon, Holm", corrected[best], "")
    row.figure("Cliff's δ", cliff(_over(rest, name), _over(rest, best)), "")
    row.figure("difference with the normalised SRA", float(np.mean(_normal(rest, name) - _normal(rest, best))), "")
    alone, other = _alone(rest, name, best)
    row.figure("goals that only the chosen one reaches", alone, "goals")
    row.figure("goals that only the other one reaches", other, "goals")
    row.figure("p, McNemar", mcnemar(alone, other), "")
    row.at_least("difference, lower end of 95 %", 0)
    row.at_most("p, Wilcoxon, Holm", 0.01)
    row.note(
        f"chosen on seeds 0 to {len(first) - 1}: `{name}`; tested on the {len(rest)} others, paired by seed; the mean "
        f"over the budgets {', '.join(budgets(seeds))}. The best of the three there is `{best}`; Holm over the three"
    )
    row.series = {"chosen": name, "best": best, "by budget": _by_budget(rest, name)}
    return row


def _normal(seeds: Seeds, policy: str) -> NDArray[np.float64]:
    return np.array([
        np.mean([one[budget, policy].composite(one[budget, "fifo"], normal=True) for budget in budgets(seeds)])
        for one in seeds
    ])  # fmt: skip


def _alone(seeds: Seeds, first: str, second: str) -> tuple[int, int]:
    """Counts the goals, under all budgets, that only the first and only the second policy reaches."""
    pairs = [
        (a, b)
        for one in seeds
        for budget in budgets(seeds)
        for a, b in zip(one[budget, first].goals, one[budget, second].goals, strict=True)
    ]
    return sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs)


def _by_budget(seeds: Seeds, name: str) -> list[list[Any]]:
    """Returns a line per budget: the best of the three there, the difference with its interval, p by Holm,
    Cliff's δ.
    """
    lines, raw = list[list[Any]](), list[float]()
    for budget in budgets(seeds):
        best = max(SIMPLE, key=lambda one: float(_values(seeds, budget, one).mean()))
        own, its = _values(seeds, budget, name), _values(seeds, budget, best)
        gain = bootstrap(own - its)
        raw.append(wilcoxon(own - its))
        lines.append([budget, best, *_short(gain.mean, gain.low, gain.high), round(cliff(own, its), 2)])
    return [[*line, float(f"{p:.3g}")] for line, p in zip(lines, holm(raw), strict=True)]


def _short(*values: float) -> list[float]:
    return [round(value, 4) for value in values]


def privacy(cells: Cells) -> Row:
    """Measures what strangers are told, and what is kept in spite of being erased."""
    row = Row("privacy", "privacy preservation and leakage of `hybrid`, with distractors, without votes")
    seeds = cells.of(distractors=True, votes=False)

    def over(name: str, policy: str = "hybrid") -> float:
        return float(np.mean([getattr(one[budget, policy], name) for one in seeds for budget in budgets(seeds)]))

    low = bootstrap(_over(seeds, "hybrid", "PP"))
    row.figure("PP", low.mean, "")
    row.figure("PP, lower end of 95 %", low.low, "")
    row.figure("leakage rate", 100 * over("leakage"), "tokens in 100 turns")
    row.figure("turns at which anything leaks", 100 * over("leaking"), "%")
    row.figure("PP if strangers were given all that is there", over("bare_pp"), "")
    row.figure("leakage rate if strangers were given all that is there", 100 * over("bare_leakage"),
               "tokens in 100 turns")  # fmt: skip
    for policy in FORGETTING:
        row.figure(f"PP, {policy}", over("pp", policy), "")
        row.figure(f"PP if strangers were given all that is there, {policy}", over("bare_pp", policy), "")
    row.at_least("PP", 0.95)
    row.at_most("leakage rate", 1)
    return row


def policies(cells: Cells) -> Row:
    """All policies beside each other, as the paper's tables have them."""
    return _beside(Row("policies", "all policies, with distractors"), cells, distractors=True)


def quiet(cells: Cells) -> Row:
    """The same where all that is said is about something."""
    return _beside(Row("quiet", "all policies, without distractors"), cells, distractors=False)


def votes(cells: Cells) -> Row:
    """All policies with the members' vote, as production has it."""
    row = _beside(
        Row("votes", "all policies, with distractors, where members vote"), cells, distractors=True, votes=True
    )
    return _voted(row, cells.of(distractors=True, votes=True))


def quiet_votes(cells: Cells) -> Row:
    """The same where all that is said is about something."""
    row = Row("quiet-votes", "all policies, without distractors, where members vote")
    _beside(row, cells, distractors=False, votes=True)
    return _voted(row, cells.of(distractors=False, votes=True))


def _beside(row: Row, cells: Cells, *, distractors: bool, votes: bool = False) -> Row:
    seeds = cells.of(distractors=distractors, votes=votes)
    for name in FORGETTING:
        row.figure(f"composite, {name}", float(_over(seeds, name).mean()), "")
    row.series = _table(seeds)
    return row


def _voted(row: Row, seeds: Seeds) -> Row:
    every = [one[cell] for one in seeds for cell in one]
    gone, kept = sum(one.gone for one in every), sum(one.kept for one in every)
    row.figure("tokens beyond the budget, of those held", 100 * float(np.mean([one.over for one in every])), "%")
    for why in REASONS:
        row.figure(BEYOND[why], 100 * float(np.mean([one.over_by[why] for one in every])), "%")
    row.at_most(BEYOND[OTHER], 2)
    best = max((name for name in FORGETTING if name != HYBRID), key=lambda name: float(_over(seeds, name).mean()))
    row.figure("hybrid: composite", float(_over(seeds, HYBRID).mean()), "")
    row.figure("best of the other policies: composite", float(_over(seeds, best).mean()), "")
    row.note(f"the best of the other policies is `{best}`")
    row.figure("nominations voted for", 100 * gone / max(1, gone + kept), "%")
    return row


def _table(seeds: Seeds) -> dict[str, Any]:
    """Means with their intervals, what varies by policy, pairs, and the composite of each budget."""
    lines = {
        name: {
            **{metric: _short(*vars(bootstrap(_over(seeds, name, metric))).values()) for metric in METRICS},
            **{other: round(_mean(seeds, name, other), 5)
               for other in ("normal_sra", "bare_pp", "leakage", "contradicted", "cost", "over")},
            "over_by": {why: round(_mean_over(seeds, name, why), 5) for why in REASONS},
        }
        for name in FORGETTING
    }  # fmt: skip
    factors, pairs = {}, list[list[Any]]()
    for metric in METRICS:
        by_policy = {name: _over(seeds, name, metric) for name in FORGETTING}
        found = effect(np.stack(list(by_policy.values()), axis=1))
        factors[metric] = [round(found.f, 2), float(f"{found.p:.3g}"), round(found.eta2, 3)]
        names = [(a, b) for at, a in enumerate(FORGETTING) for b in FORGETTING[at + 1 :]]
        corrected = holm([wilcoxon(by_policy[a] - by_policy[b]) for a, b in names])
        pairs += [
            [a, b, metric, round(float((by_policy[a] - by_policy[b]).mean()), 4), float(f"{p:.3g}"),
             round(cliff(by_policy[a], by_policy[b]), 2)]
            for (a, b), p in zip(names, corrected, strict=True)
        ]  # fmt: skip
    return {
        "policies": lines,
        "factors": factors,
        "pairs": pairs,
        "budgets": {
            budget: {name: round(float(_values(seeds, budget, name).mean()), 4) for name in FORGETTING}
            for budget in budgets(seeds)
        },
        "goals": {
            budget: {name: round(float(_values(seeds, budget, name, "GCR").mean()), 4) for name in FORGETTING}
            for budget in budgets(seeds)
        },
    }


def _mean_over(seeds: Seeds, policy: str, why: str) -> float:
    return float(np.mean([one[budget, policy].over_by[why] for one in seeds for budget in budgets(seeds)]))


def _mean(seeds: Seeds, policy: str, name: str) -> float:
    return float(np.mean([getattr(one[budget, policy], name) for one in seeds for budget in budgets(seeds)]))
