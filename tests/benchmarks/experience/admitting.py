"""Rows of admission: what was admitted on some tasks, asked by others; and which part of it does what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from memquorum.core.experience.abstract import abstracted
from memquorum.core.experience.admission import first_weight_ppm
from memquorum.core.experience.similarity import similarities_ppm, stacked, units
from memquorum.core.experience.view import Held, scored
from memquorum.core.experience.weights import Use, Weight, admitted, general, moved
from memquorum.core.policy import PPM, ExperiencePolicy
from tests.benchmarks.experience.frame import (
    POLICY,
    REACH,
    Asked,
    Material,
    Shown,
    Split,
    Words,
    best,
    half,
    interval,
    place,
    recall,
)
from tests.benchmarks.kept import Row

STEPS = ("none: store all", "+ SCEC", "+ scheduling", "+ evolution", "+ diffusion")
SOURCE = replace(POLICY, first_ppm=0, weight_roots=0)
"""As the source has it: w₀ = S, and s = sim · w."""
AS_SOURCE = ("+ scheduling as the source has it", "+ evolution as the source has it")


def ranked(held: Sequence[Held], questions: Any, count: int, policy: ExperiencePolicy = POLICY) -> Iterator[list[Held]]:
    """The first few of an experience for each question."""
    some = sorted(held, key=lambda one: one.id)
    rows = stacked([one.vector for one in some], questions.shape[1])
    weights = np.array([one.weight_ppm for one in some], np.int64)
    for question in questions:
        yield [some[at] for at in best(scored(similarities_ppm(rows, units(half(question))), weights, policy), count)]


def evolved(material: Material, shown: Shown, split: Split, policy: ExperiencePolicy = POLICY) -> list[Held]:
    """What is left after every finished task was asked once more: each memory that it is given has gained where it
    reaches by itself what the task came to."""
    experience = material.experience(shown.held)
    uses: dict[str, list[Use]] = {}
    for one in split.contexts:
        for held in experience.given(units(one.vector), policy):
            gain = REACH.reward_ppm(one, [held])
            uses.setdefault(held.id, []).append(Use(one.id, gain))
    return [
        replace(one, weight_ppm=moved(weight_of(one, shown), uses.get(one.id, ()), policy).weight_ppm)
        for one in shown.held
    ]


def weighed(shown: Shown, policy: ExperiencePolicy) -> Shown:
    """The same that were admitted, with the first weight that another policy gives."""
    held = [replace(one, weight_ppm=first_weight_ppm(shown.told[one.id], policy)) for one in shown.held]
    return Shown(held, shown.told, shown.provisional, shown.tried, shown.seconds)


def weight_of(one: Held, shown: Shown) -> Weight:
    """The first version of its weight."""
    return admitted(shown.told[one.id], one.weight_ppm)


def generals(material: Material, held: Sequence[Held]) -> list[Held]:
    """The general forms of what names something, at half of its weight."""
    told = [(one, form) for one in held if (form := abstracted(one.text)) is not None]
    vectors = material.vectors.of([form for _, form in told])
    return [
        Held(
            f"g{one.id[1:]}", form, one.encoder, half(vector),
            general("g", Weight(one.id, one.weight_ppm, 1), POLICY).weight_ppm,
        )
        for (one, form), vector in zip(told, vectors, strict=True)
    ]  # fmt: skip


def steps(material: Material, split: Split, shown: Shown, count: int) -> dict[str, list[float]]:
    """Recall of each question's evidence among the first so many, part by part of the mechanism. A general form
    stands for what it was made of."""
    told = {STEPS[0]: [best(split.vectors @ one, count) for one in split.questions]}
    later, source = evolved(material, shown, split), weighed(shown, SOURCE)
    alone = [replace(one, weight_ppm=PPM) for one in shown.held]
    for step, held, policy in (
        (STEPS[1], alone, POLICY), (STEPS[2], shown.held, POLICY), (STEPS[3], later, POLICY),
        (STEPS[4], [*later, *generals(material, later)], POLICY), (AS_SOURCE[0], source.held, SOURCE),
        (AS_SOURCE[1], evolved(material, source, split, SOURCE), SOURCE),
    ):  # fmt: skip
        told[step] = [[place(one) for one in found] for found in ranked(held, split.questions, count, policy)]
    return {
        step: [recall(found, asked.evidence) for found, asked in zip(answers, split.asked, strict=True)]
        for step, answers in told.items()
    }


def _admitted(row: Row, material: Material, split: Split, shown: Shown, counts: Sequence[int]) -> None:
    wanted = frozenset[int]().union(*(one.evidence for one in split.asked))
    got = {place(one) for one in shown.held}
    row.figure("texts stored", len(split.texts), "")
    row.figure("candidates", shown.tried, "")
    row.figure("admitted", len(shown.held), "")
    row.figure("of them evidence of what is asked", len(wanted & got), "")
    row.figure("too few contexts yet", shown.provisional, "")
    words = Words(split.texts)
    for count in counts:
        by_words = [recall(best(words.scores(one.text), count), one.evidence) for one in split.asked]
        row.figure(f"store all by words: R@{count}", float(np.mean(by_words)), "")
        found = steps(material, split, shown, count)
        for step in found:
            row.figure(f"{step}: R@{count}", float(np.mean(found[step])), "")
        for step in [*found][1:]:
            gains = [a - b for a, b in zip(found[step], found[STEPS[0]], strict=True)]
            lead = interval(gains, [one.group for one in split.asked])
            row.figure(f"{step}: R@{count} over store all", lead[0], f"({lead[1]:.3f} to {lead[2]:.3f})")
            row.figure(f"{step}: R@{count} over store all, low end of 95 %", lead[1], "")
        row.at_least(f"{STEPS[2]}: R@{count} over store all, low end of 95 %", 0.0)
        row.at_least(f"{STEPS[3]}: R@{count} over store all, low end of 95 %", 0.0)


def fool_me_twice(material: Material) -> Row:
    """Sentences that were admitted on one claim, asked by others that share evidence with it."""
    row = Row("fool-me-twice", "Fool Me Twice: admitted on one claim, asked on others that share its evidence")
    row.figure("claims asked", len(material.fm2.asked), "")
    _admitted(row, material, material.fm2, material.shown_fm2, (1, 3))
    row.note(
        "a finished task is a claim with the sentences that its author cites; candidates are all sentences that such "
        "tasks had been given, about ten each. Of claims that share evidence the first is a task, the others are asked"
    )
    return row


def musique(material: Material) -> Row:
    """Paragraphs that were admitted on sub-questions, asked by whole questions."""
    row = Row("musique", "MuSiQue: admitted on sub-questions, asked by the whole question")
    row.figure("questions asked", len(material.musique.asked), "")
    _admitted(row, material, material.musique, material.shown_musique, (5,))
    row.note("a finished task is a sub-question with its answer, candidates are all paragraphs; supports only score")
    return row


def ablation(material: Material) -> Row:
    """One table of the mechanism's parts."""
    row = Row("ablation", "what each part of the mechanism does, by recall of evidence")
    for name, split, shown, count in (
        ("Fool Me Twice R@3", material.fm2, material.shown_fm2, 3),
        ("MuSiQue R@5", material.musique, material.shown_musique, 5),
    ):
        for step, told in steps(material, split, shown, count).items():
            row.figure(f"{name}, {step}", float(np.mean(told)), "")
        later = evolved(material, shown, split)
        row.figure(f"{name}, memories kept, of {len(split.texts):,}", len(later), "")
        row.figure(f"{name}, demoted by evolution", sum(one.weight_ppm < POLICY.floor_ppm for one in later), "")
    row.note("a general form that is found stands for the memory that it was made of")
    return row


def across(material: Material) -> Row:
    """What was admitted on one set, asked by the other."""
    row = Row("across", "admitted on one set, asked on another: specific forms, general ones, both")
    sides = {
        "Fool Me Twice": (material.fm2, material.shown_fm2),
        "MuSiQue": (material.musique, material.shown_musique),
    }
    for source, (_, shown) in sides.items():
        forms = generals(material, shown.held)
        for target, (split, _) in sides.items():
            for name, held in (("specific", shown.held), ("general", forms), ("both", [*shown.held, *forms])):
                row.figure(f"{source} → {target}, {name}", _reached(material, held, split), "")
    row.note(
        "the mean of what production's reward says of the memories that each question is given within the budget; two "
        "sets of facts share hardly any, and a placeholder answers no question of a fact: what general forms may carry "
        "over is how to proceed, which neither set asks for"
    )
    return row


def _reached(material: Material, held: Sequence[Held], split: Split) -> float:
    experience = material.experience(held)
    asked: Sequence[tuple[Asked, Any]] = list(zip(split.asked, split.questions, strict=True))
    told = []
    for at, (one, vector) in enumerate(asked):
        task = material.context(f"q{at}", one.text, one.answer, vector)
        told.append(max(0, REACH.reward_ppm(task, experience.given(units(task.vector), POLICY))) / 1e6)
    return float(np.mean(told))


ROWS: Mapping[str, Callable[[Material], Row]] = {
    "fool-me-twice": fool_me_twice, "musique": musique, "ablation": ablation, "across": across,
}  # fmt: skip
