"""A search of experience: it says what hits weigh, and gives none that is far from what is asked."""

from __future__ import annotations

from typing import Any

import numpy as np

from memquorum.core.access import Sight
from memquorum.core.api.answers import Hit
from memquorum.core.avro import Codec
from memquorum.core.journal.rows import TaskRow
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.retrieval.conflicts import Contradiction
from memquorum.core.retrieval.diffusion import Form
from memquorum.core.retrieval.ranking import Candidate, Question
from tests.builders.served import Store, client_of, make
from workers.retrieval.door import Door

NEAR, LIGHT, FAR, STRANGE = (f"5f0c8f0e-0000-5000-8000-00000000020{n}" for n in range(4))
ASKED: dict[str, Any] = {"namespace": "greenhouse", "agent": "ann", "peek": True, "query": "valve 3"}


class Weighing(Store):
    """The admitted memories, each with its cosine and its weight."""

    async def search(self, *_: Any, **__: Any) -> list[Hit]:
        cosines = {NEAR: 0.5, LIGHT: 0.4, FAR: 0.24, STRANGE: 0.9}
        return [Hit(i, i[-1], "short-term", "a", 0, 0, 0, 0.5, cosine) for i, cosine in cosines.items()]

    async def weights(self, _: Sight, memory_ids: list[str], __: ExperiencePolicy) -> dict[str, int]:
        assert memory_ids == [NEAR, LIGHT, FAR, STRANGE]
        return {NEAR: 1_250_000, LIGHT: 99_999, FAR: 1_000_000}


def test_hits_of_experience_tell_their_weight_and_what_is_far_or_light_is_not_given(codec: Codec) -> None:
    service = make(codec, Door(None))
    service.reads = Weighing()  # type: ignore[assignment]
    client = client_of(service)
    told = client.post("/search", json={**ASKED, "experience": True}).json()
    assert [(one["memory_id"], one["weight"]) for one in told["hits"]] == [(NEAR, 1.25)]
    plain = client.post("/search", json=ASKED).json()
    assert {one.get("weight") for one in plain["hits"]} == {None} and len(plain["hits"]) == 4


class Contradicted(Weighing):
    """A store whose near memories were contradicted later by a memory that was not admitted."""

    async def conflicts(self, _: Sight, __: list[str]) -> list[Contradiction]:
        return [Contradiction(STRANGE, NEAR, True, 1, 0, "short-term", "short-term")]


def test_what_contradicts_experience_does_not_come_in_beside_it(codec: Codec) -> None:
    service = make(codec, Door(None))
    service.reads = Contradicted()  # type: ignore[assignment]
    told = client_of(service).post("/search", json={**ASKED, "experience": True}).json()
    assert [one["memory_id"] for one in told["hits"]] == [NEAR]
    assert told["hits"][0]["conflicts_with"] == [STRANGE], "but who is given it is told"


ABROAD, FAR_ABROAD = (f"5f0c8f0e-0000-5000-8000-00000000021{n}" for n in range(2))


class Diffusing(Weighing):
    """Two general forms of other namespaces may cross: one is near what is asked."""

    async def diffused(self, _: Sight, question: Question, __: str, ___: ExperiencePolicy) -> list[Form]:
        assert question.namespace == "greenhouse" and question.filters.experience
        hits = [
            Hit(i, "f", "short-term", "consolidator", 0, 0, 0, 0.5, cosine, diffused=True)
            for i, cosine in ((ABROAD, 0.6), (FAR_ABROAD, 0.1))
        ]
        return [Form(Candidate(hit, "e", np.ones(1, np.float32), True, None, ()), 500_000) for hit in hits]

    async def given(self, _: Sight, __: str, memory_ids: list[str]) -> tuple[list[TaskRow], dict[str, Any]]:
        assert memory_ids == [ABROAD, FAR_ABROAD]
        return [], {}


def test_a_search_of_other_namespaces_has_their_forms_in_its_order_and_nobody_else_has(codec: Codec) -> None:
    service = make(codec, Door(None))
    service.reads = Diffusing()  # type: ignore[assignment]
    client = client_of(service)
    told = client.post("/search", json={**ASKED, "diffusion": True}).json()
    assert [(one["memory_id"], one["weight"]) for one in told["hits"]] == [(ABROAD, 0.5), (NEAR, 1.25)]
    at_home = client.post("/search", json={**ASKED, "experience": True}).json()
    assert [one["memory_id"] for one in at_home["hits"]] == [NEAR]
    mine = client.post("/search", json={**ASKED, "diffusion": True, "agents": ["ann"]}).json()
    assert [one["memory_id"] for one in mine["hits"]] == [NEAR], "an agent of this namespace is none of another"
