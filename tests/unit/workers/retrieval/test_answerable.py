"""Whether a question has an answer does not depend on how many memories are asked for."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
import pytest

from memquorum.core.access import Sight
from memquorum.core.api.answers import Hit
from memquorum.core.avro import Codec
from memquorum.core.retrieval.ranking import Candidate, Question, Ranking
from tests.builders.served import client_of, make
from workers.retrieval.door import Door

# By rank. The second is the only one that answers, and was put behind the first for another reason.
COSINES = (0.2, 0.9, 0.1, 0.1, 0.1)
HITS = [
    Hit(str(uuid.UUID(int=place)), f"text {place}", "short-term", "a", 0, 0, 0, 0.5, score=cosine)
    for place, cosine in enumerate(COSINES)
]


@pytest.fixture
def client(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> Any:
    service = make(codec, Door(None))

    async def search(*_: Any, **__: Any) -> list[Hit]:
        return HITS

    async def candidates(_: Sight, question: Question, __: Ranking, told: Any) -> tuple[list[Candidate], int]:
        (name, vector), *_ = question.vectors.items()
        of = np.zeros_like(vector)
        return [Candidate(hit, name, of, True, 1.0 / place, ()) for place, hit in enumerate(HITS, 1)], 5

    monkeypatch.setattr(service.reads, "search", search)
    monkeypatch.setattr(service.reads, "candidates", candidates)
    return client_of(service)


def test_a_search_for_one_hit_scores_it_as_a_search_for_ten(client: Any) -> None:
    one, ten = (
        client.post("/search", json={"namespace": "greenhouse", "query": "q", "peek": True, "k": k}).json()
        for k in (1, 10)
    )
    assert (len(one["hits"]), len(ten["hits"])) == (1, len(HITS))
    assert one["answerable"] is ten["answerable"] is True
    assert one["hits"][0] == ten["hits"][0] and one["hits"][0]["score"] == 0.9


@pytest.mark.parametrize(("path", "more"), [("/retrieve", {}), ("/context", {"buffer_share": 0})])
def test_so_does_what_fits_a_budget(client: Any, path: str, more: dict[str, Any]) -> None:
    told = {"namespace": "greenhouse", "query": "q", "peek": True, "agent": "b", **more}
    one, ten = (client.post(path, json=told | {"k_max": k}).json() for k in (1, 10))
    assert len(one["items"]) < len(ten["items"])
    assert one["answerable"] is ten["answerable"] is True
