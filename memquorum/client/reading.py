"""The commands that read: search, retrieve, recall, context, get, explain, trace. Each shows a line for a text, and a
line for where it is from; a context is shown as it goes into a prompt."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator
from typing import Any, cast

from rich.console import Console
from rich.text import Text

from memquorum import terminal
from memquorum.client import settings
from memquorum.client.command import command, in_json, opened
from memquorum.client.errors import Invalid, NotConfigured, NotFound
from memquorum.client.values import Filed, Gates, Only
from memquorum.commands import NUMBERS, OK, flag, option, seconds, titled, when
from memquorum.core.api.answers import Answering, Around, Context, Hit, Overtaken, Recalled, Retrieved, Shown
from memquorum.core.retrieval.hops import QUESTION
from memquorum.core.retrieval.telling import moment
from memquorum.core.text.plurals import many
from memquorum.telemetry import reading

_LENGTH = 300
_REASONS = {
    "duplicate": "say what others say",
    "budget": "did not fit the budget",
    "k_max": "came after the last place",
    "not_found": "answer less",
    "tier": "are in another tier",
    "agent": "are other agents'",
    "subject": "are about others",
    "session": "are of other sessions",
    "time": "are of another time",
    "type": "are of another type",
    "sensitivity": "are too sensitive",
    "purpose": "are for other purposes",
    "jurisdiction": "are under another law",
    "path": "are filed elsewhere",
    "key": "are filed under other keys",
    "attributes": "have other attributes",
    "encoder": "are encoded otherwise",
}

_COMPARED = re.compile(r"(?P<name>[^=!<>]+)(?P<how>!=|<=|>=|=|<|>)(?P<value>.*)", re.DOTALL)
_HOW = {"=": "$eq", "!=": "$ne", "<": "$lt", "<=": "$lte", ">": "$gt", ">=": "$gte"}


def conditions(said: str) -> dict[str, Any]:
    """What attributes are asked for, as the command line says it: NAME=VALUE, or a JSON object. A value that is a
    number, true, false, null or a JSON text is that; any other is a text."""
    if said.startswith("{"):
        try:
            found: dict[str, Any] = json.loads(said)
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"not JSON: {error}") from None
        return found
    match = _COMPARED.fullmatch(said)
    if match is None:
        raise argparse.ArgumentTypeError("say NAME=VALUE, or a JSON object")
    try:
        value = json.loads(match["value"])
    except ValueError:
        value = match["value"]
    return {match["name"]: {_HOW[match["how"]]: value}}


_QUERY = option("query", metavar="QUERY")
_ID = option("memory_id", metavar="ID")
_K = option("-k", type=int, default=20, help="how many at most (default: 20)")
_BUDGET = option("--budget", type=int, default=2_000, metavar="TOKENS", help="default: 2000")
AFTER = option("--after", metavar="TOKEN", help="wait until this write is seen: what `publish --json` gives as token")
_HOPS = option("--hops", type=int, default=1, help="2: also what the first hits name (default: 1)")
_DIFFUSION = flag(
    "--diffusion", "of experience alone, with general forms of other namespaces, whose publishers allow it"
)
_MORE = "Scores, weights and proofs: the same command with --numbers."
_PEEK = flag("--peek", "only look: nothing counts as used")
_CHOICES = (
    option("--of", action="append", metavar="AGENT", help="recorded by this agent, or summed up of that; repeatable"),
    option("--subject", action="append", metavar="NAME", help="about this subject, or summed up of such; repeatable"),
    option("--session", action="append", help="of this session, or summed up of it; repeatable"),
    option("--tier", action="append", help="short-term or long-term"),
    option("--type", action="append", help="episodic, semantic, social or task; repeatable"),
    option("--since", type=when, metavar="WHEN", help="occurred from then on; ISO 8601, or milliseconds"),
    option("--until", type=when, metavar="WHEN", help="occurred before then"),
    option("--key", action="append", metavar="KEY", help="filed under this key; repeatable"),
    flag("--experience", "admitted to experience: it has shown in finished tasks that it helps"),
)
_FILED = (
    option("--path", help="filed there or below, as in users/ada"),
    option("--where", action="append", type=conditions, metavar="NAME=VALUE",
           help='its attribute is that; also != < <= > >=, or JSON as {"size": {"$in": [1, 2]}}; repeatable'),
)  # fmt: skip
PASSES = (
    option("--sensitivity-max", type=float, metavar="S", help="as sensitive as that at most, in [0, 1]"),
    option("--purpose", help="for this, or for anything; without it, what is for anything"),
    option("--jurisdiction", action="append", metavar="CODE", help="under no law but this; repeatable"),
)
_GATES = (
    *PASSES,
    flag("--redact", "mask cards, telephone numbers, e-mail, addresses, keys and the like by kind, as [phone]"),
)
IF_IT_PASSES = titled("only if it passes", *_GATES)
WHAT_PASSES = titled("only what passes", *_CHOICES, *_FILED, *_GATES)


def only(parsed: argparse.Namespace) -> Only:
    """Which memories are asked, as it was said."""
    given = {
        "agents": parsed.of, "subjects": parsed.subject, "sessions": parsed.session, "tiers": parsed.tier,
        "types": parsed.type, "since": parsed.since, "until": parsed.until, "keys": parsed.key,
        "experience": parsed.experience or None,
    }  # fmt: skip
    return cast(Only, {name: value for name, value in given.items() if value is not None} | filed(parsed))


def filed(parsed: argparse.Namespace) -> Filed:
    """Where memories are filed, and what may be read, as it was said."""
    where = dict[str, Any]()
    for name, said in (pair for one in parsed.where or () for pair in one.items()):
        where[name] = where.get(name, {}) | (said if isinstance(said, dict) else {"$eq": said})
    given = {"path": parsed.path, "where": where or None}
    return cast(Filed, {name: value for name, value in given.items() if value is not None} | gated(parsed))


def gated(parsed: argparse.Namespace) -> Gates:
    """What may be read, and what for, as it was said."""
    given = {
        "sensitivity_max": parsed.sensitivity_max, "purpose": parsed.purpose, "jurisdictions": parsed.jurisdiction,
        "redact": parsed.redact or None,
    }  # fmt: skip
    return cast(Gates, {name: value for name, value in given.items() if value is not None})


@command(
    "search",
    _QUERY,
    _K.but(default=10, help="how many at most (default: 10)"),
    flag("--exact", "compare all, where an index would find nearly all"),
    _DIFFUSION,
    _PEEK,
    NUMBERS,
    AFTER,
    WHAT_PASSES,
    example='memquorum search -n greenhouse "When does valve 3 open?"',
)
def _search(parsed: argparse.Namespace) -> int:
    """Finds the memories nearest in meaning, the best first. They count as used, unless --peek."""
    with opened(parsed) as memory:
        hits = memory.search(
            parsed.query, parsed.k, peek=parsed.peek, after=parsed.after, exact=parsed.exact,
            diffusion=parsed.diffusion, **only(parsed),
        )  # fmt: skip
    if parsed.json:
        for hit in hits:
            print(in_json(hit))
        return OK
    console = terminal.console()
    if not hits:
        passes = "of what passes the filters" if only(parsed) or parsed.diffusion else "yet"
        console.print(f"nothing in {memory.namespace!r} {passes}")
    for place, hit in enumerate(hits, 1):
        _show(console, _mark(place, hit, numbers=parsed.numbers), hit)
    return OK


@command(
    "retrieve",
    _QUERY,
    _K,
    _BUDGET,
    _HOPS,
    _DIFFUSION,
    _PEEK,
    NUMBERS,
    AFTER,
    WHAT_PASSES,
    example='memquorum retrieve -n greenhouse --budget 500 "valve pressure"',
)
def _retrieve(parsed: argparse.Namespace) -> int:
    """Finds what answers best, by meaning and by words, and fits a budget of tokens. It counts as used."""
    with opened(parsed) as memory:
        found = memory.retrieve(
            parsed.query, parsed.budget, k_max=parsed.k, hops=parsed.hops, diffusion=parsed.diffusion,
            peek=parsed.peek, after=parsed.after, **only(parsed),
        )  # fmt: skip
    return _context(parsed, found, numbers=parsed.numbers)


@command(
    "recall",
    _ID.but(nargs="?"),
    option("--query", help="in place of ID: begin at what answers this best"),
    option("--goal", help="in place of ID: begin at what this goal needs"),
    option("--steps", type=int, default=5, help="so many before and after in the session (default: 5)"),
    option("--links", type=int, default=2, help="so many to what it was made of, or was made of it (default: 2)"),
    option("--within", type=seconds, default=0, metavar="S", help="also what else occurred so near, in seconds"),
    _BUDGET,
    _PEEK,
    AFTER,
    WHAT_PASSES,
    example='memquorum recall -n greenhouse --query "valve 3" --within 600',
)
def _recall(parsed: argparse.Namespace) -> int:
    """Tells what surrounds a memory, or what answers a query best, in the order of time. It counts as used."""
    with opened(parsed) as memory:
        found = memory.recall(
            parsed.memory_id, query=parsed.query, goal=parsed.goal, steps=parsed.steps, links=parsed.links,
            within_ms=round(parsed.within * 1000), budget_tokens=parsed.budget, peek=parsed.peek, after=parsed.after,
            **only(parsed),
        )  # fmt: skip
    return _context(parsed, found)


@command("get", _ID, AFTER, IF_IT_PASSES, example="memquorum get 11936ca0-73b1-5c8b-a836-cd85fc13cdfc")
def _get(parsed: argparse.Namespace) -> int:
    """Shows a memory by its id. It does not count as used."""
    with opened(parsed) as memory:
        found = memory.get(parsed.memory_id, after=parsed.after, **gated(parsed))
    if parsed.json:
        print(in_json(found))
        return OK
    show(terminal.console(), found)
    return OK


@command(
    "context",
    _QUERY.but(nargs="?", help="without it, what the agent said last alone"),
    option("--session", help="what it said in this session (default: in all)"),
    option("--share", type=float, default=0.5, help="of the budget, for that at first (default: 0.5)"),
    _K.but(help="how many beside that at most (default: 20)"),
    _BUDGET,
    _HOPS,
    _PEEK,
    AFTER,
    titled("only what passes", *_FILED, *_GATES),
    example='memquorum context -n greenhouse -a planner "open valve 3"',
)
def _prompt(parsed: argparse.Namespace) -> int:
    """Prints what to put into a prompt: what the agent (-a) said last, and what answers QUERY. It counts as used."""
    with opened(parsed) as memory:
        found = memory.context(
            parsed.query, parsed.budget, session=parsed.session, buffer_share=parsed.share, k_max=parsed.k,
            hops=parsed.hops, peek=parsed.peek, after=parsed.after, **filed(parsed),
        )  # fmt: skip
    if parsed.json:
        print(in_json(found))
        return OK
    print(found, end="")
    # Beside the text, so that it can be piped into a prompt.
    console = terminal.console(stderr=True)
    for line in _counts(found):
        console.print(Text(line), style="dim", soft_wrap=True)
    return OK


@command(
    "explain",
    _ID,
    NUMBERS,
    AFTER,
    IF_IT_PASSES,
    example="memquorum explain 11936ca0-73b1-5c8b-a836-cd85fc13cdfc",
)
def _explain(parsed: argparse.Namespace) -> int:
    """Tells what became of a memory, why, what you can do, and what happened to it; with --numbers also every weight,
    threshold and proof."""
    with opened(parsed) as memory:
        told = memory.explain(parsed.memory_id, after=parsed.after, **gated(parsed))
    if parsed.json:
        print(json.dumps(told.account))
        return OK
    print(told)
    print("\n".join(("", "In numbers", *told.numbers)) if parsed.numbers else _MORE)
    return OK


@command(
    "trace",
    option("id", metavar="ID", help="a memory's id, or a trace's"),
    flag("--all", "in full also the votes that kept it"),
    example="memquorum trace 11936ca0-73b1-5c8b-a836-cd85fc13cdfc",
)
def _trace(parsed: argparse.Namespace) -> int:
    """Prints the way of a memory through the line, with times, and the votes about it."""
    asked = reading.normal(parsed.id)
    if asked is None:
        raise Invalid("bad_id", "ID", "neither a memory's id nor a trace's: 32 hexadecimal digits, hyphens or not")
    place = settings.find(kafka=parsed.kafka)
    if place.run_dir is None:
        raise NotConfigured("traces are kept in the folder of an installation (`make up`): work beside one")
    found = reading.find(place.run_dir / "traces", asked)
    if not found:
        raise NotFound(_untraced(asked, place))
    if parsed.json:
        for span in (span for trace in found for span in trace.spans):
            print(json.dumps(reading.plain(span)))
        return OK
    for line in reading.lines(found, asked, whole=parsed.all):
        print(line)
    return OK


def _untraced(asked: str, place: settings.Place) -> str:
    if place.otlp_endpoint:
        return f"traces of this installation go to {place.otlp_endpoint}: look for trace {asked} there"
    if place.trace_rate == 0:
        return "this installation records no traces: its setting trace_rate is 0"
    return (
        f"nothing is kept of trace {asked}: too long ago, or one of more than {place.trace_rate} a second that began "
        "(setting trace_rate)"
    )


def _mark(place: int, one: Hit | Answering, *, numbers: bool) -> str:
    """What stands before a memory that was found: its place, or its score."""
    return f"{one.score:6.3f}" if numbers else f"{place:>5}."


def _context(parsed: argparse.Namespace, found: Retrieved | Recalled, *, numbers: bool = False) -> int:
    if parsed.json:
        print(in_json(found))
        return OK
    console = terminal.console()
    items: tuple[Answering | Around, ...] = found.items
    for place, item in enumerate(items, 1):
        mark = f"{item.way:>7}" if isinstance(item, Around) else _mark(place, item, numbers=numbers)
        _show(console, mark, item, whole=True)
    for line in _counts(found):
        console.print(Text(line), style="dim", soft_wrap=True)
    return OK


def _show(console: Console, mark: str, one: Hit | Answering | Around, *, whole: bool = False) -> None:
    """`whole`: what fits a budget is not cut."""
    said = " ".join(one.text.split()) if whole else _short(one.answering if isinstance(one, Hit) else one.text)
    console.print(terminal.text(console, f"{mark}  {said}"), soft_wrap=True)
    _whence(console, one)
    if isinstance(one, Answering) and one.through is not None:
        by = "the question" if one.through == QUESTION else one.through
        console.print(terminal.text(console, f"        of what {by} names"), style="dim", soft_wrap=True)
    if one.also_by:
        also = f"        also said by {len(one.also_by)}: {', '.join(one.also_by)}"
        console.print(terminal.text(console, also), style="dim", soft_wrap=True)
    for newer in one.overtaken:
        console.print(terminal.text(console, f"        {_overtaken(one.text, newer)}"), style="yellow", soft_wrap=True)
    if one.overtakes:
        told = f"        overtook {', '.join(one.overtakes)}"
        console.print(terminal.text(console, told), style="dim", soft_wrap=True)
    others = set(one.conflicts_with).difference(one.overtakes, (newer.by for newer in one.overtaken))
    if others:
        told = f"        says otherwise than {', '.join(sorted(others))}; both are in use"
        console.print(terminal.text(console, told), style="yellow", soft_wrap=True)


def _overtaken(text: str, mark: Overtaken) -> str:
    """A mark in words: since when and by which memory, and which statements where it is not the whole."""
    said = ", ".join(f'"{_short(text[start:end])}"' for start, end in mark.spans)
    part = f": {said}" if said and mark.spans != ((0, len(text)),) else ""
    if mark.disputed:
        return f"disputed by {mark.agent} in {mark.by}{part}"
    return f"overtaken since {moment(mark.since)} by {mark.by}{part}"


def show(console: Console, one: Shown) -> None:
    """Prints a memory: its text, a summary's line for line, and where it is from."""
    said = f"no text: {one.instead}" if one.text is None else " ".join(one.text.split())
    lines = [said] if one.text is None or one.made_by is None else one.text.split("\n")
    for line in lines:
        console.print(terminal.text(console, line), soft_wrap=True)
    _whence(console, one)
    for against in one.overtaken:
        marked = f"        {_overtaken(one.text or '', against)}"
        console.print(terminal.text(console, marked), style="yellow", soft_wrap=True)
    if one.text is None and one.restorable:
        back = f"        `memquorum restore -n {one.namespace} {one.memory_id}` asks the members to bring it back"
        console.print(terminal.text(console, back), style="dim", soft_wrap=True)
    if one.superseded_by is not None:
        newer = f"        `memquorum get {one.superseded_by}` shows what took its place"
        console.print(terminal.text(console, newer), style="dim", soft_wrap=True)
    if filed := _filed_as(one):
        console.print(terminal.text(console, f"        {filed}"), style="dim", soft_wrap=True)
    if one.links:
        linked = ", ".join(f"{link.kind} {link.to or link.name}" for link in one.links)
        console.print(terminal.text(console, f"        {linked}"), style="dim", soft_wrap=True)


def _filed_as(one: Shown) -> str:
    """Where a memory is filed, in a line."""
    told = [f"{name} {value}" for name, value in (("path", one.path), ("key", one.key)) if value is not None]
    return "  ".join([*told, *([json.dumps(one.attributes, ensure_ascii=False)] if one.attributes else [])])


def _whence(console: Console, one: Hit | Answering | Around | Shown) -> None:
    said = moment(one.occurred_at).removesuffix(" UTC")
    whence = f"        {one.memory_id}  {one.tier}, {one.agent}, {said}"
    if (weight := getattr(one, "weight", None)) is not None:
        whence += f", weight {weight:g}"
    if one.made_by is not None:
        whence += ", out of a summary" if getattr(one, "excerpt", False) else ", a summary"
    else:
        whence += _where(one)
    if getattr(one, "diffused", False):
        whence += ", a general form of another namespace"
    if one.general_of is not None:
        whence += f", the general form of {one.general_of}"
    console.print(terminal.text(console, whence), style="dim", soft_wrap=True)


def _where(one: Hit | Answering | Around | Shown) -> str:
    """Where in a long text it answers, by its characters."""
    if isinstance(one, Shown) or one.passage is None:
        return ""
    if isinstance(one, Hit) or not one.spans:
        return f", best in characters {one.passage[0]}–{one.passage[1]}"
    return f", characters {', '.join(f'{start}–{end}' for start, end in one.spans)} of a long text"


def _counts(found: Context | Retrieved | Recalled) -> Iterator[str]:
    yield f"{many(len(found.items), 'memory')}, some {found.tokens} of {found.budget_tokens} tokens"
    if found.left_out:
        told = [f"{left.count} {_REASONS.get(reason, reason)}" for reason, left in found.left_out.items()]
        yield f"left out: {', '.join(told)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LENGTH else line[: _LENGTH - 1] + "…"
