"""Rows of admission: what was admitted on some tasks, asked by others; and which part of it does what."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any

import numpy as np
from msgspec.structs import replace

from bench.experience import carrying
from bench.experience.frame import (
    POLICY,
    REACH,
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
from bench.kept import Row
from memquorum.core.experience.abstract import abstracted
from memquorum.core.experience.admission import first_weight_ppm
from memquorum.core.experience.context import Context
from memquorum.core.experience.similarity import similarities_ppm, stacked, units
from memquorum.core.experience.view import Held, packed, scored
from memquorum.core.experience.weights import PROMOTED, Use, Weight, admitted, general, moved, standing
from memquorum.core.policy import PPM, ExperiencePolicy
from memquorum.core.retrieval.ranking import competing

STEPS = ("none: store all", "+ SCEC", "+ scheduling", "+ evolution", "+ diffusion")
SERVED = "+ nothing farther than 0.25, as reads have it"
SOURCE = replace(POLICY, first_ppm=0, weight_roots=0)
"""As the source has it: w₀ = S, and s = sim · w."""
AS_SOURCE = ("+ scheduling as the source has it", "+ evolution as the source has it")


def ranked(
    held: Sequence[Held], questions: Any, count: int, policy: ExperiencePolicy = POLICY, *, served: bool = False
) -> Iterator[list[Held]]:
    """The first few of an experience for each question; of a memory that is near enough to be given, and its general
    form, the memory. `served`: only what is near enough, as a read is given it."""
    some = sorted(held, key=lambda one: one.id)
    rows = stacked([one.vector for one in some], questions.shape[1])
    weights = np.array([one.weight_ppm for one in some], np.int64)
    forms = {at: of for at, one in enumerate(some) if (of := general_of(one)) is not None}
    for question in questions:
        near = similarities_ppm(rows, units(half(question)))
        scores = scored(near, weights, policy)
        given = (near >= policy.given_ppm) & (scores > 0)
        if forms:
            ranks = competing({some[at].id: forms.get(at) for at in np.flatnonzero(given).tolist()})
            scores[[at for at in forms if given[at] and some[at].id not in ranks]] = 0
        yield [some[at] for at in best(np.where(given, scores, 0) if served else scores, count)]


def general_of(held: Held) -> str | None:
    """The memory that this is the general form of, if it is one."""
    return f"m{held.id[1:]}" if held.id.startswith("g") else None


def evolved(
    material: Material, shown: Shown, split: Split, policy: ExperiencePolicy = POLICY
) -> list[tuple[Held, Weight]]:
    """Returns the experience after every finished task was asked once more, each memory with its weight: it has gained
    where it reaches by itself the result of a task that it is given to.
    """
    experience = material.experience(shown.held)
    uses: dict[str, list[Use]] = {}
    for one in split.contexts:
        for held in experience.given(units(one.vector), policy):
            gain = REACH.reward_ppm(one, [held])
            uses.setdefault(held.id, []).append(Use(one.id, gain))
    weights = [moved(weight_of(one, shown), uses.get(one.id, ()), policy) for one in shown.held]
    return [(replace(one, weight_ppm=now.weight_ppm), now) for one, now in zip(shown.held, weights, strict=True)]


def promoted(later: Sequence[tuple[Held, Weight]]) -> list[Held]:
    """Returns the repeatedly helpful memories, which get general forms."""
    return [one for one, now in later if standing(now, POLICY) == PROMOTED]


def weighed(shown: Shown, policy: ExperiencePolicy) -> Shown:
    """The same that were admitted, with the first weight that another policy gives."""
    held = [replace(one, weight_ppm=first_weight_ppm(shown.told[one.id], policy)) for one in shown.held]
    return Shown(held, shown.told, shown.provisional, shown.tried, shown.seconds)


def weight_of(one: Held, shown: Shown) -> Weight:
    """The first version of its weight."""
    return admitted(shown.told[one.id], one.weight_ppm)


def generals(material: Material, held: Sequence[Held]) -> list[Held]:
    """The general forms of what says how to proceed and names something, at half of its weight."""
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
    moved_on, source = evolved(material, shown, split), weighed(shown, SOURCE)
    later, forms = [one for one, _ in moved_on], generals(material, promoted(moved_on))
    alone = [replace(one, weight_ppm=PPM) for one in shown.held]
    for step, held, policy in (
        (STEPS[1], alone, POLICY), (STEPS[2], shown.held, POLICY), (STEPS[3], later, POLICY),
        (STEPS[4], [*later, *forms], POLICY), (SERVED, [*later, *forms], POLICY), (AS_SOURCE[0], source.held, SOURCE),
        (AS_SOURCE[1], [one for one, _ in evolved(material, source, split, SOURCE)], SOURCE),
    ):  # fmt: skip
        answers = ranked(held, split.questions, count, policy, served=step == SERVED)
        told[step] = [[place(one) for one in found] for found in answers]
    return {
        step: [recall(found, asked.evidence) for found, asked in zip(places, split.asked, strict=True)]
        for step, places in told.items()
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
        row.at_least(f"{SERVED}: R@{count} over store all, low end of 95 %", 0.0)


def fool_me_twice(material: Material) -> Row:
    """Sentences that were admitted on one claim, asked by others that share evidence with it."""
    row = Row("fool-me-twice", "Fool Me Twice: admitted on one claim, asked on others that share its evidence")
    row.figure("claims asked", len(material.fm2.asked), "")
    _admitted(row, material, material.fm2, material.shown_fm2, (1, 3))
    row.note(
        "a finished task is a claim with the sentences that its author cites; candidates are all sentences that such "
        "tasks had been given, about ten each. If claims share evidence, the first is a task, and the others are "
        "asked"
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
    row = Row("ablation", "the effect of each part of the mechanism, by recall of evidence")
    for name, split, shown, count in (
        ("Fool Me Twice R@3", material.fm2, material.shown_fm2, 3),
        ("MuSiQue R@5", material.musique, material.shown_musique, 5),
    ):
        for step, told in steps(material, split, shown, count).items():
            row.figure(f"{name}, {step}", float(np.mean(told)), "")
        later = evolved(material, shown, split)
        row.figure(f"{name}, memories kept, of {len(split.texts):,}", len(later), "")
        row.figure(f"{name}, demoted by evolution", sum(one.weight_ppm < POLICY.floor_ppm for one, _ in later), "")
        row.figure(f"{name}, promoted", len(promoted(later)), "")
        row.figure(f"{name}, of them with a general form", len(generals(material, promoted(later))), "")
    row.note("a general form that is found stands for the memory that it was made of")
    return row


def across(material: Material) -> Row:
    """Measures memories admitted on one set with the questions of the other, and memories admitted on one job
    with the questions of another job.
    """
    row = Row("across", "admitted on one set, asked on another: specific forms, general ones, both")
    sides = {
        "Fool Me Twice": (material.fm2, material.shown_fm2),
        "MuSiQue": (material.musique, material.shown_musique),
    }
    for source, (_, shown) in sides.items():
        forms = generals(material, shown.held)
        row.figure(f"{source}: admitted", len(shown.held), "")
        row.figure(f"{source}: of them with a general form", len(forms), "")
        for target, (split, _) in sides.items():
            asked = [
                material.context(f"q{at}", one.text, one.answer, vector)
                for at, (one, vector) in enumerate(zip(split.asked, split.questions, strict=True))
            ]
            _forms(row, f"{source} → {target}", material, shown.held, asked)
    _jobs(row, material)
    row.note(
        "the mean of what production's reward says of the memories that each question is given within the budget. Two "
        "sets of facts share hardly any. Jobs are runs of tau-bench's airline that succeeded: those that cancel a "
        "reservation, and all others; a candidate is a sentence by which the agent says how to proceed, or one of the "
        "policy, and a task is what the customer said and how the agent then said that one proceeds. The question is "
        "that text without its names and numbers, which are of other customers. All memories that have a general form "
        "stand beside, "
        "admitted or not, since hardly anything that was admitted has one; and as many others as were admitted, drawn "
        "by digest. Production makes a general form of what was promoted alone, which takes uses in three tasks"
    )
    return row


def _jobs(row: Row, material: Material) -> None:
    jobs = carrying.lessons(material).sides
    asked = {
        name: [replace(one, outputs=carrying.plain(one.outputs)) for one in side.tasks] for name, side in jobs.items()
    }
    for source, side in jobs.items():
        shown = material.admit(side.said, side.tasks)
        told = [one for one in side.said if abstracted(one.text) is not None]
        got = {one.id for one in shown.held}
        others = carrying.drawn([one for one in side.said if one.id not in got], len(got))
        row.figure(f"{source}: tasks", len(side.tasks), "")
        row.figure(f"{source}: candidates", len(side.said), "")
        row.figure(f"{source}: of them with a general form", len(told), "")
        row.figure(f"{source}: admitted", len(got), "")
        row.figure(f"{source}: of these with a general form", sum(one.id in got for one in told), "")
        steady = sum(standing(weight_of(one, shown), POLICY) == PROMOTED for one in shown.held)
        row.figure(f"{source}: of the admitted, promoted", steady, "")
        for target in jobs:
            if target != source:
                _forms(row, f"{source} → {target}, admitted", material, shown.held, asked[target])
                _forms(row, f"{source} → {target}, all that have a general form", material, told, asked[target])
                row.figure(f"{source} → {target}, as many others", reached(material, others, asked[target]), "")
                row.figure(f"{source} → {target}, all", reached(material, side.said, asked[target]), "")


def _forms(row: Row, name: str, material: Material, held: Sequence[Held], asked: Sequence[Context]) -> None:
    forms = generals(material, held)
    for form, some in (("specific", held), ("general", forms), ("both", [*held, *forms])):
        row.figure(f"{name}, {form}", reached(material, some, asked), "")


def reached(material: Material, held: Sequence[Held], asked: Sequence[Context]) -> float:
    """The mean reward of what each is given within the budget, as a read is."""
    dimensions = material.vectors.dimensions
    vectors = np.array([np.frombuffer(one.vector, "<f2") for one in asked]).reshape(-1, dimensions)
    found = ranked(held, vectors, len(held), served=True) if held else repeat(list[Held]())
    told = [max(0, REACH.reward_ppm(one, packed(some, POLICY))) / 1e6 for one, some in zip(asked, found, strict=False)]
    return float(np.mean(told)) if told else 0.0


ROWS: Mapping[str, Callable[[Material], Row]] = {
    "fool-me-twice": fool_me_twice, "musique": musique, "ablation": ablation, "across": across,
}  # fmt: skip
