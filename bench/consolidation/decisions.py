"""Rows of decisions: what of AMI's decisions and actions still has an act, or a sentence of one, that bears it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bench.consolidation.frame import RULES, SHIPPED, Material
from bench.consolidation.made import Consolidated
from bench.forgetting.fleet import Worths
from bench.kept import Row
from bench.right.frame import Measure
from bench.right.tokens import fill
from bench.sets import AMI
from memquorum.core.reading.content import content
from memquorum.core.reading.tokens import tokens

_SHARES = (500_000, 350_000, 200_000)
_GOAL_AT, _BETTER = 200_000, 3.0
_ACTS = "acts by worth alone"


def left(one: Consolidated) -> set[int]:
    """The turns of which anything is left that says something."""
    texts = one.stored.talk.texts
    kept = (at for at, some in one.kept.items() if any(content(texts[at][start:end]).stems for start, end in some))
    return {*one.raw, *kept}


def by_worth(one: Consolidated) -> set[int]:
    """The acts that are worth most for their length, as many tokens of them as the summaries left."""
    worths = Worths()
    heard = np.array([worths.hear(text) for text in one.stored.talk.texts], np.float64)
    own = list(one.stored.memories)
    costs = np.array([tokens(one.stored.talk.texts[at]) for at in own], np.int64)
    kept = fill(heard[own] / costs, costs, sum(map(tokens, one.texts)) / max(1, int(costs.sum())))
    return {at for at, there in zip(own, kept, strict=True) if there}


def _found(some: Sequence[Consolidated], turns: Sequence[set[int]]) -> float:
    sought = [(each, own) for one, own in zip(some, turns, strict=True) for each in one.stored.talk.sought]
    return 100 * sum(not own.isdisjoint(each) for each, own in sought) / max(1, len(sought))


def decisions(material: Material) -> Row:
    """AMI at three shares, by the shipped rule and the plain ones."""
    row = Row("decisions", "AMI's decisions and actions of which an act or a sentence of one is left")
    stored = material.stored(AMI)
    row.figure("stored at all", _found(material.left(AMI), [set(one.memories) for one in stored]), "%")
    for share in _SHARES:
        at = f"at {share / 10_000:.0f} %"
        for rule in RULES if share == _GOAL_AT else (SHIPPED, "worth alone"):
            some = material.left(AMI, rule, share)
            suffix = "" if rule == SHIPPED else f", {rule}"
            row.figure(f"left {at}{suffix}", _found(some, [left(one) for one in some]), "%")
            whole, before = (sum(map(tokens, (t for one in some for t in texts(one)))) for texts in (_after, _before))
            row.figure(f"tokens left {at}{suffix}", 100 * whole / before, "%")
            if rule == SHIPPED:
                row.figure(f"left {at}, {_ACTS}", _found(some, [by_worth(one) for one in some]), "%")
    name = f"left at {_GOAL_AT / 10_000:.0f} %"
    best = max(row.value(f"{name}, worth alone"), row.value(f"{name}, {_ACTS}"))
    row.figure("over worth alone", row.value(name) - best, "points")
    row.at_least("over worth alone", _BETTER)
    row.note(
        f"{sum(len(one.talk.sought) for one in stored)} decisions and actions of {len(stored)} meetings, each with the "
        f"acts that bear it out by people's labels; *{_ACTS}*: whole acts of the meeting, as many tokens as the "
        "summaries left; over the better of the two"
    )
    return row


def _after(one: Consolidated) -> list[str]:
    return one.texts


def _before(one: Consolidated) -> list[str]:
    return one.before


ROWS: Mapping[str, Measure] = {"decisions": decisions}
