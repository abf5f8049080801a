"""How an event of a conversation lies in memories: of an app, about a user, in a session of that user's own.

An app is the agent that says it, so that what two apps were told stays apart; the source of all of it is the app, too,
so that neither strengthens what the other was told. A session is named after its user: nobody's is summed up with
another's.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memquorum.client import Invalid, items
from memquorum.client.talk import pieces
from memquorum.client.values import Episode
from memquorum.core import names
from memquorum.core.intake import NEWEST_MS, OLDEST_MS

_IDS = uuid.UUID("9f0c5d1e-6a0b-5c62-9b3c-41646b6d656d")
_USER = "user"


class Whose(NamedTuple):
    """An app and one of its users, as memories name them."""

    app: str
    user: str


class Told(NamedTuple):
    """What an event, or an entry, says in words. `event_id`: what it is called in its session, if anything; `author`:
    who said it; `at`: when, in milliseconds, if that is known."""

    text: str
    author: str | None = None
    event_id: str | None = None
    at: int | None = None
    attributes: Mapping[str, Any] | None = None


def whose(app_name: str, user_id: str) -> Whose:
    """Both as names. Raises Invalid for what can be none: what is nobody's would be everybody's."""
    return Whose(_name("app_name", app_name), _name("user_id", user_id))


def _name(field: str, said: object) -> str:
    if not isinstance(said, str):
        raise Invalid("wrong_type", field, f"must be a text, not {said!r:.80}")
    name = items.key_of(said)
    if (fault := names.name_fault(name)) is not None:
        raise Invalid(fault.code, field, fault.detail)
    return name


def session_of(of: Whose, session_id: str | None) -> str | None:
    """What a user's session is called; one that is too long by a name made from it. None of none."""
    if not session_id:
        return None
    label = items.path_of([of.user, session_id]) or ""
    return label if names.name_fault(label) is None else str(uuid.uuid5(_IDS, label))


def episodes(of: Whose, session_id: str | None, told: Told, saying: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The episodes of what was said: of what is too long several, of what says nothing none. The same event again is
    the same episode. `saying`: what each says beside it."""
    named = [*of, session_id, told.event_id or [told.author, told.at, told.text]]
    for at, piece in enumerate(pieces(told.text)):
        event_id = str(uuid.uuid5(_IDS, json.dumps([*named, at])))
        yield {**saying, **_said(of, session_id, told), "event_id": event_id, "content": piece}


def entries(of: Whose, told: Told, saying: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The same of what is to be remembered because somebody says so."""
    for piece in pieces(told.text):
        yield {**saying, **_said(of, None, told), "explicit": True, "content": piece}


def _said(of: Whose, session_id: str | None, told: Told) -> Episode:
    role = told.author if told.author and names.name_fault(told.author) is None else None
    # What an agent claims without signing it is no system's message, whoever it names.
    role = None if role is None or names.above(role) else role
    return {
        "agent": of.app, "subject": of.user, "source": of.app, "session": session_of(of, session_id), "role": role,
        "occurred_at": told.at if told.at is not None and OLDEST_MS <= told.at < NEWEST_MS else None,
        "attributes": dict(told.attributes) if told.attributes else None,
    }  # fmt: skip


def speaker(role: str | None) -> str:
    """The role that a model is told: the user's, or its own."""
    return _USER if role == _USER else "model"
