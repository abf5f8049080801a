"""Tools that need more than one call of the client: writes that reads wait for, updates, and the tools that other hosts
of MCP expect under their names."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from msgspec import Struct, structs

from memquorum.client.errors import Busy, Invalid, NotFound, NotYet
from memquorum.client.memory import AsyncMemory
from memquorum.client.values import REUSED, Receipt
from memquorum.core.api.answers import Admission, Became, Ended, Experienced, Hit, Ordered, Published, Rollup, Shown
from memquorum.core.records import Link
from memquorum.core.retrieval.query import answerable

T = TypeVar("T")
_TITLE = 80
_OF_A_LIST = ("statuses", "limit", "cursor")
_PENDING = (
    "pending or unknown: nothing has come of it yet, or nothing was published under this id; ask again in a second"
)


class Added(Published, frozen=True, kw_only=True):
    """The receipt of a published episode. `outcome`, if it was waited for: stored, reinforced (a memory has the same
    content already: `memory_id` is that one), below_threshold (it is not kept: set explicit if it has to be), reused
    (you used this event_id before for another content: this one is not kept, `memory_id` is the memory that stays;
    leave event_id out), taken (another agent used it), erased, failed or unreadable. `nowhere`: links to memories that
    do not exist, which have no effect. `token`: the value that a read takes as `after` to see it; reads in the same
    session do so by themselves."""

    outcome: str | None = None
    nowhere: tuple[Link, ...] = ()


class Updated(Added, frozen=True, kw_only=True):
    """The receipt of an update. `by`: "slot" if both fill the same slot, so that the agent's own old memory is replaced
    at once; "vote" if members vote on it. Until then both are found, with conflicts_with."""

    replaces: str
    by: str


class Deleted(Published, frozen=True, kw_only=True):
    """The result of a deletion. `outcome`: cleared, empty (the slot was empty), or contested (a memory stays).
    `hidden`: the memories that are served no more; their text is kept, and restore_memory asks the members for them.
    `stays`: memories that another agent wrote or repeated, or that are pinned: propose_forget has the members vote."""

    outcome: str | None
    hidden: tuple[str, ...]
    stays: tuple[str, ...]


class Status(Became, frozen=True, kw_only=True):
    """The outcome of an event. `status`: the outcome in a word, or that it has none yet."""

    status: str


class Kept(Published, frozen=True, kw_only=True):
    """The receipt of a task: `memory_id` is the task's id. `outcome`, if it was waited for: finished_succeeded,
    finished_failed or finished_unknown; of feedback assessed. `lessons`: the ids of its lessons."""

    outcome: str | None = None
    lessons: tuple[str, ...] = ()


class Experience(Struct, frozen=True):
    """Memories that were tried in tasks, the most recently changed first; `counts`: the number by status, on the first
    page; `next`: the cursor of the next page. Or `why`: the status of the requested memory, and why."""

    namespace: str
    memories: tuple[Experienced, ...] = ()
    counts: dict[str, int] = {}
    next: str | None = None
    why: Admission | None = None


class Found(Struct, frozen=True):
    """The memories that were found, nearest first. `answerable`: false if they probably do not answer the query.
    `rollups`: of things that the query names, each with its latest sentences."""

    hits: tuple[Hit, ...]
    answerable: bool = False
    rollups: tuple[Rollup, ...] = ()


class Result(Struct, frozen=True):
    """A memory in short: its id, the beginning of its text, and its address."""

    id: str
    title: str
    url: str


class Results(Struct, frozen=True):
    """Memories in short, nearest first."""

    results: tuple[Result, ...]


class Document(Result, frozen=True):
    """A memory: its text and metadata."""

    text: str
    metadata: dict[str, Any]


class Last:
    """The last write, until a read has seen it."""

    def __init__(self) -> None:
        self.token: str | None = None

    def wrote(self, token: str) -> None:
        """Notes a write that the next read waits for."""
        self.token = token

    def saw(self, token: str) -> None:
        """Notes that a read has seen it: later reads need not wait."""
        if self.token == token:
            self.token = None


class Call:
    """One call of a tool: its client, the previous write, and the rights of the key."""

    def __init__(self, memory: AsyncMemory, rights: frozenset[str], last: Last) -> None:
        self.memory, self.rights, self.last = memory, rights, last
        self.notes: list[str] = []
        self.busy: Busy | None = None

    def url(self, memory_id: str) -> str:
        """The address at which the service shows a memory."""
        return f"{self.memory.url}/memories/{memory_id}"

    async def read(self, ask: Callable[..., Awaitable[T]], *named: Any, after: str | None = None, **said: Any) -> T:
        """Reads after the write that `after` names, or else after the last write here."""
        if after is not None:
            return await ask(*named, after=after, **said)
        token = self.last.token
        if token is None:
            return await ask(*named, **said)
        try:
            found = await ask(*named, after=token, **said)
        except NotYet:
            found = await ask(*named, **said)
            self.notes.append(
                f"This does not have what was written last ({token}): it has no outcome yet, or was refused. "
                "get_event_status tells."
            )
        self.last.saw(token)
        return found


async def add(call: Call, wait: bool = False, **said: Any) -> Added:
    """Publishes an episode. Under an event id that has another content it says so without waiting, too."""
    receipt = await call.memory.add(wait=wait, **said)
    if not wait and receipt.said is not None:
        known = await call.memory.event(receipt.event_id, content=said["content"])
        if known.outcome == REUSED:
            receipt = replace(receipt, outcome=REUSED, memory_id=known.memory_id or receipt.memory_id)
    return _added(call, receipt)


def _added(call: Call, receipt: Receipt) -> Added:
    if receipt.outcome is None:
        call.last.wrote(receipt.token)
    return Added(
        receipt.namespace, receipt.event_id, receipt.memory_id, receipt.token,
        outcome=receipt.outcome, nowhere=receipt.nowhere,
    )  # fmt: skip


async def update(call: Call, memory_id: str, content: str, wait: bool = False) -> Updated:
    """Publishes the new content: in the slot of the memory it replaces, or naming that, so that members vote. It is
    derived from that memory, so it has the same restrictions and is erased with it."""
    old = await call.read(call.memory.get, memory_id)
    if old.text is None:
        raise Invalid(
            "not_alive", "memory_id", f"it is {old.instead}: only what is alive can be updated; add_memory adds"
        )
    how: dict[str, Any] = {"key": old.key} if old.key else {"supersedes": [memory_id]}
    how |= {"path": old.path, "attributes": old.attributes}
    receipt = await call.memory.add(
        content, wait=wait, explicit=True, derives_from=[memory_id], subject=old.subject, type=old.type, **how
    )
    said = structs.asdict(_added(call, receipt))
    return Updated(**said, replaces=memory_id, by="slot" if old.key else "vote")


async def delete(call: Call, memory_id: str | None = None, key: str | None = None, path: str | None = None) -> Deleted:
    """Clears the slot that a memory fills, or the named slot; else takes back a memory that only this agent has
    published."""
    if (memory_id is None) == (key is None):
        raise Invalid("missing_field", "memory_id", "give either the id of a memory, or the key of a slot")
    subject = None
    if memory_id is not None:
        old = await call.read(call.memory.get, memory_id)
        if old.text is None:
            raise Invalid(
                "not_alive", "memory_id", f"it is {old.instead}: it is served no more; erase_memories destroys"
            )
        subject, key, path = old.subject, old.key, old.path if old.key else None
    own = memory_id if key is None else None
    done = await call.memory.clear(key, path, memory_id=own, wait=True, subject=subject)
    ids = done.namespace, done.event_id, done.memory_id, done.token
    return Deleted(*ids, outcome=done.outcome, hidden=done.hidden, stays=done.stays)


async def status(call: Call, event_id: str, content: str | None = None) -> Status:
    """Returns the outcome of an event, also in a word: without an outcome the other fields do not say so."""
    found = await call.memory.event(event_id, content=content)
    return Status(**structs.asdict(found), status=found.outcome or _PENDING)


async def search(call: Call, query: str, **said: Any) -> Found:
    """Returns the nearest memories."""
    hits = await call.read(call.memory.search, query, **said)
    return Found(tuple(hits), answerable(hits), hits.rollups)


async def results(call: Call, query: str) -> Results:
    """Returns the nearest memories in short."""
    hits = await call.read(call.memory.search, query)
    return Results(tuple(Result(hit.memory_id, _title(hit.text), call.url(hit.memory_id)) for hit in hits))


async def shown(call: Call, memory_id: str, peek: bool = False, **said: Any) -> Shown:
    """Returns a memory by its id."""
    return await call.read(call.memory.get, memory_id, use=not peek, **said)


async def document(call: Call, memory_id: str) -> Document:
    """Returns a living memory. Its use was counted when it was found."""
    one = await call.read(call.memory.get, memory_id)
    if one.text is None:
        back = " restore_memory asks for it back." if one.restorable else ""
        raise NotFound(f"memory {memory_id} is {one.instead}: it has no text.{back} explain_memory tells why")
    told = {
        name: value
        for name in one.__struct_fields__
        if name not in ("memory_id", "text") and isinstance(value := getattr(one, name), str | int | float)
    }
    return Document(memory_id, _title(one.text), call.url(memory_id), one.text, told)


def _title(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _TITLE else line[: _TITLE - 1].rstrip() + "…"


async def finish_task(call: Call, wait: bool = False, **said: Any) -> Kept:
    """Publishes a finished task."""
    goal, outcome, by = said.pop("goal"), said.pop("outcome"), said.pop("said_by", None)
    return _kept(call, await call.memory.finish_task(goal, outcome, by=by, wait=wait, **said))


async def give_feedback(call: Call, task: str, wait: bool = False, **said: Any) -> Kept:
    """Publishes which memories helped in a task."""
    return _kept(call, await call.memory.give_feedback(task, wait=wait, **said))


def _kept(call: Call, receipt: Receipt) -> Kept:
    if receipt.outcome is None:
        call.last.wrote(receipt.token)
    ids = receipt.namespace, receipt.event_id, receipt.memory_id, receipt.token
    return Kept(*ids, outcome=receipt.outcome, lessons=tuple(one.memory_id for one in receipt.lessons))


async def end_session(call: Call, session: str, said_by: str | None = None, **came: Any) -> Ended:
    """Ends this agent's part of a session with its outcome, once the last write is seen."""
    over = await call.read(call.memory.end_session, session, by=said_by, **came)
    if over.task is not None:
        call.last.wrote(over.task.token)
    return over


async def experience(call: Call, memory_id: str | None = None, **said: Any) -> Experience:
    """Returns a list of the memories that were tried; or for one memory its status, and why."""
    if memory_id is None:
        page = await call.read(call.memory.experiences, **said)
        return Experience(page.namespace, page.memories, page.counts, page.next)
    for name in _OF_A_LIST:
        if name in said:
            raise Invalid("unknown_field", name, "applies to lists only: leave it out together with memory_id")
    why = await call.read(call.memory.experience, memory_id, **said)
    return Experience(why.namespace, why=why)


async def order(call: Call, order_id: str) -> Ordered:
    """Returns the outcome of an order of this namespace."""
    found = await call.memory.order(order_id)
    if found.namespace != call.memory.namespace:
        raise NotFound(f"no order {order_id} of this namespace was answered: its id is wrong, or it is pending")
    return found
