"""What names may look like: of namespaces, agents, sessions, events; the same at every door.

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

# Who says something under one of these would be taken for the installation itself, or for a voter of it.
_RESERVED = re.compile(r"(?:operator|system|consolidator|(?:service|member):.*|replica-\d+)\Z")
_ABOVE = frozenset({"system", "developer"})
# Cyrillic and Greek small letters that look like Latin ones.
_LOOKS = str.maketrans("аеорсухѕіјԁһӏԛԝмтквαεικνορτυχ", "aeopcyxsijdhlqwmtkbaeikvoptux")


class Fault(Struct, frozen=True):
    """What is wrong with a name: a reason code of intake, and a sentence that does not repeat the name."""

    code: str
    detail: str


def name_fault(value: str) -> Fault | None:
    """What keeps the text from naming an agent, a session, a role, a subject or an event; None if nothing."""
    if len(value) > CHARACTERS_MAX:
        return Fault("too_long", f"{len(value)} characters; {CHARACTERS_MAX} are the most")
    if not value or not value.isprintable() or value != value.strip():
        return Fault("bad_name", "must be printable characters, at least one, with no blank at either end")
    return None


def agent_fault(value: str, members: Collection[str] = ()) -> Fault | None:
    """What keeps an agent that has proven nothing from calling itself so; None if nothing. Names that look the same,
    as in capitals, in full-width or in Cyrillic letters, count as one. `members`: what the members are called."""
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
    """What keeps the text from being the name of an agent, in which it is composed; None if nothing."""
    fault = name_fault(value)
    if fault is None and normal(value) != value:
        told = "letters and accents apart: send it in Unicode's composed form, NFC, so that one agent has one name"
        return Fault("bad_name", told)
    return fault


def normal(text: str) -> str:
    """The text in its composed form."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def spellings(text: str) -> tuple[str, ...]:
    """The text in its composed form, and how an earlier release may have stored it: decomposed, or as it is given."""
    return (text,) if text.isascii() else tuple(dict.fromkeys((normal(text), unicodedata.normalize("NFD", text), text)))


def spelled(values: Iterable[str] | None) -> tuple[str, ...] | None:
    """All spellings of several texts, each once; None of none."""
    return None if values is None else tuple(dict.fromkeys(one for value in values for one in spellings(value)))


def namespace_fault(value: str) -> Fault | None:
    """What keeps the text from being a namespace; None if nothing."""
    fault = name_fault(value)
    if fault is None and not _NAMESPACE.match(value):
        return Fault("bad_name", "only A-Z a-z 0-9 . _ : @ + - are allowed, a letter or digit at the start")
    return fault


def uuid(value: str) -> str | None:
    """The UUID in its canonical lower-case form, None if the text is none. Hyphens are required."""
    lower = value.lower()
    return lower if _UUID.match(lower) else None
