"""A task that an agent works on: what it retrieves is noted, and once it is over it is published as finished.

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
"""What may become of a task that is not kept."""


class About(TypedDict, total=False):
    """What else may be said of a task. `configuration`: what it ran under, as values of which the SHA-256 is taken, or
    that in hexadecimal; `seed`: of what was drawn in it; `subject`: whom it is about, for an erasure. One `event_id` is
    one task, and what is said of it first stands. `finished_at`: in milliseconds."""

    configuration: Configuration
    seed: int | None
    subject: str | None
    sensitivity: float | None
    purposes: Sequence[str] | None
    jurisdiction: str | None
    event_id: str | None
    finished_at: int | None


class Work:
    """What there is to say of a task while it goes on; `Task` and `SyncTask` publish it."""

    def __init__(
        self, memory: Finishing, goal: str, inputs: str | None, about: About, near: float = noting.NEAR
    ) -> None:
        self._memory, self._goal, self._inputs, self._about, self._near = memory, goal, inputs, about, near
        self.event_id = about.get("event_id") or str(uuid.uuid4())
        self.receipt: Receipt | None = None
        """What was published, once it is over."""
        # Of what was given far behind the best of its answer, its text.
        self._given: dict[str, str | None] = {}
        self._tools: list[str] = []
        self._ended: tuple[str, str | None] | None = None
        self._outputs: str | None = None
        self._lessons: list[dict[str, Any]] = []
        self._closed = False
        # What it says is held against the wall now, rather than when the work is done.
        self._memory._finished(self._said(UNKNOWN, None))

    @property
    def id(self) -> str:
        """The id that the task's record has: what feedback names."""
        return ids.memory_id(self._memory.namespace, self.event_id)

    @property
    def retrieved(self) -> tuple[str, ...]:
        """The memories that it was given so far and names, in the order in which they came: those that were not far
        behind the best of their answer, and those that its outputs, tools or lessons say something of."""
        asked = [self._goal, self._inputs or ""]
        record = [self._outputs or "", *self._tools, *(str(one.get("content", "")) for one in self._lessons)]
        return tuple(
            memory_id
            for memory_id, text in self._given.items()
            if text is None or noting.speaks_of(record, text, asked)
        )

    def given(self, *memory_ids: str) -> None:
        """Notes memories that the task was given otherwise than by this client while it is open. Raises Invalid."""
        self._goes_on()
        for one in memory_ids:
            if not isinstance(one, str) or uuid_of(one) is None:
                raise Invalid("bad_id", "retrieved", f"{one!r:.80} is no id of a memory")
        self._note(dict.fromkeys(memory_ids))

    def _note(self, given: Mapping[str, str | None]) -> None:
        """`given`: memories, and of what may be far from what was asked its text."""
        for memory_id, text in given.items():
            # What was near once is named.
            if memory_id not in self._given or self._given[memory_id] is not None:
                self._given[memory_id] = text

    def _found(self, found: Sequence[tuple[str, str, float | None]]) -> None:
        """Notes an answer: id, text and cosine of each; without a cosine all of it is near."""
        cosines = [cosine for _, _, cosine in found if cosine is not None]
        whole = len(cosines) < len(found)
        behind = (False,) * len(found) if whole else noting.far(cosines, self._near)
        self._note({one: text if away else None for (one, text, _), away in zip(found, behind, strict=True)})

    def tool(self, name: str, summary: str = "") -> None:
        """Notes a call of a tool, and in short what it answered. What is longer than 4 KiB is cut, and what no text can
        hold is replaced. Raises Invalid."""
        self._goes_on()
        if not name.strip():
            raise Invalid("empty_value", "tools", "blank; name the tool")
        told = f"{name}: {summary}" if summary else name
        said = told.replace("\0", "\ufffd").encode(errors="replace")
        if len(said) > TOOL_BYTES_MAX:
            said = said[: TOOL_BYTES_MAX - len(_CUT.encode())].decode(errors="ignore").encode() + _CUT.encode()
        self._tools.append(said.decode())

    def lesson(self, text: str, **said: Unpack[Episode]) -> str:
        """Notes what is to be learned of the task: a memory that is made of it, published after it. The task does not
        judge whether that helps, and it is erased with it. Returns the memory's id. Raises Invalid.

        What else is `said` of it: see `Episode`."""
        self._goes_on()
        checked = self._memory._lesson(self.id, len(self._lessons), {**said, "content": text})
        self._lessons.append(checked)
        return ids.memory_id(checked["namespace"], checked["event_id"])

    def done(self, *, success: bool | None = None, outputs: str | None = None, by: str | None = None) -> None:
        """Says how the task ended, and what it gave. `by`: who says so; without it this agent. What is said first
        stands: raises Invalid for another outcome, and for what no task can say; the outcome stands then, too."""
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
            raise Invalid("missing_field", "success", "say success=True or False: somebody says how it ended")
        told = self._outputs if outputs is None else outputs
        # It is held against the wall now: at the end of the block all of it would be lost.
        self._memory._finished({**self._said(*(ended or (UNKNOWN, None))), "outputs": told})
        self._ended, self._outputs = ended, told

    def _goes_on(self) -> None:
        if self._closed:
            raise Invalid("contradicted", None, f"task {self.id} is over and was told of: what comes later is feedback")

    def _over(self, error: BaseException | None) -> dict[str, Any]:
        """What is published; of an exception its kind alone, as its words may hold anything."""
        if error is not None and self._ended is None:
            self._ended = FAILED, None
            self._tools.append(f"ended by {type(error).__name__}")
        if self._ended is None:
            _LOG.warning(
                "task %s is recorded as %s: nobody said how it ended, as task.done(success=True) does", self.id, UNKNOWN
            )
        return self._said(*(self._ended or (UNKNOWN, None)))

    def _said(self, outcome: str, by: str | None) -> dict[str, Any]:
        given = self.retrieved
        if len(given) > FOUND_MAX:
            _LOG.warning("task %s was given %d memories: the first %d are told", self.id, len(given), FOUND_MAX)
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
    """Notes what a client gives for the tasks of that client that are open where it was asked: in the same thread or
    asyncio task, and in what asyncio began there; another thread runs in a copy of the block's context to be of it."""
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
        """Raises what kept the record back, unless the block has failed itself: that is what there is to know."""
        if error is None:
            raise problem
        _LOG.warning("task %s is not recorded: %s", self.id, problem)


class Task(_Opened):
    """A task for `async with`. What is retrieved in it is noted; at its end it is published, as failed where an
    exception ended it, of which only the kind is told."""

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
    """What a client can say of tasks that are finished, and of what helped in them. All raise Invalid, NotAllowed and
    Unreachable."""

    _said_of: OrderedDict[str, Receipt]
    """What was published of a task last, by tasks."""
    _signer: Signer | None

    @property
    def namespace(self) -> str:
        """Where the tasks belong."""
        raise NotImplementedError

    @property
    def agent(self) -> str:
        """Who works on them."""
        raise NotImplementedError

    @property
    def _signs(self) -> bool:
        """Whether the client signs what it publishes."""
        return self._signer is not None

    @property
    def _driven(self) -> bool:
        """Whether time there follows no wall clock."""
        raise NotImplementedError

    async def outcome(self, receipt: Receipt, timeout: float = 30.0) -> Receipt:
        """What became of what was published."""
        raise NotImplementedError

    async def add_all(self, episodes: Iterable[Mapping[str, Any]]) -> list[Receipt]:
        """Publishes what happened."""
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
        """The namespace, where the client was told one."""
        raise NotImplementedError

    def task(self, goal: str, *, inputs: str | None = None, near: float = noting.NEAR, **about: Unpack[About]) -> Task:
        """A task for `async with`: what is searched, retrieved, recalled or put into a context through this client
        while it is open is noted as what it was given. Raises Invalid.

        `near`: what a search or a retrieval gives whose cosine is less than this share of the best one's is named only
        where outputs, tools or lessons say something of it; 0 names all. What experience gives is always named."""
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
        """Publishes a task that is finished. `outcome`: succeeded, failed, or unknown, says `by` (this agent);
        `tools`: a summary of each call of one; `retrieved`: the memories that it was given, best first; `lessons`: what
        is to be learned of it, as texts or as episodes: memories that are made of it, published once it is kept.

        With `wait` it returns once the task is kept, and its lessons are searchable; it raises Invalid where the task
        was said to have ended otherwise before: that stands. The receipt's `memory_id` is the task's."""
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
        """Publishes lessons of a task behind it: what is made of it is no freer than it, as far as it is known then."""
        try:
            await self.outcome(task, timeout)
        except MemquorumError as problem:
            _LOG.warning("lessons are published before task %s was seen: %s", task.memory_id, problem)
        receipts = await self.add_all(lessons)
        return tuple([await self.outcome(one, timeout) for one in receipts] if wait else receipts)

    def _lesson_of(self, task: str, place: int, said: str | Mapping[str, Any]) -> dict[str, Any]:
        """The same, where it is one of several: what is wrong with one names them."""
        try:
            return self._lesson(task, place, said)
        except Invalid as wrong:
            told = "" if wrong.field in (None, "content", "lessons") else f"{wrong.field}: "
            raise Invalid(wrong.reason, "lessons", f"lesson {place + 1}: {told}{wrong.detail}") from None

    def _lesson(self, task: str, place: int, said: str | Mapping[str, Any]) -> dict[str, Any]:
        """A lesson of a task as the episode that it is; `place`: the how manieth of them. Raises Invalid."""
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
        """Says which of the memories that a task was given have helped in it, and which have not. `task`: its id,
        or what was published of it.

        With `wait` it returns once that counts, and raises Invalid where it does not: for what the task was never
        given, or for no task."""
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
        """The finished tasks here, the latest first: what was to be done, how it ended, says whom, and what it was
        given. `subjects`: those that are about one of these; `memory_id`: that were given this memory. `after`: a
        write that is waited for."""
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
        """A finished task whole: its texts, what it was given, and what is said to have helped. Raises NotFound, also
        for one that the `gates` keep back, and where the client was told its namespace for one of another. `task`: its
        id, or what was published of it, as `end_session` tells it.

        It waits until the write `after` is seen; without one until what this client said of the task last is. Raises
        NotYet where that is not in time."""
        task = _id_of(task)
        behind = wire.after(self._said_of.get(task) if after is None else after)
        path = f"/tasks/{wire.path_id(task)}"
        found = await self._get(FinishedTask, path, **self._within(), **behind, **wire.gates(gates))
        self._said_of.pop(task, None)
        return found

    def _told_of(self, task: str, receipt: Receipt) -> None:
        """Notes what was published of a task last, of the tasks that were spoken of lately."""
        self._said_of[task] = receipt
        self._said_of.move_to_end(task)
        if len(self._said_of) > _SAID_MOST:
            self._said_of.popitem(last=False)

    async def experience(self, memory_id: str, *, after: After = None, **gates: Unpack[Gates]) -> Admission:
        """Where a memory stands on its way into experience, and why: what verifiers found, how members voted, what it
        weighs. Raises NotFound, also for one that the `gates` keep back, and where the client was told its namespace
        for one of another."""
        path = f"/experience/{wire.path_id(memory_id)}"
        return await self._get(Admission, path, **self._within(), **wire.after(after), **wire.gates(gates))

    async def experiences(
        self, *, statuses: Sequence[str] | None = None, redact: bool | None = None, after: After = None,
        **page: Unpack[Passed],
    ) -> Experiences:  # fmt: skip
        """The memories here that were tried, those that changed last first: how each stands, what it weighs, in how
        many tasks it helped and did harm, and how its text begins. `statuses`: those that stand so, of provisional,
        agreed, admitted, rejected, demoted, removed, resting and left; `redact`: as of `tasks`. `after`: a write that
        is waited for."""
        said = {"statuses": statuses and wire.several("statuses", statuses), "redact": redact, **page}
        asked = {name: value for name, value in said.items() if value is not None}
        body = {"namespace": self.namespace, **asked}
        return await self._ask(Experiences, "POST", "/experience/list", json=body, params=wire.after(after))

    def _finished(self, said: Mapping[str, Any]) -> tuple[Receipt, bytes]:
        """A finished task as it is sent. Raises Invalid."""
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
    """The id of a task, which what was published of it has."""
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
    """The SHA-256, in hexadecimal, of what a task ran under; as it is where it is given so. Raises Invalid."""
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
