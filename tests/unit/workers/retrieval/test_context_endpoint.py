"""A context over HTTP: where the key opens, what counts as used, and nothing of an episode that was erased."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from msgspec.structs import replace

from db.pool import Pool
from db.reads import Reads
from memquorum.core.access import Sight
from memquorum.core.avro import Codec
from memquorum.core.ids import memory_id
from memquorum.core.records.episodes import Carried
from memquorum.core.retrieval.ranking import Candidate, Question
from memquorum.core.retrieval.supports import Support
from memquorum.core.showing.quoting import HEADING
from tests.builders.served import HERS, THEIRS, bearer, client_of, make, stored
from workers.retrieval.door import Door

ASKED = {"namespace": "greenhouse", "agent": "ann", "query": "q", "peek": True}


def test_a_key_opens_the_buffers_of_its_namespaces(codec: Codec, tmp_path: Path) -> None:
    file = tmp_path / "api-keys.json"
    stored(file, (1, ("read",), ("greenhouse",)), (2, ("publish", "audit"), ("*",)))
    client = client_of(make(codec, Door(file)))
    found = client.post("/context", json=ASKED, headers=bearer(1)).json()
    assert [(one["memory_id"], one["why"], one["place"]) for one in found["items"]] == [(HERS, "buffer", 1)]
    refused = client.post("/context", json=ASKED | {"namespace": "mill"}, headers=bearer(1))
    assert (refused.status_code, refused.json()["field"]) == (403, "namespace")
    assert client.post("/context", json=ASKED, headers=bearer(2)).status_code == 403
    assert client.post("/context", json=ASKED).status_code == 401


def test_what_is_left_out_does_not_count_what_the_buffer_holds(codec: Codec) -> None:
    client = client_of(make(codec, Door(None)))
    found = client.post("/context", json=ASKED).json()
    # Three pass the filters: one is found by the query, and it is the one that the buffer holds.
    assert found["left_out"] == {"agent": {"count": 2, "memory_ids": []}, "not_found": {"count": 2, "memory_ids": []}}
    alone = client.post("/context", json={name: value for name, value in ASKED.items() if name != "query"}).json()
    assert (alone["left_out"], len(alone["items"]), alone["used"]) == ({}, 1, 0)
    assert alone["text"].startswith(f'{HEADING}Lately:\n- [1970-01-01 00:00] a: "t"\n')


def test_what_the_buffer_holds_is_not_told_again_by_its_summary(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    service = make(codec, Door(None))
    hits = service.reads.search

    async def found(sight: Sight, question: Question, _: object, told: object) -> tuple[list[Candidate], int]:
        (hit,) = await hits(sight, question.namespace, "", np.zeros(1, np.float32), 1)
        (name, vector), *_ = question.vectors.items()
        return [Candidate(replace(hit, memory_id=THEIRS, text="sum"), name, vector, True, 1.0, ())], 5

    async def supports(_: Sight, asked: list[str]) -> list[Support]:
        return [Support(THEIRS, HERS)] if {HERS, THEIRS} <= {*asked} else []

    monkeypatch.setattr(service.reads, "candidates", found)
    told = client_of(service).post("/context", json=ASKED).json()
    assert {one["memory_id"] for one in told["items"]} == {HERS, THEIRS}, "two memories"
    monkeypatch.setattr(service.reads, "supports", supports)
    told = client_of(service).post("/context", json=ASKED).json()
    assert [one["memory_id"] for one in told["items"]] == [HERS], "a source and its summary"


async def test_an_echo_that_was_erased_is_in_no_buffer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The memory that it repeated is somebody else's, and stays."""
    made, echo, other = (memory_id("n", event) for event in ("made", "echo", "other"))
    asked: list[Any] = []

    async def answer(
        _: Pool, name: str, parameters: dict[str, Any], __: Sight, *, planned: bool = False
    ) -> list[tuple[Any, ...]]:
        asked.append((name, parameters.get("ids")))
        if name == "erased":
            return [("n", echo)]
        vector = (1).to_bytes(2, "big") + b"\0\0" + np.ones(1, ">f2").tobytes()
        said = structs.astuple(Carried(session="s"))
        common = (
            "t",
            "short-term",
            "a",
            0,
            0,
            0,
            500_000,
            *said,
            None,
            None,
            None,
            "episodic",
            0,
            None,
            "",
            None,
            None,
            None,
            "ada",
            0.0,
            None,
            "e",
            vector,
        )
        return [(made, *common, "made", 1), (other, *common, "echo", 2)]

    monkeypatch.setattr(Pool, "ask", answer)
    traces = await Reads("").traces(Sight(("n",)), "n", "a", None)
    assert [(trace.candidate.hit.memory_id, trace.place) for trace in traces] == [(made, 1)]
    assert asked == [("traces", None), ("erased", [echo])]
