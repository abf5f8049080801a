"""Publishes a conversation's messages, and selects the memories for a prompt."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from memquorum.client import items
from memquorum.client.entries import Entries
from memquorum.client.talk import asked, pieces
from memquorum.core import names
from memquorum.core.showing import quoting

_CHARACTERS_A_TOKEN = 4
_QUERY_MESSAGES = 5


class ChatText(NamedTuple):
    """A message: its role and its text."""

    role: str
    text: str


def episodes(said: Sequence[ChatText], session: str | None, about: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the episodes of messages; several of one that is too long. A blank message gives none."""
    label = items.path_of([session]) if session else None
    told = {"session": label} if label is not None and names.name_fault(label) is None else {}
    for role, text in said:
        for piece in pieces(text):
            # A system's role requires a signature.
            yield told | ({} if names.above(role) else {"role": role}) | dict(about) | {"content": piece}


def query_of(said: Sequence[ChatText]) -> str:
    """The query to the memory: the last messages."""
    return asked("\n".join(one.text.strip() for one in said[-_QUERY_MESSAGES:] if one.text.strip()))


def shortened(told: str, tokens: int) -> str | None:
    """Drops so many tokens from the end, the worst answers; None if nothing or only the heading is left. A token is
    counted as four characters, so that rather too much is dropped than too little."""
    lines, gone = told.split("\n"), 0
    while lines and gone < tokens * _CHARACTERS_A_TOKEN:
        gone += len(lines.pop()) + 1
    return None if lines in ([], [quoting.HEADING.rstrip("\n")]) else "\n".join(lines)


async def publish(entries: Entries, said: Sequence[ChatText], session: str | None, about: Mapping[str, Any]) -> None:
    """Publishes messages, in order. Raises Invalid."""
    await entries.write(list(episodes(said, session, about)))


async def answering(entries: Entries, said: Sequence[ChatText], budget_tokens: int, only: Mapping[str, Any]) -> str:
    """Returns the best answers to the last messages, quoted, each memory on a line, best first. They count as used."""
    if not (query := query_of(said)):
        return ""
    found = await entries.read(lambda after: entries.memory.retrieve(query, budget_tokens, after=after, **only))
    return quoting.framed(f"- {quoting.quoted(item.text)}\n" for item in found.items).rstrip("\n")
