"""An agent's loop by Anthropic's own client and its runner of tools, with a scripted model and no network: it learns
something, is corrected, is asked, forgets small talk, and erases a person. Its memory directory is ours, on an
installation whose clock is driven.

Runs in the environment of `make adapters`; `tests/adapters/__main__.py` starts it.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError

from memquorum.anthropic import AsyncMemquorumMemoryTool, MemquorumMemoryTool
from memquorum.client import Invalid, Memory

BEGUN = 1_750_000_000_000


def about(path: str) -> dict[str, Any]:
    return {"subject": path.split("/")[2]}


@pytest.fixture
def tool(memory: Memory) -> MemquorumMemoryTool:
    return MemquorumMemoryTool(memory, path="guests", saying=about)  # type: ignore[arg-type]


SCRIPT: dict[str, dict[str, Any]] = {
    "Ada eats no meat.": {"command": "create", "path": "/memories/ada/diet.md", "file_text": "Ada eats no meat.\n"},
    "No, Ada eats fish again.": {
        "command": "str_replace", "path": "/memories/ada/diet.md", "old_str": "no meat", "new_str": "fish again",
    },
    "What does Ada eat?": {"command": "view", "path": "/memories/ada/diet.md"},
    "Lovely day, isn't it?": {"command": "create", "path": "/memories/bob/talk.md", "file_text": "A lovely day.\n"},
    "Bob is allergic to nuts.": {"command": "create", "path": "/memories/bob/food.md", "file_text": "Bob: no nuts.\n"},
    "What do you know?": {"command": "view", "path": "/memories"},
}  # fmt: skip
"""The scripted model: message → its command to the memory directory. It answers with the command's output."""


def respond(request: httpx2.Request) -> httpx2.Response:
    """One answer of the model, as Anthropic's service would send it."""
    asked = json.loads(request.content)
    last = asked["messages"][-1]["content"]
    if isinstance(last, str):
        assert [one["type"] for one in asked["tools"]] == ["memory_20250818"]
        content = {"type": "tool_use", "id": "toolu_1", "name": "memory", "input": SCRIPT[last]}
    else:
        (result,) = last
        told = result["content"]
        text = told if isinstance(told, str) else told[0]["text"]
        content = {"type": "text", "text": f"error: {text}" if result.get("is_error") else text}
    told = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": [content]}
    stop = "tool_use" if content["type"] == "tool_use" else "end_turn"
    told |= {"stop_reason": stop, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    return httpx2.Response(200, json=told)


def test_an_agent_learns_is_corrected_is_asked_forgets_small_talk_and_erases_a_person(
    memory: Memory, tool: MemquorumMemoryTool, later: Callable[[float], None]
) -> None:
    transport = httpx2.MockTransport(respond)
    model = Anthropic(api_key="none", http_client=httpx2.Client(transport=transport))

    def say(said: str) -> str:
        messages = [{"role": "user", "content": said}]
        runner = model.beta.messages.tool_runner(
            model="scripted", max_tokens=100, tools=[tool], messages=messages  # type: ignore[list-item]
        )  # fmt: skip
        return "".join(block.text for block in runner.until_done().content if block.type == "text")

    for said in ("Ada eats no meat.", "Bob is allergic to nuts.", "Lovely day, isn't it?"):
        assert say(said).startswith("File created successfully")
    assert "1\tAda eats no meat." in say("What does Ada eat?")
    assert "edited" in say("No, Ada eats fish again.")
    assert "1\tAda eats fish again." in say("What does Ada eat?") and "no meat" not in say("What does Ada eat?")
    assert [hit.text for hit in memory.search("What does Ada eat?", 1)] == ["Ada eats fish again.\n"]
    known = [line.split("\t")[1] for line in say("What do you know?").splitlines()[2:]]
    files = [f"/memories/{name}" for name in ("ada/", "ada/diet.md", "bob/", "bob/food.md", "bob/talk.md")]
    assert known == files

    # Viewed memories stay; unread ones are forgotten by a vote.
    food = {"command": "view", "path": "/memories/bob/food.md"}
    for _ in range(12):
        later(3)
        assert "fish again" in say("What does Ada eat?") and "no nuts" in tool.call(food)
        if "talk.md" not in say("What do you know?"):
            break
    assert "talk.md" not in say("What do you know?") and "food.md" in say("What do you know?")

    assert memory.erase(subject="ada").episodes == 2
    memory.erase(subject="ada", dry_run=False)
    told = say("What does Ada eat?")
    assert told == "error: The path /memories/ada/diet.md does not exist. Please provide a valid path."
    assert "ada" not in say("What do you know?") and memory.search("fish", path="guests/ada") == []


def test_what_is_deleted_is_hidden_at_once_and_can_be_written_again(memory: Memory, tool: MemquorumMemoryTool) -> None:
    create = {"command": "create", "path": "/memories/yard/gate.md", "file_text": "The gate is open."}
    tool.call(create)
    (before,) = memory.memories(path="guests", after=memory.entries.after).memories
    tool.call({"command": "delete", "path": "/memories/yard"})
    with pytest.raises(ToolError, match="does not exist"):
        tool.call({"command": "view", "path": "/memories/yard/gate.md"})
    assert tool.call({"command": "view", "path": "/memories"}).splitlines()[1:] == ["0B\t/memories"]
    assert memory.get(before.memory_id).text is None
    tool.call(create)
    assert "The gate is open." in tool.call({"command": "view", "path": "/memories/yard/gate.md"})
    assert tool.clear_all_memory() == "All memory cleared"
    assert tool.call({"command": "view", "path": "/memories"}).splitlines()[1:] == ["0B\t/memories"]


@pytest.mark.parametrize(
    "text", ["", " \n", "naïve \U0001f600\r\n", "x" * 65_536, " blank ends ", "A file."], ids=range(6)
)
def test_a_text_comes_back_as_it_was_written(memory: Memory, tool: MemquorumMemoryTool, text: str) -> None:
    name = "100% \U0001f600 née.md"
    tool.call({"command": "create", "path": f"/memories/a b/{name}", "file_text": text})
    shown = tool.call({"command": "view", "path": f"/memories/a b/{name}"})
    lines = [line.split("\t", 1)[1] for line in shown.split("\n")[1:]]
    assert "\n".join(lines) == text
    assert tool.call({"command": "view", "path": "/memories"}).splitlines()[-1].endswith(f"\t/memories/a b/{name}")


def test_what_has_no_room_is_refused_with_the_limit(memory: Memory, tool: MemquorumMemoryTool) -> None:
    for path, text, told in (
        ("/memories/a", "x" * 65_537, "65536 are the most"),
        ("/memories/a", "a NUL: \0", "NUL"),
        ("/memories/" + "a" * 129, "x", "128 are the most"),
        ("/memories/" + "a/" * 20 + "b", "x", "16 are the most"),
        ("/memories/../../etc/passwd", "x", "escape"),
        ("/memoriesX/a", "x", "must start with"),
    ):
        with pytest.raises(ToolError, match=told):
            tool.call({"command": "create", "path": path, "file_text": text})
    tool.call({"command": "create", "path": "/memories/a", "file_text": "x" * 65_000})
    with pytest.raises(ToolError, match="65536 are the most"):
        tool.call({"command": "insert", "path": "/memories/a", "insert_line": 0, "insert_text": "y" * 1_000})
    with pytest.raises(ToolError, match="is a file, not a directory"):
        tool.call({"command": "create", "path": "/memories/a/b", "file_text": "x"})
    assert len(memory.memories(path="guests").memories) == 1
    with pytest.raises(Invalid):
        MemquorumMemoryTool(memory, path="/guests")


def test_what_was_written_elsewhere_is_a_file_and_an_edit_makes_it_no_freer(
    memory: Memory, tool: MemquorumMemoryTool
) -> None:
    said: dict[str, Any] = {"subject": "rosa", "sensitivity": 0.9, "jurisdiction": "DE", "attributes": {"by": "survey"}}
    memory.add("Rosa takes pills.", explicit=True, key="health", path="guests/rosa", wait=True, **said)
    freely = MemquorumMemoryTool(memory, path="guests")
    change = {"command": "str_replace", "path": "/memories/rosa/health", "old_str": "pills", "new_str": "drops"}
    freely.call(change)
    freely.call({"command": "rename", "old_path": "/memories/rosa", "new_path": "/memories/notes/r"})
    assert "Rosa takes drops." in freely.call({"command": "view", "path": "/memories/notes/r/health"})
    found = memory.slot("health", "guests/notes/r")
    assert (found.subject, found.sensitivity, found.jurisdictions) == ("rosa", 0.9, ("DE",))
    assert found.attributes is not None and found.attributes["by"] == "survey"
    memory.erase(subject="rosa", dry_run=False)
    assert freely.call({"command": "view", "path": "/memories"}).splitlines()[1:] == ["0B\t/memories"]


def test_a_rename_that_is_refused_changes_nothing_and_says_which_file_stays(memory: Memory) -> None:
    tool = MemquorumMemoryTool(memory, path="moves")
    with Memory(namespace=memory.namespace, agent="planner") as other:
        MemquorumMemoryTool(other, path="moves").call(
            {"command": "create", "path": "/memories/a/theirs", "file_text": "x"}
        )
    for path in ("/memories/a/mine", "/memories/b/mine", "/memories/b/pinned"):
        tool.call({"command": "create", "path": path, "file_text": path})
    memory.pin(memory.slot("pinned", "moves/b", after=memory.entries.after).memory_id)
    before = tool.call({"command": "view", "path": "/memories"})
    for old, stays in (("a/theirs", "a/theirs"), ("a", "a/theirs"), ("b", "b/pinned")):
        with pytest.raises(ToolError, match=f"/memories/{stays} cannot be moved"):
            tool.call({"command": "rename", "old_path": f"/memories/{old}", "new_path": "/memories/moved"})
        assert tool.call({"command": "view", "path": "/memories"}) == before


def test_another_path_and_another_namespace_see_nothing(memory: Memory, tool: MemquorumMemoryTool) -> None:
    tool.call({"command": "create", "path": "/memories/ada/diet.md", "file_text": "Ada eats no meat."})
    with Memory(namespace=f"{memory.namespace}-other", agent="host") as other:
        for strange in (
            MemquorumMemoryTool(other, path="guests"), MemquorumMemoryTool(memory, path="guest"),
            MemquorumMemoryTool(memory, path="guests/ad"),
        ):  # fmt: skip
            assert strange.call({"command": "view", "path": "/memories"}).splitlines()[1:] == ["0B\t/memories"]
            for path in (
                "/memories/ada/diet.md",
                "/memories/../guests/ada/diet.md",
                "/memories/..%2Fguests/ada/diet.md",
            ):
                with pytest.raises(ToolError):
                    strange.call({"command": "view", "path": path})


async def test_changes_at_once_lose_nothing(memory: Memory, tool: MemquorumMemoryTool) -> None:
    tool.call({"command": "create", "path": "/memories/n/log", "file_text": ""})
    with ThreadPoolExecutor(8) as threads:
        said = [
            {"command": "insert", "path": "/memories/n/log", "insert_line": 0, "insert_text": str(n)} for n in range(16)
        ]
        assert len(list(threads.map(tool.call, said))) == 16
    same = AsyncMemquorumMemoryTool(memory, path="guests")
    shown = await same.call({"command": "view", "path": "/memories/n/log"})
    assert isinstance(shown, str)
    assert sorted(line.split("\t")[1] for line in shown.splitlines()[1:-1]) == sorted(map(str, range(16)))


def test_it_costs_little_beside_the_client(memory: Memory, tool: MemquorumMemoryTool) -> None:
    """A view beside what of the client it is made of, in turn; medians in milliseconds."""
    tool.call({"command": "create", "path": "/memories/cost/k", "file_text": "The gate is open."})
    memory.slot("k", "guests/cost", after=memory.entries.after)

    def took(do: Callable[[], Any]) -> float:
        began = time.perf_counter()
        do()
        return (time.perf_counter() - began) * 1_000

    view, looked = [], []
    for _ in range(60):
        view.append(took(lambda: tool.call({"command": "view", "path": "/memories/cost/k"})))
        looked.append(took(lambda: memory.use(memory.slot("k", "guests/cost").memory_id)))
    ours, client = statistics.median(view), statistics.median(looked)
    print(f"anthropic: view: {ours:.1f} ms, the client alone {client:.1f} ms")
    assert ours - client < 50
