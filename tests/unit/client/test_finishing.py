"""A task of the client's: what it notes, what it publishes at its end, and what of an exception is told."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, cast

import httpx
import pytest

from memquorum.client import AsyncMemory, Invalid, Memory, NotFound, NotYet, Unreachable
from memquorum.client.finishing import configured
from memquorum.core import ids
from memquorum.core.intake import TOOL_BYTES_MAX, TOOLS_MAX

HIT = {
    "text": "t", "tier": "short-term", "agent": "a", "session": None, "role": None, "occurred_at": 1,
    "last_access": 2, "accesses": 0, "salience": 0.5, "score": 0.9, "cosine": 0.9,
}  # fmt: skip
SEARCHED = {
    "namespace": "n", "used": 1, "served_from": "store", "compared": "all", "cached": 0, "left_out": {},
    "answerable": True,
}  # fmt: skip
BECAME = {"namespace": "n", "event_id": "e", "shard": None, "journal_seq": None}

M, N = ids.memory_id("n", "m"), ids.memory_id("n", "o")
WHOLE = {
    "task": M, "agent": "ann", "goal": "g", "outcome": "succeeded", "said_by": "ann", "finished_at": 1,
    "journal_seq": 1, "retrieved": [], "unknown": [], "helped": [], "did_not_help": [], "subject": "ann",
    "namespace": "n", "inputs": "", "outputs": "", "tools": [],
    "configuration": "", "seed": 0, "encoder": "e", "digest": "", "feedback": [],
}  # fmt: skip
FOUND = SEARCHED | {"hits": [HIT | {"memory_id": M}, HIT | {"memory_id": N}]}


pytestmark = pytest.mark.usefixtures("nowhere")


class Service:
    """The requests that the service would be sent, and its answers."""

    def __init__(self, became: str | None = None, why: str | None = None, status: int = 202) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self._became, self._why, self._status = became, why, status

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if path.startswith("/events/"):
            told = BECAME | {"outcome": self._became, "memory_id": M, "why": self._why}
            return httpx.Response(200, json=told)
        self.sent.append((path, json.loads(request.content)))
        if path == "/search":
            return httpx.Response(200, json=FOUND)
        return httpx.Response(self._status, json={})

    @property
    def tasks(self) -> list[dict[str, Any]]:
        return [said for path, said in self.sent if path == "/tasks"]


def client(service: Service) -> AsyncMemory:
    memory = AsyncMemory(url="http://service", namespace="n", agent="ann")
    memory._connections.http = httpx.AsyncClient(transport=httpx.MockTransport(service), base_url="http://service")
    return memory


async def test_what_is_retrieved_in_a_task_is_noted_and_it_is_published_at_its_end() -> None:
    service = Service()
    async with client(service) as memory:
        await memory.search("before")
        async with memory.task("open valve 3", inputs="4 bar", configuration={"b": 1, "a": [2]}, seed=5) as task:
            await asyncio.gather(memory.search("a"), memory.search("b"))
            task.given(ids.memory_id("n", "x"))
            task.tool("valve", "opened")
            task.done(success=True, outputs="open", by="eve")
            assert service.tasks == [], "it is not over"
        await memory.search("after")
    (said,) = service.tasks
    assert said == {
        "agent": "ann", "namespace": "n", "event_id": task.event_id, "goal": "open valve 3", "inputs": "4 bar",
        "outcome": "succeeded", "said_by": "eve", "outputs": "open", "tools": ["valve: opened"],
        "retrieved": [M, N, ids.memory_id("n", "x")], "configuration": configured({"a": [2], "b": 1}), "seed": 5,
    }  # fmt: skip
    assert task.receipt is not None and task.receipt.memory_id == task.id == ids.memory_id("n", task.event_id)


async def test_tasks_beside_each_other_note_their_own() -> None:
    service = Service()
    async with client(service) as memory, client(service) as other:

        async def work(goal: str, asks: bool) -> tuple[str, ...]:
            async with memory.task(goal) as task:
                await (memory if asks else other).search("x")
                task.done(success=True)
            return task.retrieved

        assert await asyncio.gather(work("a", True), work("b", False)) == [(M, N), ()]
        async with memory.task("outer") as outer, memory.task("inner") as inner:
            await memory.search("x")
            inner.done(success=True)
            outer.done(success=True)
        assert outer.retrieved == inner.retrieved == (M, N), "what the inner one was given the outer one was given, too"


async def test_an_exception_ends_a_task_as_failed_and_its_words_are_not_told() -> None:
    service = Service()
    async with client(service) as memory:
        with pytest.raises(ValueError, match="hunter2"):
            async with memory.task("open valve 3"):
                raise ValueError("the password is hunter2")
    (said,) = service.tasks
    assert (said["outcome"], said["tools"]) == ("failed", ["ended by ValueError"])
    assert "hunter2" not in json.dumps(said)


async def test_without_an_outcome_it_is_unknown_and_that_is_said(caplog: pytest.LogCaptureFixture) -> None:
    service = Service()
    async with client(service) as memory, memory.task("open valve 3") as task:
        task.done(outputs="who knows")
    (said,) = service.tasks
    assert (said["outcome"], "said_by" in said, said["outputs"]) == ("unknown", False, "who knows")
    assert f"task {task.id} is recorded as unknown" in caplog.text


async def test_what_is_said_first_stands() -> None:
    async with client(Service()) as memory:
        task = memory.task("open valve 3")
        task.done(success=True)
        task.done(success=True, outputs="open")
        with pytest.raises(Invalid, match="said to have succeeded before"):
            task.done(success=False)
        with pytest.raises(Invalid, match="success=True or False"):
            task.done(by="eve")
    async with client(Service(became="finished_succeeded")) as memory:
        with pytest.raises(Invalid, match="said to have succeeded before"):
            await memory.finish_task("open valve 3", "failed", wait=True)
        receipt = await memory.finish_task("open valve 3", "succeeded", wait=True)
        assert receipt.outcome == "finished_succeeded"


async def test_what_a_task_cannot_say_is_refused_where_it_is_said_and_loses_nothing() -> None:
    service = Service()
    async with client(service) as memory:
        async with memory.task("open valve 3") as task:
            for say, field in (
                (lambda: task.given(M, "valve 3"), "retrieved"), (lambda: task.tool(" ", "opened"), "tools"),
                (lambda: task.done(success="no"), "success"), (lambda: task.done(outputs="x" * 70_000), "outputs"),
                (lambda: task.done(success=False, by=" eve"), "said_by"),
            ):  # fmt: skip
                with pytest.raises(Invalid) as refused:
                    say()
                assert refused.value.field == field
            task.tool("cat", "a\0b\ud800")
            task.done(outputs="jammed")
        for late in (lambda: task.done(outputs="late"), lambda: task.tool("late"), lambda: task.lesson("Too late."),
                     lambda: task.given(M)):  # fmt: skip
            with pytest.raises(Invalid, match="is over"):
                late()
        with pytest.raises(Invalid, match="is over"):
            async with task:
                pass
    (said,) = service.tasks
    assert (said["outcome"], said["outputs"], said["retrieved"]) == ("failed", "jammed", [])
    assert said["tools"] == ["cat: a\ufffdb?"]


async def test_one_text_is_no_list_and_what_an_episode_is_called_is_no_task() -> None:
    async with client(Service(became="stored")) as memory:
        with pytest.raises(Invalid, match="published under it before") as refused:
            await memory.finish_task("t", "failed", event_id="e", wait=True)
        assert refused.value.field == "event_id"
        for call, field in (
            (memory.finish_task("t", "failed", retrieved=M), "retrieved"),
            (memory.finish_task("t", "failed", tools="valve"), "tools"),
            (memory.finish_task("t", "failed", lessons="Grease it."), "lessons"),
            (memory.give_feedback(M, helped=M), "helped"), (memory.give_feedback(M, did_not_help=M), "did_not_help"),
            (memory.end_session("s", outcome="failed", goal="t", retrieved=M), "retrieved"),
        ):  # fmt: skip
            with pytest.raises(Invalid, match="must be a list") as refused:
                await call
            assert refused.value.field == field
    async with client(Service(became="erased")) as memory:
        assert (await memory.finish_task("t", "failed", wait=True)).outcome == "erased"


async def test_what_tools_say_fits() -> None:
    service = Service()
    async with client(service) as memory, memory.task("t") as task:
        for at in range(TOOLS_MAX + 3):
            task.tool("long", "ü" * TOOL_BYTES_MAX if at == 0 else str(at))
        task.done(success=True)
    (said,) = service.tasks
    assert len(said["tools"]) == TOOLS_MAX and said["tools"][-1] == "… and 4 more calls"
    assert len(said["tools"][0].encode()) <= TOOL_BYTES_MAX and said["tools"][0].endswith("ü…")


async def test_a_bad_task_is_refused_when_it_begins() -> None:
    async with client(Service()) as memory:
        for about in ({"goal": " "}, {"goal": "t", "seed": -1}, {"goal": "t", "configuration": "gpt"}):
            with pytest.raises(Invalid):
                memory.task(**about)
        with pytest.raises(Invalid) as refused:
            await memory.finish_task("t", "won")
        assert refused.value.field == "outcome"


async def test_a_task_that_cannot_be_recorded_says_so_unless_the_work_failed(caplog: pytest.LogCaptureFixture) -> None:
    async with client(Service(status=503)) as memory:
        with pytest.raises(Unreachable):
            async with memory.task("t") as task:
                task.done(success=True)
        with pytest.raises(KeyError):
            async with memory.task("t"):
                raise KeyError("x")
    assert "is not recorded" in caplog.text


async def test_feedback_that_does_not_count_says_why() -> None:
    service = Service(became="unfounded", why=f"never retrieved in the task: {N}")
    async with client(service) as memory:
        with pytest.raises(Invalid, match="never retrieved"):
            await memory.give_feedback(M, helped=[N], wait=True)
        assert (await memory.give_feedback(M, did_not_help=[N])).outcome is None
    path, said = service.sent[0]
    assert (path, said["task"], said["helped"]) == ("/tasks/feedback", M, [N])


def test_a_thread_of_ones_own_is_of_the_block_in_a_copy_of_its_context() -> None:
    with Memory(url="http://service", namespace="n", agent="ann") as memory, ThreadPoolExecutor(1) as pool:
        memory._memory._connections.http = httpx.AsyncClient(
            transport=httpx.MockTransport(Service()), base_url="http://service"
        )
        with memory.task("open valve 3") as task:
            pool.submit(memory.search, "x").result()
            assert task.retrieved == (), "which of several blocks it works for, a thread does not know"
            pool.submit(copy_context().run, memory.search, "x").result()
            assert task.retrieved == (M, N)
            task.done(success=True)


def test_without_an_event_loop_it_is_the_same() -> None:
    service = Service()
    with Memory(url="http://service", namespace="n", agent="ann") as memory:
        memory._memory._connections.http = httpx.AsyncClient(
            transport=httpx.MockTransport(service), base_url="http://service"
        )
        with memory.task("open valve 3") as task:
            memory.search("x")
            task.done(success=False)
        memory.search("after")
        with pytest.raises(ValueError, match="gone"), memory.task("broken"):
            raise ValueError("gone")
    assert [(said["goal"], said["outcome"], said["retrieved"]) for said in service.tasks] == [
        ("open valve 3", "failed", [M, N]), ("broken", "failed", []),
    ]  # fmt: skip
    assert task.receipt is not None and task.receipt.event_id == task.event_id


async def test_a_client_asks_of_its_own_namespace_alone() -> None:
    asked = list[httpx.URL]()

    def nothing(request: httpx.Request) -> httpx.Response:
        asked.append(request.url)
        return httpx.Response(404, json={"error": "unknown", "field": "task_id", "detail": "no such"})

    memory = AsyncMemory(url="http://service", namespace="n", agent="ann")
    memory._connections.http = httpx.AsyncClient(transport=httpx.MockTransport(nothing), base_url="http://service")
    for ask in (memory.finished_task, memory.experience):
        with pytest.raises(NotFound):
            await ask(M)
    assert [url.params.get("namespace") for url in asked] == ["n", "n"]


BADGE = "Ada Weil's badge opens hall 3 and hall 4."


class Far(Service):
    """Finds one that is near, and Ada's badge far behind it."""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path != "/search":
            return super().__call__(request)
        hits = [HIT | {"memory_id": M}, HIT | {"memory_id": N, "cosine": 0.44, "text": BADGE}]
        return httpx.Response(200, json=SEARCHED | {"hits": hits})


@pytest.mark.parametrize(("said", "asked", "named"), [
    ({"outputs": "8443"}, {}, [M]),
    ({"outputs": "8443, says Ada."}, {}, [M, N]),
    ({"tools": "asked Ada"}, {}, [M, N]),
    ({"lesson": "Ask Ada first."}, {}, [M, N]),
    ({"given": True}, {}, [M, N]),
    ({"near": 0.0}, {}, [M, N]),
    ({}, {"experience": True}, [M, N]),
])  # fmt: skip
async def test_what_is_far_behind_the_best_is_named_where_the_record_says_something_of_it(
    said: dict[str, Any], asked: dict[str, Any], named: list[str]
) -> None:
    service = Far(became="finished_succeeded")
    near = said.get("near", 0.5)
    async with client(service) as memory, memory.task("Which port does hall 3 use?", near=near) as task:
        await memory.search("hall 3", **asked)
        if "given" in said:
            task.given(N)
        if "tools" in said:
            task.tool("door", said["tools"])
        if "lesson" in said:
            task.lesson(said["lesson"])
        task.done(success=True, outputs=said.get("outputs", "done"))
        assert list(task.retrieved) == named
    assert service.tasks[0]["retrieved"] == named


async def test_what_one_answer_has_far_and_another_near_is_named() -> None:
    service = Far()
    async with client(service) as memory, memory.task("Which port does hall 3 use?") as task:
        await memory.search("hall 3")
        task._found([(N, BADGE, 0.4)])
        await memory.search("hall 3")
        task.done(success=True)
    assert service.tasks[0]["retrieved"] == [M, N]


async def test_who_says_how_a_task_ended_is_called_the_same_everywhere() -> None:
    service = Service()
    async with client(service) as memory:
        await memory.finish_task("open valve 3", "succeeded", by="eve")
    (said,) = service.tasks
    assert said["said_by"] == "eve" and "by" not in said


async def test_what_a_client_said_of_a_task_is_waited_for_where_it_reads_that() -> None:
    asked = list[httpx.URL]()
    status = 504

    def service(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            return httpx.Response(202, json={})
        asked.append(request.url)
        told = {"error": "not_yet", "field": "after", "detail": "not there"}
        return httpx.Response(status, json=told if status == 504 else WHOLE)

    async with client(cast(Service, service)) as memory:
        done = await memory.finish_task("open valve 3", "succeeded")
        with pytest.raises(NotYet):
            await memory.finished_task(done.memory_id)
        said = await memory.give_feedback(done.memory_id, helped=[M])
        status = 200
        await memory.finished_task(done.memory_id)
        await memory.finished_task(done.memory_id)
        await memory.finished_task(done.memory_id, after="n/else")
        await memory.finished_task(N)
    assert [url.params.get("after") for url in asked] == [done.token, said.token, None, "n/else", None]
