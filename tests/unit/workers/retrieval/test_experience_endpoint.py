"""Where a memory stands on its way into experience, over HTTP: to who may read it, with the numbers."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from memquorum.core.avro import Codec
from memquorum.core.retrieval.query import Filters
from tests.builders.served import HERS, ORDER, Store, bearer, client_of, make, stored
from workers.retrieval.door import Door


def test_a_memory_is_accounted_for_with_what_verifiers_found(codec: Codec) -> None:
    service = make(codec, Door(None))
    told = client_of(service).get(f"/experience/{HERS}?sensitivity_max=0.3").json()
    assert (told["status"], told["score"], told["least"], told["namespace"]) == ("rejected", 0.0, 0.05, "greenhouse")
    (trial,) = told["trials"]
    assert (trial["verifier"], trial["agrees"], trial["judges"][0]["task"]) == ("verifier-1", True, ORDER)
    assert cast(Store, service.reads).filters == [Filters(sensitivity_max=300_000)]


def test_what_is_out_of_sight_is_not_there(codec: Codec, tmp_path: Path) -> None:
    stored(tmp_path / "keys", (1, ("read",), ("mill",)), (2, ("publish",), ("greenhouse",)))
    client = client_of(make(codec, Door(tmp_path / "keys")))
    assert client.get(f"/experience/{HERS}", headers=bearer(1)).status_code == 404
    assert client.get(f"/experience/{HERS}", headers=bearer(2, "publish")).status_code == 403
    open_ = client_of(make(codec, Door(None)))
    for path in (f"/experience/{ORDER}", f"/experience/{HERS}?namespace=mill"):
        missing = open_.get(path)
        assert (missing.status_code, missing.json()["field"]) == (404, "memory_id")
    bad = open_.get("/experience/nobody")
    assert (bad.status_code, bad.json()["field"]) == (400, "memory_id")
