"""The memory over mem0's wire and as a class in place of mem0's, on a running installation: an agent learns, is
corrected, forgets small talk, deletes, and a person is erased. `make test-beside` does so with mem0's own client."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import httpx
import pytest
from mcp import Client

from memquorum.client import Invalid
from memquorum.mem0 import Memory
from tests.builders.unused import unused
from tests.support.sessions import Plant
from tests.support.waiting import PATIENCE_S

ADA, BOB = {"filters": {"user_id": "ada"}}, {"filters": {"user_id": "bob"}}
NO_MEAT, FISH = "Ada eats no meat.", "Ada eats fish again, but no other meat."


@pytest.fixture
def http(fleet: Plant) -> Iterator[httpx.Client]:
    url = f"{fleet.line.retrieval_url}/mem0/mem0-wire"
    with httpx.Client(base_url=url, headers={"Authorization": "Token any"}, timeout=PATIENCE_S) as found:
        yield found


def texts(answer: dict[str, Any]) -> list[str]:
    return [one["memory"] for one in answer["results"]]


def test_what_mem0s_client_asks_is_answered(fleet: Plant, http: httpx.Client) -> None:
    def ask(method: str, path: str, status: int = 200, **body: Any) -> Any:
        answer = http.request(method, path, json=body or None)
        assert answer.status_code == status, answer.text
        return answer.json()

    assert ask("GET", "/v1/ping/")["user_email"] is None
    said = [{"role": "user", "content": NO_MEAT}, {"role": "assistant", "content": "You're welcome!"}]
    learnt = ask("POST", "/v3/memories/add/", messages=said, user_id="ada", run_id="r1", metadata={"kind": "food"})
    assert [(one["memory"], one["event"]) for one in learnt["results"]] == [(NO_MEAT, "ADD")]
    assert [one["memory"] for one in learnt["left_out"]] == ["You're welcome!"]
    again = ask("POST", "/v3/memories/add/", messages=said[:1], user_id="ada", run_id="r1", metadata={"kind": "food"})
    assert (again["results"][0]["id"], again["results"][0]["event"]) == (learnt["results"][0]["id"], "NOOP")
    bare = ask("POST", "/v3/memories/add/", messages=said[:1], user_id="ada", run_id="r1")
    assert (bare["results"][0]["id"], bare["results"][0]["event"]) == (learnt["results"][0]["id"], "NOOP")
    ask("POST", "/v3/memories/add/", messages="Bob is allergic to nuts.", user_id="bob", agent_id="waiter")

    (found,) = ask("POST", "/v3/memories/search/", query="What does Ada eat?", top_k=5, **ADA)["results"]
    assert (found["memory"], found["user_id"], found["run_id"], found["metadata"]) == (
        NO_MEAT, "ada", "r1", {"kind": "food"},
    )  # fmt: skip
    one = f"/v1/memories/{found['id']}/"
    assert ask("PUT", one, text=FISH)["id"] == found["id"]
    assert (ask("GET", one)["memory"], ask("GET", one)["metadata"]) == (FISH, {"kind": "food"})
    assert texts(ask("POST", "/v3/memories/search/", query="What does Ada eat?", **ADA)) == [FISH]
    listed = ask("POST", "/v3/memories/?page=1&page_size=1", filters={"OR": [{"user_id": "ada"}, {"user_id": "bob"}]})
    assert (listed["count"], listed["next"], len(listed["results"])) == (2, 2, 1)
    kinds = [(one["type"], one["name"]) for one in ask("GET", "/v1/entities/")["results"]]
    assert kinds == [("agent", "waiter"), ("run", "r1"), ("user", "ada"), ("user", "bob")]
    assert ask("GET", one + "history/")[0]["new_memory"] == FISH

    ask("DELETE", one)
    ask("GET", one, 404)
    assert ask("POST", "/v3/memories/", **ADA)["results"] == []
    ask("POST", "/v3/memories/add/", messages=NO_MEAT, user_id="ada", infer=False)
    assert "1 memory deleted" in http.delete("/v1/memories/", params={"user_id": "ada"}).json()["message"]
    assert ask("DELETE", "/v2/entities/user/bob/")["memories"] == 1
    assert ask("POST", "/v3/memories/", **BOB)["results"] == []

    assert "at least one of user_id" in ask("POST", "/v3/memories/search/", 400, query="x")["detail"]
    dated = {"messages": "x", "user_id": "ada", "expiration_date": "2027-01-01"}
    assert "expires" in ask("POST", "/v3/memories/add/", 400, **dated)["detail"]
    with fleet.client("mem0-wire") as other:
        elsewhere = other.add("The pump in bay 3 leaks at the flange.", wait=True).memory_id
    assert ask("GET", f"/v1/memories/{elsewhere}/")["agent_id"] == "anna"
    assert "members vote" in ask("DELETE", f"/v1/memories/{elsewhere}/", 400)["detail"]


def test_a_class_in_place_of_mem0s_memory(fleet: Plant) -> None:
    with Memory(namespace="mem0-class", url=fleet.line.retrieval_url, kafka=fleet.line.bootstrap) as memory:
        (added,) = memory.add(NO_MEAT, user_id="ada")["results"]
        assert memory.add("Thanks, bye!", user_id="ada")["results"] == []
        assert texts(memory.search("What does Ada eat?", filters={"user_id": "ada"})) == [NO_MEAT]
        memory.update(added["id"], FISH)
        assert memory.get(added["id"])["memory"] == FISH  # type: ignore[index]
        assert texts(memory.get_all(filters={"user_id": "ada"})) == [FISH]
        with pytest.raises(Invalid, match="filters"):
            memory.search("What does Ada eat?", user_id="ada")
        with pytest.raises(Invalid, match="name at least one"):
            memory.add("x")
        memory.delete(added["id"])
        assert memory.get(added["id"]) is None
        memory.add(NO_MEAT, user_id="ada")
        assert memory.erase(user_id="ada")["memories"] >= 1
        assert texts(memory.get_all(filters={"user_id": "ada"})) == []


async def test_what_each_way_writes_every_other_reads_and_explains_alike(fleet: Plant, http: httpx.Client) -> None:
    space = "mem0-wire"
    async with Client(f"{fleet.line.retrieval_url}/mcp/{space}?agent=mem0") as tools:
        with fleet.client(space, agent="mem0") as sdk:
            over_mem0 = http.post("/v3/memories/add/", json={"messages": "Cleo keeps bees.", "user_id": "cleo"}).json()
            over_mcp = await tools.call_tool(
                "add_memory", {"content": "Cleo plays chess.", "subject": "cleo", "wait": True}
            )
            by_sdk = sdk.add("Cleo reads maps.", subject="cleo", wait=True)
            written = {
                sdk.slot(over_mem0["results"][0]["id"], "mem0").memory_id: "Cleo keeps bees.",
                over_mcp.structured_content["memory_id"]: "Cleo plays chess.",
                by_sdk.memory_id: "Cleo reads maps.",
            }
            found = http.post("/v3/memories/search/", json={"query": "Cleo", "filters": {"user_id": "cleo"}}).json()
            assert sorted(texts(found)) == sorted(written.values())
            by_mcp = await tools.call_tool("search_memories", {"query": "Cleo", "filters": {"subjects": ["cleo"]}})
            assert {hit["memory_id"]: hit["text"] for hit in by_mcp.structured_content["hits"]} == written
            assert {hit.memory_id: hit.text for hit in sdk.search("Cleo", subjects=["cleo"])} == written
            for memory_id, text in written.items():
                one = http.get(f"/v1/memories/{memory_id}/").json()
                assert (one["memory"], one["user_id"]) == (text, "cleo")
                told = await tools.call_tool("explain_memory", {"memory_id": memory_id})
                here = unused(str(sdk.explain(memory_id)))
                assert unused(cast(Any, told.content[0]).text) == here
