"""A repetition becomes one memory with what it repeats only where nothing is lost by it (infra/decisions/0042).

Subject and source have to be equal, so that an erasure by either names each copy by what it says of itself; and the
gates of the newcomer may be no stricter than the memory's, since from then on it is the memory that is served. A memory
with a key fills a slot, and is merged only with the one that fills that slot; one with a path or attributes, only with
one that has the same, so that it is found by them. A memory that names the ones it supersedes, or has links, stays
separate: the merged memory would lose those names. So does a summary, which repeats its sources by what it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import msgspec
from msgspec import Struct

from memquorum.core.facets import Kept, Said, facets, names
from memquorum.core.records import Link, Summary


class Marked(Kept, Protocol):
    """A memory as the store keeps it, or what a neighbourhood knows of one."""

    @property
    def subject(self) -> str:
        """The subject that it is about."""

    @property
    def source(self) -> str | None:
        """The source that it came from."""

    @property
    def slot(self) -> str | None:
        """The digest of the slot that it fills."""

    @property
    def label(self) -> str | None:
        """The digest of its path and attributes."""


class Saying(Said, Protocol):
    """The fields that a record of an episode states."""

    @property
    def subject(self) -> str:
        """The subject that it is about."""

    @property
    def source(self) -> str | None:
        """The source that it came from."""

    @property
    def slot(self) -> str | None:
        """The digest of the slot that it fills."""

    @property
    def label(self) -> str | None:
        """The digest of its path and attributes."""

    @property
    def supersedes(self) -> tuple[str, ...]:
        """The memories whose place it is to take."""

    @property
    def links(self) -> tuple[Link, ...]:
        """The links that its publisher states."""

    @property
    def summary(self) -> Summary | None:
        """The summary, if it is one."""


class Marks(Struct, frozen=True):
    """The fields that two memories must agree on to be merged; see `Marked`. `supersedes`: the ids it names, joined by
    commas. `summary`: the summary as `packed`, if it is one. `linked`: of a newcomer, whether it has links."""

    subject: str
    source: str | None = None
    sensitivity_ppm: int = 0
    purposes: str | None = None
    jurisdictions: str = ""
    slot: str | None = None
    label: str | None = None
    supersedes: str | None = None
    summary: bytes | None = None
    linked: bool = False


def packed(summary: Summary | None) -> bytes | None:
    """Writes what makes a memory a summary as bytes."""
    return None if summary is None else msgspec.msgpack.encode(summary)


def unpacked(data: bytes | None) -> Summary | None:
    """Reads what `packed` wrote."""
    return None if data is None else msgspec.msgpack.decode(data, type=Summary)


def marks(said: Saying, sources: Iterable[Kept] = ()) -> Marks:
    """Returns the marks of a memory that states `said` and was made of `sources`."""
    holds = facets(said, sources)
    return Marks(
        said.subject, said.source, holds.sensitivity_ppm, holds.purposes, holds.jurisdictions, said.slot, said.label,
        ",".join(said.supersedes) or None, packed(said.summary), bool(said.links),
    )  # fmt: skip


class Slotted(Protocol):
    """A record or memory that may fill a slot."""

    @property
    def slot(self) -> str | None:
        """The digest of the slot that it fills."""


def slots_differ(one: Slotted, other: Slotted) -> bool:
    """Whether two fill slots that are not the same: what is said in one is not said of what the other is about, so
    however their words read, neither contradicts the other."""
    return one.slot is not None and other.slot is not None and one.slot != other.slot


def interchangeable(one: Marked, other: Marked) -> bool:
    """Whether either of two memories may be served for the other: about the same, from the same source, in the same
    slot, filed alike, and neither bound by what the other is not."""
    if (one.subject, one.source, one.slot, one.label) != (other.subject, other.source, other.slot, other.label):
        return False
    if one.sensitivity_ppm != other.sensitivity_ppm or (one.purposes is None) != (other.purposes is None):
        return False
    mine, theirs = (
        (set(names(m.jurisdictions)), None if m.purposes is None else set(names(m.purposes))) for m in (one, other)
    )
    return mine == theirs


def merges(newcomer: Marks, memory: Marked) -> bool:
    """Whether a newcomer that says the same becomes one with the memory."""
    if newcomer.supersedes is not None or newcomer.linked or newcomer.summary is not None:
        return False
    if (newcomer.subject, newcomer.source) != (memory.subject, memory.source):
        return False
    if newcomer.slot is not None and (newcomer.slot, newcomer.label) != (memory.slot, memory.label):
        return False
    if newcomer.label is not None and newcomer.label != memory.label:
        return False
    if newcomer.sensitivity_ppm > memory.sensitivity_ppm:
        return False
    if not set(names(newcomer.jurisdictions)) <= set(names(memory.jurisdictions)):
        return False
    if newcomer.purposes is None:
        return True
    return memory.purposes is not None and set(names(memory.purposes)) <= set(names(newcomer.purposes))
