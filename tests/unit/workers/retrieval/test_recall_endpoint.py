"""A recall over HTTP: what answered a query and went before its surroundings were asked for is asked for again."""

from __future__ import annotations

from typing import Any

import pytest

from memquorum.core.avro import Codec
from memquorum.core.retrieval.recall import Neighbour
from tests.builders.served import HERS, client_of, make
from workers.retrieval.door import Door

ASKED = {"namespace": "greenhouse", "query": "q", "peek": True}


@pytest.mark.parametrize(("gone", "items", "times"), [(0, 1, 1), (1, 1, 2), (9, 0, 3)])
def test_sources_that_went_for_their_summary_leave_no_recall_empty(
    codec: Codec, monkeypatch: pytest.MonkeyPatch, gone: int, items: int, times: int
) -> None:
    service, asked = make(codec, Door(None)), list[Any]()
    around = service.reads.around

    async def first_gone(*wanted: Any) -> list[Neighbour]:
        asked.append(wanted)
        return [] if len(asked) <= gone else await around(*wanted)

    monkeypatch.setattr(service.reads, "around", first_gone)
    found = client_of(service).post("/recall", json=ASKED).json()
    assert (len(found["items"]), len(asked)) == (items, times)


def test_a_memory_that_is_named_is_asked_for_once(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    service, asked = make(codec, Door(None)), list[Any]()

    async def gone(*wanted: Any) -> list[Neighbour]:
        asked.append(wanted)
        return []

    monkeypatch.setattr(service.reads, "around", gone)
    named = {"namespace": "greenhouse", "memory_id": HERS, "peek": True}
    assert client_of(service).post("/recall", json=named).status_code == 404
    assert len(asked) == 1
