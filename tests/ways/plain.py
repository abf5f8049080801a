"""The ways in that need no framework: the SDK over Kafka and over HTTP, MCP over HTTP and stdio, mem0's wire and its
class."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, cast

import httpx
from anyio.from_thread import start_blocking_portal
from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from infra import settings
from memquorum.client import Memory
from memquorum.mem0 import Memory as Mem0
from tests import ROOT
from tests.ways.way import (
    AGENT,
    CLIMBS,
    OPERATORS,
    PATH,
    STRANGE_PATHS,
    STRANGE_SUBJECTS,
    SUBJECT,
    Known,
    Probe,
    Read,
    Way,
)

_FILED: dict[str, Any] = {"explicit": True, "path": PATH, "subject": SUBJECT, "attributes": {"kind": "animal"}}


def _run_dir() -> Path:
    return Path(os.environ["MEMQUORUM_RUN_DIR"])


def url() -> str:
    """Returns the address of the service."""
    return settings.load({}, _run_dir()).retrieval_url


class Sdk(Way):
    """The client, which publishes to Kafka."""

    def write(self, key: str, text: str) -> None:
        self.memory.add(text, key=key, wait=True, **_FILED)

    def read(self, path: str, texts: list[str]) -> Read:
        listed = [(one.memory_id, one.text or "") for one in self.memory.memories(path=path).memories]
        found = {hit.memory_id for text in texts for hit in self.memory.search(text, 20, path=path, peek=True)}
        return [one for one in listed if one[0] in found]

    def probes(self, known: Known) -> Iterator[Probe]:
        memory, its = self.memory, known.memory_id
        yield "search", lambda: memory.search("quokka", 100)
        yield "get", lambda: memory.get(its)
        yield "explain", lambda: str(memory.explain(its))
        yield "decisions", lambda: memory.decisions(its)
        yield "recall", lambda: memory.recall(memory_id=its)
        yield "retrieve", lambda: memory.retrieve("quokka", 2_000)
        yield "context", lambda: memory.context("quokka")
        yield "list", memory.memories
        yield "list by a cursor of theirs", lambda: memory.memories(cursor=known.cursor)
        yield "list behind a token of theirs", lambda: memory.memories(after=known.token)
        yield "search behind a token of theirs", lambda: memory.search("quokka", after=known.token)
        yield "paths", memory.paths
        yield "slot", lambda: memory.slot(known.key, PATH)
        yield "slot by its id", lambda: memory.slot(its, PATH)
        yield "an order of theirs", lambda: memory.order(known.order_id)
        yield "pins", memory.pins
        yield "orders", memory.orders
        yield "rollups", memory.rollups
        yield "use", lambda: memory.use(its)
        yield "pin", lambda: memory.pin(its)
        yield "forget", lambda: memory.forget(its, dry_run=False)
        yield "restore", lambda: memory.restore(its)
        yield "roll its weight back", lambda: memory.rollback(its, to=1)
        yield "clear its slot", lambda: memory.clear(known.key, PATH, wait=True)
        yield "take it back", lambda: memory.clear(memory_id=its, wait=True)
        yield "erase it", lambda: memory.erase(memory_id=its, dry_run=False)
        yield "erase its subject", lambda: memory.erase(subject=SUBJECT, dry_run=False)
        yield "replace it", lambda: memory.add("Nothing.", explicit=True, supersedes=[its], wait=True)
        yield "derive from it", lambda: memory.add("Nothing more.", explicit=True, derives_from=[its], wait=True)
        for where in OPERATORS:
            yield f"list where {where}", lambda where=where: memory.memories(where=where)
            yield f"search where {where}", lambda where=where: memory.search("quokka", 10, where=where)
        its_name = known.space
        for space in (f"{its_name}/", f"{its_name}%", f"%{its_name[1:]}", f" {its_name}", its_name.upper()):
            yield f"a namespace {space!r}", lambda space=space: _elsewhere(self.client, space)

    def beside(self, known: Known) -> Iterator[Probe]:
        memory = self.memory
        for path in STRANGE_PATHS + CLIMBS:
            yield f"list at {path!r}", lambda path=path: memory.memories(path=path)
            yield f"search at {path!r}", lambda path=path: memory.search("quokka", 10, path=path, peek=True)
            yield f"slot at {path!r}", lambda path=path: memory.slot(known.key, path)
        for name in STRANGE_SUBJECTS:
            yield f"list of {name!r}", lambda name=name: memory.memories(subjects=[name])
        for key in (known.key[:-1], f"{known.key}%", known.key.upper(), f"{known.key[:-1]}_"):
            yield f"slot {key!r}", lambda key=key: memory.slot(key, PATH)


def _elsewhere(client: Callable[[str], Memory], space: str) -> object:
    with client(space) as memory:
        return memory.search("quokka", 10), memory.memories()


class Http(Sdk):
    """The client where it knows no Kafka: it publishes through the service."""

    def client(self, space: str) -> Memory:
        return Memory(namespace=space, agent=AGENT, url=url().replace("127.0.0.1", "localhost"))


class _Mcp(Way):
    """Tools."""

    def __init__(self, space: str) -> None:
        super().__init__(space)
        self._portal = self.open.enter_context(start_blocking_portal())
        self._tools = self.open.enter_context(self._portal.wrap_async_context_manager(self._server(space)))

    def _server(self, space: str) -> Client:
        raise NotImplementedError

    def call(self, tool: str, **arguments: Any) -> Any:
        """Calls a tool and returns its answer. Raises ValueError with the tool's error."""
        done = self._portal.call(self._tools.call_tool, tool, arguments)
        text = cast(Any, done.content[0]).text
        if done.is_error:
            raise ValueError(text)
        return done.structured_content | {"words": text}

    def write(self, key: str, text: str) -> None:
        self.call("add_memory", content=text, key=key, wait=True, **_FILED)

    def read(self, path: str, texts: list[str]) -> Read:
        page = self.call("get_memories", filters={"path": path})
        asked = {"top_k": 20, "peek": True, "filters": {"path": path}}
        answers = [self.call("search_memories", query=text, **asked) for text in texts]
        found = {hit["memory_id"] for one in answers for hit in one["hits"]}
        return [(one["memory_id"], one["text"]) for one in page["memories"] if one["memory_id"] in found]

    def explain(self, memory_ids: Iterable[str]) -> dict[str, str]:
        return {one: self.call("explain_memory", memory_id=one)["words"] for one in memory_ids}

    def probes(self, known: Known) -> Iterator[Probe]:
        its, call = {"memory_id": known.memory_id}, self.call
        event_id = known.token.rpartition("/")[2]
        asks: tuple[tuple[str, dict[str, Any]], ...] = (
            ("search_memories", {"query": "quokka", "top_k": 100}), ("search", {"query": "quokka"}),
            ("search_memories", {"query": "quokka", "after": known.token}), ("fetch", {"id": known.memory_id}),
            ("retrieve_context", {"query": "quokka"}), ("recall_memories", its),
            ("recall_memories", {"query": "quokka"}), ("get_memory", its), ("explain_memory", its),
            ("get_memories", {}), ("get_memories", {"cursor": known.cursor}),
            ("get_memories", {"after": known.token}), ("get_goals", its), ("get_pins", its), ("get_pins", {}),
            ("get_experience", its), ("get_experience", {}), ("rollback_weight", {**its, "to": 1}), ("get_tasks", its),
            ("get_event_status", {"event_id": event_id}), ("get_order", {"order_id": known.order_id}),
            ("update_memory", {**its, "content": "Nothing.", "wait": True}), ("delete_memory", its),
            ("delete_memory", {"key": known.key, "path": PATH}), ("pin_memory", its), ("unpin_memory", its),
            ("propose_forget", {"memory_ids": [known.memory_id], "dry_run": False}),
            ("restore_memory", {"memory_ids": [known.memory_id]}),
            ("erase_memories", {**its, "dry_run": False}), ("erase_memories", {"subject": SUBJECT, "dry_run": False}),
            ("get_memories", {"namespace": known.space}), ("get_memories", {"filters": {"namespace": known.space}}),
            ("add_memory", {"content": "Nothing more.", "derives_from": [known.memory_id], "wait": True}),
            *(("get_memories", {"filters": {"where": where}}) for where in OPERATORS),
            *(("search_memories", {"query": "quokka", "filters": {"where": where}}) for where in OPERATORS),
        )  # fmt: skip
        for tool, arguments in asks:
            yield f"{tool} {arguments}", lambda tool=tool, arguments=arguments: call(tool, **arguments)

    def beside(self, known: Known) -> Iterator[Probe]:
        for path in STRANGE_PATHS + CLIMBS:
            yield f"list at {path!r}", lambda path=path: self.call("get_memories", filters={"path": path})
            yield (
                f"search at {path!r}",
                lambda path=path: self.call("search_memories", query="quokka", peek=True, filters={"path": path}),
            )
        for name in STRANGE_SUBJECTS:
            yield f"list of {name!r}", lambda name=name: self.call("get_memories", filters={"subjects": [name]})


class McpHttp(_Mcp):
    """MCP at the service."""

    def _server(self, space: str) -> Client:
        return Client(f"{url()}/mcp/{space}?agent={AGENT}")

    def probes(self, known: Known) -> Iterator[Probe]:
        yield from super().probes(known)
        begin = f"{url()}/mcp/{self.space}"
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_memories", "arguments": {}}}
        accepts = {"Accept": "application/json, text/event-stream"}
        for at in (f"?namespace={known.space}", f"?agent=x&namespace={known.space}", "%2F..%2F" + known.space):
            yield f"at {at}", lambda at=at: httpx.post(begin + at, json=body, headers=accepts).text


class McpStdio(_Mcp):
    """MCP with the server as a child."""

    def _server(self, space: str) -> Client:
        arguments = ["-m", "memquorum", "mcp", "-n", space, "-a", AGENT]
        known = {"MEMQUORUM_RUN_DIR": str(_run_dir())}
        return Client(stdio_client(StdioServerParameters(command=sys.executable, args=arguments, env=known, cwd=ROOT)))


class Mem0Wire(Way):
    """The requests of mem0's client."""

    def __init__(self, space: str) -> None:
        super().__init__(space)
        self._http = self.open.enter_context(httpx.Client(base_url=f"{url()}/mem0/{space}", timeout=30))

    def ask(self, method: str, path: str, **body: Any) -> Any:
        """An answer. Raises ValueError with what is wrong."""
        told = self._http.request(method, path, json=body or None)
        if told.is_error:
            raise ValueError(told.text)
        return told.json()

    def write(self, key: str, text: str) -> None:
        self.ask("POST", "/v3/memories/add/", messages=text, user_id=SUBJECT, metadata={"kind": "animal"})

    def read(self, path: str, texts: list[str]) -> Read:
        found = self.ask("POST", "/v3/memories/", filters={"user_id": SUBJECT})["results"]
        return [(self._id(one["id"]), one["memory"]) for one in found]

    def _id(self, said: str) -> str:
        """The memory that an id of mem0's names."""
        return _memory_of(self.memory, said)

    def probes(self, known: Known) -> Iterator[Probe]:
        whose = {"user_id": SUBJECT}
        for named in (known.memory_id, known.key, f"{known.space}/{known.key}", f"..%2F{known.space}%2Fv1"):
            one = f"/v1/memories/{named}/"
            yield f"get {named}", lambda one=one: self.ask("GET", one)
            yield f"history {named}", lambda one=one: self.ask("GET", one + "history/")
            yield f"update {named}", lambda one=one: self.ask("PUT", one, text="Nothing.")
            yield f"delete {named}", lambda one=one: self.ask("DELETE", one)
        yield "search", lambda: self.ask("POST", "/v3/memories/search/", query="quokka", top_k=100, filters=whose)
        for filters in (whose, {"user_id": "*"}, {"OR": [whose, {"user_id": "x"}]}, {"app_id": "*", **whose}):
            yield f"list {filters}", lambda filters=filters: self.ask("POST", "/v3/memories/", filters=filters)
        for how in ({"ne": "x"}, {"in": ["animal"]}, {"gte": ""}, "animal"):
            told = {**whose, "metadata": {"kind": how}}
            yield f"list {told}", lambda told=told: self.ask("POST", "/v3/memories/", filters=told)
        yield "entities", lambda: self.ask("GET", "/v1/entities/")
        yield "delete all", lambda: self.ask("DELETE", f"/v1/memories/?user_id={SUBJECT}")
        yield "erase", lambda: self.ask("DELETE", f"/v2/entities/user/{SUBJECT}/")
        yield (
            "by a namespace in the query",
            lambda: self.ask("POST", f"/v3/memories/?namespace={known.space}", filters=whose),
        )

    def beside(self, known: Known) -> Iterator[Probe]:
        for name in STRANGE_SUBJECTS:
            yield f"list of {name!r}", lambda name=name: self.ask("POST", "/v3/memories/", filters={"user_id": name})
            yield (
                f"search of {name!r}",
                lambda name=name: self.ask("POST", "/v3/memories/search/", query="quokka", filters={"user_id": name}),
            )


def _memory_of(memory: Memory, said: str) -> str:
    found = {one.key: one.memory_id for one in memory.memories(path="mem0").memories}
    return found.get(said, said)


class Mem0Class(Way):
    """The class in place of mem0's."""

    def __init__(self, space: str) -> None:
        super().__init__(space)
        self._mem0 = self.open.enter_context(Mem0(namespace=space))

    def write(self, key: str, text: str) -> None:
        self._mem0.add(text, user_id=SUBJECT, metadata={"kind": "animal"})

    def read(self, path: str, texts: list[str]) -> Read:
        found = self._mem0.get_all(filters={"user_id": SUBJECT})["results"]
        return [(_memory_of(self.memory, one["id"]), one["memory"]) for one in found]

    def probes(self, known: Known) -> Iterator[Probe]:
        mem0, whose = self._mem0, {"user_id": SUBJECT}
        for named in (known.memory_id, known.key):
            yield f"get {named}", lambda named=named: mem0.get(named)
            yield f"history {named}", lambda named=named: mem0.history(named)
            yield f"update {named}", lambda named=named: mem0.update(named, "Nothing.")
            yield f"delete {named}", lambda named=named: mem0.delete(named)
        yield "search", lambda: mem0.search("quokka", filters=whose)
        yield "list", lambda: mem0.get_all(filters=whose)
        for how in ({"ne": "x"}, {"in": ["animal"]}, {"gte": ""}, "animal"):
            yield f"list {how}", lambda how=how: mem0.get_all(filters={**whose, "metadata": {"kind": how}})
        yield "delete all", lambda: mem0.delete_all(user_id=SUBJECT)
        yield "erase", lambda: mem0.erase(user_id=SUBJECT)

    def beside(self, known: Known) -> Iterator[Probe]:
        for name in STRANGE_SUBJECTS:
            yield f"list of {name!r}", lambda name=name: self._mem0.get_all(filters={"user_id": name})
