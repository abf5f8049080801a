"""A summary and what it was made of are not served together, however somebody asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.access import Sight
from memquorum.core.api.answers import Hit
from memquorum.core.avro import Codec
from memquorum.core.retrieval.buffer import Trace
from memquorum.core.retrieval.conflicts import Contradiction
from memquorum.core.retrieval.ranking import Candidate, Question
from memquorum.core.retrieval.recall import Neighbour
from memquorum.core.retrieval.scoring import HEAD as SCORED
from memquorum.core.retrieval.supports import Support
from tests.builders.served import Store, client_of, make
from workers.retrieval.door import Door

SUMMARY, SOURCE, OTHER, OLD = (f"5f0c8f0e-0000-5000-8000-00000000010{n}" for n in range(4))
ASKED: dict[str, Any] = {"namespace": "greenhouse", "agent": "ann", "peek": True}


def hit(memory_id: str, score: float) -> Hit:
    return Hit(memory_id, f"text {memory_id[-1]}", "short-term", "a", 0, 0, 0, 0.5, score)


def candidate(memory_id: str, score: float) -> Candidate:
    return Candidate(hit(memory_id, score), "hashing-512", np.ones(1, np.float32), True, score, ())


class Strict(Store):
    """A namespace in which nothing is sealed: a summary, one of its sources and another memory are found, best first;
    the other one contradicts a second source, which is found by nobody but it."""

    found = (SUMMARY, SOURCE, OTHER)
    ring = (SOURCE,)

    async def search(self, *_: Any, **__: Any) -> list[Hit]:
        return [hit(one, 0.9 - at / 10) for at, one in enumerate(self.found)]

    async def candidates(self, sight: Sight, question: Question, _: Any, told: Any) -> tuple[list[Candidate], int]:
        return [
            Candidate(hit(one, 0.9 - at / 10), name, vector, True, 9.0 - at, ())
            for at, one in enumerate(self.found)
            for name, vector in question.vectors.items()
        ], 5

    async def supports(self, _: Sight, memory_ids: list[str]) -> list[Support]:
        return [Support(SUMMARY, one) for one in (SOURCE, OLD) if {SUMMARY, one} <= set(memory_ids)]

    async def conflicts(self, _: Sight, memory_ids: list[str]) -> list[Contradiction]:
        return [Contradiction(OTHER, OLD, False, 2, 1, "short-term", "long-term")] if OTHER in memory_ids else []

    async def around(self, _: Sight, __: str, memory_ids: list[str], *___: Any) -> list[Neighbour]:
        of = [*memory_ids, *(one for one in self.found if one not in memory_ids)]
        return [Neighbour(candidate(one, 0.5), memory_ids[0], "anchor" if one in memory_ids else "source", 1)
                for one in of]  # fmt: skip

    async def traces(self, *_: Any) -> list[Trace]:
        return [Trace(candidate(one, 0.5), at) for at, one in enumerate(self.ring, 1)]


@pytest.fixture
def client(codec: Codec) -> Any:
    made = make(codec, Door(None))
    made.reads = Strict()  # type: ignore[assignment]
    return client_of(made)


def served(client: Any, endpoint: str, **asked: Any) -> set[str]:
    found = client.post(f"/{endpoint}", json=ASKED | asked).json()
    return {one["memory_id"] for one in found.get("items", found.get("hits", ()))}


@pytest.mark.parametrize(("endpoint", "asked"), [("search", {"query": "q"}), ("retrieve", {"query": "q"})])
def test_a_question_finds_one_of_them(client: Any, endpoint: str, asked: dict[str, Any]) -> None:
    assert served(client, endpoint, **asked) == {SUMMARY, OTHER}


def test_what_surrounds_a_source_is_not_its_summary(client: Any) -> None:
    assert served(client, "recall", memory_id=SOURCE) == {SOURCE, OTHER}
    assert served(client, "recall", memory_id=SUMMARY) == {SUMMARY, OTHER}
    assert served(client, "recall", query="q") <= {SUMMARY, OTHER}


def test_what_an_agent_said_lately_stands_for_its_summary(client: Any) -> None:
    assert served(client, "context", query="q") >= {SOURCE}
    assert SUMMARY not in served(client, "context", query="q")


def test_of_what_an_agent_said_lately_a_summary_stands_for_what_it_says(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = candidate(SUMMARY, 0.5)
    made = replace(made, hit=replace(made.hit, made_by="extractive/1"))
    ring = [Trace(candidate(SOURCE, 0.5), 1), Trace(made, 2), Trace(candidate(OTHER, 0.5), 3)]

    async def traces(*_: Any) -> list[Trace]:
        return ring

    monkeypatch.setattr(Strict, "traces", traces)
    assert served(client, "context") == served(client, "context", query="q") == {SUMMARY, OTHER}


def test_what_is_folded_takes_no_place_from_what_is_not(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many agree as are scored, and one differs: it is there."""
    agreeing = [f"5f0c8f0e-0000-5000-8000-0000000002{n:02}" for n in range(SCORED)]
    said = dict.fromkeys(agreeing, "The moat is 3 m wide.") | {OTHER: "The moat is 12 m wide."}

    def hit_of(memory_id: str, score: float) -> Hit:
        return replace(hit(memory_id, score), text=said[memory_id], agent=memory_id[-1])

    async def search(*_: Any, **__: Any) -> list[Hit]:
        return [hit_of(one, 0.9 - at / 100) for at, one in enumerate(said)]

    async def nothing(*_: Any) -> list[Any]:
        return []

    async def around(_: Any, __: Sight, ___: str, memory_ids: list[str], *____: Any) -> list[Neighbour]:
        came = (replace(candidate(one, 0.5), hit=hit_of(one, 0.5)) for one in memory_ids)
        return [Neighbour(one, memory_ids[0], "anchor", 1) for one in came]

    for name, instead in {"search": search, "supports": nothing, "conflicts": nothing, "around": around}.items():
        monkeypatch.setattr(Strict, name, instead)
    found = client.post("/search", json=ASKED | {"query": "q", "k": 2}).json()["hits"]
    assert [one["text"] for one in found] == [said[agreeing[0]], said[OTHER]]
    assert found[0]["folded"] == agreeing[1:]
