"""The commands of roll-ups: verbatim sentences about one thing across sessions, and their history."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from rich.text import Text

from memquorum import terminal
from memquorum.client.command import command, in_json, opened
from memquorum.client.reading import IF_IT_PASSES, gated
from memquorum.commands import OK, flag, option, when
from memquorum.core.accounts.telling import moment
from memquorum.core.api.answers import Rollup, Rollups
from memquorum.core.showing.plurals import many

_AS_OF = option("--as-of", type=when, metavar="WHEN", help="as it stood then; ISO 8601, or milliseconds")
_PERSONA = option("--persona", metavar="NAME", help="of sentences about this subject, or by this agent, alone")


@command("rollup list", _AS_OF, _PERSONA, IF_IT_PASSES, example="memquorum rollup list -n plant")
def _listed(parsed: argparse.Namespace) -> int:
    """Lists the things that have roll-ups, with the number of sentences of each."""
    with opened(parsed) as memory:
        found = memory.rollups(as_of=parsed.as_of, persona=parsed.persona, **gated(parsed))
    return _told(parsed, found, _list(found))


@command(
    "rollup show",
    option("topic", metavar="TOPIC", help="what the thing is called"),
    _AS_OF,
    _PERSONA,
    flag("--history", "also the patches that made it so"),
    IF_IT_PASSES,
    example='memquorum rollup show -n plant "pump 7" --as-of 2026-03-01',
)
def _shown(parsed: argparse.Namespace) -> int:
    """Shows the sentences about one thing across sessions, word for word, now or as of a time. They do not count as
    used."""
    with opened(parsed) as memory:
        found = memory.rollup(
            parsed.topic, as_of=parsed.as_of, persona=parsed.persona, history=parsed.history, **gated(parsed)
        )
    return _told(parsed, found, lines(found))


def _told(parsed: argparse.Namespace, found: Rollup | Rollups, words: Iterator[str]) -> int:
    if parsed.json:
        print(in_json(found))
        return OK
    console = terminal.console()
    for line in words:
        console.print(Text(line), soft_wrap=not console.is_terminal)  # readers of a pipe expect whole sentences
    return OK


def _list(found: Rollups) -> Iterator[str]:
    if not found.topics:
        yield f"no roll-ups in {found.namespace!r}{_as_of(found)}"
    for one in found.topics:
        said = f"{many(one.sentences, 'sentence')}, {_day(one.first_said_at)} to {_day(one.last_said_at)}"
        yield f"{one.topic}  {said}{_unreadable(one.unreadable)}"
    if found.more:
        yield "and more"
    if found.personas:
        yield "by or about: " + ", ".join(f"{name} {count}" for name, count in found.personas.items())


def lines(found: Rollup) -> Iterator[str]:
    """Yields a roll-up in words: a line for each sentence, and one for who said it when."""
    yield f"{found.topic}{_as_of(found)}: {many(len(found.sentences) + found.more, 'sentence')}"
    if found.more:
        yield f"  {found.more} said before these are left out"
    for one in found.sentences:
        yield f"  {one.text}"
        via = "" if one.read_from == one.memory_id else f", read from {one.read_from}"
        yield f"    {one.agent}, {moment(one.said_at)}, {one.memory_id}{via}"
    if found.summed_up:
        yield f"  {many(found.summed_up, 'sentence')} more: summed up, and in no summary"
    if found.unreadable > found.summed_up:
        yield f"  {many(found.unreadable - found.summed_up, 'sentence')} more: forgotten, or erased"
    for patch in found.history:
        gone = f" in place of one of {patch.replaces}" if patch.replaces else ""
        text = "a sentence that cannot be read any more" if patch.text is None else patch.text
        yield f"  {patch.journal_seq}  {moment(patch.as_of)}  {patch.op}{gone}: {text}"


def _as_of(found: Rollup | Rollups) -> str:
    whose = "" if found.persona is None else f", by or about {found.persona}"
    return whose + ("" if found.as_of is None else f", as of {moment(found.as_of)}")


def _day(at: int) -> str:
    return moment(at)[:10]


def _unreadable(count: int) -> str:
    return f"; {count} cannot be read any more" if count else ""
