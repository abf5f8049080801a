"""The end of a session through the client: what it came to, if that is said, and lessons of a task."""

from __future__ import annotations

import json
import logging
from typing import Any

import httpx
import pytest

from memquorum.client import AsyncMemory, Invalid, Memory, NotYet
from memquorum.client.printed import Ordered, Session
from memquorum.core import ids
from memquorum.core.accounts import order_words
from memquorum.core.api.answers import Ended, SessionPart
from memquorum.core.experience import ended
from memquorum.core.intake import FOUND_MAX

pytestmark = pytest.mark.usefixtures("nowhere")
M, N, ASK = (ids.memory_id("n", one) for one in ("m", "o", "ask"))
BECAME = {"namespace": "n", "event_id": "e", "shard": None, "journal_seq": None, "memory_id": M, "why": None}
LISTED = {
    "namespace": "n", "tier": "short-term", "agent": "ann", "session": "s", "event_id": "e", "occurred_at": 1,
    "last_access": 1, "accesses": 0, "salience": 0.5, "subject": "ann", "changed": 1, "sealed_until": None,
    "confidence": None, "reinforced": 0, "replays": 0, "fades": True, "due_at": None,
}  # fmt: skip


class Service:
    """The requests that the service is sent, and its answers.

    `asks`: the session has memories; `reads`: the key may read.
    """

    def __init__(self, asks: bool = True, reads: bool = True, became: str | None = "finished_succeeded") -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.after: list[tuple[str, str | None]] = []
        self._asks, self._reads, self._became = asks, reads, became

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.startswith("/sessions/n/"):
            self.sent.append((path, {}))
            self.after.append((path, request.url.params.get("after")))
            if (late := self.after[-1][1]) and late.endswith("late"):
                return httpx.Response(504, json={"error": "not_yet", "field": "after", "detail": "no"})
            return httpx.Response(404, json={"error": "unknown", "field": "session", "detail": "no"})
        if path.startswith("/events/"):
            self.sent.append(("/events", {}))
            return httpx.Response(200, json=BECAME | {"outcome": self._became})
        said = json.loads(request.content)
        self.sent.append((path, said))
        self.after.append((path, request.url.params.get("after")))
        if path == "/memories/list":
            if not self._reads:
                return httpx.Response(403, json={"error": "denied", "field": "right", "detail": "no"})
            told = [("x", "Hello.", "assistant"), (ASK, "Open valve 3.", "user")] if self._asks else []
            page = [LISTED | {"memory_id": one, "text": text, "role": role} for one, text, role in told]
            return httpx.Response(200, json={"namespace": "n", "memories": page})
        if path == "/context":
            more = {"score": 0.5, "tokens": 1, "text": "t", "role": None, "why": "relevant", "place": None}
            item = LISTED | more | {"folded": []}
            return httpx.Response(200, json=CONTEXT | {"items": [item | {"memory_id": M}, item | {"memory_id": N}]})
        return httpx.Response(202, json={})

    def to(self, path: str) -> list[dict[str, Any]]:
        """Returns the requests to a path."""
        return [said for where, said in self.sent if where == path]


CONTEXT = {"namespace": "n", "used": 1, "left_out": {}, "text": "t", "tokens": 2, "budget_tokens": 10}


def client(service: Service) -> AsyncMemory:
    memory = AsyncMemory(url="http://service", namespace="n", agent="ann")
    memory._connections.http = httpx.AsyncClient(transport=httpx.MockTransport(service), base_url="http://service")
    return memory


async def test_a_session_that_ends_without_an_outcome_is_no_task() -> None:
    service = Service()
    async with client(service) as memory:
        over = await memory.end_session("s")
        assert over.task is None and [path for path, _ in service.sent] == ["/sessions/end"]
        with pytest.raises(Invalid) as refused:
            await memory.end_session("s", outputs="open")
        assert refused.value.field == "outcome" and len(service.sent) == 1, "nothing is over that is refused"


async def test_a_session_that_ended_with_an_outcome_is_a_finished_task_of_what_was_asked_first() -> None:
    service = Service()
    async with client(service) as memory:
        memory._gave("s", [M, N])
        memory._gave("t", [ids.memory_id("n", "else")])
        over = await memory.end_session("s", outcome="succeeded", outputs="It is open.", by="eve")
        again = await memory.end_session("s", outcome="succeeded", goal="Open it.")
    first, second = service.to("/tasks")
    assert first == {
        "agent": "ann", "namespace": "n", "event_id": ended.event_id("ann", "n", "ann", "s"), "goal": "Open valve 3.",
        "outcome": "succeeded", "said_by": "eve", "outputs": "It is open.", "tools": [], "retrieved": [M, N, ASK],
    }  # fmt: skip
    assert service.to("/memories/list")[0] == {"namespace": "n", "sessions": ["s"], "agents": ["ann"]}
    assert (second["goal"], second["retrieved"], len(service.to("/memories/list"))) == ("Open it.", [M, N], 1)
    assert over.task is not None and over.task.memory_id == ids.memory_id("n", first["event_id"])
    assert over.task == again.task, "one session is one task"
    assert [path for path, _ in service.sent][1:3] == ["/sessions/end", "/tasks"]


async def test_what_was_asked_first_is_looked_for_once_what_was_added_is_seen() -> None:
    service = Service()
    async with client(service) as memory:
        await memory.add("Hello.", session="s")
        receipt = await memory.add("Open valve 3.", session="s", role="user")
        await memory.add("Of another one.", session="t")
        await memory.end_session("s", outcome="succeeded")
        assert [token for path, token in service.after if path == "/memories/list"] == [receipt.token]
        for at in range(70):
            await memory.add("Hello.", session=f"other {at}")
        assert len(memory._said_in) == 64 and "s" not in memory._said_in


@pytest.mark.parametrize("came", [{}, {"outcome": "failed"}, {"outcome": "failed", "goal": "Open it."}])
async def test_a_session_ends_after_the_write_of_somebody_else_that_is_named(came: dict[str, str]) -> None:
    service = Service()
    async with client(service) as memory:
        await memory.add("Hello.", session="s")
        service.sent.clear()
        service.after.clear()
        await memory.end_session("s", after="n/bobs", **came)
        assert service.after[0] == ("/sessions/n/s", "n/bobs")
        assert {token for _, token in service.after[1:]} == {None}, "what is seen is waited for once"
        assert service.to("/sessions/end") and bool(service.to("/tasks")) == bool(came)
        service.sent.clear()
        with pytest.raises(NotYet):
            await memory.end_session("s", after="n/late", **came)
        assert [path for path, _ in service.sent] == ["/sessions/n/s"], "nothing is published before it is seen"


async def test_a_task_is_named_by_what_was_published_of_it_too() -> None:
    service = Service()
    async with client(service) as memory:
        over = await memory.end_session("s", outcome="succeeded", goal="Open it.")
        assert over.task is not None
        for named in (over.task, await memory.finish_task("Close it.", "succeeded")):
            await memory.give_feedback(named, helped=[M])
            assert service.to("/tasks/feedback")[-1]["task"] == named.memory_id
        with pytest.raises(Invalid, match="an id is text"):
            await memory.finished_task(3)  # type: ignore[arg-type]


async def test_a_session_of_all_is_a_task_of_whoever_says_so() -> None:
    service = Service()
    async with client(service) as memory:
        await memory.end_session("s", everyone=True, outcome="failed", retrieved=[N])
    assert service.to("/memories/list") == [{"namespace": "n", "sessions": ["s"]}]
    (said,) = service.to("/tasks")
    assert (said["agent"], said["retrieved"], "agent" in service.to("/sessions/end")[0]) == ("ann", [N, ASK], False)


@pytest.mark.parametrize("service", [Service(asks=False), Service(reads=False)])
async def test_where_nobody_can_tell_what_was_asked_the_goal_has_to_be_said(service: Service) -> None:
    async with client(service) as memory:
        with pytest.raises(Invalid, match="say what was to be done") as refused:
            await memory.end_session("s", outcome="failed")
        assert refused.value.field == "goal"
        for came, field in (({"outcome": "won"}, "outcome"), ({"outcome": "unknown", "by": "eve"}, "said_by")):
            with pytest.raises(Invalid) as refused:
                await memory.end_session("s", goal="Open it.", **came)
            assert refused.value.field == field
    assert not service.to("/sessions/end") and not service.to("/tasks")


async def test_who_waits_is_told_that_it_was_said_to_have_ended_otherwise() -> None:
    async with client(Service()) as memory:
        with pytest.raises(Invalid, match="said to have succeeded before"):
            await memory.end_session("s", outcome="failed", goal="Open it.", wait=True)


async def test_a_context_for_a_session_is_noted_and_no_more_than_has_room() -> None:
    service = Service()
    async with client(service) as memory:
        await memory.context("valve", session="s")
        await memory.context("valve")
        assert list(memory._given_in) == ["s"] and list(memory._given_in["s"]) == [M, N]
        memory._gave("s", map(str, range(2 * FOUND_MAX)))
        assert len(memory._given_in["s"]) == FOUND_MAX
        for at in range(70):
            memory._gave(f"other {at}", [M])
        assert len(memory._given_in) == 64 and "s" not in memory._given_in


async def test_a_lesson_is_made_of_its_task_and_published_once_that_was_seen() -> None:
    service = Service()
    async with client(service) as memory, memory.task("open valve 3") as task:
        first = task.lesson("Open valve 3 slowly.", type="semantic", derives_from=[M])
        task.lesson("Grease it before.")
        with pytest.raises(Invalid) as refused:
            task.lesson(" ")
        assert refused.value.field == "content"
        with pytest.raises(Invalid, match="stays with its task"):
            task.lesson("Elsewhere.", namespace="other")
        task.done(success=True)
        assert not service.to("/memories"), "it is not over"
    assert [path for path, _ in service.sent] == ["/tasks", "/events", "/memories", "/memories"]
    one, other = service.to("/memories")
    assert (one["content"], one["derives_from"], one["type"]) == ("Open valve 3 slowly.", [task.id, M], "semantic")
    assert (other["derives_from"], other["agent"]) == ([task.id], "ann")
    assert task.receipt is not None and task.receipt.lessons[0].memory_id == first
    assert one["event_id"] == ids.lesson_event_id("ann", task.id, 0) != other["event_id"]


async def test_lessons_of_a_task_that_is_not_seen_are_published_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    service = Service(became=None)
    async with client(service) as memory:
        with caplog.at_level(logging.WARNING):
            receipt = await memory.finish_task("t", "failed", lessons=["a b c.", {"content": "d"}], timeout=0.01)
        with pytest.raises(Invalid) as refused:
            await memory.finish_task("t", "failed", lessons=[3])  # type: ignore[list-item]
        assert refused.value.field == "lessons"
    assert "before task" in caplog.text and len(service.to("/memories")) == len(receipt.lessons) == 2


def test_without_an_event_loop_lessons_are_the_same() -> None:
    service = Service()
    with Memory(url="http://service", namespace="n", agent="ann") as memory:
        memory._memory._connections.http = httpx.AsyncClient(
            transport=httpx.MockTransport(service), base_url="http://service"
        )
        with pytest.raises(ValueError, match="jammed"), memory.task("open valve 3") as task:
            task.lesson("It jams at 5 bar.")
            raise ValueError("jammed")
        assert memory.end_session("s", outcome="unknown", goal="Open it.").task is not None
    assert [one["derives_from"] for one in service.to("/memories")] == [[task.id]]


def test_a_session_and_its_end_are_printed_for_people() -> None:
    part = SessionPart("ann", 3, 0, (), (), (), {"wanted": 1, "few": 2}, 1)
    told = str(Session("n", "s", (part,), 1, 1, 2, 100))
    assert "1 not summed up: saved on purpose" in told and "2 not summed up: too few" in told
    assert str(Ended("n", "s", "e")).startswith("session s of n is over for every agent")
    assert "for ann" in str(Ended("n", "s", "e", "ann"))


def test_an_order_is_printed_for_people() -> None:
    order = Ordered(
        order_id="o", kind="protect", namespace="n", status="in force", says={"action": "pin", "memory_ids": [M]},
        ordered_by="ann", reference=None, ordered_at=1, accepted_at=1, shard=0, journal_seq=3,
    )  # fmt: skip
    assert str(order).splitlines() == list(order_words.lines(order))
