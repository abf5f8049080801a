"""The commands of sessions: end one, and show its summaries."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from typing import Any

import msgspec
from rich.text import Text

from memquorum import terminal
from memquorum.client.command import command, in_json, opened
from memquorum.client.errors import NotAllowed, NotConfigured, NotFound, Unreachable
from memquorum.client.reading import AFTER
from memquorum.client.sync import Memory
from memquorum.commands import FAILED, NUMBERS, OK, option, seconds
from memquorum.core.accounts.sessions import lines
from memquorum.core.api.answers import Session, SessionPart
from memquorum.core.experience.texts import OUTCOMES
from memquorum.core.showing.plurals import many

_LOOK_S = 0.5
_CAME = ("outcome", "goal", "inputs", "outputs", "retrieved", "by")
_NAMED = option("session", metavar="SESSION", help="as its episodes name it")


@command("session", _NAMED, NUMBERS, example="memquorum session -n greenhouse shift-1")
def _session(parsed: argparse.Namespace) -> int:
    """Shows the state of a session: its summaries, which of them wait for their vote and until when, and why others are
    not made."""
    with opened(parsed) as memory:
        found = memory.session(parsed.session)
    if parsed.json:
        print(in_json(found))
    else:
        _say(*lines(found, numbers=parsed.numbers))
    return OK


@command(
    "end-session",
    _NAMED,
    option("--wait", type=seconds, default=10.0, metavar="SECONDS",
           help="how long to wait for its summaries (default: 10)"),
    option("--outcome", choices=OUTCOMES, help="how it ended, which makes a finished task of it"),
    option("--goal", metavar="TEXT", help="with --outcome: what was to be done (default: what a user said first)"),
    option("--inputs", metavar="TEXT", help="with --outcome: what it was given"),
    option("--outputs", metavar="TEXT", help="with --outcome: what it gave"),
    option("--retrieved", action="append", metavar="ID", help="with --outcome: a memory that it was given; repeatable"),
    option("--by", metavar="NAME", help="with --outcome: who says so (default: the agent)"),
    AFTER,
    example="memquorum end-session -n greenhouse shift-1",
)  # fmt: skip
def _end_session(parsed: argparse.Namespace) -> int:
    """Ends a session for every agent that spoke in it, or with --agent for that one alone. Its summary is made at once.
    Members vote on it in the next epoch: by default within an hour, or after 100 episodes and uses. Until then searches
    give the memories themselves. Shows the resulting summaries. With --outcome it also becomes a finished task."""
    whose = parsed.agent or os.environ.get("MEMQUORUM_AGENT")
    with opened(parsed) as memory:
        came: Any = {name: one for name in _CAME if (one := getattr(parsed, name)) is not None}
        if came:  # the answer says whether that holds
            came |= {"wait": True, "timeout": max(1.0, parsed.wait)}
        over, told = memory.end_session(parsed.session, everyone=whose is None, after=parsed.after, **came), True
        found = None
        try:
            found = _settled(memory, parsed.session, whose, parsed.wait)
        except (NotConfigured, NotAllowed, Unreachable) as error:
            told = False
            print(f"what comes of it the retrieval service would say: {error}", file=sys.stderr)
        namespace = memory.namespace
    if parsed.json:
        task = {} if over.task is None else {"task": msgspec.to_builtins(over.task)}
        print(json.dumps({"event_id": over.event_id, **task, "session": msgspec.to_builtins(found)}))
    elif found is not None and _parts(found, whose):
        _say(f"session {parsed.session} of {namespace} is over for {whose or 'every agent'}")
        _tell(found, whose)
    if over.task is not None and not parsed.json:
        _say(f"it is a finished task: `memquorum experience show -n {namespace} {over.task.memory_id}`")
    if told and (found is None or not _parts(found, whose)):
        others = "" if found is None else f", but of {', '.join(one.agent for one in found.parts)}"
        who = "" if whose is None else f" of {whose}"
        what = "nothing is over" if over.task is None else "it is a task alone"
        print(f"no memory{who} in {namespace} is of session {parsed.session}{others}: {what}", file=sys.stderr)
        return FAILED if over.task is None else OK
    return OK


def _say(*told: str) -> None:
    console = terminal.console()
    for line in told:
        console.print(Text(line), soft_wrap=True)


def _tell(found: Session, whose: str | None) -> None:
    _say(*lines(found, whose, ended=True))
    if any(one.coming for one in _parts(found, whose)):
        _say(
            "Where that takes longer, `memquorum admin fleet status` tells whether the consolidator waits for a model."
        )
    others = (one for one in found.parts if one.coming and one.agent != whose)
    still = ", ".join(f"{one.agent} ({many(one.memories, 'memory')})" for one in others)
    if whose is not None and still:
        _say(f"It is not over for {still}: without --agent it ends for all.")


def _settled(memory: Memory, session: str, whose: str | None, wait_s: float) -> Session | None:
    """Waits until all summaries of a session are made, at most `wait_s`, and returns its state; None if it has no
    memories."""
    until, last = time.monotonic() + wait_s, None
    while True:
        try:
            found = memory.session(session)
        except NotFound:
            found = None
        over = found is not None and _parts(found, whose) and not any(one.coming for one in _parts(found, whose))
        # Recently published episodes may be pending: a state that is read twice is final.
        if (over and found == last) or time.monotonic() >= until:
            return found
        last = found
        time.sleep(min(_LOOK_S, max(0.0, until - time.monotonic())))


def _parts(found: Session, whose: str | None) -> list[SessionPart]:
    return [one for one in found.parts if whose in (None, one.agent)]
