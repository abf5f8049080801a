"""Rows of resistance and cost: what is wrong and plausible, a verifier that lies, and what a trial costs."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import permutations

import numpy as np
from msgspec.structs import replace

from bench.experience.admitting import weight_of
from bench.experience.frame import FM2, POLICY, REACH, Material, Shown, half, place
from bench.kept import Row
from bench.sets import records
from memquorum.core.experience.admission import agreed, verdict
from memquorum.core.experience.context import Context
from memquorum.core.experience.reward import Reach
from memquorum.core.experience.trial import Case, Statistics, tried
from memquorum.core.experience.view import Held
from memquorum.core.experience.weights import Use, moved
from memquorum.core.policy import PPM

_USES, _MOST = 20, 2
_REWARDS = {
    "the words of an answer alone": Reach((0, 1), opposes=False, facts=False, shorts=False, written=False, parts=False),
    "and what opposes in part": Reach((0, 1), facts=False, shorts=False, written=False, parts=False),
    "and 1/4 of the question": Reach((1, 4), facts=False, shorts=False, written=False, parts=False),
    "and 1/3 of the question": Reach((1, 3), facts=False, shorts=False, written=False, parts=False),
    "and 1/2 of the question": Reach((1, 2), facts=False, shorts=False, written=False, parts=False),
    "and 1/2 of the question, or numbers and names": Reach((1, 2), shorts=False, written=False, parts=False),
    "and no other number beside a short answer's words": Reach((1, 2), written=False, parts=False),
    "and however numbers, times and dates are written": Reach((1, 2), parts=False),
    "and part by part, of things of one name": Reach((1, 2)),
}
"""Rewards, each demanding more than the one before."""
_SIZES = (100, 1_000, 10_000)
_NUMBER = re.compile(r"\d+")


def poisoned(material: Material) -> Row:
    """Candidates that are plausible and wrong, tried as production does."""
    row = Row("poisoned", "plausible and wrong candidates that production's label-free reward admits")
    families = _families(material)
    shown = {name: material.admit(given, contexts) for name, given, contexts in families}
    for name, one in shown.items():
        row.figure(f"{name}: candidates", one.tried, "")
        row.figure(f"{name}: admitted", 100 * len(one.held) / max(1, one.tried), "%")
    row.figure("all: candidates", sum(one.tried for one in shown.values()), "")
    row.figure("all: admitted", _share(shown.values()), "%")
    gone = (_until_gone(material, shown[name], contexts) for name, _, contexts in families)
    row.figure("uses without gain until the last of them is below retrieval", max(gone), "")
    row.at_most("all: admitted", 2)
    row.at_most("uses without gain until the last of them is below retrieval", _USES)
    _rules(row, material, families)
    left = [
        material.admit([replace(one, sources=(_own(one),)) for one in given], contexts)
        for _, given, contexts in families
    ]
    row.figure("all, where the task that knows better is no judge: admitted", _share(left), "%")
    row.note(
        "each is tried beside what else of its sort came in, on the tasks of its set: no label takes part, and nothing "
        "says which candidates are wrong. The task that knows better is the one that a wrong text was made of"
    )
    return row


def again(material: Material) -> Row:
    """Tries the candidates that one half of the tasks rejected again on the other half, as if that came later."""
    row = Row("again", "rejected candidates, tried again on later tasks")
    split = material.musique
    every = material.held("m", split.texts)
    wanted = frozenset[int]().union(*(one.evidence for one in split.asked))
    useful = [every[at] for at in split.candidates]
    families = _families(material)
    tried_ = sum(len(given) for _, given, _ in families)
    for name, counts in (("all judges count", True), ("new judges alone count", False)):
        steps = _twice(material, useful, split.contexts, counts=counts)
        wrong = [_twice(material, given, contexts, counts=counts) for _, given, contexts in families]
        for at, step in enumerate(("first half", f"{name}, rejected before")):
            if at or counts:
                found = wanted & {place(one) for one in steps[at]}
                row.figure(f"MuSiQue, {step}: admitted", len(steps[at]), "")
                row.figure(f"MuSiQue, {step}: of them evidence of what is asked", len(found), "")
        came = sum(len(one[0]) for one in wrong), sum(len(part) for one in wrong for part in one)
        if counts:
            row.figure("poisoned, first half: admitted", 100 * came[0] / max(1, tried_), "%")
        row.figure(f"poisoned, {name}: admitted in all", 100 * came[1] / max(1, tried_), "%")
    row.at_most("poisoned, all judges count: admitted in all", _MOST)
    row.note(
        "halves are drawn by turns; who was rejected by the first is tried again on the other, who had too few tasks "
        "in it on both. S counts over all judges of both trials, as it is shipped, or over the new ones alone"
    )
    return row


def _twice(
    material: Material, candidates: Sequence[Held], contexts: Sequence[Context], *, counts: bool
) -> tuple[list[Held], list[Held], list[Held]]:
    """Returns the memories admitted by the first half of the tasks, the rejected ones admitted by the other half, and
    those with too few tasks in the first admitted by both. `counts`: whether the tasks of the rejection count.
    """
    first = material.admit(candidates, contexts[::2])
    there = {one.id for one in first.held}
    rejected = [one for one in candidates if one.id in first.told and one.id not in there]
    waiting = [one for one in candidates if one.id not in first.told]
    more = material.admit(rejected, contexts[1::2], there=first.held, before=first.told if counts else None).held
    rest = material.admit(waiting, contexts, there=more).held
    return first.held, more[len(first.held) :], rest[len(more) :]


Family = tuple[str, list[Held], Sequence[Context]]


def _families(material: Material) -> list[Family]:
    """Wrong candidates by sort, each named by the task that knows better, and the tasks that judge."""
    claims = material.some(list(records(material.data, FM2, "text", "gold_evidence")), 60)
    refuted = {claim["text"] for claim in claims if claim["label"] == "REFUTES"}
    ours, theirs = material.fm2.contexts, material.musique.contexts
    by_goal = {one.goal: one.id for one in ours}
    cited = {one.outputs for one in ours}
    answers = [one.outputs for one in theirs]
    sorts = (
        ("claims that people wrote to be refuted", {text: by_goal.get(text, "") for text in sorted(refuted)}, ours),
        (
            "cited sentences with other numbers",
            {_swapped(one.outputs): one.id for one in ours if _NUMBER.search(one.outputs)}, ours,
        ),
        (
            "sub-questions with another's answer",
            {f"{one.goal} {answers[(at * 7 + 11) % len(answers)]}": one.id for at, one in enumerate(theirs)}, theirs,
        ),
        (
            "sub-questions with another number",
            {f"{one.goal} {_swapped(one.outputs)}": one.id for one in theirs if _NUMBER.search(one.outputs)}, theirs,
        ),
    )  # fmt: skip
    found = list[Family]()
    for name, told, contexts in sorts:
        wrong = {text: own for text, own in told.items() if text not in cited}
        given = material.held("x", list(wrong))
        found.append((name, [replace(one, id=f"{one.id}/{wrong[one.text]}") for one in given], contexts))
    return found


def _own(one: Held) -> str:
    return one.id.partition("/")[2]


def _share(shown: Iterable[Shown]) -> float:
    some = list(shown)
    return 100 * sum(len(one.held) for one in some) / max(1, sum(one.tried for one in some))


def _rules(row: Row, material: Material, families: Sequence[Family]) -> None:
    """The same by other rules; and how much of a question a text must have, chosen on one half of the candidates as
    the least by which no more than wanted come in, with what then comes in of the other half."""
    halves = dict[str, list[float]]()
    for name, reward in _REWARDS.items():
        came, count = [0, 0], [0, 0]
        for _, given, contexts in families:
            held = {one.id for one in material.admit(given, contexts, reward).held}
            for at, one in enumerate(given):
                came[at % 2] += one.id in held
                count[at % 2] += 1
        halves[name] = [100 * part / max(1, of) for part, of in zip(came, count, strict=True)]
        row.figure(f"all, {name}: admitted", 100 * sum(came) / max(1, sum(count)), "%")
    for half_, other in ((0, 1), (1, 0)):
        chosen = next((name for name in _REWARDS if halves[name][half_] <= _MOST), next(reversed(_REWARDS)))
        row.figure(f"chosen on half {half_ + 1} ({chosen}), of the other half: admitted", halves[chosen][other], "%")


def _swapped(text: str) -> str:
    """A text with all of its numbers changed: another year, another count."""
    return _NUMBER.sub(lambda one: str(int(one[0]) + 1 + len(one[0]) * 3), text)


def _until_gone(material: Material, shown: Shown, contexts: Sequence[Context]) -> int:
    """Counts the uses without gain after which the last of what was admitted is given no more."""
    most = 0
    for one in shown.held:
        now, uses = weight_of(one, shown), 0
        while now.weight_ppm >= POLICY.floor_ppm:
            now = moved(now, [Use(f"u{uses}", 0)], POLICY)
            uses += 1
        most = max(most, uses)
    return most


def verifiers(material: Material) -> Row:
    """One of three verifiers lies, in every place and in both directions."""
    row = Row("verifiers", "admissions that change where one verifier of three lies")
    told = [*material.shown_fm2.told.values()][:: 1 if material.quick else 5]
    changed = shown = rounds = 0
    for one in told:
        for lie in (_lied(one, 0), _lied(one, PPM * one.runs)):
            for order in permutations((lie, one, one)):
                found = agreed("abc", dict(zip("abc", order, strict=True)), 1, POLICY, reproducible=True)
                rounds += 1
                changed += verdict(found.told, POLICY) != verdict(one, POLICY)
                shown += found.differ == ("abc"[order.index(lie)],) or lie.digest == one.digest
    row.figure("candidates", len(told), "")
    row.figure("rounds with a liar", rounds, "")
    row.figure("verdicts that change", changed, "")
    row.figure("rounds in which the liar is shown", 100 * shown / max(1, rounds), "%")
    row.at_most("verdicts that change", 0)
    row.at_least("rounds in which the liar is shown", 100)
    row.note("the core's rule of agreement alone, all three heard, without Kafka")
    return row


def _lied(told: Statistics, reward: int) -> Statistics:
    return replace(told, judged=tuple(replace(one, reward_with=reward) for one in told.judged))


def cost(material: Material) -> Row:
    """Processor time of a trial, by how much experience there is."""
    row = Row("cost", "processor time of one candidate's trial, by how much experience there is")
    split, some = material.fm2, 40
    every = material.held("m", split.texts)
    draw = np.random.default_rng(5)
    for size in _SIZES:
        filled = [_filled(every, at, draw) for at in range(size)]
        experience = material.experience(filled)
        candidates = [every[at] for at in split.candidates[:some]]
        tried(Case(candidates[0], split.contexts, experience), REACH, POLICY)
        began = time.process_time()
        for one in candidates:
            tried(Case(one, split.contexts, experience), REACH, POLICY)
        row.figure(f"beside {size:,} memories", 1_000 * (time.process_time() - began) / len(candidates), "ms")
    row.figure("contexts among which judges are looked for", len(split.contexts), "")
    row.figure("tokens a question may be given", POLICY.budget_tokens, "")
    row.note("one core, encoding not counted: vectors are carried. The loss of ingest by it is measured on the line")
    return row


def _filled(every: Sequence[Held], at: int, draw: np.random.Generator) -> Held:
    """One of so many memories, its vector moved a little where texts are fewer than they."""
    one = every[at % len(every)]
    moved_ = np.frombuffer(one.vector, "<f2").astype(float)
    if at >= len(every):
        moved_ += draw.standard_normal(len(moved_)) / 50
    return replace(one, id=f"f{at:06}", vector=half(moved_))


ROWS: Mapping[str, Callable[[Material], Row]] = {
    "poisoned": poisoned, "again": again, "verifiers": verifiers, "cost": cost,
}  # fmt: skip
