"""The memory over MCP, asked by the genuine client: which tools a key is shown, and what it can reach with them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from starlette.applications import Starlette

from memquorum.core.avro import Codec
from memquorum.core.showing.quoting import HEADING
from memquorum.telemetry.tracing import HEADER, caller
from tests.builders.served import HERS, ORDER, THEIRS, Journal, Served, bearer, make, refusing, stored
from workers.retrieval.app import LOOPBACK, around
from workers.retrieval.door import Door
from workers.retrieval.limits import Busy

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
ALL = ("read", "publish", "forget", "erase", "audit")


@pytest.fixture
def service(codec: Codec, tmp_path: Path) -> Served:
    keys = tmp_path / "api-keys.json"
    stored(keys, (1, ("read",), ("greenhouse",)), (2, ALL, ("greenhouse",)), (3, ALL, ("*",)))
    return make(codec, Door(keys))


@asynccontextmanager
async def served(service: Served) -> AsyncIterator[Starlette]:
    """The application, while its endpoint of MCP runs."""
    app = around(service, LOOPBACK, service.meters)
    (mounted,) = (cast(Any, route).endpoint for route in app.routes if cast(Any, route).name == "mcp")
    async with mounted.running():
        yield app


@asynccontextmanager
async def client(
    service: Served, key: int, namespace: str = "greenhouse", mode: str = "auto", query: str = ""
) -> AsyncIterator[Client]:
    async with (
        served(service) as app,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), headers=bearer(key)) as http,
        Client(
            streamable_http_client(f"http://127.0.0.1/mcp/{namespace}{query}", http_client=http), mode=mode
        ) as found,
    ):
        yield found


async def text(asking: Client, tool: str, **arguments: Any) -> str:
    """Calls a tool and returns its answer."""
    done = await asking.call_tool(tool, arguments)
    assert not done.is_error, done.content
    return cast(Any, done.content[0]).text


async def wrong(asking: Client, tool: str, **arguments: Any) -> str:
    """Calls a tool and returns its error."""
    done = await asking.call_tool(tool, arguments)
    assert done.is_error and done.structured_content is None
    return cast(Any, done.content[0]).text


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_tool_answers_in_structure_as_its_schema_says(service: Served, mode: str) -> None:
    async with client(service, 1, mode=mode) as asking:
        await asking.list_tools()  # so that the client holds what comes against it
        done = await asking.call_tool("search_memories", {"query": "q", "top_k": 3})
        assert [hit["memory_id"] for hit in done.structured_content["hits"]] == [HERS]
        assert HERS in await text(asking, "get_memory", memory_id=HERS)
        assert await text(asking, "retrieve_context", query="q") == f'{HEADING}Lately:\n- [1970-01-01 00:00] a: "t"\n'


async def test_an_unknown_argument_is_named_as_it_was_written(service: Served) -> None:
    async with client(service, 1) as asking:
        told = await wrong(asking, "search_memories", query="q", k=5)
        assert told.startswith("k: no field of search_memories") and told.endswith("(k is called top_k here)")
        assert (await wrong(asking, "search_memories", query="q", filters={"k": 5})).startswith(
            "k: no field of filters"
        )
        # An error of the API names the parameter as it is called here.
        assert (await wrong(asking, "search_memories", query="q", top_k=0)).startswith("top_k: ")


async def test_an_event_without_an_outcome_says_so_in_a_word(service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    async def outcomes(sight: object, asked: list[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
        became = {"outcome": "reinforced", "memory_id": HERS, "shard": 0, "journal_seq": 7}
        return {one: became for one in asked if one == ("greenhouse", "e1")}

    monkeypatch.setattr(service.reads, "outcomes", outcomes)
    async with client(service, 2, query="?agent=ada") as asking:
        assert '"status":"reinforced"' in await text(asking, "get_event_status", event_id="e1")
        assert '"status":"pending or unknown: ' in await text(asking, "get_event_status", event_id="e2")


async def test_another_content_under_a_used_event_id_is_told_without_waiting(
    service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def outcomes(sight: object, asked: list[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
        became = {"outcome": "stored", "memory_id": HERS, "shard": 0, "journal_seq": 7}
        return {one: became for one in asked if one == ("greenhouse", "e1")}

    async def first(sight: object, memory_id: str) -> str | None:
        return "The key hangs in shed 2." if memory_id == HERS else None

    async def nowhere(*_: object) -> tuple[()]:
        return ()

    for name, one in {"outcomes": outcomes, "first_text": first, "nowhere": nowhere}.items():
        monkeypatch.setattr(service.reads, name, one, raising=False)
    async with client(service, 2, query="?agent=ada") as asking:
        for content, outcome in (("The key hangs in shed 9.", "reused"), ("The key hangs in shed 2", None)):
            added = await asking.call_tool("add_memory", {"content": content, "event_id": "e1"})
            assert added.structured_content["outcome"] == outcome
            told = await asking.call_tool("get_event_status", {"content": content, "event_id": "e1"})
            assert told.structured_content["status"] == outcome or "stored"
        assert added.structured_content["memory_id"] != HERS
        own = await asking.call_tool("add_memory", {"content": "The key hangs in shed 9."})
        assert own.structured_content["outcome"] is None


async def test_what_intake_refuses_is_told_by_the_tool_and_by_its_status(
    service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing(service, monkeypatch)
    async with client(service, 2, query="?agent=ada") as asking:
        told = await wrong(asking, "add_memory", content="Valve 3 opens at 4 bar.", event_id="e3", wait=True)
        assert "was refused (over_quota): namespace: 20 episodes a minute" in told
        status = await text(asking, "get_event_status", event_id="e3")
        assert '"status":"refused"' in status and '"detail":"20 episodes a minute' in status


async def test_a_key_that_may_only_read_writes_nothing_whatever_it_calls(service: Served) -> None:
    async with client(service, 1) as asking:
        listed = (await asking.list_tools()).tools
        assert {one.name for one in listed if not cast(Any, one.annotations).read_only_hint} == set()
        assert "add_memory" not in {one.name for one in listed}
        assert "needs the right 'publish'" in await wrong(asking, "add_memory", content="t")
        assert "needs the right 'erase'" in await wrong(asking, "erase_memories", memory_id=HERS, dry_run=False)
    assert service.published == [] and service.sent == []


async def test_what_another_tenant_has_is_not_there(service: Served) -> None:
    async with client(service, 2) as asking:
        nobodys = "5f0c8f0e-0000-5000-8000-00000000ffff"
        unknown = await wrong(asking, "get_memory", memory_id=nobodys)
        for tool in ("get_memory", "explain_memory", "pin_memory"):
            assert "mill" not in await wrong(asking, tool, memory_id=THEIRS)
        assert (await wrong(asking, "get_memory", memory_id=THEIRS)).replace(THEIRS, nobodys) == unknown
        assert await wrong(asking, "fetch", id=THEIRS)
        assert THEIRS not in await text(asking, "search_memories", query="q")
        assert '"memories":0' in await text(asking, "erase_memories", memory_id=THEIRS)


async def test_a_namespace_is_bound_by_its_address_also_for_a_key_to_all(service: Served) -> None:
    async with client(service, 3, "mill") as asking:
        assert THEIRS in await text(asking, "get_memory", memory_id=THEIRS)
        assert await wrong(asking, "get_memory", memory_id=HERS)
        assert "no order" in await wrong(asking, "get_order", order_id=ORDER)


@pytest.mark.parametrize(
    ("key", "namespace", "query", "said"),
    [
        (9, "greenhouse", "", "that is no key of this service"),
        (1, "mill", "", "no rights in the namespace 'mill'"),
        (1, "greenhouse", "?agnet=a", "takes agent in the query string"),
    ],
)
async def test_who_does_not_come_in_is_told_why(
    service: Served, key: int, namespace: str, query: str, said: str
) -> None:
    with pytest.raises(BaseException) as refused:
        async with client(service, key, namespace, query=query) as asking:
            await asking.list_tools()
    found: Any = refused.value
    while isinstance(found, BaseExceptionGroup):
        (found,) = found.exceptions
    assert isinstance(found, MCPError) and said in str(found)


async def test_nothing_is_known_without_a_key(service: Served) -> None:
    async with (
        served(service) as app,
        httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://127.0.0.1") as http,
    ):
        answer = await http.post("/mcp/greenhouse", json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert (await http.get("/mcp/greenhouse", headers=bearer(1))).status_code == 405
        as_json = bearer(1) | {"content-type": "application/json"}
        long = await http.post("/mcp/greenhouse", content=b" " * 200_000, headers=as_json)
        assert long.status_code == 413


async def test_a_search_waits_for_what_was_added_before_it(service: Served) -> None:
    service.outcomes = cast(Any, Journal())
    async with client(service, 2, query="?agent=ada") as asking:
        done = await asking.call_tool("add_memory", {"content": "Valve 3 opens at 4 bar.", "event_id": "e1"})
        ((episode, _),) = service.published
        assert (episode.namespace, episode.agent, episode.event_id) == ("greenhouse", "ada", "e1")
        assert done.structured_content["token"] == "greenhouse/e1"
        found = await asking.call_tool("search_memories", {"query": "q"})
        assert service.outcomes.waited[0][0] == ("greenhouse", "e1")
        assert "This does not have what was written last (greenhouse/e1)" in cast(Any, found.content[1]).text
        assert not found.is_error, "what was refused stops no reading"
        waited = len(service.outcomes.waited)
        await asking.call_tool("search_memories", {"query": "q"})
        assert len(service.outcomes.waited) == waited, "nobody waits for it twice"


async def test_a_session_ends_after_what_was_added_before_it_and_a_read_after_its_task(service: Served) -> None:
    service.outcomes = cast(Any, Journal(("greenhouse", "e1")))
    async with client(service, 2, query="?agent=ada") as asking:
        await asking.call_tool("add_memory", {"content": "Open valve 3.", "session": "s", "event_id": "e1"})
        over = await asking.call_tool("end_session", {"session": "s", "outcome": "failed"})
        assert [event for event, _ in service.outcomes.waited] == [("greenhouse", "e1")]
        await asking.call_tool("get_tasks", {})
        told = over.structured_content["task"]["token"]
        assert "/".join(service.outcomes.waited[-1][0]) == told and len(service.outcomes.waited) == 2
        assert "after: " in await wrong(asking, "end_session", session="s", after="e1")
        ended = len(service.ended)
        assert "no outcome after" in await wrong(asking, "end_session", session="s", after="greenhouse/e2")
        assert len(service.ended) == ended == 1


async def test_what_stands_how_in_experience_is_listed_and_of_one_it_is_told_why(service: Served) -> None:
    async with client(service, 1) as asking:
        await asking.list_tools()  # so that the client holds what comes against its schemas
        page = await asking.call_tool("get_experience", {"limit": 1, "redact": True})
        (one,) = page.structured_content["memories"]
        assert page.structured_content["counts"] == {"admitted": 1, "rejected": 1} and "170" not in one["text"]
        rest = await asking.call_tool("get_experience", {"cursor": page.structured_content["next"]})
        assert {one["memory_id"], rest.structured_content["memories"][0]["memory_id"]} == {HERS, THEIRS}
        (admitted,) = (await asking.call_tool("get_experience", {"statuses": ["admitted"]})).structured_content[
            "memories"
        ]
        assert (admitted["memory_id"], admitted["weight"]) == (THEIRS, 1.1)
        why = (await asking.call_tool("get_experience", {"memory_id": HERS})).structured_content["why"]
        assert (why["status"], why["trials"][0]["verifier"]) == ("rejected", "verifier-1")
        assert "no memory" in await wrong(asking, "get_experience", memory_id=THEIRS)
        assert (await wrong(asking, "get_experience", memory_id=HERS, limit=3)).startswith("limit: ")
        assert (await wrong(asking, "get_experience", statuses=["served"])).startswith("statuses: ")
        assert "needs the right 'forget'" in await wrong(asking, "rollback_weight", memory_id=HERS, to=1)


async def test_a_weight_is_rolled_back_by_a_vote_within_the_namespace_alone(service: Served) -> None:
    async with client(service, 2) as asking:
        done = (await asking.call_tool("rollback_weight", {"memory_id": HERS, "to": 2})).structured_content
        assert (done["status"], done["to"]) == ("rolled back", 2)
        assert '"rolled back"' in await text(asking, "get_order", order_id=done["order_id"])
        assert "older" in await text(asking, "rollback_weight", memory_id=HERS, to=3)
        assert "no memory" in await wrong(asking, "rollback_weight", memory_id=THEIRS, to=1)
        assert (await wrong(asking, "rollback_weight", memory_id=HERS)).startswith("to: ")


async def test_an_update_names_what_it_replaces_and_is_no_freer(service: Served) -> None:
    async with client(service, 2) as asking:
        done = await asking.call_tool("update_memory", {"memory_id": HERS, "content": "Valve 3 opens at 6 bar."})
        assert (done.structured_content["replaces"], done.structured_content["by"]) == (HERS, "vote")
    ((episode, _),) = service.published
    assert (episode.supersedes, episode.derives_from, episode.explicit) == ((HERS,), (HERS,), True)


async def test_a_caller_s_trace_is_joined(service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = list[str | None]()
    find = service.use

    async def use(*given: Any, **more: Any) -> Any:
        seen.append(given[2])
        return await find(*given, **more)

    monkeypatch.setattr(service, "use", use)
    publish = service.publish

    async def published(*given: Any) -> None:
        seen.append(caller())
        await publish(*given)

    monkeypatch.setattr(service, "publish", published)
    async with client(service, 2) as asking:
        meta = cast(Any, {HEADER: TRACE})
        await asking.call_tool("search_memories", {"query": "q"}, meta=meta)
        await asking.call_tool("add_memory", {"content": "t"}, meta=meta)
    assert [one and one[:35] for one in seen] == [TRACE[:35]] * 2


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_key_with_enough_under_way_is_told_when_to_ask_again(
    service: Served, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    @asynccontextmanager
    async def turn(*_: Any) -> AsyncIterator[None]:
        raise Busy(True, "this key has 32 requests under way")
        yield

    monkeypatch.setattr(service.limits, "turn", turn)
    seen = []

    async def saw(response: httpx2.Response) -> None:
        seen.append((response.status_code, response.headers.get("retry-after")))

    async with (
        served(service) as app,
        httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app=app), headers=bearer(1), event_hooks={"response": [saw]}
        ) as http,
        Client(streamable_http_client("http://127.0.0.1/mcp/greenhouse", http_client=http), mode=mode) as asking,
    ):
        with pytest.raises(MCPError, match="32 requests under way"):
            await asking.call_tool("search_memories", {"query": "q"})
    assert (429, "1") in seen


async def test_a_fault_of_the_server_is_no_stack_trace(
    service: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def find(*_: Any, **__: Any) -> None:
        raise RuntimeError("the secret is 42")

    monkeypatch.setattr(service.reads, "memory", find)
    async with client(service, 1) as asking:
        told = await wrong(asking, "get_memory", memory_id=HERS)
    assert "42" not in told and "no fault of the arguments" in told
    assert "mcp.get_memory failed: RuntimeError at " in caplog.text
    assert "the secret is 42" not in caplog.text, "what an error says may be content"


async def test_a_tool_in_which_a_rule_fails_says_so_and_is_counted(
    service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("boom")

    async with client(service, 1) as asking:
        await asking.list_tools()
        with monkeypatch.context() as patch:
            patch.setattr(service.reads, "search", fails)
            patch.setattr(service.reads, "candidates", fails)
            told = await wrong(asking, "search_memories", query="q")
        assert "search_memories failed" in told and "boom" not in told
        assert [one.rule for one in service.failures.told()] == ["mcp.search_memories"]
        assert HERS in await text(asking, "search_memories", query="q")
