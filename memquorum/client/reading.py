"""The commands that read: search, retrieve, recall, context. Each shows a line for a text, and a line for where it is
from; a context is shown as it goes into a prompt."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from typing import cast

import msgspec
from rich.console import Console
from rich.text import Text

from memquorum import terminal
from memquorum.client.sync import Memory
from memquorum.client.values import Context, Found, Gates, Only
from memquorum.core.api.answers import Hit
from memquorum.core.retrieval.telling import moment
from memquorum.options import when

_LENGTH = 300
_REASONS = {
    "duplicate": "say what others say",
    "budget": "did not fit the budget",
    "k_max": "came after the last place",
    "not_found": "answer less",
    "tier": "are in another tier",
    "agent": "are other agents'",
    "session": "are of other sessions",
    "time": "are of another time",
    "type": "are of another type",
    "sensitivity": "are too sensitive",
    "purpose": "are for other purposes",
    "jurisdiction": "are under another law",
    "encoder": "are encoded otherwise",
}


Opens = Callable[[argparse.Namespace], Memory]
Command = Callable[[str, Callable[[argparse.Namespace], int], str], argparse.ArgumentParser]


def add(command: Command, opens: Opens) -> None:
    """Adds the commands. `opens`: the client that a command's options ask for."""
    said = "Find the memories nearest in meaning. They count as used, unless --peek."
    search = command("search", partial(_search, opens), said)
    search.add_argument("query", metavar="QUERY")
    search.add_argument("-k", type=int, default=10, help="how many at most (default: 10)")
    search.add_argument("--exact", action="store_true", help="compare all, where an index would find nearly all")
    said = "Find what answers best, by meaning and by words, and fits a budget of tokens. It counts as used."
    retrieve = command("retrieve", partial(_retrieve, opens), said)
    retrieve.add_argument("query", metavar="QUERY")
    retrieve.add_argument("-k", type=int, default=20, help="how many at most (default: 20)")
    said = "Tell what surrounds a memory, or what answers a query best, in the order of time. It counts as used."
    recall = command("recall", partial(_recall, opens), said)
    recall.add_argument("memory_id", metavar="ID", nargs="?")
    recall.add_argument("--query", help="in place of ID: begin at what answers this best")
    recall.add_argument("--goal", help="in place of ID: begin at what this goal needs")
    recall.add_argument("--steps", type=int, default=5, help="so many before and after in the session (default: 5)")
    recall.add_argument(
        "--links", type=int, default=2, help="so many to what it was made of, and what was made of it (default: 2)"
    )
    recall.add_argument(
        "--within", type=float, default=0, metavar="S", help="also what else occurred so near, in seconds"
    )
    said = "Print what to put into a prompt: what the agent (-a) said last, and what answers QUERY. It counts as used."
    prompt = command("context", partial(_prompt, opens), said)
    prompt.add_argument("query", metavar="QUERY", nargs="?", help="without it, what the agent said last alone")
    prompt.add_argument("--session", help="what it said in this session (default: in all)")
    prompt.add_argument("--share", type=float, default=0.5, help="of the budget, for that at first (default: 0.5)")
    prompt.add_argument("-k", type=int, default=20, help="how many beside that at most (default: 20)")
    get = command("get", partial(_get, opens), "Show a memory by its id. It does not count as used.")
    get.add_argument("memory_id", metavar="ID")
    gates(get.add_argument_group("only if it passes"))
    for reads in (retrieve, recall, prompt):
        reads.add_argument("--budget", type=int, default=2_000, metavar="TOKENS", help="default: 2000")
    for reads in (search, retrieve, recall, prompt):
        reads.add_argument("--peek", action="store_true", help="only look: nothing counts as used")
        passes = reads.add_argument_group("only what passes")
        if reads is not prompt:
            _choices(passes)
        gates(passes)


def _choices(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--of", action="append", metavar="AGENT", help="recorded by this agent; repeatable")
    group.add_argument("--session", action="append", help="of this session; repeatable")
    group.add_argument("--tier", action="append", help="short-term or long-term")
    group.add_argument("--type", action="append", help="episodic, semantic, social or task; repeatable")
    group.add_argument("--since", type=when, metavar="WHEN", help="occurred from then on; ISO 8601, or milliseconds")
    group.add_argument("--until", type=when, metavar="WHEN", help="occurred before then")


def gates(group: argparse._ArgumentGroup) -> None:
    """Adds what says what may be read, and what for."""
    group.add_argument("--sensitivity-max", type=float, metavar="S", help="as sensitive as that at most, in [0, 1]")
    group.add_argument("--purpose", help="for this, or for anything; without it, what is for anything")
    group.add_argument("--jurisdiction", action="append", metavar="CODE", help="under no law but this; repeatable")


def _only(parsed: argparse.Namespace) -> Only:
    given = {
        "agents": parsed.of, "sessions": parsed.session, "tiers": parsed.tier, "types": parsed.type,
        "since": parsed.since, "until": parsed.until,
    }  # fmt: skip
    return cast(Only, {name: value for name, value in given.items() if value is not None} | gated(parsed))


def gated(parsed: argparse.Namespace) -> Gates:
    """What may be read, and what for, as it was said."""
    given = {
        "sensitivity_max": parsed.sensitivity_max, "purpose": parsed.purpose, "jurisdictions": parsed.jurisdiction
    }  # fmt: skip
    return cast(Gates, {name: value for name, value in given.items() if value is not None})


def _search(opens: Opens, parsed: argparse.Namespace) -> int:
    with opens(parsed) as memory:
        hits = memory.search(parsed.query, parsed.k, peek=parsed.peek, exact=parsed.exact, **_only(parsed))
    if parsed.json:
        for hit in hits:
            print(json.dumps(msgspec.structs.asdict(hit)))
        return 0
    console = terminal.console()
    if not hits:
        console.print(f"nothing in {memory.namespace!r} yet")
    for hit in hits:
        _show(console, f"{hit.score:6.3f}", hit)
    return 0


def _retrieve(opens: Opens, parsed: argparse.Namespace) -> int:
    with opens(parsed) as memory:
        found = memory.retrieve(parsed.query, parsed.budget, k_max=parsed.k, peek=parsed.peek, **_only(parsed))
    return _context(parsed, found)


def _recall(opens: Opens, parsed: argparse.Namespace) -> int:
    with opens(parsed) as memory:
        found = memory.recall(
            parsed.memory_id, query=parsed.query, goal=parsed.goal, steps=parsed.steps, links=parsed.links,
            within_ms=round(parsed.within * 1000), budget_tokens=parsed.budget, peek=parsed.peek, **_only(parsed),
        )  # fmt: skip
    return _context(parsed, found)


def _get(opens: Opens, parsed: argparse.Namespace) -> int:
    with opens(parsed) as memory:
        found = memory.get(parsed.memory_id, **gated(parsed))
    if parsed.json:
        print(json.dumps(found))
        return 0
    console, text = terminal.console(), found["text"]
    said = f"no text: {found['tier']}" if text is None else " ".join(text.split())
    console.print(terminal.text(console, said), soft_wrap=True)
    _whence(console, found["memory_id"], found["tier"], found["agent"], found["occurred_at"])
    return 0


def _prompt(opens: Opens, parsed: argparse.Namespace) -> int:
    with opens(parsed) as memory:
        found = memory.context(
            parsed.query, parsed.budget, session=parsed.session, buffer_share=parsed.share, k_max=parsed.k,
            peek=parsed.peek, **gated(parsed),
        )  # fmt: skip
    if parsed.json:
        print(json.dumps(asdict(found)))
        return 0
    print(found, end="")
    # Beside the text, so that it can be piped into a prompt.
    console = terminal.console(stderr=True)
    for line in _counts(found):
        console.print(Text(line), style="dim", soft_wrap=True)
    return 0


def _context(parsed: argparse.Namespace, found: Context) -> int:
    if parsed.json:
        print(json.dumps(asdict(found)))
        return 0
    console = terminal.console()
    for item in found.items:
        _show(console, f"{item.way or '':>7}" if item.score is None else f"{item.score:6.3f}", item)
    for line in _counts(found):
        console.print(Text(line), style="dim", soft_wrap=True)
    return 0


def _show(console: Console, mark: str, one: Hit | Found) -> None:
    console.print(terminal.text(console, f"{mark}  {_short(one.text)}"), soft_wrap=True)
    _whence(console, one.memory_id, one.tier, one.agent, one.occurred_at)


def _whence(console: Console, memory_id: str, tier: str, agent: str, occurred_at: int) -> None:
    said = moment(occurred_at).removesuffix(" UTC")
    whence = f"        {memory_id}  {tier}, {agent}, {said}"
    console.print(terminal.text(console, whence), style="dim", soft_wrap=True)


def _counts(found: Context) -> Iterator[str]:
    yield f"{len(found.items)} memories, some {found.tokens} of {found.budget_tokens} tokens"
    if found.left_out:
        told = [f"{left.count} {_REASONS.get(reason, reason)}" for reason, left in found.left_out.items()]
        yield f"left out: {', '.join(told)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LENGTH else line[: _LENGTH - 1] + "…"
