"""Uses the installed wheel against a running installation: over HTTP without the extra `kafka`, with it, or with it
beside the libraries that agents are written with.

Run by another environment's Python: `python -I use.py FOLDER http|kafka|beside`, FOLDER for files of its own. Imports
nothing of the checkout. Ends with status 1 and a traceback where something does not hold.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypedDict

import memquorum
from memquorum.client import AsyncMemory, Memory

SAID = "Valve 3 opens at 4 bar."
KAFKA = ("aiokafka", "cryptography", "fastavro", "numpy")
"""What only the extra `kafka` installs."""


def main() -> None:
    """Runs it and tells with which versions."""
    folder, how = Path(sys.argv[1]), sys.argv[2]
    installed = Path(memquorum.__file__).resolve()
    assert installed.is_relative_to(Path(sys.prefix).resolve()), f"{installed} is not of this environment"
    assert [name for name in KAFKA if (find_spec(name) is None) != (how == "http")] == []
    plain()
    asyncio.run(asynchronous())
    command()
    names = ["httpx", "msgspec", "opentelemetry-api", "PyNaCl", "rich"]
    if how == "http":
        without_kafka()
    else:
        names = [*KAFKA, *names]
    if how == "beside":
        in_a_graph()
        as_a_tool_of_an_agent()
        beside_mem0(folder)
        by_mem0s_client()
        names = ["langgraph", "openai-agents", "mem0ai", *names]
    print(", ".join(f"{name} {version(name)}" for name in names))


def plain() -> None:
    """The client as the README shows it."""
    with Memory(namespace="beside", agent="planner") as memory:
        receipt = memory.add(SAID, reward=0.8, confidence=0.9, wait=True)
        assert receipt.outcome in ("stored", "reinforced"), receipt
        assert SAID in [hit.text for hit in memory.search("When does valve 3 open?")]
        assert SAID in str(memory.retrieve("valve 3", peek=True))
        assert receipt.memory_id in str(memory.explain(receipt.memory_id))


async def asynchronous() -> None:
    """The same, awaited."""
    async with AsyncMemory(namespace="beside", agent="planner") as memory:
        assert SAID in [hit.text for hit in await memory.search("When does valve 3 open?", peek=True)]


def command() -> None:
    """The command line that the wheel brings."""
    line = [str(Path(sys.executable).with_name("memquorum")), "search", "-n", "beside", "--peek", "--json", "valve 3"]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert SAID in [json.loads(row)["text"] for row in done.stdout.splitlines()]


def without_kafka() -> None:
    """What needs Kafka itself says which extra to install."""
    for words in (["tail", "--once", "--kafka", "127.0.0.1:9"], ["publish", "-a", "x", "--kafka", "127.0.0.1:9", "x"]):
        line = [str(Path(sys.executable).with_name("memquorum")), *words]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 2 and "pip install 'memquorum[kafka]'" in done.stderr, done.stderr
    try:
        import memquorum.client.audit  # noqa: F401
    except ImportError as error:
        assert "pip install 'memquorum[kafka]'" in str(error)
    else:
        raise AssertionError("it was imported")


class State(TypedDict):
    """The state of the graph below."""

    asked: str
    known: list[str]


def in_a_graph() -> None:
    """A node of a LangGraph graph remembers."""
    from langgraph.graph import END, START, StateGraph

    with Memory(namespace="beside", agent="graph") as memory:

        def remember(state: State) -> dict[str, Any]:
            return {"known": [hit.text for hit in memory.search(state["asked"])]}

        graph = StateGraph(State)
        graph.add_node("remember", remember)
        graph.add_edge(START, "remember")
        graph.add_edge("remember", END)
        found = graph.compile().invoke({"asked": "valve 3", "known": []})
    assert SAID in found["known"], found


def as_a_tool_of_an_agent() -> None:
    """A tool of an agent of the OpenAI Agents SDK, called as its runner does."""
    from agents import Agent, function_tool
    from agents.tool_context import ToolContext

    async def called() -> str:
        async with AsyncMemory(namespace="beside", agent="tool") as memory:

            @function_tool
            async def recall(query: str) -> str:
                """Returns what the fleet knows about a query."""
                return str(await memory.retrieve(query))

            (tool,) = Agent(name="planner", tools=[recall]).tools
            asked = json.dumps({"query": "valve 3"})
            context = ToolContext(context=None, tool_name="recall", tool_call_id="1", tool_arguments=asked)
            return str(await tool.on_invoke_tool(context, asked))  # type: ignore[union-attr]

    assert SAID in asyncio.run(called())


def beside_mem0(folder: Path) -> None:
    """mem0 keeps what it keeps, by an embedder that needs no network, while ours is open."""
    os.environ["MEM0_TELEMETRY"] = "False"
    os.environ["MEM0_DIR"] = str(folder / "mem0")
    import mem0

    model = {"provider": "openai", "config": {"api_key": "none"}}
    store = {"provider": "qdrant", "config": {"path": str(folder / "qdrant"), "embedding_model_dims": 8}}
    theirs = mem0.Memory.from_config({"llm": model, "embedder": model, "vector_store": store})
    theirs.embedding_model = Embedder()
    with Memory(namespace="beside", agent="both") as memory:
        (hit, *_) = memory.search("valve 3")
        theirs.add(hit.text, user_id="both", infer=False)
        found = theirs.search("valve 3", filters={"user_id": "both"})["results"]
    assert [one["memory"] for one in found] == [hit.text], found


def by_mem0s_client() -> None:
    """mem0's own client, unchanged, with our service as its host."""
    from mem0 import MemoryClient

    host = f"{AsyncMemory(agent='planner').url}/mem0/beside-mem0"
    client = MemoryClient(api_key="any", host=host)
    said = [{"role": "user", "content": "Ada eats no meat."}, {"role": "assistant", "content": "You're welcome!"}]
    (added,) = client.add(said, user_id="ada", metadata={"kind": "food"})["results"]
    ada = {"user_id": "ada"}
    (found,) = client.search("What does Ada eat?", filters=ada)["results"]
    assert (found["id"], found["memory"], found["metadata"]) == (added["id"], "Ada eats no meat.", {"kind": "food"})
    client.update(added["id"], text="Ada eats fish again.")
    assert client.get(added["id"])["memory"] == "Ada eats fish again."
    assert client.get_all(filters=ada, page=1, page_size=10)["count"] == 1
    assert client.history(added["id"])[0]["new_memory"] == "Ada eats fish again."
    client.delete(added["id"])
    assert client.get_all(filters=ada)["results"] == []
    client.add("Ada plays the cello.", user_id="ada")
    client.batch_delete([{"memory_id": one["id"]} for one in client.get_all(filters=ada)["results"]])
    client.add("Ada sings.", user_id="ada")
    client.delete_all(user_id="ada")
    client.add("Ada dances.", user_id="ada")
    assert {one["name"] for one in client.users()["results"]} == {"ada"}
    client.delete_users(user_id="ada")
    assert client.get_all(filters=ada)["results"] == []


class Embedder:
    """An embedder for mem0: every text is as near as every other."""

    def embed(self, *_: Any, **__: Any) -> list[float]:
        """A vector of eight numbers."""
        return [1.0] * 8

    def embed_batch(self, texts: list[str], *_: Any, **__: Any) -> list[list[float]]:
        """One for each."""
        return [self.embed(text) for text in texts]


if __name__ == "__main__":
    main()
