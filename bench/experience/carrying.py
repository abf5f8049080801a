"""A set that holds how to proceed: what agents of an airline said, admitted on what runs of one sort came to, asked by
runs of the other sort.

tau-bench's runs are of one airline, as the folder of sets has no other domain of it. So the two sides are two jobs:
runs that cancel a reservation, and runs that book or change one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from bench.experience.frame import Material, half
from bench.sets import records
from memquorum.core.experience.abstract import abstracted
from memquorum.core.experience.context import Context
from memquorum.core.experience.view import Held
from memquorum.core.reading.proceeding import proceeds

TAU = "tau_bench"
CANCELS, CHANGES = "runs that cancel", "runs that book or change"
_WORDS_LEAST = 5
_SENTENCES = re.compile(r"(?<=[.!?])\s+|\n+")
_HOLDS = re.compile(r"\[[a-z]+(?: \d+)?\]")


@dataclass(frozen=True)
class Side:
    """Runs of one job. `said`: what may be a lesson, each with the tasks of its own run; `tasks`: what the customer
    said, and how the agent said that it would proceed."""

    said: tuple[Held, ...]
    tasks: tuple[Context, ...]


@dataclass(frozen=True)
class Lessons:
    """The statements of the policy, and both sides."""

    policy: tuple[str, ...]
    material: Material

    @cached_property
    def sides(self) -> Mapping[str, Side]:
        """The two jobs, by name."""
        runs = [one for one in records(self.material.data, TAU, "traj") if one["reward"] == 1.0]
        runs = self.material.some(runs, 4)
        jobs = {CANCELS: [one for one in runs if cancels(one["traj"])]}
        jobs[CHANGES] = [one for one in runs if one not in jobs[CANCELS]]
        return {name: _side(self.material, self.policy, some) for name, some in jobs.items()}


def lessons(material: Material) -> Lessons:
    """The set of lessons."""
    told = (one for run in records(material.data, TAU, "traj") for one in run["traj"] if one["role"] == "system")
    return Lessons(tuple(sentences(str(next(told)["content"]))), material)


def sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a text, without marks of lists and headings; short ones are left out."""
    for one in _SENTENCES.split(text):
        said = one.strip().lstrip("-#* ").replace("**", "")
        if len(said.split()) >= _WORDS_LEAST:
            yield said


def cancels(run: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the run cancels a reservation."""
    return any(call["function"]["name"].startswith("cancel") for one in run for call in one.get("tool_calls") or ())


def turns(run: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yields each message of a customer, with the instructions in the agent's answer, where it has some."""
    spoken = [one for one in run if one["role"] in ("user", "assistant") and one.get("content")]
    for asked, told in pairwise(spoken):
        if asked["role"] == "user" and told["role"] == "assistant":
            how = " ".join(one for one in sentences(told["content"]) if proceeds(one))
            if how:
                yield asked["content"], how


def plain(text: str) -> str:
    """Returns how to proceed, whatever the subject: the text's general form without placeholders."""
    return " ".join(_HOLDS.sub(" ", abstracted(text) or text).split())


def drawn(held: Sequence[Held], count: int) -> list[Held]:
    """So many of them, by digest."""
    return sorted(held, key=lambda one: hashlib.sha256(one.text.encode()).digest())[:count]


def _side(material: Material, policy: Sequence[str], runs: Sequence[Mapping[str, Any]]) -> Side:
    tasks, of = list[Context](), dict[str, set[str]]()
    for at, run in enumerate(runs):
        found = list(turns(run["traj"]))
        names = [f"r{at}-{number}" for number in range(len(found))]
        vectors = material.vectors.of([goal for goal, _ in found])
        tasks += [material.context(name, *one, vector) for name, one, vector in zip(names, found, vectors, strict=True)]
        for _, how in found:
            for one in sentences(how):
                # Runs of one task say the same with the same names: they are no judges of what one of them said.
                of.setdefault(one, set()).add(run["task_id"])
    same: dict[Any, list[str]] = {}
    for one in tasks:
        same.setdefault(runs[int(one.id[1:].split("-")[0])]["task_id"], []).append(one.id)
    texts = sorted({*of, *policy}, key=lambda text: hashlib.sha256(text.encode()).digest())
    vectors = material.vectors.of(texts)
    said = [
        Held(
            f"m{at:06}", text, material.vectors.name, half(vector),
            sources=tuple(name for task in sorted(of.get(text, ())) for name in same.get(task, ())),
        )
        for at, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ]  # fmt: skip
    return Side(tuple(said), tuple(tasks))
