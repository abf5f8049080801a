"""Rows of resistance and cost: what is wrong and plausible, a verifier that lies, and what a trial costs."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import permutations

import numpy as np
from msgspec.structs import replace

from memquorum.core.experience.admission import agreed, verdict
from memquorum.core.experience.context import Context
from memquorum.core.experience.trial import Case, Statistics, tried
from memquorum.core.experience.view import Held
from memquorum.core.experience.weights import Use, moved
from memquorum.core.policy import PPM
from tests.benchmarks.experience.admitting import weight_of
from tests.benchmarks.experience.frame import FM2, POLICY, REACH, Material, Shown, half
from tests.benchmarks.kept import Row
from tests.benchmarks.sets import records

_USES = 20
_SIZES = (100, 1_000, 10_000)
_NUMBER = re.compile(r"\d+")


def poisoned(material: Material) -> Row:
    """Candidates that are plausible and wrong, tried as production does."""
    row = Row("poisoned", "plausible and wrong candidates that production's label-free reward admits")
    split, every = material.fm2, 0
    claims = material.some(list(records(material.data, FM2, "text", "gold_evidence")), 60)
    wrong = list(dict.fromkeys(claim["text"] for claim in claims if claim["label"] == "REFUTES"))
    cited = [one.outputs for one in split.contexts]
    swapped = [_swapped(text) for text in cited if _NUMBER.search(text)]
    answers = [one.outputs for one in material.musique.contexts]
    parts = [f"{one.goal} {answers[(at * 7 + 11) % len(answers)]}" for at, one in enumerate(material.musique.contexts)]
    came, uses_most = 0, 0
    for name, texts, contexts in (
        ("claims that people wrote to be refuted", wrong, split.contexts),
        ("cited sentences with other numbers", swapped, split.contexts),
        ("sub-questions with another's answer", parts, material.musique.contexts),
    ):
        given = material.held("x", [text for text in dict.fromkeys(texts) if text not in cited])
        shown = material.admit(given, contexts)
        uses = _until_gone(material, shown, contexts)
        every, came, uses_most = every + shown.tried, came + len(shown.held), max(uses_most, uses)
        row.figure(f"{name}: candidates", shown.tried, "")
        row.figure(f"{name}: admitted", 100 * len(shown.held) / max(1, shown.tried), "%")
    row.figure("all: candidates", every, "")
    row.figure("all: admitted", 100 * came / every, "%")
    row.figure("uses without gain until the last of them is below retrieval", uses_most, "")
    row.at_most("all: admitted", 2)
    row.at_most("uses without gain until the last of them is below retrieval", _USES)
    row.note(
        "each is tried beside what else of its sort came in, on the tasks of its set: no label takes part, and nothing "
        "says which candidates are wrong"
    )
    return row


def _swapped(text: str) -> str:
    """A text with all of its numbers changed: another year, another count."""
    return _NUMBER.sub(lambda one: str(int(one[0]) + 1 + len(one[0]) * 3), text)


def _until_gone(material: Material, shown: Shown, contexts: Sequence[Context]) -> int:
    """Counts the uses without gain after which the last of what was admitted is given no more."""
    most = 0
    for one in shown.held:
        now, uses = weight_of(one, shown), 0
        while now.weight_ppm >= POLICY.floor_ppm:
            now = moved(now, [Use(f"u{uses}", contexts[uses % len(contexts)].id, 0)], POLICY)
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
    row.note("one core, encoding not counted: vectors are carried. What ingest loses by it is measured on the line")
    return row


def _filled(every: Sequence[Held], at: int, draw: np.random.Generator) -> Held:
    """One of so many memories, its vector moved a little where texts are fewer than they."""
    one = every[at % len(every)]
    moved_ = np.frombuffer(one.vector, "<f2").astype(float)
    if at >= len(every):
        moved_ += draw.standard_normal(len(moved_)) / 50
    return replace(one, id=f"f{at:06}", vector=half(moved_))


ROWS: Mapping[str, Callable[[Material], Row]] = {"poisoned": poisoned, "verifiers": verifiers, "cost": cost}
