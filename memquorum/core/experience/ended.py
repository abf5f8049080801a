"""A session that ended with an outcome is a finished task: which one, and what it was to do where nobody says that."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memquorum.core import ids, names
from memquorum.core.experience.texts import FAILED, SUCCEEDED

ASKING = "user"
"""The role of the person who asks in a session."""
NO_GOAL = (
    "no memory that can be read tells what was asked in the session, and what was just added may be on its way: name "
    "it by `after`, or say what was to be done"
)

NO_OUTCOME = "what a session came to is told with how it ended: say outcome, or leave the rest out"


Spoken = tuple[str, str | None, str | None]
"""A memory of a session: its id, its text, None where that is shown no more, and the role that its agent spoke in."""


def event_id(publisher: str, namespace: str, agent: str | None, session: str) -> str:
    """The event id of the task that a session was, or an agent's part of it: one session is one task of who publishes
    it, however often it is said to be over."""
    return ids.session_event_id(publisher, namespace, agent, names.normal(session))


def task_of(namespace: str, agent: str, session: str) -> str:
    """The id of the finished task that an agent's part of a session was, where the agent said what it came to."""
    return ids.memory_id(namespace, event_id(agent, namespace, agent, session))


def succeeded(outcome: str | None) -> bool | None:
    """Whether a task came to what was wanted; None where that is not known."""
    return outcome == SUCCEEDED if outcome in (SUCCEEDED, FAILED) else None


def first_ask(spoken: Iterable[Spoken]) -> tuple[str, str] | None:
    """The id and the text of what was asked first in a session: of what a user said, or where that is nothing, of what
    anybody did. None where nothing can be read. `spoken`: in the order of time."""
    readable = [(memory_id, text, role) for memory_id, text, role in spoken if text is not None and text.strip()]
    asked = [one for one in readable if one[2] == ASKING] or readable
    return None if not asked else asked[0][:2]


def given_memories(named: Sequence[str], noted: Iterable[str], asked: str | None, most: int) -> tuple[str, ...]:
    """Returns the memories that a session was given, as far as it is known: those named; of those noted, as many as fit
    into `most`; and the one whose text is its goal, since the task has to be erased with it."""
    last = () if asked is None else (asked,)
    said = tuple(dict.fromkeys(named))
    room = max(0, most - len(said) - len(last))
    rest = [one for one in dict.fromkeys(noted) if one not in {*said, *last}]
    return tuple(dict.fromkeys((*said, *rest[:room], *last)))
