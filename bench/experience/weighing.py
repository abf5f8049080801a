"""The row of weights: the effect of a weight beside nearness, and of the first weight (decision 126)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from bench.experience.admitting import weighed, weight_of
from bench.experience.frame import POLICY, REACH, Material, Shown, Split, best, half, place, recall
from bench.kept import Row
from memquorum.core.experience.similarity import similarities_ppm, stacked, units
from memquorum.core.experience.view import Held, packed, scored
from memquorum.core.experience.weights import Use, moved
from memquorum.core.policy import PPM, ExperiencePolicy

_NOTHING = 20
"""After so many roots every weight is one."""
_STEP = 20_000
Score = Callable[[Any, Any, ExperiencePolicy], Any]


def _in_steps(near: Any, weights: Any, policy: ExperiencePolicy) -> Any:
    """By weight among those that are as near, within steps of 0.02."""
    found = np.where(near > 0, (near // _STEP + 1) * 100 * PPM + weights, 0)
    return np.where(weights < policy.floor_ppm, 0, found)


_RULES: Mapping[str, tuple[Score, int]] = {
    "s = sim": (scored, _NOTHING), "s = sim · w^¼": (scored, 2), "s = sim · w^½": (scored, 1),
    "s = sim · w": (scored, 0), "s = sim in steps of 0.02, then w": (_in_steps, 0),
}  # fmt: skip
_FIRSTS = {"w₀ = S": 0, "w₀ = 1": PPM}


def weighing(material: Material) -> Row:
    """Recall by each rule, when memories have come in and after an epoch of use."""
    row = Row("weighing", "how much a weight counts beside nearness, and with which one a memory begins")
    sets = {
        "Fool Me Twice R@3": (material.fm2, material.shown_fm2, 3),
        "MuSiQue R@5": (material.musique, material.shown_musique, 5),
    }
    found = dict[str, dict[str, list[float]]]()
    for name, (split, shown, count) in sets.items():
        every = np.mean(
            [
                recall(best(split.vectors @ v, count), a.evidence)
                for v, a in zip(split.questions, split.asked, strict=True)
            ]
        )
        row.figure(f"{name}, store all", float(every), "")
        found[name] = {
            f"{first}, {rule}": _recalls(split, weighed(shown, policy), count, score, policy)
            for first, ppm in _FIRSTS.items()
            for rule, (score, roots) in _RULES.items()
            for policy in [replace(POLICY, first_ppm=ppm, weight_roots=roots)]
        }
        for rule, (came, used) in found[name].items():
            row.figure(f"{name}, {rule}: admitted", came, "")
            row.figure(f"{name}, {rule}: after an epoch", used, "")
    for left_out in sets:
        others = [name for name in sets if name != left_out]
        chosen = max(found[left_out], key=lambda rule: sum(sum(found[name][rule]) for name in others))
        row.figure(f"chosen without {left_out} ({chosen}): after an epoch", found[left_out][chosen][1], "")
    row.note(
        "the admitted memories are the same everywhere: by the shipped policy. Chosen is the rule with most recall on "
        "the other set, before and after an epoch together. An epoch asks each finished task once more"
    )
    return row


def _recalls(split: Split, shown: Shown, count: int, score: Score, policy: ExperiencePolicy) -> list[float]:
    """Before and after an epoch."""
    held = sorted(shown.held, key=lambda one: one.id)
    rows = stacked([one.vector for one in held], split.questions.shape[1])
    asked = [similarities_ppm(rows, units(half(one))) for one in split.questions]

    def measured(some: Sequence[Held]) -> float:
        weights = np.array([one.weight_ppm for one in some], np.int64)
        answers = ([place(some[at]) for at in best(score(near, weights, policy), count)] for near in asked)
        return float(np.mean([recall(a, one.evidence) for a, one in zip(answers, split.asked, strict=True)]))

    weights = np.array([one.weight_ppm for one in held], np.int64)
    uses: dict[str, list[Use]] = {}
    for one in split.contexts:
        near = similarities_ppm(rows, units(one.vector))
        order = best(score(near, weights, policy), 4 * policy.memories_most)
        for given in packed([held[at] for at in order], policy):
            uses.setdefault(given.id, []).append(Use(one.id, REACH.reward_ppm(one, [given])))
    later = [
        replace(one, weight_ppm=moved(weight_of(one, shown), uses.get(one.id, ()), policy).weight_ppm) for one in held
    ]
    return [measured(held), measured(later)]


ROWS: Mapping[str, Callable[[Material], Row]] = {"weighing": weighing}
