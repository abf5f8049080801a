"""Reads whether a sentence allows, forbids, demands or waives something: "may be used", "must not be used", "need not".

English, by a list of phrases. "May" also says that something is possible: it allows only where another sentence forbids
with other words, and of what is done to a thing ("may be used") or of many ("pupils may").
"""

from __future__ import annotations

import re

from msgspec import Struct

from memquorum.core.reading import claiming
from memquorum.core.reading.lists import phrases
from memquorum.core.reading.parsing import empty, stemmed, tokens_of
from memquorum.core.reading.wording import FUNCTION

_ALLOWED, _FORBIDDEN, _DEMANDED, _FREE = "allowed", "forbidden", "demanded", "free"
_PHRASES = {tuple(said.split()): says for says, _, said in (one.partition(": ") for one in phrases("allowing"))}
_OPPOSED = frozenset({(_ALLOWED, _FORBIDDEN), (_DEMANDED, _FREE), (_DEMANDED, _FORBIDDEN)})
_OPENS = frozenset(phrase[0] for phrase in _PHRASES)
_MAY = re.compile("|".join(sorted(map(re.escape, _OPENS))), re.IGNORECASE)
_LONGEST = max(map(len, _PHRASES))
_SAID_BESIDE = frozenset({"now", "again", "anymore", "any", "more", "longer", "after", "all", "the", "a", "an", "to"})


class Allowing(Struct, frozen=True, array_like=True):
    """A permission, prohibition or duty that one sentence states."""

    who: tuple[str, ...]
    """Its words before the phrase, stems of those that mean something; "i" and "we" as they are."""
    says: str
    what: tuple[str, ...]
    """Its words behind the phrase, in stems."""
    whole: bool
    """Whether what is done follows: "allowed to enter the shop", not "allowed in the shop"."""
    possible: bool
    """Whether it may only say that something is possible: "Bob may come"."""
    cue: bool


def allowing(sentence: str, *, led: bool) -> Allowing | None:
    """Returns what a sentence allows or forbids, by its first such phrase; None if it has no such phrase."""
    if "?" in sentence or _MAY.search(sentence) is None:
        return None
    tokens, words = tokens_of(sentence)
    if _OPENS.isdisjoint(words) or words[0] in claiming.INDEFINITE | claiming.PRONOUNS | {"if", "you"}:
        return None
    at = next((at for at, word in enumerate(words) if at and word in _OPENS and tokens[at] != "May"), 0)
    phrase = next((p for n in range(_LONGEST, 0, -1) if (p := tuple(words[at : at + n])) in _PHRASES), None)
    behind = words[at + len(phrase or ()) :]
    if not at or phrase is None or not behind or not claiming.UNSURE.isdisjoint(_others(words, at)):
        return None
    return Allowing(
        who=tuple(word if word in ("i", "we") else stemmed(word) for word in words[:at] if _means(word)),
        says=_PHRASES[phrase],
        what=tuple(stemmed(word) for word in behind if word not in _SAID_BESIDE),
        whole=phrase[0] not in ("is", "are") or behind[0] == "to",
        possible=phrase[0] == "may"
        and "longer" not in phrase
        and behind[0] != "be"
        and not words[at - 1].endswith("s"),
        cue=led or not {"now", "again", "anymore", "longer"}.isdisjoint(words) or tuple(words[-2:]) == ("any", "more"),
    )


def _others(words: list[str], at: int) -> list[str]:
    return [*words[:at], *words[at + 1 :]]


def _means(word: str) -> bool:
    return word in ("i", "we") or not empty(word)


def opposed(older: Allowing, newer: Allowing) -> bool:
    """Whether the later sentence says the opposite of the same."""
    if not {(older.says, newer.says), (newer.says, older.says)} & _OPPOSED or older.who != newer.who or not older.who:
        return False
    if older.possible and newer.possible:
        return False
    mine, theirs = older.what, newer.what
    if not newer.whole and older.whole:  # "enter the shop", "allowed in the shop"
        mine, theirs = _bare(mine[1:]), _bare(theirs)
    # An act that is forbidden at all is forbidden in gales too; one allowed in gales may be forbidden otherwise.
    return bool(theirs) and (mine == theirs or (newer.says == _FORBIDDEN and _begins(mine, theirs)))


def _bare(what: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for word in what if word not in FUNCTION)


def _begins(longer: tuple[str, ...], begin: tuple[str, ...]) -> bool:
    behind = longer[len(begin) : len(begin) + 1]
    return longer[: len(begin)] == begin and bool(behind) and behind[0] in claiming.BEHIND_VERBS
