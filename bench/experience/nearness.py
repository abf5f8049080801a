"""The row of nearness: what is kept from a question because it is far from it, and what a task does not name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bench.experience.frame import POLICY, Asked, Material, Split, best, half, place
from bench.kept import Row
from memquorum.core.experience.noting import NEAR, far, speaks_of
from memquorum.core.experience.similarity import similarities_ppm, stacked, units
from memquorum.core.experience.view import Held
from memquorum.core.policy import PPM

_FLOORS = (200_000, POLICY.given_ppm, 300_000)
_GIVEN = 10


def nearness(material: Material) -> Row:
    """Measures what a floor of nearness cuts of the memories that questions need, and of the others."""
    row = Row("nearness", "memories too far from a question to be given, or to be named by the task")
    sets = {
        "Fool Me Twice": (material.fm2, material.shown_fm2.held, 3),
        "MuSiQue": (material.musique, material.shown_musique.held, 5),
    }
    for name, (split, held, count) in sets.items():
        near = _cosines(held, split.questions)
        needed = np.array([[place(one) in asked.evidence for one in held] for asked in split.asked], bool)
        row.figure(f"{name}: needed and in experience", int(needed.sum()), "")
        first = _first(near, count)
        row.figure(f"{name}: needed among the first {count}", int((needed & first).sum()), "")
        foreign = next(_cosines(of, split.questions) for other, (_, of, _) in sets.items() if other != name)
        others = _first(foreign, 5)
        for floor in _FLOORS:
            cut, called = near < floor, f"{name}, {floor / PPM:.2f}"
            row.figure(f"{called}: needed that is cut", _share(needed & cut, needed), "%")
            row.figure(f"{called}: lost of the first {count}", _share(needed & first & cut, needed & first), "%")
            row.figure(f"{called}: left of the other set's", _share(others & (foreign >= floor), others), "%")
        _named(row, name, split)
    row.note(
        "the floor is the policy's `given_ppm`; other floors stand beside it. A task names what it was given below "
        f"{NEAR:g} of the best one's cosine only where its record says something of it: of the first ten of all texts"
    )
    return row


def _named(row: Row, name: str, split: Split) -> None:
    """Counts the texts among the first ten that are far behind the best, and those of them that the record does not
    name.
    """
    told = {True: [0, 0, 0], False: [0, 0, 0]}
    for asked, question in zip(split.asked, split.questions, strict=True):
        cosines = split.vectors @ question
        given = best(cosines, _GIVEN)
        for at, so in zip(given, far([float(cosines[at]) for at in given]), strict=True):
            tally = told[at in asked.evidence]
            tally[0] += 1
            tally[1] += so
            tally[2] += so and not _spoken(asked, split.texts[at])
    for wanted, called in ((True, "needed"), (False, "not needed")):
        of, behind, unnamed = told[wanted]
        row.figure(f"{name}, below half of the best: {called}", 100 * behind / max(1, of), "%")
        row.figure(f"{name}, below half of the best: {called} and not named", 100 * unnamed / max(1, of), "%")


def _spoken(asked: Asked, text: str) -> bool:
    return speaks_of([asked.answer], text, [asked.text])


def _cosines(held: Sequence[Held], questions: Any) -> Any:
    rows = stacked([one.vector for one in held], questions.shape[1])
    return np.array([similarities_ppm(rows, units(half(one))) for one in questions])


def _first(near: Any, count: int) -> Any:
    found = np.zeros(near.shape, bool)
    for at, one in enumerate(near):
        found[at, best(one, count)] = True
    return found


def _share(some: Any, of: Any) -> float:
    return 100 * float(some.sum()) / max(1, int(of.sum()))


ROWS: Mapping[str, Callable[[Material], Row]] = {"nearness": nearness}
