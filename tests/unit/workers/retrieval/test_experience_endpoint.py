"""A memory's way into experience over HTTP, with the numbers, for those who may read it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import convert
from msgspec.structs import replace

from memquorum.core.access import Sight, covers
from memquorum.core.accounts.admitting import lines
from memquorum.core.api.answers import Admission, FinishedTask, WeightVersion
from memquorum.core.avro import Codec
from memquorum.core.reading import memo, written
from memquorum.core.retrieval.paging import cursor
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.redaction import Redaction
from tests.builders.served import HERS, ORDER, Served, Store, bearer, client_of, make, stored
from tests.support.poison import poison
from workers.retrieval.door import Door


def test_a_memory_is_accounted_for_with_what_verifiers_found(codec: Codec) -> None:
    service = make(codec, Door(None))
    told = client_of(service).get(f"/experience/{HERS}?sensitivity_max=0.3").json()
    assert (told["status"], told["score"], told["least"], told["namespace"]) == ("rejected", 0.0, 0.05, "greenhouse")
    (trial,) = told["trials"]
    assert (trial["verifier"], trial["agrees"], trial["judges"][0]["task"]) == ("verifier-1", True, ORDER)
    # The memory and the task are asked for with the same gates.
    assert cast(Store, service.reads).filters == [Filters(sensitivity_max=300_000)] * 3


class Tried(Store):
    """A memory that contradicts what its judge came to. `there`: whether the task may be read."""

    def __init__(self, there: bool = True) -> None:
        super().__init__()
        self.text = "Ben left. The gateway uses port 9443, says +49 170 1234567."
        self._there = there

    async def task(self, sight: Sight, task_id: str, gates: Filters) -> FinishedTask | None:
        assert task_id == ORDER and covers(sight.namespaces, "greenhouse")
        whole = await super().task(sight, HERS, gates)
        assert whole is not None
        asked = {"task": ORDER, "goal": "Which port does the gateway use?", "outputs": "port 8443"}
        return replace(whole, **asked, inputs="") if self._there else None


def judge(service: Served, **asked: str) -> dict[str, object]:
    told: dict[str, object] = (
        client_of(service).get(f"/experience/{HERS}", params=asked).json()["trials"][0]["judges"][0]
    )
    return told


def test_what_of_a_memory_contradicts_what_its_judge_came_to_is_told(codec: Codec) -> None:
    service = make(codec, Door(None))
    service.reads = cast(Any, store := Tried())
    told = judge(service)
    assert (told["bears_out"], told["contradicts"]) == (None, "The gateway uses port 9443, says +49 170 1234567.")
    assert judge(service, redact="true")["contradicts"] == "The gateway uses port 9443, says [phone]."
    service.redaction = Redaction(("greenhouse",))
    assert judge(service)["contradicts"] == "The gateway uses port 9443, says [phone]."
    store.text = "The gateway uses port 8443."
    told = judge(service)
    assert (told["bears_out"], told["contradicts"]) == (store.text, None)


class Promoted(Store):
    """A memory that helped in three tasks, and did `harm` in some."""

    def __init__(self, text: str, harm: int = 0) -> None:
        super().__init__()
        self.text, self._harm = text, harm

    async def diffused_one(self, *_: object) -> Admission | None:
        return None

    async def admission(self, sight: Sight, memory_id: str, *_: object, **__: object) -> Admission | None:
        weight = WeightVersion(1, 1.0, 3, 3, self._harm, 9, "admitted", 0, ())
        return Admission(memory_id, "greenhouse", "admitted", 0.05, 3, 0.9, 1.0, 1, weights=(weight,))


@pytest.mark.parametrize(
    ("text", "harm", "why"),
    [
        ("The owner of the export is Lena Ott.", 0, "no lesson"),
        ("Prime the valve before it is opened.", 0, "no name"),
        ("Call Lena Ott.", 0, "no rest"),
        ("Prime the valve of bed 4 before it is opened.", 0, None),
        ("The owner of the export is Lena Ott.", 1, None),
    ],
)
def test_why_what_was_promoted_has_no_general_form_is_told(codec: Codec, text: str, harm: int, why: str | None) -> None:
    service = make(codec, Door(None))
    service.reads = cast(Any, Promoted(text, harm))
    found = client_of(service).get(f"/experience/{HERS}").json()
    assert found.get("no_general") == why
    told = "\n".join(lines(convert(found, Admission)))
    assert ("it is promoted, and has no general form: " in told) == (why is not None)


def test_no_text_that_was_judged_outlives_its_answer(codec: Codec) -> None:
    service = make(codec, Door(None))
    service.reads = cast(Any, Tried())
    assert judge(service)["contradicts"] is not None
    assert memo.cached_answers(written.plainly) == 0


def test_where_the_memory_or_the_task_may_not_be_read_nothing_of_it_is_told(codec: Codec) -> None:
    service = make(codec, Door(None))
    service.reads = cast(Any, Tried(there=False))
    assert judge(service)["contradicts"] is None
    service.reads = cast(Any, store := Tried())
    assert judge(service)["contradicts"] is not None
    store.text = cast(Any, None)  # it is not alive
    assert judge(service)["contradicts"] is None

    async def kept_back(*_: Any) -> None:
        return None

    service.reads = cast(Any, store := Tried())
    store.memory = kept_back  # type: ignore[method-assign]
    assert judge(service)["contradicts"] is None


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


LIST = {"namespace": "greenhouse"}


def test_memories_are_listed_page_by_page_though_one_decision_moved_them_all(codec: Codec) -> None:
    client = client_of(make(codec, Door(None)))
    whole = client.post("/experience/list", json=LIST).json()
    assert whole["counts"] == {"admitted": 1, "rejected": 1} and "next" not in whole
    first = client.post("/experience/list", json=LIST | {"limit": 1}).json()
    second = client.post("/experience/list", json=LIST | {"limit": 1, "cursor": first["next"]}).json()
    assert first["memories"] + second["memories"] == whole["memories"] and "next" not in second
    assert first["counts"] == whole["counts"] and second["counts"] == {}
    (one,) = client.post("/experience/list", json=LIST | {"statuses": ["admitted"]}).json()["memories"]
    assert (one["weight"], one["version"], one["helped"], one["harm"]) == (1.1, 2, 4, 0)
    assert len(one["text"]) == 201 and one["text"].endswith("…")


def test_what_is_found_of_persons_in_listed_memories_is_masked(codec: Codec) -> None:
    told = client_of(make(codec, Door(None))).post("/experience/list", json=LIST | {"redact": True}).json()
    texts = [one["text"] for one in told["memories"] if one["text"]]
    assert texts and "170" not in texts[0]


@pytest.mark.parametrize(("asked", "field"), [
    ({"cursor": "x"}, "cursor"), ({"statuses": ["served"]}, "statuses"), ({"limit": 0}, "limit"),
    ({"cursor": cursor("experiences", "mill", f"9/{HERS}")}, "cursor"),
    ({"cursor": cursor("experiences", "greenhouse", f"{'9' * 16}/{HERS}")}, "cursor"),
    ({"cursor": cursor("experiences", "greenhouse", "9/x")}, "cursor"),
])  # fmt: skip
def test_a_list_that_is_asked_for_wrongly_is_refused(codec: Codec, asked: dict[str, object], field: str) -> None:
    answer = client_of(make(codec, Door(None))).post("/experience/list", json=LIST | asked)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_nothing_is_pointed_at_where_a_rule_fails(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    service = make(codec, Door(None))
    service.reads = cast(Any, Tried())
    poison(monkeypatch, ("memquorum.core.experience.pointing:pointed",), "8443")
    answer = client_of(service).get(f"/experience/{HERS}")
    (judge,) = answer.json()["trials"][0]["judges"]
    assert (answer.status_code, judge["bears_out"], judge["contradicts"]) == (200, None, None)
    assert [(one.rule, one.memory_ids) for one in service.failures.told()] == [("pointing", (HERS, ORDER))]


def test_what_a_memory_lacks_is_not_told_where_a_rule_fails(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> None:
    service = make(codec, Door(None))
    service.reads = cast(Any, Promoted("Call Lena Ott."))
    poison(monkeypatch, ("memquorum.core.experience.abstract:lacking",), "Lena")
    answer = client_of(service).get(f"/experience/{HERS}")
    assert (answer.status_code, answer.json()["no_general"]) == (200, None)
    assert [(one.rule, one.memory_ids) for one in service.failures.told()] == [("abstract", (HERS,))]
