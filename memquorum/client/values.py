"""The client's arguments and results beside the answers of the service (`core/api/answers`)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

from memquorum.core.api.answers import Hit, Rollup
from memquorum.core.records import Link

REUSED = "reused"
"""The outcome of a text under an event id that its agent had used before for another text."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The receipt of a published record. Kafka has confirmed it on all replicas before a receipt is given.

    `memory_id`: the memory that the episode is to become, or, once the outcome is known, the memory that holds it:
    another one if the outcome is `reinforced`. `outcome`: stored, reinforced, below_threshold or accessed; erased if an
    order to erase took the episode or kept it out: added again, it stays out; unreadable if its key was destroyed
    meanwhile; failed if it could not be encoded or judged: replaying its dead letter (`dlq replay`) gives it another
    outcome; taken if another agent used the event id first: the record is a dead letter then; reused if its own agent
    had used the event id before for another text: the new text is dropped, and `memory_id` is the memory that stays.
    None if the outcome was not waited for. `nowhere`: links of a stored episode to memories that were not alive in its
    namespace then; they have no effect.

    Outcomes of a record that clears a slot: cleared; empty if the slot was empty; contested if it is still filled.
    `hidden`: the memories that it took away; `stays`: memories that only a vote can take away.
    """

    namespace: str
    event_id: str
    memory_id: str
    outcome: str | None = None
    nowhere: tuple[Link, ...] = ()
    hidden: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    why: str | None = None
    """The reason why feedback does not count."""
    lessons: tuple[Receipt, ...] = ()
    """The receipts of a finished task's lessons."""
    agent: str | None = None
    """The publisher of an episode or a finished task."""
    place: str | None = None
    """The record's place in Kafka as TOPIC/PARTITION/OFFSET, if known; dead letters name it."""
    said: str | None = field(default=None, compare=False, repr=False)
    """The digest of an episode's text, if its publisher gave it an event id."""

    @property
    def token(self) -> str:
        """The value that a read takes as `after`, to see this write and all earlier ones of the namespace."""
        return f"{self.namespace}/{self.event_id}"


class Hits(list[Hit]):
    """The hits of a search, best first. `rollups`: of things that the question names, each with its latest
    sentences."""

    def __init__(self, hits: Iterable[Hit] = (), rollups: Iterable[Rollup] = ()) -> None:
        super().__init__(hits)
        self.rollups = tuple(rollups)


class Episode(TypedDict, total=False):
    """The optional fields of an episode.

    `links`: each as `{"kind": "requires", "to": ID}` or `{"kind": "isA", "name": "pump"}`. `key`, with `explicit`: with
    `path` the slot that it fills; `clears`: clears that slot in place of a content, or takes back the memories named in
    `supersedes`. `path`: its place, as in users/ada/notes. `attributes`: a small JSON object. `occurred_at`: in
    milliseconds. `agent`, `namespace`: in place of the client's. One `event_id` is one episode.
    """

    session: str | None
    role: str | None
    subject: str | None
    source: str | None
    explicit: bool
    key: str | None
    clears: bool
    path: str | None
    attributes: Mapping[str, Any] | None
    derives_from: Sequence[str] | None
    supersedes: Sequence[str] | None
    links: Sequence[Mapping[str, str]] | None
    type: str | None
    sensitivity: float | None
    purposes: Sequence[str] | None
    jurisdiction: str | None
    reward: float | None
    confidence: float | None
    uncertainty: float | None
    event_id: str | None
    occurred_at: int | None
    agent: str | None
    namespace: str | None


class Clearing(TypedDict, total=False):
    """The optional fields of a record that clears a slot. `subject`: whom the slot is about, so that an erasure takes
    this record too."""

    session: str | None
    role: str | None
    subject: str | None
    source: str | None
    event_id: str | None
    occurred_at: int | None
    agent: str | None
    namespace: str | None


class Gates(TypedDict, total=False):
    """Filters by permission.

    `sensitivity_max`: in [0, 1]. `purpose`: the purpose of the read; without one, memories for certain purposes only
    are left out. `jurisdictions`: a memory passes if all its jurisdictions are among them. `redact`: masks personal
    data and secrets in texts by kind, as in "call [phone]".
    """

    sensitivity_max: float | None
    purpose: str | None
    jurisdictions: Sequence[str] | None
    redact: bool | None


class Filed(Gates, total=False):
    """Filters by place and attributes. `path`: there or below, by whole segments. `where`: conditions on attributes
    that all must hold, as `{"colour": "red", "size": {"$gte": 3}}`, with `$eq $ne $gt $gte $lt $lte $in`."""

    path: str | None
    where: Mapping[str, Any] | None


class Only(Filed, total=False):
    """Filters of memories; a field that is left out does not filter.

    `keys`: filed under one of these. `agents`: who recorded it; `subjects`: who it is about. `tiers`: short-term,
    long-term. `types`: episodic, semantic, social, task. `since`, `until`: since ≤ time of occurrence < until, in
    milliseconds. `experience`: only memories that were admitted to experience."""

    experience: bool | None
    keys: Sequence[str] | None
    agents: Sequence[str] | None
    subjects: Sequence[str] | None
    sessions: Sequence[str] | None
    tiers: Sequence[str] | None
    types: Sequence[str] | None
    since: int | None
    until: int | None


class Then(Only, total=False):
    """The same, of a read that may ask how it stood at a time. `as_of`: in milliseconds; what had been said and not
    been replaced by then, of what is there now or was replaced since."""

    as_of: int | None


class FiledThen(Filed, total=False):
    """Filters by place and attributes, of a read that may ask how it stood at a time. `as_of`: as of `Then`."""

    as_of: int | None
