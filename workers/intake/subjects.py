"""Refuses at intake what the profile of a subject keeps out, in the words of any refusal by policy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol

from memquorum.core.asked import QueryIntent
from memquorum.core.intake import EpisodeIntent, Intent, Refusal
from memquorum.core.orders.profile import PROFILE
from memquorum.core.privacy.listed import Matcher, matcher
from memquorum.core.reasons import Reason
from memquorum.core.records import OrderAccepted
from memquorum.ports import KeepingOut, Profiles, StoreUnavailable
from memquorum.telemetry.health import Health

_PAUSE_S = 0.5
_AWAY = "profiles of subjects"
REFUSAL = Refusal(
    Reason.BY_POLICY, None, "a policy keeps it out, and it was not kept; whoever set the policy knows why"
)
"""The same for whatever keeps a record out, so that nobody learns what a subject has listed."""

PROFILE_UNHELD = Refusal(
    Reason.NOT_ENTITLED, None, "this intake cannot hold to profiles: it has no connection to the store (memory_dsn)"
)


class Event(Protocol):
    """Tells a process to stop."""

    def wait(self, timeout: float) -> object:
        """Returns true as soon as it is told, or not when the time is over."""


class Reading(Protocol):
    """Topics that are read."""

    def stay(self) -> None:
        """Keeps the place in the group, and takes nothing."""

    def go_on(self) -> None:
        """Reads on."""


class Subjects:
    """The profiles that keep something out, for one process of intake."""

    def __init__(self, profiles: Profiles, health: Health) -> None:
        self._profiles, self._health = profiles, health
        self._known: tuple[KeepingOut, ...] | None = None
        self._of: Mapping[tuple[str, str], tuple[KeepingOut, Matcher]] = {}

    def close(self) -> None:
        """Lets the connection go."""
        self._profiles.close()

    def look(self) -> bool:
        """Asks what is in force; returns whether it is known. The commit worker puts a profile in force in the store,
        so what was known stands while the store cannot be asked."""
        try:
            found = self._profiles.keeping_out()
        except StoreUnavailable as error:
            known = self._known is not None
            why = f"{error}. What was in force before stands" if known else f"{error}. Nothing is let in before that"
            self._health.alarm(_AWAY, why)
            return known
        self._health.alarm(_AWAY, None)
        if found is not self._known:
            self._of = {(one.namespace, one.subject): (one, matcher(one.entries)) for one in found}
            self._known = found
        return True

    def known(self, stop: Event, turn: Callable[[], None], reading: Reading) -> bool:
        """Waits until it is known what is in force. Returns False if told to stop; `turn` is called meanwhile, and
        `reading` keeps its place."""
        if self.look():
            return True
        while not stop.wait(_PAUSE_S):
            turn()
            reading.stay()
            if self.look():
                reading.go_on()
                return True
        return False

    def admitted(self, answer: Intent | Refusal, now_ms: int) -> Intent | Refusal:
        """The answer, or the refusal of a record that the profile of its subject keeps out."""
        if not self._of or not isinstance(answer, EpisodeIntent | QueryIntent):
            return answer
        subject = answer.subject if isinstance(answer, EpisodeIntent) else answer.agent
        one, listed = self._of.get((answer.namespace, subject), (None, None))
        if one is None or listed is None:
            return answer
        closed = not one.stores or (one.private_until is not None and one.private_until > now_ms)
        return REFUSAL if closed or any(map(listed.says, _said(answer))) else answer


def admitted(subjects: Subjects | None, answer: Intent | Refusal, now_ms: int) -> Intent | Refusal:
    """The answer, or the refusal of a record that the profile of its subject keeps out. `subjects`: None where no
    profile is let in."""
    if subjects is not None:
        return subjects.admitted(answer, now_ms)
    return PROFILE_UNHELD if isinstance(answer, OrderAccepted) and answer.kind == PROFILE.name else answer


def _said(answer: EpisodeIntent | QueryIntent) -> Iterator[str]:
    """All that a record says in words."""
    if isinstance(answer, QueryIntent):
        yield answer.query
        return
    yield answer.content
    yield from answer.names
    labels = answer.labels
    yield from (one for one in (labels.key, labels.path, answer.session, answer.source) if one)
    if labels.attributes is not None:
        for name, value in json.loads(labels.attributes).items():
            yield name
            yield str(value)
