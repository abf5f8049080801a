"""The commands that read: search, retrieve, recall, context, get, explain, trace. Each memory takes a line for its text
and a line for its source; a context is printed as it goes into a prompt."""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, cast

from rich.console import Console
from rich.text import Text

from memquorum import terminal
from memquorum.client import settings
from memquorum.client.command import command, counted, in_json, opened
from memquorum.client.errors import Invalid, NotFound
from memquorum.client.values import Filed, Gates, Only, Then
from memquorum.commands import NUMBERS, OK, flag, option, seconds, titled, when
from memquorum.core.accounts.telling import moment
from memquorum.core.api.answers import Answering, Around, Context, Hit, Overtaken, Recalled, Retrieved, Rollup, Shown
from memquorum.core.api.requests import RecallRequest, RetrieveRequest, SearchRequest
from memquorum.core.retrieval.hops import QUESTION
from memquorum.core.showing.plurals import many
from memquorum.telemetry import reading

_LENGTH = 300
_REASONS = {
    "duplicate": "say what others say",
    "budget": "did not fit the budget",
    "k_max": "answer less than the `k_max` that are given",
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
    """Parses a condition on attributes of the command line: NAME=VALUE, or a JSON object. A value that is valid JSON is
    taken as such; any other is a text."""
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


def _quota(said: str) -> tuple[str, float]:
    """Parses PART=SHARE."""
    part, _, share = said.partition("=")
    try:
        return part, float(share)
    except ValueError:
        raise argparse.ArgumentTypeError("say PART=SHARE, such as long_term=0.3") from None


_QUERY = option("query", metavar="QUERY")
_ID = option("memory_id", metavar="ID")
_K = counted(RetrieveRequest, "k_max", "-k", told="how many at most")
_BUDGET = counted(RetrieveRequest, "budget_tokens", "--budget", metavar="TOKENS")
AFTER = option("--after", metavar="TOKEN", help="wait until this write is seen (of `publish --json`)")
_HOPS = counted(RetrieveRequest, "hops", "--hops", told="2: also memories that the first hits name")
_DIFFUSION = flag(
    "--diffusion", "of experience alone, with general forms of other namespaces, whose publishers allow it"
)
_AS_OF = option("--as-of", type=when, metavar="WHEN", help="as it stood then; ISO 8601, or milliseconds")
_NO_ANSWER = "Probably nothing here answers this. The nearest memories are shown all the same."
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
    flag("--experience", "admitted to experience: it has helped in tasks"),
)
FILED = (
    option("--path", help="filed there or below, as in users/ada"),
    option("--where", action="append", type=conditions, metavar="NAME=VALUE",
           help='its attribute is that; also != < <= > >=, or JSON as {"size": {"$in": [1, 2]}}; repeatable'),
)  # fmt: skip
PASSES = (
    option("--sensitivity-max", type=float, metavar="S", help="as sensitive as that at most, in [0, 1]"),
    option("--purpose", help="for this, or for anything (default: for anything)"),
    option("--jurisdiction", action="append", metavar="CODE", help="under no law but this; repeatable"),
)
GATES = (
    *PASSES,
    flag("--redact", "mask personal data and secrets by kind, as [phone]"),
)
IF_IT_PASSES = titled("only if it passes", *GATES)
WHAT_PASSES = titled("only what passes", *_CHOICES, *FILED, *GATES)


def only(parsed: argparse.Namespace) -> Only:
    """The filters that a command's options select."""
    given = {
        "agents": parsed.of, "subjects": parsed.subject, "sessions": parsed.session, "tiers": parsed.tier,
        "types": parsed.type, "since": parsed.since, "until": parsed.until, "keys": parsed.key,
        "experience": parsed.experience or None,
    }  # fmt: skip
    return cast(Only, {name: value for name, value in given.items() if value is not None} | filed(parsed))


def _then(parsed: argparse.Namespace) -> Then:
    """The same, and as of which time."""
    asked = {} if parsed.as_of is None else {"as_of": parsed.as_of}
    return cast(Then, only(parsed) | asked)


def filed(parsed: argparse.Namespace) -> Filed:
    """The filters by path, attributes and gates that a command's options select."""
    where = dict[str, Any]()
    for name, said in (pair for one in parsed.where or () for pair in one.items()):
        where[name] = where.get(name, {}) | (said if isinstance(said, dict) else {"$eq": said})
    given = {"path": parsed.path, "where": where or None}
    return cast(Filed, {name: value for name, value in given.items() if value is not None} | gated(parsed))


def passed(parsed: argparse.Namespace) -> dict[str, Any]:
    """The limits of reading that a command's options select, None where they select none."""
    return {
        "sensitivity_max": parsed.sensitivity_max, "purpose": parsed.purpose, "jurisdictions": parsed.jurisdiction,
    }  # fmt: skip


def gated(parsed: argparse.Namespace) -> Gates:
    """The gates that a command's options select."""
    given = passed(parsed) | {"redact": parsed.redact or None}
    return cast(Gates, {name: value for name, value in given.items() if value is not None})


@command(
    "search",
    _QUERY,
    counted(SearchRequest, "k", "-k", told="how many at most"),
    flag("--exact", "compare all, where an index would find nearly all"),
    _DIFFUSION,
    _AS_OF,
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
            diffusion=parsed.diffusion, **_then(parsed),
        )  # fmt: skip
    if parsed.json:
        for hit in hits:
            print(in_json(hit))
        return OK
    console = terminal.console()
    if not hits:
        passes = "of what passes the filters" if only(parsed) or parsed.diffusion else "yet"
        passes = passes if parsed.as_of is None else f"as of {moment(parsed.as_of)}"
        console.print(f"nothing in {memory.namespace!r} {passes}")
    elif not hits[0].answerable:
        _doubt(console)
    for place, hit in enumerate(hits, 1):
        _show(console, _mark(place, hit, numbers=parsed.numbers), hit)
    _rolled_up(console, hits.rollups)
    return OK


@command(
    "retrieve",
    _QUERY,
    _K,
    _BUDGET,
    _HOPS,
    _DIFFUSION,
    _AS_OF,
    _PEEK,
    NUMBERS,
    AFTER,
    WHAT_PASSES,
    example='memquorum retrieve -n greenhouse --budget 500 "valve pressure"',
)
def _retrieve(parsed: argparse.Namespace) -> int:
    """Finds the best answers by meaning and by words that fit a budget of tokens. It counts as used."""
    with opened(parsed) as memory:
        found = memory.retrieve(
            parsed.query, parsed.budget, k_max=parsed.k, hops=parsed.hops, diffusion=parsed.diffusion,
            peek=parsed.peek, after=parsed.after, **_then(parsed),
        )  # fmt: skip
    return _context(parsed, found, numbers=parsed.numbers)


@command(
    "recall",
    _ID.but(nargs="?"),
    option("--query", help="in place of ID: begin at the best answers to this"),
    option("--goal", help="in place of ID: begin at memories that this goal needs"),
    option("--entity", metavar="NAME", help="in place of ID: begin at memories with this name"),
    counted(RecallRequest, "steps", "--steps", told="memories before and after in the session"),
    counted(RecallRequest, "links", "--links", told="links to its sources and to what was made of it"),
    counted(RecallRequest, "hops", "--hops", told="relations to follow in a row, as requires"),
    option("--within", type=seconds, default=0, metavar="S", help="also memories that occurred this near, in seconds"),
    _BUDGET,
    _AS_OF,
    _PEEK,
    AFTER,
    WHAT_PASSES,
    example='memquorum recall -n greenhouse --query "valve 3" --within 600',
)
def _recall(parsed: argparse.Namespace) -> int:
    """Shows the surroundings of a memory, of the best answers to a query, or of what has a name, in the order of time.
    It counts as used."""
    with opened(parsed) as memory:
        found = memory.recall(
            parsed.memory_id, query=parsed.query, goal=parsed.goal, entity=parsed.entity, steps=parsed.steps,
            links=parsed.links, hops=parsed.hops, within_ms=round(parsed.within * 1000),
            budget_tokens=parsed.budget, peek=parsed.peek, after=parsed.after, **_then(parsed),
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
    _QUERY.but(nargs="?", help="without it, only the agent's latest episodes"),
    option("--session", help="its episodes of this session (default: of all)"),
    option("--share", type=float, default=0.5, help="of the budget, for its latest episodes (default: 0.5)"),
    option(
        "--quota",
        action="append",
        default=[],
        type=_quota,
        metavar="PART=SHARE",
        help="of the budget, first for short_term, long_term (default: 0.15 each) or rollups (0.1); may be repeated",
    ),
    _K.but(help="other memories at most (default: 20)"),
    _BUDGET,
    _HOPS,
    _AS_OF,
    _PEEK,
    AFTER,
    titled("only what passes", *FILED, *GATES),
    example='memquorum context -n greenhouse -a planner "open valve 3"',
)
def _prompt(parsed: argparse.Namespace) -> int:
    """Prints a text for a prompt: the latest episodes of the agent (-a), and the best answers to QUERY. It counts as
    used."""
    with opened(parsed) as memory:
        found = memory.context(
            parsed.query, parsed.budget, session=parsed.session, buffer_share=parsed.share,
            quotas=dict(parsed.quota) or None, k_max=parsed.k,
            hops=parsed.hops, peek=parsed.peek, after=parsed.after, **filed(parsed),
            **({} if parsed.as_of is None else {"as_of": parsed.as_of}),
        )  # fmt: skip
    if parsed.json:
        print(in_json(found))
        return OK
    print(found, end="")
    # On stderr, so that the text can be piped into a prompt.
    console = terminal.console(stderr=True)
    if found.answerable is False:
        _doubt(console)
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
    """Explains the state of a memory, why, what you can do, and its history; with --numbers also every weight,
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
    """Prints a memory's way through the installation, with times, and the votes about it."""
    asked = reading.normal(parsed.id)
    if asked is None:
        raise Invalid("bad_id", "ID", "neither a memory's id nor a trace's: 32 hexadecimal digits, hyphens or not")
    place = settings.find(kafka=parsed.kafka)
    if place.run_dir is None or parsed.url:
        return _traced(parsed)
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


def _traced(parsed: argparse.Namespace) -> int:
    """Prints the steps that the service knows, where there is no installation here."""
    with opened(parsed) as memory:
        found = memory.trace(parsed.id)
    if not found.spans:
        raise NotFound(f"the service knows no step of {parsed.id}: other machines record them, or it is too long ago")
    for span in found.spans:
        if parsed.json:
            print(in_json(span))
            continue
        waited = "" if span.waited_ms is None else f", after {span.waited_ms:.1f} ms in its topic"
        marks = "".join(f", {name} {value}" for name, value in span.marks.items())
        at = moment(int(span.start_ms))
        print(f"{at}  {'  ' * span.depth}{span.name} ({span.service}) {span.took_ms:.1f} ms{waited}{marks}")
    return OK


def _untraced(asked: str, place: settings.Place) -> str:
    if place.trace_rate == 0:
        return "this installation records no traces: its setting trace_rate is 0"
    return (
        f"nothing is kept of trace {asked}: too long ago, or one of more than {place.trace_rate} a second that began "
        "(setting trace_rate)" + (f"; the collector at {place.otlp_endpoint} may have it" * bool(place.otlp_endpoint))
    )


def _mark(place: int, one: Hit | Answering, *, numbers: bool) -> str:
    """The mark before a memory: its place, or its score."""
    return f"{one.score:6.3f}" if numbers else f"{place:>5}."


def _context(parsed: argparse.Namespace, found: Retrieved | Recalled, *, numbers: bool = False) -> int:
    if parsed.json:
        print(in_json(found))
        return OK
    console = terminal.console()
    items: tuple[Answering | Around, ...] = found.items
    if isinstance(found, Retrieved) and items and not found.answerable:
        _doubt(console)
    for place, item in enumerate(items, 1):
        mark = f"{item.way:>7}" if isinstance(item, Around) else _mark(place, item, numbers=numbers)
        _show(console, mark, item, whole=True)
    _rolled_up(console, found.rollups if isinstance(found, Retrieved) else ())
    for line in _counts(found):
        console.print(Text(line), style="dim", soft_wrap=True)
    return OK


def _rolled_up(console: Console, rollups: Iterable[Rollup]) -> None:
    """Prints the sentences of roll-ups."""
    for rollup in rollups:
        for said in rollup.sentences:
            console.print(terminal.text(console, f"    -  {said.text}"), soft_wrap=True)
            whence = f"        {said.agent}, {moment(said.said_at)}, of the roll-up of {rollup.topic}"
            console.print(terminal.text(console, whence), style="dim", soft_wrap=True)


def _doubt(console: Console) -> None:
    """Says that the memory probably has no answer."""
    console.print(Text(_NO_ANSWER), style="yellow", soft_wrap=True)


def _show(console: Console, mark: str, one: Hit | Answering | Around, *, whole: bool = False) -> None:
    """Prints a memory; `whole`: does not cut a text that fits a budget."""
    said = " ".join(one.text.split()) if whole else _short(one.answering if isinstance(one, Hit) else one.text)
    console.print(terminal.text(console, f"{mark}  {said}"), soft_wrap=True)
    _whence(console, one)
    if isinstance(one, Answering) and one.through is not None:
        by = "the question" if one.through == QUESTION else one.through
        console.print(terminal.text(console, f"        of what {by} names"), style="dim", soft_wrap=True)
    if isinstance(one, Around) and one.rank is not None:
        console.print(Text(f"        by {', '.join(step.kind for step in one.walk)}"), style="dim", soft_wrap=True)
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
    """An overtaken mark in words: since when, by which memory, and which statements if not all."""
    said = ", ".join(f'"{_short(text[start:end])}"' for start, end in mark.spans)
    part = f": {said}" if said and mark.spans != ((0, len(text)),) else ""
    if mark.disputed:
        return f"disputed by {mark.agent} in {mark.by}{part}"
    by = "" if mark.by is None else f" by {mark.by}"
    return f"overtaken since {moment(mark.since)}{by}{part}"


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
    """The place where a memory is filed, in a line."""
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
    """The place of the answer in a long text, in characters."""
    if isinstance(one, Shown) or one.passage is None:
        return ""
    if isinstance(one, Hit) or not one.spans:
        return f", best in characters {one.passage[0]}–{one.passage[1]}"
    return f", characters {', '.join(f'{start}–{end}' for start, end in one.spans)} of a long text"


def _counts(found: Context | Retrieved | Recalled) -> Iterator[str]:
    yield f"{many(len(found.items), 'memory')}, some {found.tokens} of {found.budget_tokens} tokens"
    if isinstance(found, Context) and any(found.parts.values()):
        yield "tokens by part: " + ", ".join(f"{part} {count}" for part, count in found.parts.items() if count)
    if found.left_out:
        told = [f"{left.count} {_REASONS.get(reason, reason)}" for reason, left in found.left_out.items()]
        yield f"left out: {', '.join(told)}"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LENGTH else line[: _LENGTH - 1] + "…"
