"""What the client is given, and what it gives back beside the answers of the service (`core/api/answers`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from memquorum.core.records import Link


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was published. Kafka has confirmed it on all replicas before a receipt is given.

    `memory_id`: the memory that the episode is to become, or, once the outcome is known, the one that holds it: another
    where it `reinforced` one. `outcome`: stored, reinforced, below_threshold or accessed; erased where an order to
    erase took the episode, or kept it out: added again, it stays out; unreadable
    where its key was destroyed meanwhile; failed where it could not be encoded or judged: its dead letter brings it
    back (`dlq replay`), and then its outcome is another; taken where another agent used the event id first, so that it
    lies in a dead letter. None if nobody waited. `nowhere`: the links of what was stored
    to no memory that was alive in its namespace then; they are none.

    Of what clears a slot: cleared; empty where nothing filled it; contested where something fills it still. `hidden`:
    the memories that it took away; `stays`: those that only a vote can take.
    """

    namespace: str
    event_id: str
    memory_id: str
    outcome: str | None = None
    nowhere: tuple[Link, ...] = ()
    hidden: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    why: str | None = None
    """Of feedback that does not count, why."""
    lessons: tuple[Receipt, ...] = ()
    """Of a finished task, what was published of its lessons."""
    agent: str | None = None
    """Of an episode or a finished task, who published it."""
    place: str | None = None
    """Where Kafka has it, as TOPIC/PARTITION/OFFSET, if that is known: of this record a refusal is told."""

    @property
    def token(self) -> str:
        """What a read takes as `after`, to see this and all that went before it in the namespace."""
        return f"{self.namespace}/{self.event_id}"


class Episode(TypedDict, total=False):
    """What may be said of an episode beside its content.

    `links`: what it is linked with, each as `{"kind": "requires", "to": ID}` or `{"kind": "isA", "name": "pump"}`.
    `key`, with `explicit`: with `path` the slot that it fills; `clears`: that nothing is to fill it, instead of a
    content; or that the memories it names in `supersedes` are taken back. `path`: where it is filed, as in
    users/ada/notes. `attributes`: a small JSON object. `occurred_at`: in milliseconds. `agent`, `namespace`: in place
    of the client's. One `event_id` is one episode.
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
    """What may be said of a write of nothing. `subject`: whom the slot is about, so that an erasure takes this too."""

    session: str | None
    role: str | None
    subject: str | None
    source: str | None
    event_id: str | None
    occurred_at: int | None
    agent: str | None
    namespace: str | None


class Gates(TypedDict, total=False):
    """What may be read, and what for.

    `sensitivity_max`: in [0, 1]. `purpose`: what you read for; without one you are given nothing that is for certain
    purposes only. `jurisdictions`: a memory passes if all those whose law it is under are among them. `redact`: what is
    found of persons and secrets in a text is masked by kind, as in "call [phone]".
    """

    sensitivity_max: float | None
    purpose: str | None
    jurisdictions: Sequence[str] | None
    redact: bool | None


class Filed(Gates, total=False):
    """Where it is filed. `path`: there or below, by whole segments. `where`: what its attributes are, all of them: as
    `{"colour": "red", "size": {"$gte": 3}}`, with `$eq $ne $gt $gte $lt $lte $in`."""

    path: str | None
    where: Mapping[str, Any] | None


class Only(Filed, total=False):
    """Which memories are asked at all; of what is not named, all.

    `keys`: filed under one of these. `agents`: who recorded it; `subjects`: who it is about. `tiers`: short-term,
    long-term. `types`: episodic, semantic, social, task. `since`, `until`: when it occurred, in milliseconds, from the
    first until before the second. `experience`: what was admitted to experience alone."""

    experience: bool | None
    keys: Sequence[str] | None
    agents: Sequence[str] | None
    subjects: Sequence[str] | None
    sessions: Sequence[str] | None
    tiers: Sequence[str] | None
    types: Sequence[str] | None
    since: int | None
    until: int | None
