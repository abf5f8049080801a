"""The row of agents' runs: facts of a first run of a task, asked by the calls of tools of a second one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from bench.experience.admitting import ranked
from bench.experience.frame import Material
from bench.kept import Row
from bench.policies.streams import _values as values
from bench.sets import records
from memquorum.core.experience.view import Held
from memquorum.core.reading.tokens import tokens

TAU = "tau_bench"
_LINE = 160
"""Characters: a longer line of what a tool answers is cut at its commas."""
_OURS, _THEIRS = "admitted parts with their call, 250 tokens", "store all, whole turns, 500 tokens"

Run = Sequence[Mapping[str, Any]]


def tau(material: Material) -> Row:
    """Facts of a first run of a task, asked by the calls of tools of a second run."""
    row = Row("tau-bench", "tau-bench: what a second run's calls of tools need, found in what the first run was told")
    runs = {(one["task_id"], str(one["trial"])): one["traj"] for one in records(material.data, TAU, "traj")}
    trials = sorted({trial for _, trial in runs})
    tasks = material.some(sorted({task for task, _ in runs}), 3)
    firsts = [runs.get((task, trials[0]), ()) for task in tasks]
    told = {named: [one for run in firsts for one in _said(run, named=named)] for named in (False, True)}
    everything = " ".join(text for _, text in told[False]).casefold()
    asked = [
        (goal, frozenset(value for value in needs if value in everything))
        for task in tasks
        for goal, needs in _calls(runs.get((task, trials[1]), ()))
    ]
    asked = [one for one in asked if one[1]]
    contexts = _contexts(material, [one for run in firsts for one in _calls(run)])
    row.figure("calls asked", len(asked), "")
    pools = dict[str, list[Held]]()
    for named, name in ((False, "parts"), (True, "parts with their call")):
        texts = list(dict.fromkeys(_with(call, part) for call, text in told[named] for part in _parts(text)))
        pools[name] = material.held("p", texts)
        pools[f"admitted {name}"] = material.admit(pools[name], contexts).held
        row.figure(f"{name}: candidates", len(texts), "")
        row.figure(f"{name}: admitted", len(pools[f"admitted {name}"]), "")
        pools[f"whole turns{name.removeprefix('parts')}"] = material.held(
            "t", list(dict.fromkeys(_with(call, text) for call, text in told[named]))
        )
    questions = material.vectors.of([goal for goal, _ in asked])
    for name, pool, budget in (
        (_THEIRS, pools["whole turns"], 500),
        ("store all, whole turns with their call, 500 tokens", pools["whole turns with their call"], 500),
        ("store all, parts, 250 tokens", pools["parts"], 250),
        ("store all, parts with their call, 250 tokens", pools["parts with their call"], 250),
        ("admitted parts, 250 tokens", pools["admitted parts"], 250),
        (_OURS, pools["admitted parts with their call"], 250),
        ("admitted parts with their call, 500 tokens", pools["admitted parts with their call"], 500),
    ):
        _measured(row, name, asked, list(ranked(pool, questions, 200)), budget)
    for name in ("admitted parts", "admitted parts with their call"):
        there = " ".join(one.text for one in pools[name]).casefold()
        most = np.mean([sum(value in there for value in needs) / len(needs) for _, needs in asked])
        row.figure(f"{name}: facts that they have at all", float(most), "")
    lead = row.value(f"{_OURS}: facts found") - row.value(f"{_THEIRS}: facts found")
    row.figure("admitted at half of the tokens, less store all", lead, "")
    row.at_least("admitted at half of the tokens, less store all", 0.0)
    row.note(
        "a fact is a value in the arguments of a call that the first run was told, too; what is asked by is what the "
        "customer said last. All tasks are one namespace. A part of what a tool answered, with its call, says which "
        "tool was asked and for what: without that, a line such as a date is near to nothing"
    )
    return row


def _measured(
    row: Row, name: str, asked: Sequence[tuple[str, frozenset[str]]], answers: Sequence[Sequence[Held]], budget: int
) -> None:
    told, spent = list[float](), list[int]()
    for (_, needs), found in zip(asked, answers, strict=True):
        given, left = list[str](), budget
        for one in found:
            if one.tokens <= left:
                given.append(one.text.casefold())
                left -= one.tokens
        told.append(sum(any(value in text for text in given) for value in needs) / len(needs))
        spent.append(budget - left)
    row.figure(f"{name}: facts found", float(np.mean(told)), "")
    row.figure(f"{name}: tokens given", float(np.mean(spent)), "")


def _contexts(material: Material, calls: Sequence[tuple[str, frozenset[str]]]) -> list[Any]:
    """A finished task for each value of each call."""
    vectors = material.vectors.of([goal for goal, _ in calls])
    return [
        material.context(f"{at}-{number}", goal, value, vector)
        for at, ((goal, needs), vector) in enumerate(zip(calls, vectors, strict=True))
        for number, value in enumerate(sorted(needs))
    ]


def _said(run: Run, *, named: bool) -> Iterator[tuple[str, str]]:
    """Yields the texts that the run was told, each with the call that it answers where that is asked for."""
    calls = dict[str, str]()
    for message in run:
        for call in message.get("tool_calls") or ():
            told = json.loads(call["function"]["arguments"])
            given = (str(value) for value in told.values() if isinstance(value, str | int))
            calls[call["id"]] = " ".join((call["function"]["name"].replace("_", " "), *given))
        if message["role"] in ("user", "tool") and message.get("content"):
            yield calls.get(str(message.get("tool_call_id")), "") if named else "", message["content"]


def _with(call: str, text: str) -> str:
    return f"{call}: {text}" if call else text


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


def _calls(run: Run) -> Iterator[tuple[str, frozenset[str]]]:
    """Yields the customer's last message before each call of a tool, and the values in the call."""
    last = ""
    for message in run:
        if message["role"] == "user":
            last = message["content"]
        for call in message.get("tool_calls") or ():
            needs = frozenset(values(json.loads(call["function"]["arguments"])))
            if last and needs:
                yield last, needs


ROWS: Mapping[str, Callable[[Material], Row]] = {"tau-bench": tau}
