"""The commands that list a namespace's memories, write them out as a graph, and report all that concerns a person."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any, TextIO, cast

from rich.text import Text

from memquorum import terminal
from memquorum.client.command import command, in_json, opened, page_of, tell_more
from memquorum.client.errors import Invalid, NotFound
from memquorum.client.orders import NAMED, named
from memquorum.client.reading import FILED, GATES, WHAT_PASSES, filed, gated, only, show
from memquorum.client.sync import Memory
from memquorum.client.values import Gates
from memquorum.commands import OK, flag, one_of, option, titled
from memquorum.core.accounts import reporting
from memquorum.core.accounts.stating import FORMAT as RECEIPT
from memquorum.core.accounts.telling import moment
from memquorum.core.api.answers import Listed, Page
from memquorum.core.retrieval import graph
from memquorum.core.showing.plurals import many

_OUTPUT = option(
    "-o", "--output", type=Path, metavar="FILE", help="write it there, whole or not at all (default: print it)"
)
_TASK = "task"
_OF_TASKS = frozenset(("agents", "subjects", "since", "until", *Gates.__annotations__))
_RECEIPT_TRIES, _RECEIPT_PAGE = 3, 50
_EVERYTHING = ("short-term", "long-term", "sealed", "superseded")


@command(
    "list",
    *page_of(),
    WHAT_PASSES,
    example="memquorum list -n greenhouse --subject ada --since 2026-03-01",
)
def _list(parsed: argparse.Namespace) -> int:
    """Lists the memories that pass, in the order in which they occurred. They do not count as used. --tier
    also takes sealed and superseded."""
    with opened(parsed) as memory:
        page = memory.memories(cursor=parsed.cursor, limit=parsed.limit, **only(parsed))
    if parsed.json:
        for one in page.memories:
            print(in_json(one))
    else:
        console = terminal.console()
        for one in page.memories:
            show(console, one)
        if not page.memories:
            console.print(Text(f"no memory in {page.namespace!r} that passes"))
    tell_more(page)
    return OK


@command(
    "slots",
    titled("only what passes", *FILED, *GATES),
    example="memquorum slots -n greenhouse --path users/ada",
)
def _slots(parsed: argparse.Namespace) -> int:
    """Lists the slots that are filled: path, key, and the memory that fills each. It does not count as used. `search
    --key KEY --as-of WHEN` finds what filled one before."""
    filled, cursor = dict[tuple[str, str], Listed](), None
    with opened(parsed) as memory:
        while True:
            page: Page = memory.memories(cursor=cursor, **filed(parsed))
            # In the order of time: the last one fills the slot.
            filled |= {(one.path or "", one.key): one for one in page if one.key is not None}
            cursor = page.next
            if cursor is None:
                break
    console = terminal.console()
    for (path, key), one in sorted(filled.items()):
        if parsed.json:
            print(in_json(one))
            continue
        place = f"{path}  {key}" if path else key
        console.print(terminal.text(console, f"{place}  {' '.join((one.text or '').split())}"), soft_wrap=True)
        said = moment(one.occurred_at).removesuffix(" UTC")
        whence = terminal.text(console, f"        {one.memory_id}  {one.agent}, {said}")
        console.print(whence, style="dim", soft_wrap=True)
    if not filled and not parsed.json:
        console.print(Text(f"no slot in {page.namespace!r} is filled"))
    return OK


@command(
    "export",
    _OUTPUT,
    WHAT_PASSES,
    example="memquorum export -n greenhouse --subject ada -o ada.jsonld",
)
def _export(parsed: argparse.Namespace) -> int:
    """Writes memories, their links and finished tasks as one JSON-LD document: of a namespace, or about a subject.
    Without --tier also sealed memories, without their text. Erased memories and mere proposals are left out."""
    asked: dict[str, Any] = {"tiers": _EVERYTHING, **only(parsed)}
    tasks = _of_tasks(dict(only(parsed)))
    with opened(parsed) as memory, _written(parsed.output) as out:
        count = 0
        out.write('{"@context": ' + json.dumps(graph.CONTEXT) + ', "@graph": [')
        for count, one in enumerate(chain(_nodes(memory, asked), _finished(memory, tasks)), 1):
            out.write(("\n" if count == 1 else ",\n") + json.dumps(one, ensure_ascii=False))
        out.write("\n]}\n")
    print(f"{many(count, 'node')} of {memory.namespace!r}", file=sys.stderr)
    return OK


@command(
    "report",
    one_of(*NAMED, required=True),
    _OUTPUT,
    flag("--receipt", "write a signed receipt, without texts, for `memquorum receipt verify`"),
    titled("only what passes", *GATES),
    example="memquorum report -n greenhouse --subject ada -o ada.txt",
)
def _report(parsed: argparse.Namespace) -> int:
    """Reports all that concerns a person, for that person: texts, origins, scores, uses, votes, orders, recipients, and
    when keys are destroyed. It is of the same records as an erasure, and of those that were erased before. It does not
    count as a use. With --json a line for each page."""
    asked: dict[str, Any] = {**named(parsed), **gated(parsed)}
    write = _write_receipt if parsed.receipt else _write_pages
    with opened(parsed) as memory, _written(parsed.output) as out:
        kept = write(memory, asked, out, as_json=parsed.json)
    if kept:
        print(reporting.kept_back(kept), file=sys.stderr)
    return OK


def _write_pages(memory: Memory, asked: dict[str, Any], out: TextIO, *, as_json: bool) -> int:
    """Writes a report; returns how many records are kept back."""
    kept, cursor = 0, None
    while True:
        page = memory.report(cursor=cursor, **asked)
        if as_json:
            out.write(in_json(page) + "\n")
        else:
            first = reporting.heading(page) if cursor is None else ()
            blocks = ["\n".join(reporting.record(one)) for one in page.reported]
            out.write("\n\n".join(filter(None, ["\n".join(first), *blocks])) + "\n")
            out.write("\n" if page.next else "")
        kept, cursor = kept + page.kept_back, page.next
        if cursor is None:
            return kept


def _write_receipt(memory: Memory, asked: dict[str, Any], out: TextIO, *, as_json: bool) -> int:
    """Writes a receipt, which is asked for anew if records come meanwhile; returns how many records are kept back."""
    for _ in range(_RECEIPT_TRIES):
        pages = [memory.report(receipt=True, limit=_RECEIPT_PAGE, **asked)]
        while pages[-1].next is not None:
            pages.append(memory.report(receipt=True, limit=_RECEIPT_PAGE, cursor=pages[-1].next, **asked))
        kept = sum(page.kept_back for page in pages)
        if kept + sum(map(len, pages)) == pages[-1].records:
            break
    told = {"format": RECEIPT, "parts": [page.receipt for page in pages]}
    out.write(json.dumps(told, indent=None if as_json else 1) + "\n")
    return kept


def _nodes(memory: Memory, asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    cursor, goals, names = None, set[str](), set[str]()
    while True:
        page: Page = memory.memories(cursor=cursor, **asked)
        yield from graph.goals(page.namespace, page.memories, goals)
        yield from graph.named(page.namespace, page.memories, names)
        yield from (graph.node(page.namespace, one) for one in page.memories)
        if page.next is None:
            return
        cursor = page.next


def _of_tasks(asked: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments that list finished tasks; None if none can pass: tasks have no session, path or tier to filter
    by."""
    types = asked.pop("types", None)
    return asked if _OF_TASKS.issuperset(asked) and (types is None or _TASK in types) else None


def _finished(memory: Memory, asked: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    """Yields finished tasks whole, the latest first."""
    cursor, more = None, asked is not None
    while more:
        page = memory.tasks(cursor=cursor, **asked or {})
        for one in page.tasks:
            try:
                yield graph.finished(memory.finished_task(one.task, **_gates(asked or {})))
            except NotFound:
                continue  # erased since it was listed
        cursor = page.next
        more = cursor is not None


def _gates(asked: Mapping[str, Any]) -> Gates:
    return cast(Gates, {name: value for name, value in asked.items() if name in Gates.__annotations__})


@contextmanager
def _written(file: Path | None) -> Iterator[TextIO]:
    """Opens standard output, or a draft that becomes the file once it is complete. Raises Invalid."""
    if file is None:
        yield sys.stdout
        return
    draft = file.with_name(f".{file.name}.draft")
    try:
        with draft.open("w", encoding="utf-8") as out:
            yield out
        draft.replace(file)
    except OSError as error:
        raise Invalid("not_written", "output", f"{file} cannot be written: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
