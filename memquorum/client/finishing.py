"""Publishes finished tasks: notes the memories that an agent retrieves during a task, and publishes both when it is
over.

async with memory.task("open valve 3", inputs="4 bar") as task:
    found = await memory.retrieve("valve 3")
    task.tool("valve", "opened at 4.0 bar")
    task.done(success=True, outputs="valve 3 is open")
"""

from __future__ import annotations

import hashlib
import json
import logging
import uuid
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from contextvars import ContextVar, Token
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, TypedDict, TypeVar, Unpack

from memquorum import topics
from memquorum.client import wire
from memquorum.client.errors import Invalid, MemquorumError
from memquorum.client.overseeing import Passed
from memquorum.client.signer import Signer
from memquorum.client.values import Episode, Gates, Receipt
from memquorum.core import ids
from memquorum.core.api.answers import Admission, Experiences, FinishedTask, Published, Tasks
from memquorum.core.experience import noting
from memquorum.core.experience.texts import ENDED, FAILED, OUTCOMES, SUCCEEDED, UNKNOWN
from memquorum.core.intake import FOUND_MAX, TOOL_BYTES_MAX, TOOLS_MAX
from memquorum.core.names import uuid as uuid_of

T = TypeVar("T")
Configuration = Mapping[str, Any] | str | None
After = Receipt | str | None

_LOG = logging.getLogger("memquorum.client")
_CUT = "…"
_SAID_MOST = 1_000
_LOST = (None, "erased", "failed", "unreadable", "taken")
"""The outcomes of a task that was not kept."""


class About(TypedDict, total=False):
    """The optional fields of a task. `configuration`: what it ran under, as values, which are hashed, or as their
    SHA-256 in hexadecimal; `seed`: of its random numbers; `subject`: whom it is about, for an erasure. One `event_id`
    is one task, and its first record stands. `finished_at`: in milliseconds."""

    configuration: Configuration
    seed: int | None
    subject: str | None
    sensitivity: float | None
    purposes: Sequence[str] | None
    jurisdiction: str | None
    event_id: str | None
    finished_at: int | None


class Work:
    """Collects the record of a task while it is open; `Task` and `SyncTask` publish it."""

    def __init__(
        self, memory: Finishing, goal: str, inputs: str | None, about: About, near: float = noting.NEAR
    ) -> None:
        self._memory, self._goal, self._inputs, self._about, self._near = memory, goal, inputs, about, near
        self.event_id = about.get("event_id") or str(uuid.uuid4())
        self.receipt: Receipt | None = None
        """The receipt of the published record, once the task is over."""
        # By memory id: the text of a memory far behind the best of its answer, None for one that was near.
        self._given: dict[str, str | None] = {}
        self._tools: list[str] = []
        self._ended: tuple[str, str | None] | None = None
        self._outputs: str | None = None
        self._lessons: list[dict[str, Any]] = []
        self._closed = False
        # Checked now, rather than when the work is done.
        self._memory._finished(self._said(UNKNOWN, None))

    @property
    def id(self) -> str:
        """The id of the task's record, which feedback names."""
        return ids.memory_id(self._memory.namespace, self.event_id)

    @property
    def retrieved(self) -> tuple[str, ...]:
        """The memories given to the task that its record names, in the order in which they came: those not far behind
        the best of their answer, and those that its outputs, tools or lessons mention."""
        asked = [self._goal, self._inputs or ""]
        record = [self._outputs or "", *self._tools, *(str(one.get("content", "")) for one in self._lessons)]
        return tuple(
            memory_id
            for memory_id, text in self._given.items()
            if text is None or noting.speaks_of(record, text, asked)
        )

    def given(self, *memory_ids: str) -> None:
        """Notes memories that the task got by other means than this client while it is open. Raises Invalid."""
        self._goes_on()
        for one in memory_ids:
            if not isinstance(one, str) or uuid_of(one) is None:
                raise Invalid("bad_id", "retrieved", f"{one!r:.80} is no id of a memory")
        self._note(dict.fromkeys(memory_ids))

    def _note(self, given: Mapping[str, str | None]) -> None:
        """Notes memories. `given`: by memory id, None, or the text of a memory that may be far from the query."""
        for memory_id, text in given.items():
            # A memory that was near once stays named.
            if memory_id not in self._given or self._given[memory_id] is not None:
                self._given[memory_id] = text

    def _found(self, found: Sequence[tuple[str, str, float | None]]) -> None:
        """Notes an answer: id, text and cosine of each; without a cosine all of it is near."""
        cosines = [cosine for _, _, cosine in found if cosine is not None]
        whole = len(cosines) < len(found)
        behind = (False,) * len(found) if whole else noting.far(cosines, self._near)
        self._note({one: text if away else None for (one, text, _), away in zip(found, behind, strict=True)})

    def tool(self, name: str, summary: str = "") -> None:
        """Notes a call of a tool and a short summary of its answer. Cuts more than 4 KiB, and replaces characters that
        no text can hold. Raises Invalid."""
        self._goes_on()
        if not name.strip():
            raise Invalid("empty_value", "tools", "blank; name the tool")
        told = f"{name}: {summary}" if summary else name
        said = told.replace("\0", "\ufffd").encode(errors="replace")
        if len(said) > TOOL_BYTES_MAX:
            said = said[: TOOL_BYTES_MAX - len(_CUT.encode())].decode(errors="ignore").encode() + _CUT.encode()
        self._tools.append(said.decode())

    def lesson(self, text: str, **said: Unpack[Episode]) -> str:
        """Notes a lesson of the task: a memory derived from it, published after it. The task is no evidence for the
        lesson, and erasing the task erases it. Returns the memory's id. Raises Invalid.

        `said`: further fields, see `Episode`."""
        self._goes_on()
        checked = self._memory._lesson(self.id, len(self._lessons), {**said, "content": text})
        self._lessons.append(checked)
        return ids.memory_id(checked["namespace"], checked["event_id"])

    def done(self, *, success: bool | None = None, outputs: str | None = None, by: str | None = None) -> None:
        """Notes the outcome of the task and its outputs. `by`: who judges the outcome (default: this agent). The first
        outcome stands: raises Invalid for another one, and for values that a task cannot hold; a raised error changes
        nothing."""
        self._goes_on()
        if not isinstance(success, bool | None):
            raise Invalid("wrong_type", "success", f"say True or False, not {success!r:.80}")
        ended = self._ended
        if success is not None:
            outcome = SUCCEEDED if success else FAILED
            if ended is not None and ended[0] != outcome:
                raise Invalid("contradicted", "outcome", f"it was said to have {ended[0]} before, and that stands")
            ended = ended or (outcome, by)
            self._ended = self._ended or (outcome, None)
        elif by is not None:
            raise Invalid("missing_field", "success", "give success=True or False together with by")
        told = self._outputs if outputs is None else outputs
        # Checked now: at the end of the block the whole record would be lost.
        self._memory._finished({**self._said(*(ended or (UNKNOWN, None))), "outputs": told})
        self._ended, self._outputs = ended, told

    def _goes_on(self) -> None:
        if self._closed:
            raise Invalid("contradicted", None, f"task {self.id} is over and published: use give_feedback")

    def _over(self, error: BaseException | None) -> dict[str, Any]:
        """The record to publish; of an exception only its type, as its message may hold anything."""
        if error is not None and self._ended is None:
            self._ended = FAILED, None
            self._tools.append(f"ended by {type(error).__name__}")
        if self._ended is None:
            _LOG.warning(
                "task %s is recorded as %s: call task.done(success=True) or done(success=False) in its block",
                self.id,
                UNKNOWN,
            )
        return self._said(*(self._ended or (UNKNOWN, None)))

    def _said(self, outcome: str, by: str | None) -> dict[str, Any]:
        given = self.retrieved
        if len(given) > FOUND_MAX:
            _LOG.warning(
                "task %s was given %d memories: only the first %d are published", self.id, len(given), FOUND_MAX
            )
        more = len(self._tools) - TOOLS_MAX
        tools = self._tools if more <= 0 else [*self._tools[: TOOLS_MAX - 1], f"{_CUT} and {more + 1} more calls"]
        return {
            **self._about, "event_id": self.event_id, "goal": self._goal, "inputs": self._inputs, "outcome": outcome,
            "by": by, "outputs": self._outputs, "tools": tools, "retrieved": given[:FOUND_MAX],
        }  # fmt: skip

    def _noted(self) -> dict[str, Any]:
        return {"lessons": self._lessons} if self._lessons else {}


_OPEN: ContextVar[tuple[Work, ...]] = ContextVar("memquorum_tasks", default=())


def note(memory: Finishing, found: Sequence[tuple[str, str, float | None]]) -> None:
    """Notes memories that a client gave in each of its tasks open in this context: in the same thread or asyncio task,
    or in an asyncio task started there; another thread has to run in a copy of the context."""
    for one in _OPEN.get():
        if one._memory is memory:
            one._found(found)


class _Opened(Work):
    """Work that is open for as long as a block."""

    _token: Token[tuple[Work, ...]] | None = None

    def _open(self) -> None:
        self._goes_on()
        self._token = _OPEN.set((*_OPEN.get(), self))

    def _close(self) -> None:
        self._closed = True
        if self._token is not None:
            _OPEN.reset(self._token)
            self._token = None

    def _unpublished(self, problem: MemquorumError, error: BaseException | None) -> None:
        """Raises the error that kept the record back, unless the block itself failed: then that error matters more."""
        if error is None:
            raise problem
        _LOG.warning("task %s is not recorded: %s", self.id, problem)


class Task(_Opened):
    """A task for `async with`. Notes what is retrieved in it and publishes it at its end, as failed if an exception
    ended it; only the exception's type is published."""

    async def __aenter__(self) -> Self:
        self._open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()
        try:
            self.receipt = await self._memory.finish_task(**self._over(error), **self._noted())
        except MemquorumError as problem:
            self._unpublished(problem, error)


class Finishing:
    """The client's methods for finished tasks and feedback about them. All raise Invalid, NotAllowed and
    Unreachable."""

    _said_of: OrderedDict[str, Receipt]
    """The last receipt of each task that this client published about."""
    _signer: Signer | None

    @property
    def namespace(self) -> str:
        """The namespace of the tasks."""
        raise NotImplementedError

    @property
    def agent(self) -> str:
        """The agent that works on the tasks."""
        raise NotImplementedError

    @property
    def _signs(self) -> bool:
        """True if the client signs its records."""
        return self._signer is not None

    @property
    def _driven(self) -> bool:
        """True if records drive the service's clock in place of the wall clock."""
        raise NotImplementedError

    async def outcome(self, receipt: Receipt, timeout: float = 30.0) -> Receipt:
        """Waits for the outcome of a published record."""
        raise NotImplementedError

    async def add_all(self, episodes: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """Publishes episodes."""
        raise NotImplementedError

    def _episode(self, episode: Mapping[str, Any]) -> tuple[Receipt, bytes]:
        raise NotImplementedError

    async def _send(self, topic: str, kind: str, records: list[tuple[str, str, bytes]]) -> list[str | None]:
        raise NotImplementedError

    async def _ask(self, kind: type[T], method: str, path: str, **request: Any) -> T:
        raise NotImplementedError

    async def _get(self, kind: type[T], path: str, **parameters: Any) -> T:
        raise NotImplementedError

    def _within(self) -> dict[str, str]:
        """The query parameter that names the namespace, if the client was given one."""
        raise NotImplementedError

    def task(self, goal: str, *, inputs: str | None = None, near: float = noting.NEAR, **about: Unpack[About]) -> Task:
        """Opens a task for `async with`: it notes what this client searches, retrieves, recalls or puts into a context
        while it is open. Raises Invalid.

        `near`: a memory found by search or retrieval whose cosine is below this share of the best one's is named only
        if outputs, tools or lessons mention it; 0 names all. Memories of experience are always named."""
        return Task(self, goal, inputs, about, near)

    async def finish_task(
        self,
        goal: str,
        outcome: str,
        *,
        by: str | None = None,
        inputs: str | None = None,
        outputs: str | None = None,
        tools: Sequence[str] = (),
        retrieved: Sequence[str] = (),
        lessons: Sequence[str | Mapping[str, Any]] = (),
        wait: bool = False,
        timeout: float = 30.0,
        **about: Unpack[About],
    ) -> Receipt:
        """Publishes a task that is finished. `outcome`: succeeded, failed, or unknown, as judged by `by` (this agent);
        `tools`: a summary of each tool call; `retrieved`: the memories that it was given, best first; `lessons`: texts
        or episodes derived from it, published once it is kept.

        With `wait` it returns once the task is kept and its lessons are searchable; it raises Invalid if another
        outcome of the task was published before, which stands. The receipt's `memory_id` is the task's."""
        event_id = about.get("event_id") or str(uuid.uuid4())
        said = {
            **about, "event_id": event_id, "goal": goal, "outcome": outcome, "by": by, "inputs": inputs,
            "outputs": outputs, "tools": tools, "retrieved": retrieved,
        }  # fmt: skip
        receipt, data = self._finished(said)
        lessons = wire.several("lessons", lessons)
        learned = [self._lesson_of(receipt.memory_id, at, one) for at, one in enumerate(lessons)]
        (place,) = await self._send(topics.TASKS, "TaskFinished", [(receipt.namespace, receipt.event_id, data)])
        receipt = replace(receipt, place=place)
        self._told_of(receipt.memory_id, receipt)
        if learned:
            receipt = replace(receipt, lessons=await self._learned(receipt, learned, wait, timeout))
        if not wait:
            return receipt
        found = await self.outcome(receipt, timeout)
        before = (found.outcome or "").removeprefix(ENDED)
        if before in OUTCOMES and before != outcome:
            raise Invalid("contradicted", "outcome", f"the task was said to have {before} before, and that stands")
        if found.outcome not in _LOST and before not in OUTCOMES:
            told = f"an episode was published under it before, which is {found.outcome}: a task needs one of its own"
            raise Invalid("contradicted", "event_id", told)
        return found

    async def _learned(
        self, task: Receipt, lessons: Sequence[Mapping[str, Any]], wait: bool, timeout: float
    ) -> tuple[Receipt, ...]:
        """Publishes lessons of a task after it: they are under its restrictions, as far as they are known then."""
        try:
            await self.outcome(task, timeout)
        except MemquorumError as problem:
            _LOG.warning("lessons are published before task %s was seen: %s", task.memory_id, problem)
        receipts = await self.add_all(lessons)
        return tuple([await self.outcome(one, timeout) for one in receipts] if wait else receipts)

    def _lesson_of(self, task: str, place: int, said: str | Mapping[str, Any]) -> dict[str, Any]:
        """Checks one of several lessons; an error names its place among them."""
        try:
            return self._lesson(task, place, said)
        except Invalid as wrong:
            told = "" if wrong.field in (None, "content", "lessons") else f"{wrong.field}: "
            raise Invalid(wrong.reason, "lessons", f"lesson {place + 1}: {told}{wrong.detail}") from None

    def _lesson(self, task: str, place: int, said: str | Mapping[str, Any]) -> dict[str, Any]:
        """A lesson of a task as an episode; `place`: its index among the lessons. Raises Invalid."""
        told = {"content": said} if isinstance(said, str) else _mapping(said)
        if told.get("namespace") not in (None, self.namespace):
            raise Invalid("out_of_range", "namespace", f"a lesson stays with its task, in {self.namespace!r}")
        made_of = dict.fromkeys((task, *(told.get("derives_from") or ())))
        event_id = told.get("event_id") or ids.lesson_event_id(str(told.get("agent") or self.agent), task, place)
        episode = {**told, "namespace": self.namespace, "derives_from": list(made_of), "event_id": event_id}
        self._episode(episode)
        return episode

    async def give_feedback(
        self,
        task: str | Receipt | Published,
        *,
        helped: Sequence[str] = (),
        did_not_help: Sequence[str] = (),
        event_id: str | None = None,
        wait: bool = False,
        timeout: float = 30.0,
    ) -> Receipt:
        """Says which of the memories given to a task helped in it, and which did not. `task`: its id, or the receipt of
        its record.

        With `wait` it returns once the feedback counts, and raises Invalid if it does not: the task was not given this
        memory, or there is no such task."""
        task, event_id = _id_of(task), event_id or str(uuid.uuid4())
        said = {
            "agent": self.agent, "namespace": self.namespace, "event_id": event_id, "task": task,
            "helped": wire.several("helped", helped), "did_not_help": wire.several("did_not_help", did_not_help),
        }  # fmt: skip
        data = wire.checked(topics.FEEDBACK, said, signs=self._signs)[1]
        (place,) = await self._send(topics.FEEDBACK, "FeedbackGiven", [(self.namespace, event_id, data)])
        receipt = Receipt(self.namespace, event_id, task, place=place)
        self._told_of(task, receipt)
        if not wait:
            return receipt
        found = await self.outcome(receipt, timeout)
        if found.why:
            raise Invalid("unfounded", None, found.why)
        return found

    async def tasks(
        self,
        *,
        outcomes: Sequence[str] | None = None,
        agents: Sequence[str] | None = None,
        subjects: Sequence[str] | None = None,
        memory_id: str | None = None,
        redact: bool | None = None,
        after: After = None,
        **page: Unpack[Passed],
    ) -> Tasks:
        """Lists the finished tasks here, the latest first: goal, outcome, who judged it, and the memories it was given.
        `subjects`: tasks about one of these; `memory_id`: tasks that were given this memory. `after`: waits until this
        write is seen."""
        said = {
            "outcomes": outcomes, "agents": agents, "subjects": subjects, "memory_id": memory_id, "redact": redact,
            **page,
        }  # fmt: skip
        asked = {name: value for name, value in said.items() if value is not None}
        body = {"namespace": self.namespace, **asked}
        return await self._ask(Tasks, "POST", "/tasks/list", json=body, params=wire.after(after))

    async def finished_task(
        self, task: str | Receipt | Published, *, after: After = None, **gates: Unpack[Gates]
    ) -> FinishedTask:
        """Returns a finished task whole: its texts, the memories it was given, and the feedback about them. Raises
        NotFound, also for a task that the `gates` leave out, and, if the client was given its namespace, for a task of
        another. `task`: its id, or the receipt of its record, as `end_session` returns it.

        Waits until the write `after` is seen (default: the last one that this client published about the task). Raises
        NotYet if it is not seen in time."""
        task = _id_of(task)
        behind = wire.after(self._said_of.get(task) if after is None else after)
        path = f"/tasks/{wire.path_id(task)}"
        found = await self._get(FinishedTask, path, **self._within(), **behind, **wire.gates(gates))
        self._said_of.pop(task, None)
        return found

    def _told_of(self, task: str, receipt: Receipt) -> None:
        """Notes the last receipt of a task; keeps the tasks published about most recently."""
        self._said_of[task] = receipt
        self._said_of.move_to_end(task)
        if len(self._said_of) > _SAID_MOST:
            self._said_of.popitem(last=False)

    async def experience(self, memory_id: str, *, after: After = None, **gates: Unpack[Gates]) -> Admission:
        """Returns how far a memory's admission to experience is, and why: findings of verifiers, votes of members, and
        its weight. Raises NotFound, also for a memory that the `gates` leave out, and, if the client was given its
        namespace, for a memory of another."""
        path = f"/experience/{wire.path_id(memory_id)}"
        return await self._get(Admission, path, **self._within(), **wire.after(after), **wire.gates(gates))

    async def experiences(
        self, *, statuses: Sequence[str] | None = None, redact: bool | None = None, after: After = None,
        **page: Unpack[Passed],
    ) -> Experiences:  # fmt: skip
        """Lists the memories here that were tried in tasks, the most recently changed first: status, weight, in how
        many tasks each helped and did harm, and the beginning of its text. `statuses`: provisional, agreed, admitted,
        rejected, demoted, removed, resting or left; `redact`: as for `tasks`. `after`: waits until this write is
        seen."""
        said = {"statuses": statuses and wire.several("statuses", statuses), "redact": redact, **page}
        asked = {name: value for name, value in said.items() if value is not None}
        body = {"namespace": self.namespace, **asked}
        return await self._ask(Experiences, "POST", "/experience/list", json=body, params=wire.after(after))

    def _finished(self, said: Mapping[str, Any]) -> tuple[Receipt, bytes]:
        """The record of a finished task, checked and encoded. Raises Invalid."""
        value: dict[str, Any] = {"agent": self.agent, "namespace": self.namespace}
        told = {("said_by" if name == "by" else name): one for name, one in said.items()}
        value |= {name: one for name, one in told.items() if one is not None}
        lists = [name for name in ("tools", "retrieved", "purposes") if name in value]
        value |= {name: wire.several(name, value[name]) for name in lists}
        if "configuration" in value:
            value["configuration"] = configured(value["configuration"])
        data = wire.checked(topics.TASKS, value, signs=self._signs, driven=self._driven)[1]
        namespace, event_id = str(value["namespace"]), str(value["event_id"])
        return Receipt(namespace, event_id, ids.memory_id(namespace, event_id), agent=str(value["agent"])), data


def _id_of(task: str | Receipt | Published) -> str:
    """The id of a task, given as such or by the receipt of its record."""
    found = task.memory_id if isinstance(task, Receipt | Published) else task
    wire.path_id(found)
    return found


def _mapping(said: Any) -> Mapping[str, Any]:
    if not isinstance(said, Mapping):
        raise Invalid(
            "wrong_type", "lessons", f"a lesson is a text, or a mapping of an episode's fields, not {said!r:.80}"
        )
    return said


def configured(said: Configuration) -> str | None:
    """The SHA-256, in hexadecimal, of a task's configuration; a digest is returned as it is. Raises Invalid."""
    if said is None or isinstance(said, str):
        return said
    try:
        told = json.dumps(said, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Invalid("wrong_type", "configuration", f"not plain JSON values: {error}") from None
    return hashlib.sha256(told.encode()).hexdigest()


class SyncTask(_Opened):
    """A task for `with`, as `Task` is for `async with`."""

    def __init__(self, work: Task, run: Any) -> None:
        """`run`: runs a coroutine on the client's loop."""
        about: About = {**work._about, "event_id": work.event_id}
        super().__init__(work._memory, work._goal, work._inputs, about, work._near)
        self._run = run

    def __enter__(self) -> Self:
        self._open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._close()
        try:
            self.receipt = self._run(self._memory.finish_task(**self._over(error), **self._noted()))
        except MemquorumError as problem:
            self._unpublished(problem, error)
