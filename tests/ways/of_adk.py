"""Google's ADK as a way in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

from google.adk.memory.memory_entry import MemoryEntry
from google.genai import types

from memquorum.adk import MemquorumMemoryService
from tests.ways.way import AGENT, CLIMBS, PATH, STRANGE_PATHS, STRANGE_SUBJECTS, SUBJECT, Known, Probe, Read, Way

_MOST = 100


def _words(entry: MemoryEntry) -> str:
    """Returns an entry's text: it is quoted for prompts."""
    return "".join(json.loads(part.text or '""') for part in entry.content.parts or [])


class Service(Way):
    """The memory service of an app."""

    def _service(self, **only: Any) -> MemquorumMemoryService:
        return MemquorumMemoryService(self.memory, scope="user", most=_MOST, budget_tokens=8_000, only=only)  # type: ignore[arg-type]

    def write(self, key: str, text: str) -> None:
        said: Any = {"path": PATH, "key": key}
        service = MemquorumMemoryService(self.memory, saying=said)
        entry = MemoryEntry(content=types.Content(role="user", parts=[types.Part(text=text)]))
        asyncio.run(service.add_memory(app_name=AGENT, user_id=SUBJECT, memories=[entry]))

    def _asked(self, query: str, user: str = SUBJECT, **only: Any) -> list[tuple[str, str]]:
        work = self._service(**only).search_memory(app_name=AGENT, user_id=user, query=query)
        return [(str(one.id), _words(one)) for one in asyncio.run(work).memories]

    def read(self, path: str, texts: list[str]) -> Read:
        return [*dict(found for text in texts for found in self._asked(text, path=path)).items()]

    def probes(self, known: Known) -> Iterator[Probe]:
        for app in (AGENT, known.space):
            yield (
                f"search of {app}",
                lambda app=app: str(
                    asyncio.run(self._service().search_memory(app_name=app, user_id=SUBJECT, query="Where is it kept?"))
                ),
            )
            yield (
                f"delete of {app}",
                lambda app=app: asyncio.run(
                    self._service().delete_memory(app_name=app, user_id=SUBJECT, memory_id=known.memory_id)
                ),
            )
        yield "search in its namespace", lambda: self._asked("Where is it kept?", namespace=known.space)
        yield "erase its user", lambda: asyncio.run(self._service().erase_user(SUBJECT, dry_run=False))

    def beside(self, known: Known) -> Iterator[Probe]:
        for user in STRANGE_SUBJECTS:
            yield f"search of {user!r}", lambda user=user: self._asked("Where is it kept?", user)
        for path in STRANGE_PATHS + CLIMBS:
            yield f"search at {path!r}", lambda path=path: self._asked("Where is it kept?", path=path)
