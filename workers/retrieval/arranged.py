"""Arranges the best hits: by the time that a question asks about, or else so that no fact fills the first places."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from memquorum.core.api.answers import Hit
from memquorum.core.reading import times
from memquorum.core.reading.times import Asked
from memquorum.core.retrieval import alike
from memquorum.core.retrieval.past import in_time
from workers.retrieval.service import Service

HEAD = alike.HEAD
"""So many of the best hits are arranged."""
Vectors = Mapping[str, NDArray[np.float32]]


def time_asked(service: Service, question: str) -> Asked | None:
    """Reads the time that a question asks about, if any."""
    return service.failures.answer("times", [], None, times.asked, question)


async def arranged(
    service: Service,
    namespace: str,
    hits: list[Hit],
    vectors: Vectors,
    *,
    question: NDArray[np.float32],
    asked: Asked | None,
) -> list[Hit]:
    """The hits, the best of them arranged. `question`: its vector; `vectors`: of the best hits, by id. `asked`: which
    time is asked about."""
    names = [hit.memory_id for hit in hits[:HEAD]]
    if asked is None:
        return await service.desk.read(
            service.failures.answer, "alike", names, hits, alike.demoted, hits, vectors, question
        )
    anchor = await service.vector_of(namespace, asked.anchor) if asked.anchor else None
    rest = await service.vector_of(namespace, asked.rest) if asked.rest else None
    return service.failures.answer("past", names, hits, in_time, asked, hits, vectors, anchor, rest)
