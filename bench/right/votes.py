r"""Rows of the vote to forget on AMI: one vote's result on each unread act when it is due.

The policy is the shipped one: an act is due after a week, when the whole meeting has been heard. No parameter is
fitted: θ, the halves of R and the reference texts are the product's; limits of length and of trees, where they need
one, are found on the other teams. The members' earlier vote stands beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bench.forgetting import measures, meetings
from bench.forgetting.measures import Flags, Numbers
from bench.forgetting.said import RULES, Opinions, Said
from bench.kept import Row
from bench.right.frame import Material, Measure
from bench.right.trees import Floats, NoTrees

_SHIPPED = "as it is"
_AGAIN, _LONG = 2_000, 8


def highest(values: Numbers, count: int) -> Floats:
    """Returns how much of each item is kept where so many are, the highest first: of equals at the limit each the same
    part.
    """
    limit = np.sort(values)[-count]
    above, equal = values > limit, values == limit
    kept: Floats = above + equal * ((count - above.sum()) / equal.sum())
    return kept


def balanced(kept: Numbers, wanted: Flags) -> float:
    """Returns the mean of the shares rightly kept and rightly forgotten."""
    return float((kept[wanted].mean() + 1 - kept[~wanted].mean()) / 2)


def _counted(kept: Numbers, wanted: Flags) -> tuple[float, ...]:
    return float(kept[wanted].sum()), float(kept[~wanted].sum()), int(wanted.sum()), int((~wanted).sum())


def gain(ours: Sequence[Numbers], other: Sequence[Numbers], wanted: Sequence[Flags]) -> tuple[float, float]:
    """95 % of the difference of two balanced accuracies: 2,000 resamplings of the meetings, the same for both."""
    rows = np.array([(*_counted(a, w), *_counted(b, w)) for a, b, w in zip(ours, other, wanted, strict=True)])
    picks = np.random.default_rng(1).integers(0, len(rows), (_AGAIN, len(rows)))
    sums = rows[picks].sum(axis=1)
    found = [(s[:, 0] / s[:, 2] - s[:, 1] / s[:, 3]) / 2 for s in (sums[:, :4], sums[:, 4:])]
    low, high = np.percentile(found[0] - found[1], [2.5, 97.5])
    return float(low), float(high)


def whole(material: Material) -> Row:
    """Whole meetings: the votes beside what people kept, beside length, rank and trees that keep as many."""
    row = Row("vote-meetings", "AMI, the vote on each act when it is due, read by nobody")
    talks = _heard(material)
    wanted = np.concatenate([said.meeting.wanted for said in talks])
    theta = talks[0].policy.forget.theta_ppm
    due = {name: [_due(said, name) for said in talks] for name in RULES}
    kept = {name: np.concatenate([one.turns for one in some]) >= theta for name, some in due.items()}
    ours = kept[_SHIPPED]
    longest = highest(np.concatenate([said.meeting.words for said in talks]), int(ours.sum()))
    row.figure("balanced accuracy", balanced(ours, wanted), "")
    row.at_least("balanced accuracy", 0.76)
    row.figure("balanced accuracy, length at an equal share kept", balanced(longest, wanted), "")
    row.figure("over length", balanced(ours, wanted) - balanced(longest, wanted), "")
    row.at_least("over length", 0.02)
    ends = np.cumsum([len(said.meeting.acts) for said in talks])[:-1]
    low, high = gain(*(np.split(one, ends) for one in (ours, longest, wanted)))
    row.figure("over length, from", low, "")
    row.figure("over length, to", high, "")
    row.figure("kept", 100 * float(ours.mean()), "%")
    for name in RULES:
        if name != _SHIPPED:
            row.figure(f"balanced accuracy, {name}", balanced(kept[name], wanted), "")
            row.figure(f"kept, {name}", 100 * float(kept[name].mean()), "%")
    ranks = np.concatenate([one.ranks for one in due[_SHIPPED]])
    row.figure("balanced accuracy, rank alone", balanced(_by_rank(talks[0], ranks), wanted), "")
    equal = balanced(highest(ranks, int(ours.sum())), wanted)
    row.figure("balanced accuracy, rank at an equal share kept", equal, "")
    try:
        scores = np.concatenate(material.trees[: len(talks)])
    except NoTrees as none:
        row.note(f"without trees: {none}")
    else:
        equal = balanced(highest(scores, int(ours.sum())), wanted)
        row.figure("balanced accuracy, trees at an equal share kept", equal, "")
    row.note(f"{len(wanted)} acts of {len(talks)} meetings; from, to: 95 %, meetings drawn again")
    return row


def _by_rank(said: Said, ranks: Numbers) -> Flags:
    """Returns what members keep if the rank is all of R."""
    turns = said.turn(Opinions(ranks, (np.stack([ranks] * 4),) * 2, ranks, ranks), said.span)
    return turns >= said.policy.forget.theta_ppm


def correlation(material: Material) -> Row:
    """Measures whether members with different contexts vote independently (SPEC B, VM-11)."""
    row = Row("vote-correlation", "AMI, how alike members vote whose agents said other things")
    of: dict[str, list[float]] = {}
    for said in _heard(material):
        # A fifth speaker shares a member; who has no speaker has no context.
        speaking, theta = min(4, len(said.meeting.speakers)), said.policy.forget.theta_ppm
        long = said.meeting.words >= _LONG
        due = {name: _due(said, name) for name in RULES}
        shipped = due[_SHIPPED]
        each = {f"votes, {name}": one.scores < theta for name, one in due.items() if name != _SHIPPED} | {
            "votes": shipped.scores < theta,
            f"votes on acts of {_LONG} words and more": shipped.scores[:, long] < theta,
            "scores": shipped.scores,
            "shares": shipped.halves[1],
        }
        for name, rows in each.items():
            for a, b in combinations(rows[:speaking].astype(np.float64), 2):
                if a.std() and b.std():
                    of.setdefault(name, []).append(float(np.corrcoef(a, b)[0, 1]))
    for name in ("votes", *(name for name in of if name != "votes")):
        row.figure(f"correlation of {name}", float(np.mean(of[name])), "")
    row.figure("correlation of votes, highest of a pair", max(of["votes"]), "")
    row.at_most("correlation of votes", 0.5)
    row.note(f"{len(of['votes'])} pairs of members; the rank of worth is the same for all, the share is each one's own")
    return row


def items(material: Material) -> Row:
    """The 200 acts of five words or more, half of which people kept."""
    row = Row("vote-200", "AMI, 200 acts that people kept or not")
    wanted = material.some(meetings.items(material.data), 400)
    series = {one.name: one.series for one in material.meetings}
    labels, groups = np.array([keep for *_, keep in wanted]), [series[name] for name, *_ in wanted]
    due = {name: _due(material.shipped[name], _SHIPPED) for name in {name for name, *_ in wanted}}
    words = np.array([material.shipped[name].meeting.acts[at].words for name, at, _ in wanted])
    theta = next(iter(material.shipped.values())).policy.forget.theta_ppm
    orders: dict[str, NDArray[np.float64] | NDArray[np.int64]] = {
        "vote": np.array([due[name].turns[at] for name, at, _ in wanted]),
        "length": words,
        "rank": np.array([due[name].ranks[at] for name, at, _ in wanted]),
    }
    try:
        scores = dict(zip((one.name for one in material.meetings), material.trees, strict=True))
        orders["trees"] = np.array([scores[name][at] for name, at, _ in wanted])
    except NoTrees as none:
        row.note(f"without trees: {none}")
    for name, order in orders.items():
        row.figure(f"area under the curve, {name}", measures.area(order, labels), "")
    kept = {name: measures.kept_by_other_groups(order, labels, groups) for name, order in orders.items()} | {
        "vote": orders["vote"] >= theta
    }
    for name, flags in kept.items():
        row.figure(f"accuracy, {name}", 100 * measures.accuracy(flags, labels), "%")
    for other in list(orders)[1:]:
        low, high = _paired(orders["vote"], orders[other], labels)
        row.figure(
            f"area over {other}", measures.area(orders["vote"], labels) - measures.area(orders[other], labels), ""
        )
        row.figure(f"area over {other}, from", low, "")
        row.figure(f"area over {other}, to", high, "")
    row.note(
        f"{len(labels)} acts; from, to: 95 % of 2,000 paired resamplings; the vote's θ is its own, other limits are "
        "found on the other teams"
    )
    return row


def _paired(ours: Numbers, other: Numbers, wanted: Flags) -> tuple[float, float]:
    units = list(zip(ours.tolist(), other.tolist(), wanted.tolist(), strict=True))

    def figure(some: Sequence[tuple[float, float, bool]]) -> float:
        a, b, keep = (np.array(one) for one in zip(*some, strict=True))
        return measures.area(a, keep) - measures.area(b, keep)

    return measures.spread(units, figure)


def _heard(material: Material) -> list[Said]:
    return material.some(list(material.shipped.values()), 8)


def _due(said: Said, rule: str) -> Opinions:
    return said.due(range(len(said.meeting.acts)), RULES[rule])


ROWS: Mapping[str, Measure] = {"vote-meetings": whole, "vote-correlation": correlation, "vote-200": items}
