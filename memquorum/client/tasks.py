"""The commands of experience: list and show finished tasks and weights of memories, and ask to roll a weight back."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any

from rich.console import Console
from rich.text import Text

from memquorum import terminal
from memquorum.client.command import command, in_json, opened, page_of, selected, tell_more, times
from memquorum.client.errors import NotFound
from memquorum.client.orders import TIMEOUT, give, under_way
from memquorum.client.reading import AFTER, IF_IT_PASSES, PASSES, gated
from memquorum.client.sync import Memory
from memquorum.commands import OK, flag, option, titled
from memquorum.core.accounts import admitting
from memquorum.core.accounts.pages import STATUSES
from memquorum.core.accounts.telling import ENDED, moment
from memquorum.core.api.answers import Admission, FinishedTask, Rollback, TaskInShort
from memquorum.core.experience.texts import OUTCOMES
from memquorum.core.orders.restore import ROLLBACK
from memquorum.core.showing.plurals import many
from memquorum.core.vote.kinds import KINDS

_JUDGES = 20
_LENGTH = 200


@command(
    "experience list",
    option("--outcome", action="append", choices=OUTCOMES, help="that ended so; repeatable"),
    option("--of", action="append", metavar="AGENT", help="that this agent worked on; repeatable"),
    option("--subject", action="append", metavar="NAME", help="that are about this subject; repeatable"),
    option("--memory", metavar="ID", help="that were given this memory"),
    *times("ended"),
    *page_of(),
    AFTER,
    titled("only tasks that pass", *PASSES, flag("--redact", "mask what is found of persons and secrets, by kind")),
    example="memquorum experience list -n greenhouse --outcome failed",
)
def _list(parsed: argparse.Namespace) -> int:
    """Lists finished tasks, the latest first: goal, outcome, who judged it, and the memories it was given."""
    asked = {
        "outcomes": parsed.outcome, "agents": parsed.of, "subjects": parsed.subject, "memory_id": parsed.memory,
        **selected(parsed),
    }  # fmt: skip
    gates = gated(parsed)
    with opened(parsed) as memory:
        page = memory.tasks(after=parsed.after, **asked, **gates)
        namespace = memory.namespace
    console = terminal.console()
    for one in page.tasks:
        if parsed.json:
            print(in_json(one))
        else:
            _short(console, one)
    if not page.tasks and not parsed.json:
        part = any(value is not None for value in (*asked.values(), *gates.values()))
        console.print(Text(f"no task was finished in {namespace!r}{' that passes' if part else ''}"))
    tell_more(page)
    return OK


@command(
    "experience show",
    option("task", metavar="TASK", help="its id"),
    AFTER,
    IF_IT_PASSES,
    example="memquorum experience show -n greenhouse 11936ca0-73b1-5c8b-a836-cd85fc13cdfc",
)
def _show(parsed: argparse.Namespace) -> int:
    """Shows a finished task whole: its texts, the memories it was given, and the feedback about them."""
    with opened(parsed) as memory:
        found = memory.finished_task(parsed.task, after=parsed.after, **gated(parsed))
    if parsed.json:
        print(in_json(found))
        return OK
    console = terminal.console()
    for line in _lines(found):
        console.print(terminal.text(console, line), soft_wrap=True)
    return OK


@command(
    "experience why",
    option("memory", metavar="MEMORY", help="its id"),
    AFTER,
    IF_IT_PASSES,
    example="memquorum experience why -n greenhouse 11936ca0-73b1-5c8b-a836-cd85fc13cdfc",
)
def _why(parsed: argparse.Namespace) -> int:
    """Shows how far a memory's admission to experience is, and why: in which tasks it helped, by which verifier, how
    members voted, and its weight."""
    with opened(parsed) as memory:
        found = memory.experience(parsed.memory, after=parsed.after, **gated(parsed))
        goals = {} if parsed.json else _goals(memory, found, gated(parsed))
    if parsed.json:
        print(in_json(found))
        return OK
    console = terminal.console()
    for line in admitting.lines(found, goals):
        console.print(terminal.text(console, line), soft_wrap=True)
    return OK


def _goals(memory: Memory, found: Admission, gates: Any) -> dict[str, str]:
    """The goals, by task id, of the last tasks that judged a memory and may be read."""
    judges = dict.fromkeys(judge.task for trial in reversed(found.trials) for judge in trial.judges)
    goals = {}
    for task in list(judges)[:_JUDGES]:
        # A task that is erased or filtered out is shown by its id.
        with suppress(NotFound):
            goals[task] = memory.finished_task(task, **gates).goal
    return goals


@command(
    "experience rollback",
    option("memory", metavar="MEMORY", help="its id"),
    option("--to", type=int, required=True, metavar="VERSION", help="the older version of its weight"),
    option("--because", dest="reference", metavar="TEXT", help="why: a name for the reason elsewhere"),
    TIMEOUT,
    example="memquorum experience rollback -n greenhouse 11936ca0-73b1-5c8b-a836-cd85fc13cdfc --to 2",
)
def _rollback(parsed: argparse.Namespace) -> int:
    """Asks to reset the weight of a memory of experience to that of an older version: members vote on it. Exits with 1
    unless it is reset; 4 if the namespace has no such memory. `experience why` shows the versions."""
    return give(
        parsed, "rollback", rollback_lines, parsed.memory, to=parsed.to, reference=parsed.reference,
        good=lambda done: done.status == KINDS[ROLLBACK].outcome,
    )  # fmt: skip


def rollback_lines(done: Rollback) -> Iterator[str]:
    """A request to roll a weight back, in words."""
    if done.status == "asked":
        yield under_way(done.order_id)
        return
    voted = "" if done.epoch is None else f", in epoch {done.epoch} of shard {done.shard}"
    yield f"{done.status}{voted}: {done.detail}"
    if done.weight is not None:
        yield f"  it weighs {admitting.number(done.weight)} now, version {done.version}"


@command(
    "experience weights",
    option("--status", action="append", choices=STATUSES, help="that stand so; repeatable"),
    *page_of(),
    AFTER,
    titled("only memories that pass", *PASSES, flag("--redact", "mask what is found of persons and secrets, by kind")),
    example="memquorum experience weights -n greenhouse --status admitted",
)
def _weights(parsed: argparse.Namespace) -> int:
    """Lists the memories that were tried in tasks, the most recently changed first: status, weight, in how many tasks
    each helped and did harm."""
    with opened(parsed) as memory:
        page = memory.experiences(after=parsed.after, statuses=parsed.status, **selected(parsed), **gated(parsed))
    console = terminal.console()
    if parsed.json:
        for one in page.memories:
            print(in_json(one))
    else:
        if parsed.cursor is None:
            console.print(terminal.text(console, admitting.counted(page)), soft_wrap=True)
        for one in page.memories:
            text, told = admitting.short(one)
            console.print(terminal.text(console, text), soft_wrap=True)
            console.print(terminal.text(console, told), style="dim", soft_wrap=True)
    tell_more(page)
    return OK


def _short(console: Console, one: TaskInShort) -> None:
    goal, told = short((one,))
    console.print(terminal.text(console, goal), soft_wrap=True)
    console.print(terminal.text(console, told), style="dim", soft_wrap=True)


def short(found: Iterable[TaskInShort]) -> Iterator[str]:
    """Yields two lines for each finished task: its goal and its outcome."""
    for one in found:
        said = " ".join(one.goal.split())
        yield said if len(said) <= _LENGTH else said[:_LENGTH] + "…"
        told = f"{len(one.helped)} helped, {len(one.did_not_help)} did not"
        line = f"        {one.task}  {_ended(one)}, by {one.agent}, {moment(one.finished_at).removesuffix(' UTC')}; "
        line += f"given {many(len(one.retrieved), 'memory')}"
        yield f"{line}, {told}" if one.helped or one.did_not_help else line


def _ended(one: TaskInShort) -> str:
    how = ENDED[one.outcome] if one.said_by else "ended, nobody says how"
    return f"{how}, says {one.said_by}" if one.said_by else how


def _lines(one: FinishedTask) -> list[str]:
    lines = [f"task {one.task} of {one.agent}: {_ended(one)}, {moment(one.finished_at)}", f"goal: {one.goal}"]
    lines += [f"{name}: {text}" for name, text in (("inputs", one.inputs), ("outputs", one.outputs)) if text]
    lines += [f"tool: {told}" for told in one.tools]
    said: dict[str, list[str]] = {}
    for each in one.feedback:
        told = f"{'helped' if each.helped else 'did not help'}, says {each.agent}"
        said.setdefault(each.memory_id, []).append(told)
    for memory_id in one.retrieved:
        never = ["no memory here was ever called so"] if memory_id in one.unknown else []
        lines.append(f"given: {'; '.join((memory_id, *never, *said.get(memory_id, [])))}")
    lines.append(f"configuration {one.configuration}, seed {one.seed}, encoded by {one.encoder}, digest {one.digest}")
    return lines
