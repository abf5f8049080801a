"""The commands that publish: `publish`, `clear`, and `key`, which makes a key for `publish --sign`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, TextIO, get_type_hints

from msgspec import to_builtins
from rich.text import Text

from memquorum import terminal
from memquorum.client.command import command, in_json, opened
from memquorum.client.errors import Invalid, MemquorumError, Refused
from memquorum.client.signer import make_key
from memquorum.client.sync import Memory
from memquorum.client.values import REUSED, Receipt
from memquorum.commands import FAILED, OK, USAGE, option, seconds, when
from memquorum.core.linking import KINDS
from memquorum.core.records.episodes import SHARES, Carried

_BATCH = 500
_CARRIED = get_type_hints(Carried)
_LINKS = ", ".join(KINDS)
_TOLD = {
    **dict.fromkeys(SHARES, "in [0, 1]"),
    "sensitivity": "in [0, 1] (default: what its text suggests)",
    "explicit": "remember this, whatever it is worth",
    "source": "where it comes from: a document, a tool, a feed",
}


def _how(name: str, kind: object) -> dict[str, Any]:
    told = {"help": _TOLD.get(name, "of every episode that does not say its own")}
    return told | {"action": "store_true", "default": None} if kind is bool else told


def _link(said: str) -> dict[str, str]:
    """Parses a link of the command line: KIND=ID links to a memory, KIND:NAME to a name."""
    kind, to, other = next((said.partition(one) for one in said if one in "=:"), (said, "", ""))
    return {"kind": kind, **({"to": other} if to == "=" else {"name": other} if to else {})}


def _object(said: str) -> dict[str, Any]:
    """Parses attributes of the command line: a JSON object."""
    try:
        value = json.loads(said)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError('no JSON object; say {"colour": "red"}')
    return value


_OF_EACH = (
    *(option(f"--{name}", help="of every episode without its own") for name in ("subject", "event-id")),
    *(option(f"--{name}", **_how(name, kind)) for name, kind in _CARRIED.items()),
    *(option(f"--{name}", type=float, help=_TOLD[name]) for name in SHARES),
    option("--type", help="episodic, semantic, social or task (default: episodic)"),
    option("--purpose", dest="purposes", action="append", help="what it may be used for; repeatable"),
    option("--jurisdiction", metavar="CODE", help="whose law it is under: DE, US-CA, EU"),
    option("--derives-from", action="append", metavar="ID", help="a memory that it was made of; repeatable"),
    option("--supersedes", action="append", metavar="ID", help="with --explicit: a memory to replace; repeatable"),
    option("--link", dest="links", action="append", type=_link, metavar="KIND=ID",
           help=f"a link: {_LINKS}; to a name KIND:NAME, as in isA:pump; repeatable"),
    option("--key", help="with --explicit: the slot that it fills, as in dietary"),
    option("--path", help="where it is filed, as in users/ada/notes"),
    option("--attributes", type=_object, metavar="JSON", help='a small object to ask for, as {"colour": "red"}'),
    option("--occurred-at", type=when, metavar="WHEN", help="ISO 8601, or ms since the epoch (default: now)"),
)  # fmt: skip
_FIELDS = tuple(one.how.get("dest", one.names[0].removeprefix("--").replace("-", "_")) for one in _OF_EACH)
_Placed = tuple[str, dict[str, Any] | Invalid]

_LOST = {
    "failed": "failed: it could not be encoded or judged. It is kept as a dead letter; the operator finds it with "
    "`memquorum admin dlq list --reason failed`, and `dlq replay --reason failed --go` has it tried again",
    "erased": "stays out: an order to erase took it, or names it",
    "taken": "stays out: another agent used this event id first; publish it under another one, or none",
    REUSED: "was used before for another text, which stays; this one is not stored: publish it under another event id, "
    "or without one",
    "unreadable": "is unreadable: its key was destroyed before it was scored, as an erasure does",
}
"""The remark on an episode that was lost, by its outcome."""


_NOT_KEPT = {
    "below_threshold": "is not stored: it is worth too little, says nothing, or asks not to be remembered; "
    "`memquorum explain` tells which, and --explicit stores it all the same",
    "reinforced": "says what a memory says already, which counts as said again",
}
"""The remark on an episode that made no new memory, by its outcome."""


@command(
    "publish",
    option("text", nargs="*", metavar="TEXT", help="what happened; without it, or -, JSON lines are read"),
    option("-w", "--wait", action="store_true", help="until it is searchable, and say what became of it"),
    option("--timeout", type=seconds, default=30.0, metavar="S", help="with --wait (default: 30)"),
    *_OF_EACH,
    example='memquorum publish -n greenhouse -a planner --wait "Valve 3 opens at 4 bar."',
)
def _publish(parsed: argparse.Namespace) -> int:
    """Publishes episodes: each TEXT, or JSON lines from standard input."""
    common = {name: getattr(parsed, name) for name in _FIELDS if getattr(parsed, name) is not None}
    if "event_id" in common and len(parsed.text) != 1:
        raise Invalid("bad_id", "event_id", "names a single episode: give exactly one TEXT with it")
    if not parsed.text and sys.stdin.isatty():
        raise Invalid("empty_value", None, "nothing to publish: give TEXT, or pipe in JSON lines")
    console, published, refused, lost = terminal.console(stderr=True), 0, 0, 0
    with opened(parsed) as memory:
        for batch in _batches(_episodes(parsed.text, sys.stdin, common)):
            sent, complaints = _send(memory, batch)
            for complaint in complaints:
                console.print(Text(complaint), style="red", soft_wrap=True)
            for receipt in sent:
                try:
                    found = memory.outcome(receipt, parsed.timeout) if parsed.wait else receipt
                except Refused as error:
                    console.print(Text(str(error)), style="red", soft_wrap=True)
                    lost += 1
                    continue
                lost += found.outcome in _LOST
                for remark, style in _remarks(found, _kept(memory, found)):
                    console.print(Text(f"event {found.event_id} {remark}"), style=style, soft_wrap=True)
                told = f"{found.memory_id}  {found.outcome or 'published'}  event {found.event_id}"
                as_data = to_builtins(found) | {"token": found.token}
                print(in_json(as_data) if parsed.json else told, flush=parsed.wait)
            published, refused = published + len(sent), refused + len(complaints)
    if not published and not refused:
        raise Invalid("empty_value", None, "nothing to publish: standard input had no line")
    if refused or published > 1:
        console.print(f"{published} published" + (f", {refused} refused" if refused else ""))
    if refused and not published:
        return USAGE
    return FAILED if refused or lost else OK


def _kept(memory: Memory, found: Receipt) -> str | None:
    """The text that stays in place of one that came under a used event id; None if the reader may not see it."""
    if found.outcome != REUSED:
        return None
    try:
        return memory.get(found.memory_id).text
    except MemquorumError:
        return None


def _remarks(of: Receipt, kept: str | None) -> Iterator[tuple[str, str]]:
    """Yields remarks on an episode that is not kept, wholly or in part, each with its colour. `kept`: the text that
    stays in its place."""
    if said := _LOST.get(of.outcome or ""):
        yield said, "red"
    if kept is not None:
        yield f'has this text: "{" ".join(kept.split())}"', "red"
    if said := _NOT_KEPT.get(of.outcome or ""):
        yield said, "yellow"
    for link in of.nowhere:
        yield f"has a link to nothing: {link.kind} {link.to}; no such memory was alive in {of.namespace!r}", "yellow"


def _send(memory: Memory, batch: list[_Placed]) -> tuple[list[Receipt], list[str]]:
    """Publishes the valid episodes of a batch, in order, and returns their receipts, and the errors of the others with
    their places."""
    complaints = [f"{place}: {episode}" for place, episode in batch if isinstance(episode, Invalid)]
    sound = [(place, episode) for place, episode in batch if not isinstance(episode, Invalid)]
    try:
        return memory.add_all([episode for _, episode in sound]), complaints
    except Invalid:
        # One of them is wrong and none was sent: one by one, to tell which.
        sent = list[Receipt]()
        for place, episode in sound:
            try:
                sent += memory.add_all([episode])
            except Invalid as error:
                complaints.append(f"{place}: {error}")
        return sent, complaints


def _episodes(texts: Sequence[str], stdin: TextIO, common: dict[str, Any]) -> Iterator[_Placed]:
    """Yields (place, episode or its error) of the arguments, or of the lines of JSON."""
    if texts and list(texts) != ["-"]:
        yield from ((f"text {number}", {**common, "content": text}) for number, text in enumerate(texts, 1))
        return
    for number, line in enumerate(stdin, 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            yield f"line {number}", Invalid("bad_json", None, f"not JSON: {error}")
            continue
        if not isinstance(value, dict):
            yield f"line {number}", Invalid("bad_json", None, 'not a JSON object; send {"content": "…"}')
            continue
        yield f"line {number}", {**common, "content": None, **value}


def _batches(items: Iterator[Any]) -> Iterator[list[Any]]:
    while batch := list(islice(items, _BATCH)):
        yield batch


@command(
    "clear",
    option("key", nargs="?", metavar="KEY", help="the slot, as in dietary; with --path, the one there"),
    option("--id", metavar="ID", help="in place of KEY: a memory that the agent alone has said"),
    option("--path", help="where it is filed, as in users/ada/notes"),
    option("--subject", help="whom the slot is about, for an erasure (default: the agent)"),
    option("-w", "--wait", action="store_true", help="until it is so, and say what became of it"),
    option("--timeout", type=seconds, default=30.0, metavar="S", help="with --wait (default: 30)"),
    example="memquorum clear -n greenhouse -a planner dietary --path users/ada --wait",
)
def _clear(parsed: argparse.Namespace) -> int:
    """Clears a slot: the agent's memory under KEY, or the memory ID, is served no more. Members can restore it by a
    vote; only an erasure destroys it."""
    about = {} if parsed.subject is None else {"subject": parsed.subject}
    with opened(parsed) as memory:
        how = {"memory_id": parsed.id, "wait": parsed.wait, "timeout": parsed.timeout}
        found = memory.clear(parsed.key, parsed.path, **how, **about)
    if parsed.json:
        print(in_json(to_builtins(found) | {"token": found.token}))
    else:
        print("\n".join(_cleared(found)))
    return FAILED if found.outcome in _LOST else OK


def _cleared(receipt: Receipt) -> Iterator[str]:
    yield f"{receipt.outcome or 'published'}  event {receipt.event_id}"
    for memory_id in receipt.hidden:
        yield f"  {memory_id} is served no more; `memquorum restore {memory_id}` asks for it back"
    for memory_id in receipt.stays:
        yield f"  {memory_id} stays: `memquorum forget {memory_id}` has the members vote on it"


@command("key", option("file", type=Path, metavar="FILE", help="a new file"), example="memquorum key planner.key")
def _key(parsed: argparse.Namespace) -> int:
    """Makes a signing key in FILE, and prints its public half for the genesis file."""
    public = make_key(parsed.file)
    print(json.dumps({"public_key": public.hex()}) if parsed.json else public.hex())
    return OK
