"""Every answer of an endpoint is cut by the rights of the key that asks, before it is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.responses import JSONResponse

from memquorum.core.access import AUDIT
from memquorum.core.api import parts
from memquorum.core.api.parts import SHOWN, Part
from memquorum.core.avro import Codec
from tests.builders.served import HERS, Served, bearer, client_of, make, stored
from workers.retrieval import routes
from workers.retrieval.door import Door


@pytest.fixture
def service(codec: Codec, tmp_path: Path) -> Served:
    """The key 1 reads, the key 2 audits."""
    stored(tmp_path / "keys.json", (1, ("read",), ("*",)), (2, ("audit",), ("*",)))
    return make(codec, Door(tmp_path / "keys.json"))


def orders(service: Served) -> Any:
    body = {"namespace": "greenhouse"}
    return client_of(service).post("/orders/list", json=body, headers=bearer(2, "audit")).json()["orders"]


def test_an_answer_is_cut_by_the_parts_that_its_rights_show(service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = orders(service)
    assert any(one["says"] for one in whole)
    monkeypatch.setattr(parts, "SHOWN", {**SHOWN, AUDIT: frozenset({Part.FACTS})})
    assert [one["says"] for one in orders(service)] == [{} for _ in whole]
    assert [one["order_id"] for one in orders(service)] == [one["order_id"] for one in whole]


def test_an_answer_that_nothing_can_be_cut_of_is_not_sent(service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def bare(*_: Any) -> JSONResponse:
        return JSONResponse({"text": "as it is"})

    monkeypatch.setitem(routes._DO, "memory", bare)
    with pytest.raises(TypeError, match="memory does not answer with a struct"):
        client_of(service).get(f"/memories/{HERS}", headers=bearer(1))
