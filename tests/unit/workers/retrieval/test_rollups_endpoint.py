"""Roll-ups over HTTP and on the command line: what a key sees of them, now and as of a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memquorum.client.rollups import _list, lines
from memquorum.core.api.answers import Rollup, RollupPatch, Rollups, RollupSentence, RollupTopic
from memquorum.core.avro import Codec
from tests.builders.served import HERS, SINCE, THEIRS, bearer, client_of, make, stored
from workers.retrieval.door import Door


@pytest.fixture
def client(codec: Codec) -> Any:
    return client_of(make(codec, Door(None)))


def texts(answer: Any) -> list[str]:
    return [one["text"] for one in answer.json()["sentences"]]


def test_what_is_said_of_a_thing_now_and_then(client: Any) -> None:
    now = client.get("/rollups/greenhouse/the%20valve%203?history=true").json()
    assert [one["text"] for one in now["sentences"]] == ["Lena oiled valve 3.", "Valve 3 opens at 5 bar now."]
    assert [(one["op"], one["replaces"]) for one in now["history"]] == [
        ("add", None), ("add", None), ("supersede", HERS),
    ]  # fmt: skip
    then = client.get(f"/rollups/greenhouse/valve%203?as_of={SINCE + 2_999}")
    assert texts(then) == ["Valve 3 opens at 4 bar.", "Lena oiled valve 3."] and then.json()["history"] == []
    before = client.get(f"/rollups/greenhouse/valve%203?as_of={SINCE + 999}")
    assert (before.status_code, before.json()["error"]) == (404, "not_found")
    assert "in 'greenhouse' as of 2025-06-15 15:06:40 UTC" in before.json()["detail"], "it may be there now"
    assert client.get("/rollups/greenhouse/valve%204").status_code == 404
    assert client.get("/rollups/greenhouse/valve%203?persona=ben").status_code == 404


def test_what_there_are_roll_ups_of(client: Any) -> None:
    found = client.get("/rollups/greenhouse").json()
    assert [(one["topic"], one["sentences"], one["unreadable"]) for one in found["topics"]] == [("Valve 3", 2, 0)]
    assert found["personas"] == {"ada": 2}
    assert client.get("/rollups/nowhere").json()["topics"] == []


def test_gates_hold_and_what_is_mistyped_is_refused(client: Any) -> None:
    assert texts(client.get(f"/rollups/greenhouse/valve%203?as_of={SINCE + 2_999}&sensitivity_max=0.5")) == [
        "Lena oiled valve 3."
    ]
    for wrong in ("as_of=yesterday", "as_of=-1", "as_of=999", "persona=", "history=1", "asof=1", "sensitivity_max=2"):
        refused = client.get(f"/rollups/greenhouse/valve%203?{wrong}")
        assert refused.status_code == 400, wrong
    assert client.get("/rollups/greenhouse?history=true").status_code == 400
    assert client.get(f"/rollups/greenhouse/{'x' * 200}").json()["field"] == "topic"


def test_a_key_sees_its_namespaces_alone(codec: Codec, tmp_path: Path) -> None:
    stored(tmp_path / "keys.json", (1, ("read",), ("greenhouse",)), (2, ("publish",), ("*",)))
    client = client_of(make(codec, Door(tmp_path / "keys.json")))
    for path in ("/rollups/greenhouse", "/rollups/greenhouse/valve%203"):
        assert client.get(path, headers=bearer(1)).status_code == 200
        assert client.get(path, headers=bearer(2)).status_code == 403
        assert client.get(path).status_code == 401
        refused = client.get(path.replace("greenhouse", "mill"), headers=bearer(1))
        assert (refused.status_code, refused.json()["field"]) == (403, "namespace")


def test_what_cannot_be_read_is_told_as_a_number() -> None:
    said = RollupSentence("Lena oiled valve 3.", HERS, 0, 19, "facts", 1_000, "ada", "ada", 2_000, THEIRS)
    patch = RollupPatch(7, 2_000, "revise", HERS, 0, 19, None, THEIRS)
    told = list(
        lines(Rollup("n", "valve 3", (said,), 3, summed_up=1, as_of=3_000, persona="ada", history=(patch,), more=1))
    )
    assert told == [
        "valve 3, by or about ada, as of 1970-01-01 00:00:03 UTC: 2 sentences",
        "  1 said before these are left out",
        "  Lena oiled valve 3.",
        f"    ada, 1970-01-01 00:00:01 UTC, {HERS}, read from {THEIRS}",
        "  1 sentence more: summed up, and in no summary",
        "  2 sentences more: forgotten, or erased",
        f"  7  1970-01-01 00:00:02 UTC  revise in place of one of {THEIRS}: a sentence that cannot be read any more",
    ]
    topics = (RollupTopic("valve 3", 2, 1, 1_000, 90_000_000),)
    assert list(_list(Rollups("n", topics, {"ada": 2, "ben": 1}, more=True))) == [
        "valve 3  2 sentences, 1970-01-01 to 1970-01-02; 1 cannot be read any more",
        "and more",
        "by or about: ada 2, ben 1",
    ]
    assert list(_list(Rollups("n", (), {}, as_of=1_000))) == ["no roll-ups in 'n', as of 1970-01-01 00:00:01 UTC"]


READS = {
    "/search": {"query": "When does valve 3 open?", "peek": True},
    "/retrieve": {"query": "When does valve 3 open?", "peek": True},
    "/context": {"query": "When does valve 3 open?", "peek": True, "agent": "ann"},
}


@pytest.mark.parametrize("path", READS)
def test_a_read_finds_the_roll_up_of_what_it_asks_about(client: Any, path: str) -> None:
    def found(**more: Any) -> list[list[str]]:
        answer = client.post(path, json={"namespace": "greenhouse"} | READS[path] | more)
        assert answer.status_code == 200, answer.text
        return [[one["text"] for one in rollup["sentences"]] for rollup in answer.json().get("rollups", ())]

    assert found() == [["Lena oiled valve 3.", "Valve 3 opens at 5 bar now."]]
    assert found(sensitivity_max=0.5) == [["Lena oiled valve 3.", "Valve 3 opens at 5 bar now."]]
    assert found(query="When does valve 4 open?") == []
    assert found(path="users/ada") == [], "a roll-up goes across paths"
    if path != "/search":
        assert found(budget_tokens=1) == []


def test_a_context_tells_what_each_part_took(client: Any) -> None:
    told = client.post("/context", json={"namespace": "greenhouse"} | READS["/context"]).json()
    assert list(told["parts"]) == ["buffer", "rollups"] and sum(told["parts"].values()) < told["tokens"]
    assert "Of what is asked about:\n" in told["text"] and "Lena oiled valve 3." in told["text"]
    for quotas in ({"buffer": 0.1}, {"rollups": 1.5}):
        refused = client.post("/context", json={"namespace": "greenhouse", "quotas": quotas} | READS["/context"])
        assert (refused.status_code, refused.json()["field"]) == (400, "quotas")
