"""Builds the parameters of the statements that find memories, and results from their rows."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec.structs import asdict, replace

from db.arrays import vector
from db.sql_fragments import REMEMBERED, SHARES, SHOWN
from memquorum.core import labelling, linking
from memquorum.core.api.answers import Hit
from memquorum.core.consolidation.rendering import excerpt
from memquorum.core.contained import Failures
from memquorum.core.facets import names as joined
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.labelling import Labels
from memquorum.core.policy import PPM
from memquorum.core.reading.passages import Span, near
from memquorum.core.records import Link
from memquorum.core.retrieval import filing
from memquorum.core.retrieval.buffer import Trace
from memquorum.core.retrieval.conflicts import Contradiction, Pair, read
from memquorum.core.retrieval.diffusion import Form
from memquorum.core.retrieval.entities import Entity, Holder
from memquorum.core.retrieval.listing import KEPT
from memquorum.core.retrieval.paging import Page
from memquorum.core.retrieval.query import Filters, cosine
from memquorum.core.retrieval.ranking import Candidate, Question
from memquorum.core.retrieval.recall import Neighbour
from memquorum.core.retrieval.replaced import Replaced
from memquorum.core.retrieval.walking import Edge

T = TypeVar("T")

_PAIR = 10
"""The number of columns of a row of `conflicts` that belong to the pair."""
OWN = len(REMEMBERED) + 2
"""So many columns of a row are the memory's, its distance, and which of a summary's sentences, or of a long text's
passages, are so near; what else a statement finds comes behind them."""


def shown(row: tuple[Any, ...]) -> dict[str, Any]:
    """A memory as a client sees it, of a row of `memory_shown`."""
    *own, named, edges = row
    by = next((other for kind, _, other in (edge.partition(" ") for edge in edges) if kind == "supersededBy"), None)
    return _seen(SHOWN, tuple(own)) | {"links": links(named, edges), "superseded_by": by}


def listed(row: tuple[Any, ...]) -> dict[str, Any]:
    """A memory of a list as a client sees it, of a row of `memories_listed`."""
    *own, edges, goals, follows = row
    others = {
        name: tuple(edge.partition(" ")[2] for edge in edges if edge.startswith(f"{kind} "))
        for name, kind in (("derives_from", "derivesFrom"), ("contradicts", "contradicts"))
    }
    return shown((*own, edges)) | others | {"goals": tuple(goals), "follows": follows}


def links(named: Sequence[str] | None, edges: Sequence[str]) -> tuple[Link, ...]:
    """Returns the links that a publisher gave a memory: those to memories first."""
    split = (edge.partition(" ") for edge in edges)
    to = (Link(kind, other) for kind, _, other in split if kind in linking.KINDS)
    return (*to, *map(linking.read, named or ()))


def labels(key: str | None, path: str | None, attributes: dict[str, Any] | None) -> Labels:
    """Returns the labels of a memory from the columns of its content."""
    return Labels(key, path, labelling.written(attributes) if attributes else None)


def hit_of(row: tuple[Any, ...]) -> Hit:
    """A hit, of the columns that every statement which finds memories begins with."""
    return _hit(row)[0]


def _hit(row: tuple[Any, ...]) -> tuple[Hit, tuple[Span, ...]]:
    """A hit, and of a long text the passages that are nearest."""
    *own, distance, said = row[:OWN]
    found = _seen(REMEMBERED, tuple(own))
    if said is None or found["made_by"] is None:
        passages = near(found["text"], said or ())
        return Hit(**found, score=cosine(distance), passage=passages[0] if passages else None), passages
    text = excerpt(found["text"], said)
    return Hit(**found | {"text": text, "excerpt": text != found["text"]}, score=cosine(distance)), ()


def _seen(names: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    """A memory's columns as a client sees them."""
    found = dict(zip(names, row, strict=True))
    found |= {name: _share(found[name]) for name in SHARES & found.keys()}
    return found | {"purposes": _purposes(found["purposes"]), "jurisdictions": joined(found["jurisdictions"])}


def _purposes(named: str | None) -> tuple[str, ...] | None:
    return None if named is None else joined(named)


async def each(make: Callable[[tuple[Any, ...]], T], rows: Sequence[tuple[Any, ...]]) -> list[T]:
    """Calls `make` on each row; in a thread where there are long texts, since their passages have to be found."""
    long = any(row[OWN - 1] is not None for row in rows)
    return await asyncio.to_thread(lambda: [make(row) for row in rows]) if long else [make(row) for row in rows]


def asked_of(question: Question) -> dict[str, Any]:
    """The parameters of a question."""
    return {"namespace": question.namespace, "encoders": list(question.vectors)} | filters_of(question.filters)


def filters_of(filters: Filters) -> dict[str, Any]:
    """The parameters of its filters."""
    told = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(filters).items()}
    where, values = filing.jsonpath(filters.where)
    return told | {"where": where, "values": values}


def page_of(page: Page) -> dict[str, Any]:
    """The parameters of a page: those of its gates, its fields, and one more than its limit."""
    passes = filters_of(page.gates)
    told = {name: list(one) if isinstance(one, tuple) else one for name, one in asdict(page).items()}
    named = {name: one for name, one in told.items() if one is not None or name not in passes}
    return passes | named | {"limit": page.limit + 1}


def candidate(row: tuple[Any, ...]) -> Candidate:
    """Makes a candidate of a row of `candidates`."""
    (hit, passages), (encoder, sent, is_near, words, after, _) = _hit(row), row[OWN:]
    whole = row[REMEMBERED.index("text")] if hit.excerpt else None
    return Candidate(hit, encoder, vector(sent), is_near, words, tuple(after), whole, passages)


def replaced(row: tuple[Any, ...]) -> Replaced:
    """Makes what another memory took the place of, of a row of `replaced_candidates`."""
    *found, newer, agent, since = row
    return Replaced(candidate(tuple(found)), newer, agent, since)


def form(row: tuple[Any, ...], encoder: str) -> Form:
    """Builds a general form of another namespace from a row of `diffused`; its uses at home stay private."""
    memory_id, of, tier, created, kind, sensitivity_ppm, purposes, jurisdictions, body, sent, weight_ppm, apart = row
    hit = Hit(
        memory_id, body, tier, CONSOLIDATOR, created, last_access=created, accesses=0, salience=0.0, type=kind,
        score=cosine(apart), sensitivity=sensitivity_ppm / PPM, purposes=_purposes(purposes),
        jurisdictions=joined(jurisdictions), general_of=of, diffused=True,
    )  # fmt: skip
    return Form(Candidate(hit, encoder, vector(sent), True, None, ()), weight_ppm)


def neighbour(row: tuple[Any, ...]) -> Neighbour:
    """Makes a neighbour of a row of `around`, or of `around_then`, which tells what took its place."""
    hit, (encoder, sent, anchor, way, apart, *gone) = hit_of(row), row[OWN:]
    found = Candidate(hit, encoder, vector(sent), False, None, ())
    newer, agent, since = gone or (None, None, None)
    return Neighbour(found, anchor, way, apart, None if since is None else Replaced(found, newer, agent, since))


def edge(row: tuple[Any, ...]) -> Edge:
    """Makes a relation of a row of `walked`."""
    at, kind, forth, other, type_, encoder, sent = row
    return Edge(at, kind, forth, other, type_, encoder, vector(sent))


def holder(names: Sequence[Entity], row: tuple[Any, ...]) -> Holder:
    """Makes a memory that has a name of a row of `names_shared`."""
    place, memory_id, type_, encoder, sent = row
    return Holder(names[place - 1], memory_id, type_, encoder, vector(sent))


def contradictions(rows: Sequence[Sequence[Any]], failures: Failures) -> list[Contradiction]:
    """Makes contradictions of rows of `conflicts`. `failures`: takes the pairs on which a rule fails: of those nothing
    is marked."""
    found: list[Contradiction | None] = []
    for *told, agent, summary, newer, older in rows:
        one = pair_of(told)
        pair = one.newer, one.older
        found.append(failures.answer("denied", pair, None, read, one, agent, newer, older, summary=summary))
    return [one for one in found if one is not None]


def pair_of(row: Sequence[Any]) -> Pair:
    """Makes a pair of the columns that a row of `conflicts` begins with."""
    *told, statements, compared = row[:_PAIR]
    return replace(Pair(*told), numbers=None if statements is None else tuple(statements), compared=compared)


def trace(row: tuple[Any, ...]) -> Trace:
    """Makes a trace of a row of `traces`."""
    hit, (encoder, sent, _, place) = hit_of(row), row[OWN:]
    return Trace(Candidate(hit, encoder, vector(sent), False, None, ()), place)


def one_of(memory_id: str, gates: Filters) -> dict[str, Any]:
    """The parameters of one memory, with what it is linked with that passes the gates."""
    return filters_of(gates) | {"id": memory_id, "kept": list(KEPT)}


def _share(ppm: int | None) -> float | None:
    return None if ppm is None else ppm / PPM
