"""Candidates of a retrieval, for tests."""

from __future__ import annotations

import uuid

import numpy as np

from memquorum.core.api.answers import Hit
from memquorum.core.retrieval.ranking import Candidate, Scored


def name(number: int) -> str:
    """Returns a memory's id; ids have the order of their numbers."""
    return str(uuid.UUID(int=number))


def candidate(
    number: int,
    text: str = "The tank is empty.",
    *,
    angle: float = 0.0,
    agent: str = "ann",
    encoder: str = "e",
    tier: str = "short-term",
    cosine: float = 0.5,
    near: bool = True,
    words: float | None = None,
    last_access: int = 0,
    salience: float = 0.5,
    after: tuple[str, ...] = (),
) -> Candidate:
    """Builds a candidate. `angle`: of its vector in a plane, in degrees."""
    hit = Hit(name(number), text, tier, agent, number, last_access, 0, salience, cosine, session="s")
    vector = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))], np.float32)
    return Candidate(hit, encoder, vector, near, words, after)


def scored(one: Candidate, score: float = 1.0) -> Scored:
    """Returns the candidate with a score."""
    return Scored(one, score, 1.0, score)
