"""Converts events of a conversation to episodes: of an app, about a user, in a session of that user.

An app is the agent that publishes, so that the memories of two apps are kept apart; the source of all of them is the
app, too, so that neither reinforces the other's. A session is named after its user: sessions of different users are
never summarized together.
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


class EventText(NamedTuple):
    """The text of an event, or an entry. `event_id`: its id in the session, if it has one; `author`: the speaker; `at`:
    the time in milliseconds, if known."""

    text: str
    author: str | None = None
    event_id: str | None = None
    at: int | None = None
    attributes: Mapping[str, Any] | None = None


def whose(app_name: str, user_id: str) -> Whose:
    """Checks and returns both names. Raises Invalid for an empty or malformed one: memories without a user would be
    everybody's."""
    return Whose(_name("app_name", app_name), _name("user_id", user_id))


def _name(field: str, said: object) -> str:
    if not isinstance(said, str):
        raise Invalid("wrong_type", field, f"must be a text, not {said!r:.80}")
    name = items.key_of(said)
    if (fault := names.name_fault(name)) is not None:
        raise Invalid(fault.code, field, fault.detail)
    return name


def session_of(of: Whose, session_id: str | None) -> str | None:
    """The name of a user's session; a long one is replaced by a hash. None if there is no session."""
    if not session_id:
        return None
    label = items.path_of([of.user, session_id]) or ""
    return label if names.name_fault(label) is None else str(uuid.uuid5(_IDS, label))


def episodes(of: Whose, session_id: str | None, told: EventText, saying: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the episodes of an event: several if it is too long, none if it is blank. The same event again gives the
    same episode. `saying`: further fields of each."""
    named = [*of, session_id, told.event_id or [told.author, told.at, told.text]]
    for at, piece in enumerate(pieces(told.text)):
        event_id = str(uuid.uuid5(_IDS, json.dumps([*named, at])))
        yield {**saying, **_said(of, session_id, told), "event_id": event_id, "content": piece}


def entries(of: Whose, told: EventText, saying: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields the entries of an event that is to be kept by request."""
    for piece in pieces(told.text):
        yield {**saying, **_said(of, None, told), "explicit": True, "content": piece}


def _said(of: Whose, session_id: str | None, told: EventText) -> Episode:
    role = told.author if told.author and names.name_fault(told.author) is None else None
    # A role that requires a signature is dropped from unsigned records, whatever it names.
    role = None if role is None or names.above(role) else role
    return {
        "agent": of.app, "subject": of.user, "source": of.app, "session": session_of(of, session_id), "role": role,
        "occurred_at": told.at if told.at is not None and OLDEST_MS <= told.at < NEWEST_MS else None,
        "attributes": dict(told.attributes) if told.attributes else None,
    }  # fmt: skip


def speaker(role: str | None) -> str:
    """The role shown to a model: the user's, or its own."""
    return _USER if role == _USER else "model"
