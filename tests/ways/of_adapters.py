"""Anthropic's memory tool, a session of OpenAI's agents and LlamaIndex's block as ways in."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

from llama_index.core.base.llms.types import ChatMessage

from memquorum.anthropic import MemquorumMemoryTool
from memquorum.llama_index import MemquorumMemoryBlock
from memquorum.openai_agents import MemquorumSession
from tests.ways.way import CLIMBS, PATH, STRANGE_PATHS, SUBJECT, Known, Probe, Read, Way

_ALL, _ADA = PATH.split("/")


class Files(Way):
    """The memory tool, whose directory is that of all sessions."""

    def _call(self, at: str, command: str, /, **said: Any) -> str:
        return str(MemquorumMemoryTool(self.memory, path=at, saying=_about).call({"command": command, **said}))

    def write(self, key: str, text: str) -> None:
        self._call(_ALL, "create", path=f"/memories/{_ADA}/{key}", file_text=text)

    def read(self, path: str, texts: list[str]) -> Read:
        listed = self._call(path, "view", path="/memories").splitlines()[2:]
        files = [line.split("\t")[1] for line in listed]
        slots = {one.key: one.memory_id for one in self.memory.memories(path=path).memories}
        return [(slots[file.split("/")[2]], self._call(path, "view", path=file)) for file in files]

    def probes(self, known: Known) -> Iterator[Probe]:
        yield from self._tries(_ALL, f"/memories/{_ADA}/{known.key}")
        yield from self._tries(PATH, f"/memories/{known.key}")
        yield from self._tries(PATH, f"/memories/{known.memory_id}")
        for climb in CLIMBS:
            yield from self._tries(_ALL, f"/memories/{climb}/{known.space}/{PATH}/{known.key}")

    def _tries(self, path: str, file: str) -> Iterator[Probe]:
        for command, said in (
            ("view", {"path": "/memories"}), ("view", {"path": file}), ("view", {"path": file.rpartition("/")[0]}),
            ("str_replace", {"path": file, "old_str": "quokka", "new_str": "cat"}),
            ("insert", {"path": file, "insert_line": 0, "insert_text": "x"}),
            ("rename", {"old_path": file, "new_path": "/memories/mine"}), ("delete", {"path": file}),
        ):  # fmt: skip
            yield f"{command} {said} at {path!r}", lambda c=command, s=said: self._call(path, c, **s)

    def beside(self, known: Known) -> Iterator[Probe]:
        for path in STRANGE_PATHS:
            yield from self._tries(path, f"/memories/{known.key}")
        for climb in CLIMBS:
            yield from self._tries("sessions/bob", f"/memories/{climb}/{known.key}")
            yield from self._tries("sessions/bob", f"/memories/{climb}")


def _about(_: str) -> Any:
    return {"subject": SUBJECT}


class Session(Way):
    """A conversation."""

    def write(self, key: str, text: str) -> None:
        asyncio.run(self._session().add_items([{"role": "user", "content": text}]))

    def _session(self, name: str = _ADA, path: str = _ALL) -> MemquorumSession:
        return MemquorumSession(name, self.memory, path=path, subject=SUBJECT)

    def read(self, path: str, texts: list[str]) -> Read:
        return [(None, str(item)) for item in asyncio.run(self._session().get_items())]

    def _tries(self, name: str, path: str) -> Iterator[Probe]:
        def call_session(do: str) -> object:
            session = self._session(name, path)
            if do == "erase":
                return asyncio.run(session.erase(dry_run=False)).memories
            return asyncio.run(getattr(session, do)())

        for do in ("get_items", "pop_item", "clear_session", "erase"):
            yield f"{do} of {name!r} at {path!r}", lambda do=do: call_session(do)

    def probes(self, known: Known) -> Iterator[Probe]:
        for name in (_ADA, known.key, known.memory_id, f"../{known.space}/{PATH}"):
            yield from self._tries(name, _ALL)
        yield from self._tries(_ADA, f"{known.space}/{_ALL}")

    def beside(self, known: Known) -> Iterator[Probe]:
        for path in STRANGE_PATHS:
            begin, _, name = path.rpartition("/")
            yield from self._tries(name, begin or "x")
        for climb in CLIMBS:
            yield from self._tries(climb, "sessions/bob")
            yield from self._tries(climb, _ALL)


class Block(Way):
    """A block, which files what it hears under a key."""

    def write(self, key: str, text: str) -> None:
        said = {"explicit": True, "path": PATH, "key": key, "subject": SUBJECT, "attributes": {"kind": "animal"}}
        block = MemquorumMemoryBlock(memory=self.memory, saying=said)
        asyncio.run(block.aput([ChatMessage(role="user", content=text)]))

    def _asked(self, text: str, **only: Any) -> str:
        block = MemquorumMemoryBlock(memory=self.memory, budget_tokens=4_000, only=only)
        return str(asyncio.run(block.aget([ChatMessage(role="user", content=text)])))

    def read(self, path: str, texts: list[str]) -> Read:
        lines = {line for text in texts for line in self._asked(text, path=path).splitlines() if line}
        return [(None, line) for line in sorted(lines)]

    def probes(self, known: Known) -> Iterator[Probe]:
        yield "asked", lambda: self._asked("Where is it kept?")
        yield "asked at its path", lambda: self._asked("Where is it kept?", path=PATH)
        yield "asked by attributes", lambda: self._asked("Where is it kept?", where={"kind": {"$ne": "x"}})
        yield "asked in its namespace", lambda: self._asked("Where is it kept?", namespace=known.space)

    def beside(self, known: Known) -> Iterator[Probe]:
        for path in STRANGE_PATHS + CLIMBS:
            yield f"asked at {path!r}", lambda path=path: self._asked("Where is it kept?", path=path)
