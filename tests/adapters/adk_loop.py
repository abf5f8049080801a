"""An agent's loop by the runner of Google's ADK, with a scripted model and no network: it learns something, is
corrected, is asked, forgets small talk, and erases a person. Its memory service is ours, on an installation whose clock
is driven.

Runs in the environment of `make adapters`; `tests/adapters/__main__.py` starts it.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import time
import uuid
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from google.adk.events.event import Event
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.platform import time as platform_time
from google.adk.runners import Runner
from google.adk.sessions.session import Session
from google.genai import types

from memquorum.adk import MemquorumMemoryService
from memquorum.client import Contested, Invalid, Memory

BEGUN = 1_785_000_000_000
DAY = 24 * 3_600_000
PAGE = Path(os.environ["CHECKOUT"]) / "docs" / "use" / "integrations" / "adk.md"
THANKS, ANSWER = "Thank you so much!", "Noted, thank you."


@pytest.fixture
def passes(later: Callable[[float], None]) -> Callable[[float], None]:
    """Lets days pass, for ADK too: it dates its events itself."""
    now = BEGUN + DAY

    def turn(days: float) -> None:
        nonlocal now
        now += int(days * DAY)
        later(days)
        platform_time.set_time_provider(lambda: now / 1_000)

    later(1)
    turn(0)
    return turn


class Scripted(BaseLlm):
    """A model that says the same to all; `given` has what it was given last."""

    model: str = "scripted"
    given: tuple[str, ...] = ()

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        self.given = tuple(part.text or "" for one in llm_request.contents for part in one.parts or [])
        yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=ANSWER)]))


def event(text: str, author: str = "user", **more: Any) -> Event:
    content = types.Content(role=author, parts=[types.Part(text=text)])
    return Event(**{"id": uuid.uuid4().hex, "author": author, "content": content, "timestamp": BEGUN / 1_000} | more)


async def hear(service: MemquorumMemoryService, text: str, app: str = "host", user: str = "ada", **more: Any) -> None:
    await service.add_events_to_memory(app_name=app, user_id=user, session_id="s", events=[event(text, **more)])


async def search_texts(service: MemquorumMemoryService, query: str, app: str = "host", user: str = "ada") -> list[str]:
    answer = await service.search_memory(app_name=app, user_id=user, query=query)
    return ["".join(json.loads(part.text or '""') for part in one.content.parts or []) for one in answer.memories]


async def test_an_agent_learns_is_corrected_is_asked_forgets_small_talk_and_erases_a_person(
    memory: Memory, passes: Callable[[float], None]
) -> None:
    # The page's own lines, with this client and this model in the place of theirs.
    lines = PAGE.read_text().split("```python\n")[1].split("```")[0]
    lines = lines.replace('model="gemini-flash-latest"', "model=model")
    model = Scripted()
    page: dict[str, Any] = {"model": model}
    begin, block = lines.split("with Memory", maxsplit=1)
    body = "\n".join(line.removeprefix("    ") for line in block.splitlines()[1:])
    page["memory"] = memory
    exec(f"{begin}\n{body}", page)
    runner: Runner = page["runner"]
    assert runner.app_name == "host"

    async def say(said: str, user: str, session: str) -> str:
        """Returns the model's context for a message."""
        if await runner.session_service.get_session(app_name="host", user_id=user, session_id=session) is None:
            await runner.session_service.create_session(app_name="host", user_id=user, session_id=session)
        message = types.Content(role="user", parts=[types.Part(text=said)])
        async for _ in runner.run_async(user_id=user, session_id=session, new_message=message):
            pass
        return "\n".join(one for one in model.given if one != said)

    await say("Ada's door code is 4821.", "ada", "1")
    await say("Lovely day, isn't it?", "bob", "1")
    await say(THANKS, "bob", "1")
    assert 'user: "Ada\'s door code is 4821."' in await say("Which door code does Ada have?", "ada", "2")
    kept = [one.text for one in memory.memories(after=memory.entries.after).memories]
    assert kept.count("Ada's door code is 4821.") == 1 and THANKS not in kept and ANSWER not in kept
    await say("No, Ada's door code is 9930.", "ada", "2")
    passes(0.1)
    for _ in range(12):
        passes(3)
        given = await say("Which door code does Ada have?", "ada", "3")
        assert "9930" in given
        if not memory.memories(subjects=["bob"]).memories:
            break
    assert memory.memories(subjects=["bob"]).memories == ()
    # A correction in words marks the older code and takes nothing (infra/decisions/0135).
    said = memory.memories(subjects=["ada"]).memories
    (older,), (newer,) = ([one for one in said if code in (one.text or "")] for code in ("4821", "9930"))
    assert [(mark.by, mark.disputed) for mark in older.overtaken] == [(newer.memory_id, False)]

    service: MemquorumMemoryService = page["service"]
    assert (await service.erase_user("ada")).dry_run
    await service.erase_user("ada", dry_run=False)
    assert "9930" not in await say("Which door code does Ada have?", "ada", "4")
    # The session service has its events still: handed over anew they stay out.
    again = MemquorumMemoryService(memory)
    for session in "123":
        events = await runner.session_service.get_session(app_name="host", user_id="ada", session_id=session)
        assert events is not None
        await again.add_session_to_memory(events)
    assert not any("9930" in one for one in await search_texts(again, "Which door code does Ada have?"))


async def test_what_is_no_news_is_published_once_and_what_says_nothing_not_at_all(memory: Memory) -> None:
    service = MemquorumMemoryService(memory)
    long = " ".join(map(str, range(7_000)))
    thought = types.Part(text="The user may be hungry.", thought=True)
    call = types.Part(function_call=types.FunctionCall(name="table", args={"guests": 2}))
    words = [types.Part(text="Ada eats"), call, types.Part(text="no meat.")]
    events = [
        event("", id="1", content=types.Content(role="user", parts=words)),
        event("", id="2", author="host", content=types.Content(role="model", parts=[thought])),
        event("Ada e", id="3", partial=True),
        event("", id="4", content=None),
        event(long, id="5", author="host"),
    ]
    session = Session(app_name="host", user_id="ada", id="1", events=events)
    await service.add_session_to_memory(session)
    await MemquorumMemoryService(memory).add_session_to_memory(session)
    listed = memory.memories(after=memory.entries.after).memories
    by_user, by_host = ([str(one.text) for one in listed if one.role == role] for role in ("user", "host"))
    assert by_user == ["Ada eats no meat."] and len(by_host) == 3 and sum(map(len, by_host)) == len(long)
    assert {(one.agent, one.subject, one.session, one.accesses) for one in listed} == {("host", "ada", "ada/1", 0)}
    (first, *_) = (await service.search_memory(app_name="host", user_id="ada", query="What does Ada eat?")).memories
    assert (first.author, first.content.role, first.id) == (
        "user",
        "user",
        next(one.memory_id for one in listed if one.role == "user"),
    )
    assert datetime.fromisoformat(first.timestamp or "") == datetime.fromtimestamp(BEGUN / 1_000, UTC)


async def test_another_user_app_and_namespace_find_nothing_unless_the_scope_says_so(memory: Memory) -> None:
    service = MemquorumMemoryService(memory)
    await hear(service, "The boiler was serviced on 3 May.", user="a/b")
    await hear(service, "The boiler was serviced on 3 May.", app="host/a", user="b")
    asked = "When was the boiler serviced?"
    for app, user in (("host", "a/b"), ("host/a", "b")):
        assert await search_texts(service, asked, app, user) == ["The boiler was serviced on 3 May."]
    for app, user in (("host", "b"), ("host", "a"), ("other", "a/b"), ("host", "a%2Fb"), ("host/a/b", "b")):
        assert await search_texts(service, asked, app, user) == []
    for app, user in (("", "b"), ("host", ""), ("host", "x" * 129)):
        with pytest.raises(Invalid):
            await search_texts(service, asked, app, user)
    assert await search_texts(service, " \0") == []
    assert len(await search_texts(MemquorumMemoryService(memory, scope="user"), asked, "other", "a/b")) == 1
    assert len(await search_texts(MemquorumMemoryService(memory, scope="namespace"), asked, "other", "cleo")) >= 1
    with pytest.raises(Invalid):
        MemquorumMemoryService(memory, scope="everybody")  # type: ignore[arg-type]
    with Memory(namespace=f"{memory.namespace}-other", agent="host") as other:
        assert await search_texts(MemquorumMemoryService(other, scope="namespace"), asked, "host", "a/b") == []


async def test_what_is_added_as_a_memory_is_kept_and_what_is_deleted_is_hidden_at_once(memory: Memory) -> None:
    service = MemquorumMemoryService(memory)
    entry = MemoryEntry(
        content=types.Content(parts=[types.Part(text=THANKS)]), author="user", timestamp="2026-01-31T12:00:00+00:00",
        custom_metadata={"kind": "thanks"},
    )  # fmt: skip
    await service.add_memory(app_name="host", user_id="ada", memories=[entry], custom_metadata={"by": "test"})
    answer = await service.search_memory(app_name="host", user_id="ada", query=THANKS)
    (one,) = answer.memories
    assert (one.timestamp, one.custom_metadata) == (entry.timestamp, {"by": "test", "kind": "thanks"})
    for bad in (entry.model_copy(update={"timestamp": "noon"}), MemoryEntry(content=types.Content(parts=[]))):
        with pytest.raises(Invalid):
            await service.add_memory(app_name="host", user_id="ada", memories=[entry, bad])

    await service.delete_memory(app_name="host", user_id="ada", memory_id=str(uuid.uuid4()))
    refused: Any
    for app, user, memory_id, refused in (
        ("host", "bob", one.id, Contested), ("other", "ada", one.id, Contested), ("host", "ada", None, Invalid),
    ):  # fmt: skip
        with pytest.raises(refused):
            await service.delete_memory(app_name=app, user_id=user, memory_id=memory_id)
        assert await search_texts(service, THANKS) == [THANKS]
    await service.delete_memory(app_name="host", user_id="ada", memory_id=one.id)
    assert await search_texts(service, THANKS) == []
    await hear(service, "The boiler was serviced on 3 May.", id="e")
    (text,) = await search_texts(service, "boiler")
    (kept,) = memory.memories(subjects=["ada"]).memories
    memory.pin(kept.memory_id)
    with pytest.raises(Contested):
        await service.delete_memory(app_name="host", user_id="ada", memory_id=kept.memory_id)
    assert await search_texts(service, "boiler") == [text]


async def test_it_costs_little_beside_the_client(memory: Memory) -> None:
    """A search and a turn's two events beside what of the client they are made of, in turn; medians in milliseconds."""
    service = MemquorumMemoryService(memory)
    await service.add_events_to_memory(
        app_name="host", user_id="ada", events=[event(f"Note {at} on the boiler.") for at in range(20)]
    )
    only = {"agents": ["host"], "subjects": ["ada"]}
    took: dict[str, list[float]] = {"search": [], "retrieve": [], "add": [], "publish": []}
    for at in range(15):
        pair = [{"content": f"Other {at} {one}", "subject": "ada"} for one in "ab"]
        events = [event(f"More {at} {one}") for one in "ab"]
        memory.entries.after = None
        for name, do in (
            ("search", lambda: search_texts(service, "boiler")),
            ("retrieve", lambda: asyncio.to_thread(memory.retrieve, "boiler", 1_000, k_max=10, **only)),
            ("add", lambda: service.add_events_to_memory(app_name="host", user_id="ada", events=events)),  # noqa: B023
            ("publish", lambda: asyncio.to_thread(memory.add_all, pair)),  # noqa: B023
        ):
            began = time.perf_counter()
            await do()
            took[name].append((time.perf_counter() - began) * 1_000)
    median = {name: statistics.median(one) for name, one in took.items()}
    print(f"adk: search: {median['search']:.1f} ms, the client's retrieval {median['retrieve']:.1f} ms")
    print(f"adk: two events: {median['add']:.1f} ms, the client's two episodes {median['publish']:.1f} ms")
    assert median["search"] - median["retrieve"] < 50 and median["add"] - median["publish"] < 50
