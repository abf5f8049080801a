"""Rows of admission: what was admitted on some tasks, asked by others; and which part of it does what."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from memquorum.core.experience.abstract import abstracted
from memquorum.core.experience.similarity import similarities_ppm, stacked, units
from memquorum.core.experience.view import Held
from memquorum.core.experience.weights import Use, Weight, admitted, general, moved
from memquorum.core.text.tokens import tokens
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
from tests.benchmarks.policies.streams import _values as values
from tests.benchmarks.sets import records

TAU = "tau_bench"
STEPS = ("none: store all", "+ SCEC", "+ scheduling", "+ evolution", "+ diffusion")
_LINE = 160
"""Characters: a longer line of what a tool answers is cut at its commas."""


def ranked(held: Sequence[Held], questions: Any, count: int, *, weighs: bool = True) -> Iterator[list[Held]]:
    """The first few of an experience for each question, by sim · w or by similarity alone."""
    some = sorted((one for one in held if one.weight_ppm >= POLICY.floor_ppm), key=lambda one: one.id)
    rows = stacked([one.vector for one in some], questions.shape[1])
    weights = np.array([one.weight_ppm if weighs else 1 for one in some], np.int64)
    for question in questions:
        yield [some[at] for at in best(similarities_ppm(rows, units(half(question))) * weights, count)]


def evolved(material: Material, shown: Shown, split: Split) -> list[Held]:
    """What is left after every finished task was asked once more: each memory that it is given has gained where it
    reaches by itself what the task came to."""
    experience = material.experience(shown.held)
    uses: dict[str, list[Use]] = {}
    for one in split.contexts:
        for held in experience.given(units(one.vector), POLICY):
            gain = REACH.reward_ppm(one, [held])
            uses.setdefault(held.id, []).append(Use(one.id, one.id, gain))
    return [
        replace(one, weight_ppm=moved(weight_of(one, shown), uses.get(one.id, ()), POLICY).weight_ppm)
        for one in shown.held
    ]


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
    later = evolved(material, shown, split)
    for step, held, weighs in (
        (STEPS[1], shown.held, False), (STEPS[2], shown.held, True), (STEPS[3], later, True),
        (STEPS[4], [*later, *generals(material, later)], True),
    ):  # fmt: skip
        told[step] = [[place(one) for one in found] for found in ranked(held, split.questions, count, weighs=weighs)]
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
        for step in STEPS[:4]:
            row.figure(f"{step}: R@{count}", float(np.mean(found[step])), "")
        for step in STEPS[1:4]:
            lead = interval([a - b for a, b in zip(found[step], found[STEPS[0]], strict=True)])
            row.figure(f"{step}: R@{count} over store all", lead[0], f"({lead[1]:.3f} to {lead[2]:.3f})")
            row.figure(f"{step}: R@{count} over store all, low end of 95 %", lead[1], "")
        row.at_least(f"{STEPS[2]}: R@{count} over store all, low end of 95 %", 0.0)
        row.at_least(f"{STEPS[1]}: R@{count} over store all, low end of 95 %", 0.0)


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


def tau(material: Material) -> Row:
    """Facts of a first run of a task, asked by the calls of tools of a second run."""
    row = Row("tau-bench", "tau-bench: what a second run's calls of tools need, found in what the first run was told")
    runs = {(one["task_id"], str(one["trial"])): one["traj"] for one in records(material.data, TAU, "traj")}
    trials = sorted({trial for _, trial in runs})
    tasks = material.some(sorted({task for task, _ in runs}), 3)
    turns = list(dict.fromkeys(text for task in tasks for text in _said(runs.get((task, trials[0]), ()))))
    parts = list(dict.fromkeys(part for text in turns for part in _parts(text)))
    calls = [one for task in tasks for one in _calls(runs.get((task, trials[0]), ()))]
    vectors = material.vectors.of([goal for goal, _ in calls])
    contexts = [
        material.context(f"{at}-{number}", goal, value, vector)
        for at, ((goal, needs), vector) in enumerate(zip(calls, vectors, strict=True))
        for number, value in enumerate(sorted(needs))
    ]
    shown = material.admit(material.held("p", parts), contexts)
    everything = " ".join(turns).casefold()
    asked = [
        (goal, frozenset(value for value in needs if value in everything))
        for task in tasks
        for goal, needs in _calls(runs.get((task, trials[1]), ()))
    ]
    asked = [one for one in asked if one[1]]
    questions = material.vectors.of([goal for goal, _ in asked])
    row.figure("calls asked", len(asked), "")
    row.figure("parts that were candidates", len(parts), "")
    row.figure("admitted", len(shown.held), "")
    for name, pool, budget in (
        ("store all, whole turns, 500 tokens", material.held("t", turns), 500),
        ("store all, parts, 500 tokens", material.held("p", parts), 500),
        ("admitted parts, 250 tokens", shown.held, 250),
        ("admitted parts, 500 tokens", shown.held, 500),
    ):
        told, spent = list[float](), list[int]()
        for (_, needs), found in zip(asked, ranked(pool, questions, 200), strict=True):
            given, left = list[str](), budget
            for one in found:
                if one.tokens <= left:
                    given.append(one.text.casefold())
                    left -= one.tokens
            told.append(sum(any(value in text for text in given) for value in needs) / len(needs))
            spent.append(budget - left)
        row.figure(f"{name}: facts found", float(np.mean(told)), "")
        row.figure(f"{name}: tokens given", float(np.mean(spent)), "")
    ours, theirs = (
        row.value(f"{name}: facts found")
        for name in ("admitted parts, 250 tokens", "store all, whole turns, 500 tokens")
    )
    row.figure("admitted at half of the tokens, less store all", ours - theirs, "")
    row.at_least("admitted at half of the tokens, less store all", 0.0)
    row.note(
        "a fact is a value in the arguments of a call that the first run was told, too; what is asked by is what the "
        "customer said last. All tasks are one namespace"
    )
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


def _said(run: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    return (m["content"] for m in run if m["role"] in ("user", "tool") and m.get("content"))


def _parts(text: str) -> Iterator[str]:
    """The lines of what was said, and the entries of what a tool answered."""
    try:
        told = json.loads(text)
    except ValueError:
        yield from (line.strip() for line in text.split("\n") if line.strip())
        return
    yield from _entries(told, "") if isinstance(told, dict | list) else [text]


def _entries(told: Any, path: str) -> Iterator[str]:
    if tokens(json.dumps(told)) * 4 <= _LINE:
        yield f"{path}: {json.dumps(told)}".removeprefix(": ")
    elif isinstance(told, dict):
        for name, value in told.items():
            yield from _entries(value, f"{path} {name}".strip())
    elif isinstance(told, list):
        for value in told:
            yield from _entries(value, path)
    else:
        yield f"{path}: {told}"


def _calls(run: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, frozenset[str]]]:
    """What the customer said last before each call of a tool, and the values in the call."""
    last = ""
    for message in run:
        if message["role"] == "user":
            last = message["content"]
        for call in message.get("tool_calls") or ():
            needs = frozenset(values(json.loads(call["function"]["arguments"])))
            if last and needs:
                yield last, needs


ROWS: Mapping[str, Callable[[Material], Row]] = {
    "fool-me-twice": fool_me_twice, "musique": musique, "tau-bench": tau, "ablation": ablation, "across": across,
}  # fmt: skip
