"""A search of experience: it says what hits weigh, and gives none that is far from what is asked."""

from __future__ import annotations

from typing import Any

from memquorum.core.access import Sight
from memquorum.core.api.answers import Hit
from memquorum.core.avro import Codec
from memquorum.core.retrieval.conflicts import Contradiction
from tests.builders.served import Store, client_of, make
from workers.retrieval.door import Door

NEAR, LIGHT, FAR, STRANGE = (f"5f0c8f0e-0000-5000-8000-00000000020{n}" for n in range(4))
ASKED: dict[str, Any] = {"namespace": "greenhouse", "agent": "ann", "peek": True, "query": "valve 3"}


class Weighing(Store):
    """What is admitted, each with its cosine and its weight."""

    async def search(self, *_: Any, **__: Any) -> list[Hit]:
        cosines = {NEAR: 0.5, LIGHT: 0.4, FAR: 0.24, STRANGE: 0.9}
        return [Hit(i, i[-1], "short-term", "a", 0, 0, 0, 0.5, cosine) for i, cosine in cosines.items()]

    async def weights(self, _: Sight, memory_ids: list[str]) -> dict[str, int]:
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
    """What is near was contradicted later by what nobody admitted."""

    async def conflicts(self, _: Sight, __: list[str]) -> list[Contradiction]:
        return [Contradiction(STRANGE, NEAR, True, 1, 0, "short-term", "short-term")]


def test_what_contradicts_experience_does_not_come_in_beside_it(codec: Codec) -> None:
    service = make(codec, Door(None))
    service.reads = Contradicted()  # type: ignore[assignment]
    told = client_of(service).post("/search", json={**ASKED, "experience": True}).json()
    assert [one["memory_id"] for one in told["hits"]] == [NEAR]
    assert told["hits"][0]["conflicts_with"] == [STRANGE], "but who is given it is told"
