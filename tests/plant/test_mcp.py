"""The memory over MCP on a running installation: an agent with a scripted model lives with it, as a child over stdio
and over HTTP; and what one client writes, another reads."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, cast

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from memquorum.mcp.calls import _PENDING
from tests import ROOT
from tests.builders.unused import unused
from tests.support.sessions import Plant

Answer = dict[str, Any]


class Ask(NamedTuple):
    """A tool that the model wants called."""

    tool: str
    arguments: dict[str, Any]


Thought = Callable[[list[Answer]], Ask | str]


AT_ONCE = 200  # more than are worked on at once


class ScriptedModel:
    """Answers the user as it is scripted: for each thing said to it a few thoughts, each made of what the tools have
    answered so far. A thought that is no call is what it says to the user."""

    def __init__(self, script: dict[str, list[Thought]]) -> None:
        self._script = script

    def thoughts(self, said: str) -> Iterator[Thought]:
        yield from self._script[said]


async def answered(model: ScriptedModel, tools: Client, said: str) -> str:
    """An agent's loop: the model thinks, a tool is called, and so on until it speaks."""
    listed = {one.name for one in (await tools.list_tools()).tools}
    answers: list[Answer] = []
    for thought in model.thoughts(said):
        wanted = thought(answers)
        if isinstance(wanted, str):
            return wanted
        assert wanted.tool in listed
        done = await tools.call_tool(wanted.tool, wanted.arguments)
        assert not done.is_error, cast(Any, done.content[0]).text
        answers.append(done.structured_content)
    raise AssertionError("the model never spoke")


LEARN, THANKS = "Please remember: I eat no meat. – Ada", "Ok, thanks!"
CORRECT, ASKED, ERASE = "Fish is fine again.", "What does Ada eat?", "Forget all about me. – Ada"
NO_MEAT, FISH = "Ada eats no meat.", "Ada eats fish again, but no other meat."


def add(content: str, **more: Any) -> Thought:
    return lambda _: Ask("add_memory", {"content": content, "subject": "ada", "wait": True, **more})


def search(query: str = ASKED) -> Thought:
    return lambda _: Ask("search_memories", {"query": query, "top_k": 5})


def says_the_best(answers: list[Answer]) -> str:
    hits = answers[-1]["hits"]
    return str(hits[0]["text"]) if hits else "I do not know."


SCRIPT: dict[str, list[Thought]] = {
    LEARN: [add(NO_MEAT, explicit=True, key="ada/dietary"), lambda found: found[-1]["outcome"]],
    THANKS: [add(THANKS), lambda found: found[-1]["outcome"]],
    CORRECT: [
        search(),
        lambda found: Ask("update_memory", {"memory_id": found[-1]["hits"][0]["memory_id"], "content": FISH}),
        lambda found: Ask("get_memory", {"memory_id": found[-1]["replaces"], "after": found[-1]["token"]}),
        lambda found: found[-1]["tier"],
    ],
    ASKED: [search(), says_the_best],
    ERASE: [
        lambda _: Ask("erase_memories", {"subject": "ada"}),
        lambda _: Ask("erase_memories", {"subject": "ada", "dry_run": False, "reference": "ada-1"}),
        lambda found: f"{found[0]['memories']} would go, {found[1]['status']}: {found[1]['memories']}",
    ],
}  # fmt: skip


@asynccontextmanager
async def child(fleet: Plant, namespace: str) -> AsyncIterator[Client]:
    """A client whose server is a child of its own."""
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "memquorum", "mcp", "-n", namespace, "-a", "helper"],
        env={"MEMQUORUM_RUN_DIR": str(fleet.line.run_dir)},
        cwd=ROOT,
    )
    async with Client(stdio_client(started)) as found:
        yield found


@asynccontextmanager
async def over_http(fleet: Plant, namespace: str) -> AsyncIterator[Client]:
    """A client of the service's own endpoint."""
    async with Client(f"{fleet.line.retrieval_url}/mcp/{namespace}?agent=helper") as found:
        yield found


@pytest.mark.parametrize("way", [child, over_http], ids=["stdio", "http"])
async def test_an_agent_learns_is_corrected_forgets_small_talk_and_erases_a_person(fleet: Plant, way: Any) -> None:
    model, namespace = ScriptedModel(SCRIPT), f"agent-{way.__name__}"
    async with way(fleet, namespace) as tools:
        assert await answered(model, tools, LEARN) == "stored"
        assert await answered(model, tools, THANKS) == "below_threshold"
        assert await answered(model, tools, ASKED) == NO_MEAT
        assert await answered(model, tools, CORRECT) == "superseded"
        assert await answered(model, tools, ASKED) == FISH
        assert await answered(model, tools, ERASE) == "2 would go, erased: 2"
        assert await answered(model, tools, ASKED) == "I do not know."


async def test_what_one_way_writes_every_other_reads_and_explains_alike(fleet: Plant) -> None:
    async with child(fleet, "ways") as one, over_http(fleet, "ways") as other:
        written = await one.call_tool("add_memory", {"content": "Pump 7 was oiled in May."})
        token, memory_id = (written.structured_content[name] for name in ("token", "memory_id"))
        found = await other.call_tool("search_memories", {"query": "When was pump 7 oiled?", "after": token})
        assert [hit["memory_id"] for hit in found.structured_content["hits"]] == [memory_id]
        again = await other.call_tool("add_memory", {"content": "Pump 7 leaks at the flange."})
        seen = await other.call_tool("get_memory", {"memory_id": again.structured_content["memory_id"]})
        assert not seen.is_error, "what was added in the same session is waited for"
        await other.call_tool("get_memory", {"memory_id": memory_id, "peek": True})
        leak = again.structured_content["memory_id"]
        uses = "SELECT memory_id::text, accesses FROM strength WHERE accesses > 0"
        once = {(memory_id, 1), (leak, 1)}  # the search counted; who peeks uses nothing
        await asyncio.to_thread(fleet.until, lambda: once <= {*fleet.rows(uses)})
        told = [await tools.call_tool("explain_memory", {"memory_id": memory_id}) for tools in (one, other)]
    with fleet.client("ways") as memory:
        here = memory.explain(memory_id)
    assert [one.structured_content["account"]["memory_id"] for one in told] == [memory_id] * 2
    texts = [unused(cast(Any, one.content[0]).text) for one in told]
    assert texts == [unused(str(here))] * 2


@pytest.mark.parametrize("way", [child, over_http], ids=["stdio", "http"])
async def test_what_is_deleted_is_hidden_and_what_is_anothers_stays(fleet: Plant, way: Any) -> None:
    namespace = f"deleted-{way.__name__}"
    with fleet.client(namespace, "nurse") as nurse:
        hers = nurse.add("Ada eats no nuts.", explicit=True, wait=True, key="nuts", path="users/ada")
    async with way(fleet, namespace) as tools:

        async def call(tool: str, **arguments: Any) -> Answer:
            done = await tools.call_tool(tool, arguments)
            assert not done.is_error, cast(Any, done.content[0]).text
            return cast(Answer, done.structured_content)

        slot = {"key": "diet", "path": "users/ada"}
        meat = await call("add_memory", content=NO_MEAT, subject="ada", explicit=True, wait=True, **slot)
        noon = await call("add_memory", content="Ada eats her lunch at noon.", subject="ada", wait=True)
        for named in ({"memory_id": meat["memory_id"]}, {"memory_id": noon["memory_id"]}):
            told = await call("delete_memory", **named)
            assert (told["outcome"], told["hidden"]) == ("cleared", [named["memory_id"]])
        assert (await call("delete_memory", **slot))["outcome"] == "empty"
        told = await call("delete_memory", key="nuts", path="users/ada")
        assert (told["outcome"], told["stays"]) == ("contested", [hers.memory_id])
        found = await call("search_memories", query=ASKED, peek=True)
        assert [hit["memory_id"] for hit in found["hits"]] == [hers.memory_id]
        shown = await call("get_memory", memory_id=meat["memory_id"])
        assert (shown["tier"], shown["text"]) == ("superseded", None)
        for wrong in ({}, {"key": "diet", "memory_id": noon["memory_id"]}, {"memory_id": noon["memory_id"]}):
            done = await tools.call_tool("delete_memory", wrong)
            assert done.is_error and "memory_id" in cast(Any, done.content[0]).text


@pytest.mark.parametrize("way", [child, over_http], ids=["stdio", "http"])
async def test_a_task_leaves_lessons_and_a_session_may_be_one(fleet: Plant, way: Any) -> None:
    namespace = f"works-{way.__name__}"
    async with way(fleet, namespace) as tools:

        async def call(tool: str, **arguments: Any) -> Answer:
            done = await tools.call_tool(tool, arguments)
            assert not done.is_error, cast(Any, done.content[0]).text
            return cast(Answer, done.structured_content)

        ask = await call("add_memory", content="Which valve feeds tank 4?", session="s", role="user", wait=True)
        said = {"goal": "Fill tank 4.", "outcome": "succeeded", "retrieved": [ask["memory_id"]], "wait": True}
        task = await call("finish_task", **said, lessons=["Tank 4 is fed by valve 9."])
        (lesson,) = task["lessons"]
        shown = await call("explain_memory", memory_id=lesson)
        assert task["outcome"] == "finished_succeeded" and f"made of {task['memory_id']}" in str(shown)
        over = await call("end_session", session="s", outcome="succeeded", outputs="Valve 9 does.")
        again = await call("end_session", session="s", outcome="succeeded", outputs="Valve 9 does.")
        # It is published twice, in two places of Kafka, and counts once.
        assert {**over["task"], "place": None} == {**again["task"], "place": None}
        # A memory that was added just before is seen before a session ends.
        await call("add_memory", content="Which pump feeds tank 5?", session="t", role="user")
        assert (await call("end_session", session="t", outcome="failed"))["task"]
        # A lesson from one task has too few others that may judge it: it has no weight yet.
        assert (await call("get_experience", memory_id=lesson))["why"]["status"] == "provisional"
        assert (await call("get_experience"))["memories"] == []
        assert (await call("rollback_weight", memory_id=lesson, to=1))["status"] == "nothing to roll back"
        token = over["task"]["event_id"]
        assert (await call("get_event_status", event_id=token))["status"] in ("finished_succeeded", _PENDING)
        for tool, wrong, field in (
            ("end_session", {"session": "s", "goal": "Fill tank 4."}, "outcome"),
            ("end_session", {"session": "nobody", "outcome": "failed"}, "goal"),
            ("end_session", {"session": "s", "outcome": "won", "goal": "Fill it."}, "outcome"),
            ("finish_task", {"goal": "Fill tank 4."}, "outcome"),
            ("finish_task", {**said, "lessons": "Tank 4 is fed by valve 9."}, "lessons"),
            ("finish_task", {**said, "lessons": [" "]}, "lessons"),
            ("finish_task", {**said, "retrieved": "tank"}, "retrieved"),
            ("rollback_weight", {"memory_id": lesson}, "to"),
        ):
            done = await tools.call_tool(tool, wrong)
            assert done.is_error and field in cast(Any, done.content[0]).text, (tool, wrong)
    with fleet.client(namespace) as memory:
        goals = {"Fill tank 4.", "Which valve feeds tank 4?", "Which pump feeds tank 5?"}
        fleet.until(lambda: {one.goal for one in memory.tasks().tasks} == goals)


async def test_calls_at_once_are_answered_or_told_to_try_again(fleet: Plant) -> None:
    async with over_http(fleet, "crowd") as tools:
        await tools.call_tool("add_memory", {"content": "Tank 4 holds 900 litres.", "wait": True})

        async def ask() -> str:
            try:
                done = await tools.call_tool("search_memories", {"query": "tank 4", "peek": True})
            except Exception as error:
                return str(error)
            if done.is_error:
                return f"error: {cast(Any, done.content[0]).text}"
            return "found" if done.structured_content["hits"] else "nothing"

        told = Counter(await asyncio.gather(*(ask() for _ in range(AT_ONCE))))
    assert told["found"] > 0
    assert {one for one in told if one != "found" and "try again" not in one} == set(), told
