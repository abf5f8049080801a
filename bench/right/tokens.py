r"""Rows of budgets: the decisions and the evidence that are left where a share of a namespace is kept, counted in
tokens.

Kept are the texts with the most worth for their length, up to the budget; a word stands for a token. The figure with a
goal is how far that gets from chance to boosted trees, which were fitted on the other teams or conversations. The two
plain forms of worth stand beside the shipped one, and orders that know no words.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bench.forgetting import talks
from bench.forgetting.fleet import Worths
from bench.kept import Row
from bench.right import trees
from bench.right.frame import Material, Measure
from bench.right.trees import Floats, Told
from memquorum.core.reading.content import content

SHARES = (0.5, 0.3, 0.2)
SHIPPED, RANDOM, TREES = "", ", random", ", trees"
_DRAWS = 8


def fill(order: Floats, words: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
    """Returns which texts are kept: by the order, the highest first, each that still fits; of equals the earlier."""
    kept, left = np.zeros(len(words), bool), share * words.sum()
    for at in np.argsort(-order, kind="stable").tolist():
        if words[at] <= left:
            kept[at] = True
            left -= words[at]
    return kept


def left(told: Sequence[Told], orders: Sequence[Floats], share: float) -> list[float]:
    """Counts each namespace's sought things that are left."""
    kept = [fill(order, one.words, share) for one, order in zip(told, orders, strict=True)]
    return [float(sum(own[list(some)].any() for some in one.sought)) for one, own in zip(told, kept, strict=True)]


def together(told: Sequence[Told], found: Sequence[float]) -> float:
    """The share of all things sought."""
    return sum(found) / sum(len(one.sought) for one in told)


def on_average(told: Sequence[Told], found: Sequence[float]) -> float:
    """The mean of the namespaces' shares."""
    return float(np.mean([some / len(one.sought) for one, some in zip(told, found, strict=True) if one.sought]))


def shipped(told: Told) -> Floats:
    """The worth of each text, as the door has it."""
    worths = Worths()
    return np.array([worths.hear(text) for text in told.texts], np.float64)


def plain(told: Told, *, normalised: bool = False) -> Floats:
    """Σ ln((n + 2) / (df + 1)) over the content words, or the same divided by ln(n + 2)."""
    before, found = Counter[str](), []
    for at, text in enumerate(told.texts):
        stems = content(text).stems
        whole = sum(math.log((at + 2) / (before[stem] + 1)) for stem in stems)
        found.append(whole / math.log(at + 2) if normalised else whole)
        before.update(stems)
    return np.array(found)


def _for_its_length(worth: Callable[[Told], Floats]) -> Callable[[Told], Floats]:
    return lambda told: worth(told) / told.words


ORDERS: Mapping[str, Callable[[Told], Floats]] = {
    SHIPPED: _for_its_length(shipped),
    ", sum": _for_its_length(plain),
    ", normalised": _for_its_length(lambda told: plain(told, normalised=True)),
    ", longest first": lambda told: told.words.astype(np.float64),
    ", latest first": lambda told: np.arange(len(told.texts), dtype=np.float64),
}
"""By what is kept: the suffix of its figures."""


def budgets(
    row: Row,
    told: Sequence[Told],
    scores: Sequence[Floats],
    what: str,
    *,
    mean: Callable[[Sequence[Told], Sequence[float]], float],
    goal: float,
) -> None:
    """Measures the orders, chance and trees, whose `scores` they are, at each budget."""
    random = np.random.default_rng(1)
    draws = [[random.random(len(one.texts)) for one in told] for _ in range(_DRAWS)]
    orders = {name: [order(one) for one in told] for name, order in ORDERS.items()}
    orders[TREES] = [score / one.words for score, one in zip(scores, told, strict=True)]
    for share in SHARES:
        at = f"at {share:.0%}".replace("%", " %")
        found = {name: mean(told, left(told, order, share)) for name, order in orders.items()}
        found[RANDOM] = float(np.mean([mean(told, left(told, draw, share)) for draw in draws]))
        span = found[TREES] - found[RANDOM]
        for name in ORDERS:
            row.figure(f"of the way to trees {at}{name}", (found[name] - found[RANDOM]) / span, "")
        row.at_least(f"of the way to trees {at}", goal)
        for name, value in found.items():
            row.figure(f"{what} left {at}{name}", 100 * value, "%")


def meetings(material: Material) -> Row:
    """AMI: decisions and actions of which an act is left."""
    row = Row("tokens-meetings", "AMI's decisions and actions left to a budget of tokens")
    told, scores = material.some(material.told, 8), material.some(material.trees, 8)
    budgets(row, told, scores, "decisions and actions", mean=together, goal=1.0)
    row.note(
        f"{sum(len(one.sought) for one in told)} decisions and actions; {len(told)} meetings; trees: of the other teams"
    )
    return row


def conversations(material: Material) -> Row:
    """LoCoMo: turns that answer a question."""
    row = Row("tokens-conversations", "LoCoMo's evidence left to a budget of tokens")
    told = [
        Told(talk.name, talk.texts, talk.wanted, tuple((int(at),) for at in np.flatnonzero(talk.wanted)))
        for talk in talks.read(material.data)
    ]
    budgets(row, told, trees.scores(told), "evidence", mean=on_average, goal=0.5)
    row.note(f"{sum(len(one.sought) for one in told)} turns of {len(told)} conversations; trees: of the other ones")
    return row


ROWS: Mapping[str, Measure] = {"tokens-meetings": meetings, "tokens-conversations": conversations}
