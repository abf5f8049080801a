"""An agent's loop by the runner of OpenAI's agents, with their scripted model and no network: it learns something, is
corrected, is asked, forgets small talk, and erases a person. Its sessions are ours, on an installation whose clock is
driven.

Runs in the environment of `make adapters`; `tests/adapters/__main__.py` starts it.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import pytest
from agents import Agent, Runner, function_tool
from agents.testing import ScriptedModel
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from memquorum.client import Invalid, Memory
from memquorum.openai_agents import MemquorumSession

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"
BEGUN = 1_760_000_000_000


def answer(text: str) -> list[Any]:
    part = ResponseOutputText(text=text, type="output_text", annotations=[], logprobs=[])
    return [ResponseOutputMessage(id="m", type="message", role="assistant", content=[part], status="completed")]


def call(name: str, arguments: str) -> list[Any]:
    return [ResponseFunctionToolCall(id="f", call_id="c", type="function_call", name=name, arguments=arguments)]


@function_tool
def table(guests: int) -> str:
    """The table for so many guests."""
    return f"table {guests}"


async def test_an_agent_learns_is_corrected_is_asked_forgets_small_talk_and_erases_a_person(
    memory: Memory, later: Callable[[float], None]
) -> None:
    model = ScriptedModel()
    agent = Agent(name="host", model=model, tools=[table])
    ada = MemquorumSession("ada-1", memory, subject="ada")
    bob = MemquorumSession("bob-1", memory, subject="bob")

    async def say(said: str, session: MemquorumSession, *does: list[Any]) -> str:
        for one in does:
            model.enqueue(one)
        return str((await Runner.run(agent, said, session=session)).final_output)

    def known() -> list[str]:
        """Returns the conversation that the model was given in its last call."""
        said = model.calls[-1].input
        return [str(one.get("content") or one.get("output")) for one in said if isinstance(one, dict)]

    await say("Ada eats no meat.", ada, answer("Noted."))
    await say("No, Ada eats fish again.", ada, call("table", '{"guests": 2}'), answer("At table 2."))
    await say("Lovely day, isn't it?", bob, answer("It is."))
    await say("What does Ada eat?", ada, answer("Fish."))
    given = "\n".join(known())
    assert "Ada eats no meat." in given and "fish again" in given and "table 2" in given and "Lovely" not in given
    assert [one.get("role") or one["type"] for one in await ada.get_items()] == [
        "user", "assistant", "user", "function_call", "function_call_output", "assistant", "user", "assistant",
    ]  # fmt: skip
    # It is corrected: what was said last is taken back, and said otherwise.
    assert (await ada.pop_item() or {})["content"][0]["text"] == "Fish."
    assert (await ada.pop_item() or {})["content"] == "What does Ada eat?"
    assert await say("What may we serve?", ada, answer("Fish.")) == "Fish."
    assert "What does Ada eat?" not in known()
    hits = memory.search("What does Ada eat?", 3, path="sessions/ada-1", peek=True)
    assert "No, Ada eats fish again." in [hit.text for hit in hits]

    # A conversation that goes on stays; what nobody reads goes by a vote.
    for _ in range(12):
        later(3)
        before = len(await MemquorumSession("ada-1", memory).get_items())
        if not memory.memories(path="sessions/bob-1").memories:
            break
    assert await bob.get_items() == [] and before == 8

    taken = await ada.erase()
    assert taken.dry_run and taken.episodes >= 8
    memory.erase(subject="ada", dry_run=False)
    assert await ada.get_items() == [] and memory.search("fish", path="sessions") == []
    later(0.01)  # what occurred by then the order keeps out
    await ada.add_items([{"role": "user", "content": "Hello again."}])
    assert [one["content"] for one in await ada.get_items()] == ["Hello again."]


ITEMS: list[Any] = [
    {"role": "user", "content": ""},
    {"role": "user", "content": "naïve \U0001f600 \0 ends \n"},
    {
        "role": "user",
        "content": [{"type": "input_text", "text": "Two"}, {"type": "input_image", "image_url": "data:,x"}],
    },
    {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a": [1, 2.5, null]}', "id": None},
    {"type": "function_call_output", "call_id": "c", "output": "x" * 65_536},
    {"type": "function_call_output", "call_id": "c", "output": ("\U0001f600é" * 9_000 + " \n\0") * 4},
    {"type": "reasoning", "id": "r", "summary": [], "encrypted_content": "y" * 200_000, "n": 10**30},
    {"role": "user", "content": "the same"},
    {"role": "user", "content": "the same"},
]


async def test_items_come_back_as_they_were_added_and_in_their_order(memory: Memory) -> None:
    session = MemquorumSession("a/b %", memory)
    await session.add_items(ITEMS[:2])
    for item in ITEMS[2:]:
        await session.add_items([item])
    assert await session.get_items() == ITEMS
    assert await session.get_items(3) == ITEMS[-3:]
    again = MemquorumSession("a/b %", memory)
    popped = [await again.pop_item() for _ in ITEMS]
    assert popped == ITEMS[::-1] and await again.pop_item() is None and await session.get_items() == []
    await session.add_items(ITEMS)
    await again.clear_session()
    assert await session.get_items() == []
    await again.add_items(ITEMS[:1])
    assert await session.get_items() == ITEMS[:1]


async def test_who_writes_beside_takes_nobodys_place(memory: Memory) -> None:
    with Memory(namespace=memory.namespace, agent="other") as second:
        sessions = [MemquorumSession("shared", one) for one in (memory, second)]
        added = (sessions[at % 2].add_items([{"role": "user", "content": str(at)}]) for at in range(20))
        await asyncio.gather(*added)
        assert len(await sessions[0].get_items()) >= 10
        sessions[0]._memory.entries.after = second.entries.after or memory.entries.after
        found = await sessions[0].get_items()
        assert sorted(int(one["content"]) for one in found) == list(range(20))


async def test_what_is_refused_adds_nothing(memory: Memory) -> None:
    session = MemquorumSession("s", memory)
    fine: Any = {"role": "user", "content": "x"}
    for bad in ({"role": "user", "content": {1, 2}}, {"role": "user", "n": float("nan")}, ["no", "mapping"]):
        with pytest.raises(Invalid):
            await session.add_items([fine, bad])  # type: ignore[list-item]
    assert await session.get_items() == []
    for session_id, path in (("", "sessions"), ("x" * 129, "sessions"), ("x" * 120, "long-path"), ("s", "/s")):
        with pytest.raises(Invalid):
            MemquorumSession(session_id, memory, path=path)


async def test_another_session_path_and_namespace_find_nothing(memory: Memory) -> None:
    session = MemquorumSession("ada", memory)
    await session.add_items([{"role": "user", "content": "Ada eats no meat."}])
    assert len(await session.get_items()) == 1
    with Memory(namespace=f"{memory.namespace}-other", agent="host") as other:
        for strange in (
            MemquorumSession("ada", other), MemquorumSession("ad", memory), MemquorumSession("ada", memory, path="s"),
            MemquorumSession("../sessions/ada", memory), MemquorumSession("sessions", memory, path="x"),
        ):  # fmt: skip
            assert await strange.get_items() == [] and await strange.pop_item() is None
            await strange.clear_session()
            assert (await strange.erase()).episodes == 0
    assert len(await session.get_items()) == 1


async def test_it_costs_little_beside_the_client(memory: Memory) -> None:
    """A turn's read and write beside what of the client they are made of, in turn; medians in milliseconds."""
    session = MemquorumSession("cost", memory)
    await session.add_items([{"role": "user", "content": f"note {at}"} for at in range(20)])
    await session.get_items()

    def listed() -> None:
        found = memory.memories(path="sessions/cost").memories
        memory.use(found[-1].memory_id)

    took: dict[str, list[float]] = {"get": [], "list": [], "add": [], "publish": []}
    for at in range(30):
        for name, do in (
            ("get", session.get_items),
            ("list", lambda: asyncio.to_thread(listed)),
            ("add", lambda: session.add_items([{"role": "user", "content": f"more {at}"}])),  # noqa: B023
            ("publish", lambda: asyncio.to_thread(memory.add, f"other {at}", explicit=True, key=f"k{at}")),  # noqa: B023
        ):
            if name == "get":
                memory.entries.after = None
            began = time.perf_counter()
            await do()
            took[name].append((time.perf_counter() - began) * 1_000)
    median = {name: statistics.median(one) for name, one in took.items()}
    print(f"openai: get: {median['get']:.1f} ms, the client's list and a use {median['list']:.1f} ms")
    print(f"openai: add: {median['add']:.1f} ms, the client's {median['publish']:.1f} ms")
    assert median["get"] - median["list"] < 50 and median["add"] - median["publish"] < 50
