"""The relations between memories, and the links that a publisher states (SPEC D, provenance graph).

`RELATIONS` declares each kind once: those that a publisher states as links, and those that follow from derivation,
sessions, names, time and goals.

- `requires`: a memory that it is of no use without. As long as this one is alive, that one is not forgotten for a
  budget.
- All other stated kinds: a memory, or the name of a thing or a person that no memory stands for.

A name is personal data: behind the wall it lies sealed under the memory's key, in the clear only beside the content.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import islice

from msgspec import Struct

from memquorum.core import ids, labelling
from memquorum.core.records import EpisodeAccepted, Link


class Relation(Struct, frozen=True, kw_only=True):
    """A kind of relation from one memory to another. `weight`: how much of the source's relevance a step along it
    keeps, in (0, 1). `stated`: a publisher states it as a link. `symmetric`: it holds in both directions. `social`: it
    is between people. `causal`: the source needs the target."""

    weight: float
    stated: bool = False
    symmetric: bool = False
    social: bool = False
    causal: bool = False


REQUIRES, DERIVES, NEXT, GOAL, TIME = "requires", "derivesFrom", "temporalNext", "attachesToGoal", "sameTime"
NAMES, PART = "sameName", "partOf"
RELATIONS = {
    REQUIRES: Relation(weight=0.9, stated=True, causal=True),
    DERIVES: Relation(weight=0.9, causal=True),
    GOAL: Relation(weight=0.8, symmetric=True, causal=True),
    PART: Relation(weight=0.8, stated=True),
    "isA": Relation(weight=0.7, stated=True),
    "worksAt": Relation(weight=0.6, stated=True),
    "reportsTo": Relation(weight=0.6, stated=True, social=True),
    "colleagueOf": Relation(weight=0.5, stated=True, symmetric=True, social=True),
    "friendOf": Relation(weight=0.5, stated=True, symmetric=True, social=True),
    NEXT: Relation(weight=0.5),
    NAMES: Relation(weight=0.4, symmetric=True),
    TIME: Relation(weight=0.3, symmetric=True),
}
"""All kinds. `attachesToGoal` joins two memories that one goal needs; `temporalNext` leads to what was said next in the
session; `sameName` joins memories whose texts have the same name; `sameTime` those of nearly the same time."""
KINDS = tuple(kind for kind, one in RELATIONS.items() if one.stated)
"""The kinds that a publisher may state."""
MOST = 16
"""So many links an episode may name."""


def fault(links: Sequence[Link]) -> str | None:
    """Returns why links cannot be stored, or None; intake refuses all such links."""
    if len(links) > MOST:
        return f"{len(links)} links"
    for link in links:
        if link.kind not in KINDS or link.name is not None:
            return f"a link of kind {link.kind[:40]!r}" if link.name is None else "a link that tells a name"
        if link.to is not None and not ids.is_uuid(link.to):
            return f"a link to {link.to[:40]!r}, which is no UUID"
    return None


def meant(namespace: str, to: str) -> tuple[str, str]:
    """The memories that a link may be to: the one of this id, or else that of the episode whose event id this is."""
    return to, ids.memory_id(namespace, to)


def targets(namespace: str, links: Sequence[Link]) -> set[str]:
    """All memories that links may be to."""
    return {one for link in links if link.to is not None for one in meant(namespace, link.to)}


def resolved_links(own: str, namespace: str, links: Sequence[Link], there: Container[str]) -> list[tuple[str, str]]:
    """The kind and the memory of each link of a memory to one that is there, each once."""
    told = dict[tuple[str, str], None]()
    for link in links:
        known = () if link.to is None else (one for one in meant(namespace, link.to) if one != own and one in there)
        told |= {(link.kind, one): None for one in islice(known, 1)}
    return list(told)


def nowhere(namespace: str, links: Sequence[Link], noted: Container[tuple[str, str]]) -> tuple[Link, ...]:
    """The links that lead nowhere: to no memory that was there. `noted`: kind and memory of those that do."""
    return tuple(
        link
        for link in links
        if link.to is not None and not any((link.kind, one) in noted for one in meant(namespace, link.to))
    )


def published(record: EpisodeAccepted, key: bytes) -> tuple[Link, ...]:
    """The links as they were published, with their names. Raises SealError, and ValueError where a name is missing."""
    if all(link.to is not None for link in record.links):
        return record.links
    names = iter(labelling.opened(record, key).names)
    found = tuple(link if link.to is not None else Link(link.kind, name=next(names, None)) for link in record.links)
    if any(link.to is None and link.name is None for link in found):
        raise ValueError("a link to a name that is not there")
    return found


def named(record: EpisodeAccepted, key: bytes) -> tuple[str, ...]:
    """The links to names as the store keeps them: the kind, a blank, the name. Raises as `published`."""
    return tuple(f"{link.kind} {link.name}" for link in published(record, key) if link.name is not None)


def read(told: str) -> Link:
    """The link that the store keeps so: to a name, as `named` writes it."""
    kind, _, name = told.partition(" ")
    return Link(kind, name=name)
