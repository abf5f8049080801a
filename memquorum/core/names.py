"""Checks names of namespaces, agents, sessions and events by the same rules for every entry point.

A namespace is a key of topics and rows and part of addresses, so it keeps to a few characters that mean nothing in
either. The other names are for people, in any script, but printable: no control or format characters, no surrogates.

A letter with an accent can be one character, or a letter and an accent. Names that people read as the same are the
same: intake brings them into the composed form (Unicode's NFC), once, and questions are asked so, too (`normal`). An
agent's name is never changed, since its signature covers it: one that is not composed is refused. Ids of events are no
names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable

from msgspec import Struct

CHARACTERS_MAX = 128

_NAMESPACE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+-]*\Z")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z")

# An author with one of these names would be taken for the installation itself, or for one of its voters.
_RESERVED = re.compile(r"(?:operator|system|consolidator|(?:service|member):.*|replica-\d+)\Z")
_ABOVE = frozenset({"system", "developer"})
# Cyrillic and Greek small letters that look like Latin ones.
_LOOKS = str.maketrans("аеорсухѕіјԁһӏԛԝмтквαεικνορτυχ", "aeopcyxsijdhlqwmtkbaeikvoptux")


class Fault(Struct, frozen=True):
    """A fault of a name: a reason code of intake, and a sentence that does not repeat the name."""

    code: str
    detail: str


def name_fault(value: str) -> Fault | None:
    """Returns why the text cannot name an agent, a session, a role, a subject or an event; None if it can."""
    if len(value) > CHARACTERS_MAX:
        return Fault("too_long", f"{len(value)} characters; {CHARACTERS_MAX} are the most")
    if not value or not value.isprintable() or value != value.strip():
        return Fault("bad_name", "must be printable characters, at least one, with no blank at either end")
    return None


def agent_fault(value: str, members: Collection[str] = ()) -> Fault | None:
    """Returns why an unauthenticated agent may not use this name; None if it may. Names that look the same, as in
    capitals, in full-width or in Cyrillic letters, count as one. `members`: the names of the members."""
    name = _folded(value)
    if _RESERVED.match(name) or name in {_folded(one) for one in members}:
        told = (
            "operator, system, consolidator, service:*, member:* and the members' names are the installation's own: "
            "only who signs with their keys may use them; use another name"
        )
        return Fault("not_entitled", told)
    return None


def above(role: str) -> bool:
    """Whether a model that is told this role takes what is said in it for its orders, and not for a user's words."""
    return _folded(role) in _ABOVE


def _folded(name: str) -> str:
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).strip()
    return folded.translate(_LOOKS)


def composed_fault(value: str) -> Fault | None:
    """Returns why the text cannot be an agent's name, which must be composed; None if it can."""
    fault = name_fault(value)
    if fault is None and normal(value) != value:
        told = "letters and accents apart: send it in Unicode's composed form, NFC, so that one agent has one name"
        return Fault("bad_name", told)
    return fault


def normal(text: str) -> str:
    """The text in its composed form."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def said_in(text: str, name: str) -> bool:
    """True if a text has a name as words of its own, in whichever case and spelling. In scripts without spaces the
    characters suffice."""
    text, name = normal(text).casefold(), normal(name).casefold()
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if not _joined(text[max(0, at - 1) : at], name[0]) and not _joined(name[-1], text[end : end + 1]):
            return True
        at = text.find(name, at + 1)
    return False


def _joined(a: str, b: str) -> bool:
    """True if two neighbouring characters belong to one word."""
    return a.isalnum() and b.isalnum() and not {"W", "F"} & {unicodedata.east_asian_width(one) for one in (a, b)}


def spellings(text: str) -> tuple[str, ...]:
    """The text in its composed form, and how an earlier release may have stored it: decomposed, or as it is given."""
    return (text,) if text.isascii() else tuple(dict.fromkeys((normal(text), unicodedata.normalize("NFD", text), text)))


def spelled(values: Iterable[str] | None) -> tuple[str, ...] | None:
    """All spellings of several texts, each once; None of none."""
    return None if values is None else tuple(dict.fromkeys(one for value in values for one in spellings(value)))


def namespace_fault(value: str) -> Fault | None:
    """Returns why the text cannot be a namespace; None if it can."""
    fault = name_fault(value)
    if fault is None and not _NAMESPACE.match(value):
        return Fault("bad_name", "only A-Z a-z 0-9 . _ : @ + - are allowed, a letter or digit at the start")
    return fault


def uuid(value: str) -> str | None:
    """Returns the UUID in its canonical lower-case form; None if the text is no UUID. Hyphens are required."""
    lower = value.lower()
    return lower if _UUID.match(lower) else None
