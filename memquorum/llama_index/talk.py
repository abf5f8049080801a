"""What is published of a conversation's messages, and what of the memory goes into a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from memquorum.client import items
from memquorum.client.entries import Entries
from memquorum.client.talk import asked, pieces
from memquorum.core import names
from memquorum.core.text import quoting

_CHARACTERS_A_TOKEN = 4
_QUERY_MESSAGES = 5


class Said(NamedTuple):
    """A message: its role and what it says in words."""

    role: str
    text: str


def episodes(said: Sequence[Said], session: str | None, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The episodes of messages; of one that is too long, several. What says nothing is none."""
    label = items.path_of([session]) if session else None
    told = {"session": label} if label is not None and names.name_fault(label) is None else {}
    for role, text in said:
        for piece in pieces(text):
            # What nobody signs is no system's message.
            yield told | ({} if names.above(role) else {"role": role}) | dict(about) | {"content": piece}


def query_of(said: Sequence[Said]) -> str:
    """What is asked of the memory: the last messages."""
    return asked("\n".join(one.text.strip() for one in said[-_QUERY_MESSAGES:] if one.text.strip()))


def shortened(told: str, tokens: int) -> str | None:
    """What is left without so many tokens of what answers worst; None where nothing is, or the heading alone. A token
    is four characters, so that rather too much goes than too little."""
    lines, gone = told.split("\n"), 0
    while lines and gone < tokens * _CHARACTERS_A_TOKEN:
        gone += len(lines.pop()) + 1
    return None if lines in ([], [quoting.HEADING.rstrip("\n")]) else "\n".join(lines)


async def publish(entries: Entries, said: Sequence[Said], session: str | None, about: Mapping[str, Any]) -> None:
    """Publishes messages, in order. Raises Invalid."""
    await entries.write(list(episodes(said, session, about)))


async def answering(entries: Entries, said: Sequence[Said], budget_tokens: int, only: Mapping[str, Any]) -> str:
    """What answers the last messages, quoted, each memory on a line, best first. It counts as used."""
    if not (query := query_of(said)):
        return ""
    found = await entries.read(lambda after: entries.memory.retrieve(query, budget_tokens, after=after, **only))
    return quoting.framed(f"- {quoting.quoted(item.text)}\n" for item in found.items).rstrip("\n")
