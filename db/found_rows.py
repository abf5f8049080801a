"""What the statements that find memories are asked with, and what their rows hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec.structs import asdict
from numpy.typing import NDArray

from memquorum.core.api.answers import Hit
from memquorum.core.facets import names as joined
from memquorum.core.policy import PPM
from memquorum.core.retrieval.buffer import Trace
from memquorum.core.retrieval.query import Filters, cosine
from memquorum.core.retrieval.ranking import Candidate, Question
from memquorum.core.retrieval.recall import Neighbour

SHOWN = (
    *("memory_id", "namespace", "text", "tier", "agent", "subject", "session", "role", "event_id", "occurred_at"),
    *("changed", "sealed_until", "confidence", "last_access", "accesses", "reinforced", "salience"),
    *("type", "sensitivity", "purposes", "jurisdictions"),
)


def shown(row: tuple[Any, ...]) -> dict[str, Any]:
    """A memory as a client sees it, of a row of `memory_shown`."""
    found = dict(zip(SHOWN, row, strict=True))
    found |= {name: _share(found[name]) for name in ("confidence", "salience", "sensitivity")}
    return found | {"purposes": _purposes(found["purposes"]), "jurisdictions": joined(found["jurisdictions"])}


def hit_of(row: tuple[Any, ...]) -> Hit:
    """A hit, of the fifteen columns that every statement which finds memories begins with."""
    memory_id, text, tier, agent, session, role, occurred_at, last_access, accesses, salience, distance = row[:11]
    kind, sensitivity, purposes, jurisdictions = row[11:]
    return Hit(
        memory_id, text, tier, agent, session, role, occurred_at, last_access, accesses, salience / PPM,
        cosine(distance), kind, sensitivity / PPM, _purposes(purposes), joined(jurisdictions),
    )  # fmt: skip


def _purposes(named: str | None) -> tuple[str, ...] | None:
    return None if named is None else joined(named)


def asked_of(question: Question) -> dict[str, Any]:
    """The parameters of a question."""
    return {"namespace": question.namespace, "encoders": list(question.vectors)} | filters_of(question.filters)


def filters_of(filters: Filters) -> dict[str, Any]:
    """The parameters of its filters."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(filters).items()}


def _vector(sent: bytes) -> NDArray[np.float32]:
    """A halfvec as `halfvec_send` writes it: two numbers of two bytes, then float16s, big-endian."""
    return np.frombuffer(sent, ">f2", offset=4).astype(np.float32)


def candidate(row: tuple[Any, ...]) -> Candidate:
    """Makes a candidate of a row of `candidates`."""
    hit, (encoder, sent, near, words, after, _) = hit_of(row[:15]), row[15:]
    return Candidate(hit, encoder, _vector(sent), near, words, tuple(after))


def neighbour(row: tuple[Any, ...]) -> Neighbour:
    """Makes a neighbour of a row of `around`."""
    hit, (encoder, sent, anchor, way, apart) = hit_of(row[:15]), row[15:]
    return Neighbour(Candidate(hit, encoder, _vector(sent), False, None, ()), anchor, way, apart)


def trace(row: tuple[Any, ...]) -> Trace:
    """Makes a trace of a row of `traces`."""
    hit, (encoder, sent, _, place) = hit_of(row[:15]), row[15:]
    return Trace(Candidate(hit, encoder, _vector(sent), False, None, ()), place)


def _share(ppm: int | None) -> float | None:
    return None if ppm is None else ppm / PPM
