"""The tools, in one table. The arguments and answers of each follow from the endpoint that it calls, and so do the
rights that it needs: a key that may only read is shown no writing tool."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from msgspec import Struct

from memquorum.core.api import answers as a
from memquorum.core.api import endpoints as e
from memquorum.mcp import calls, taking
from memquorum.mcp.calls import Call
from memquorum.mcp.taking import Field, Takes

Do = Callable[..., Awaitable[Struct]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool. `asks`: the endpoints that it calls, whose rights it needs. `writes`: it changes data; `destroys`: a
    memory may no longer be served afterwards; `again`: a repeated call with the same arguments has no further effect.
    `words`: formats the answer as text, if not as JSON."""

    name: str
    told: str
    asks: tuple[e.Endpoint[Any], ...]
    takes: Takes
    gives: type[Struct]
    do: Do
    writes: bool = False
    destroys: bool = False
    again: bool = False
    words: Callable[[Any], str] | None = None

    def opened(self, rights: frozenset[str]) -> bool:
        """True if these rights suffice."""
        return all(rights.intersection(one.rights) for one in self.asks)


def _reading(method: str, *named: str) -> Do:
    """Makes a tool of a read of the client; `named`: its positional arguments."""

    async def do(call: Call, **said: Any) -> Struct:
        first = [said.pop(name) for name in named]
        return await call.read(getattr(call.memory, method), *first, **said)

    return do


def _asking(method: str, *named: str) -> Do:
    """Makes a tool of another method of the client; the last of `named` may be a list."""

    async def do(call: Call, **said: Any) -> Struct:
        first = [one for name in named for one in _several(said.pop(name))]
        found: Struct = await getattr(call.memory, method)(*first, **said)
        return found

    return do


def _several(said: Any) -> list[Any]:
    return list(said) if isinstance(said, tuple | list) else [said]


def _tool(
    name: str,
    told: str,
    *asks: e.Endpoint[Any],
    takes: tuple[str, ...] = (),
    gives: type[Struct],
    do: Do,
    writes: bool = False,
    destroys: bool = False,
    again: bool = False,
    words: Callable[[Any], str] | None = None,
    **how: Any,
) -> Tool:
    """Makes a tool, whose arguments are those of the last endpoint that it calls. `how`: see `taking.takes`."""
    taken = taking.takes(name, asks[-1], *takes, **how)
    return Tool(
        name=name, told=told, asks=asks, takes=taken, gives=gives, do=do,
        writes=writes, destroys=destroys, again=again, words=words,
    )  # fmt: skip


_WAIT = Field("wait", bool, "True: wait until it can be found, and tell what became of it (default: false).")
_ID = Field("memory_id", str, "The memory's id.", required=True)
_TRIED = Field("memory_id", str, "A memory's id: tells why this one is in experience or is not.")
_PEEK = Field("peek", bool, "True: only look, it does not count as used (default: false).")
_EVENT = Field("event_id", str, "The event_id that add_memory gave.", required=True)
_PUBLISHED = Field("content", str, "What was published under it.")
_ORDER = Field("order_id", str, "The order_id that was given with the order.", required=True)
_LESSONS = Field(
    "lessons", tuple[str, ...], "What is to be learned of it: each becomes a memory that is made of the task."
)
_FOUND = Field("id", str, "The id that search gave.", required=True, api="memory_id")
_GATES = ("sensitivity_max", "purpose", "redact")
_EPISODE = (
    "content", "session", "role", "subject", "source", "derives_from", "explicit", "key", "path", "attributes",
    "type", "confidence", "sensitivity", "purposes", "jurisdiction", "occurred_at", "event_id",
)  # fmt: skip

READING = (
    _tool(
        "search_memories",
        "Finds the memories nearest in meaning to a question or a topic, nearest first. Ask before you answer from "
        "what may have been remembered. A question about the past also finds what was replaced since, marked as "
        "overtaken. What is found counts as used, which keeps it from being forgotten.",
        e.SEARCH,
        takes=("query", "k", "diffusion", "as_of", "redact", "peek", "after"),
        required=("query",), renamed={"k": "top_k"}, filters=True,
        gives=calls.Found, do=calls.search,
    ),
    _tool(
        "retrieve_context",
        "Gives text to put into a prompt, within a budget of tokens: what you said last, and the memories that answer "
        "the query best. Ask with 2 hops where one memory only tells where to look for the other.",
        e.CONTEXT,
        takes=("query", "budget_tokens", "hops", "session", "as_of", "quotas", "peek", "path", "where", *_GATES,
               "after"),
        required=("query",),
        gives=a.Context, do=_reading("context", "query"), words=str,
    ),
    _tool(
        "recall_memories",
        "Gives what surrounds a memory, the memories that answer a query best, or those with the name of an entity: "
        "what was said before and after, what it was made of, what was made of it, and what it is linked with or "
        "shares a name with, in the order of time. Give one of memory_id, query, goal and entity.",
        e.RECALL,
        takes=("memory_id", "query", "goal", "entity", "steps", "links", "hops", "as_of", "budget_tokens", "redact",
               "peek", "after"),
        filters=True,
        gives=a.Recalled, do=_reading("recall"),
    ),
    _tool(
        "get_memory",
        "Shows one memory by its id. Its text is null once it is forgotten or superseded; `superseded_by` names what "
        "took its place, and restore_memory asks for it back. It counts as used, which keeps it from being forgotten, "
        "unless you peek.",
        e.MEMORY,
        takes=(*_GATES, "after"), own=(_ID, _PEEK),
        gives=a.Shown, do=calls.shown,
    ),
    _tool(
        "get_memories",
        "Lists memories in the order in which they occurred, page by page, with what each is linked with. A list is "
        "no use of them.",
        e.MEMORIES,
        takes=("limit", "cursor", "redact", "after"), filters=True,
        gives=a.Page, do=_reading("memories"),
    ),
    _tool(
        "explain_memory",
        "Tells why a memory is where it is: where it came from, how it was scored, who used it, how votes about it "
        "went, and when it may be forgotten.",
        e.EXPLAIN,
        takes=(*_GATES, "after"), own=(_ID,),
        gives=a.Explained, do=_reading("explain", "memory_id"), words=str,
    ),
    _tool(
        "get_goals",
        "Lists the goals that are active, by name, with the memories that each needs: these are not forgotten until it "
        "ends or lapses.",
        e.GOALS,
        takes=("goals", "memory_id", "limit", "cursor"),
        gives=a.Goals, do=_asking("goals"),
    ),
    _tool(
        "get_pins",
        "Lists the pins that stand, the latest first: which memories are kept until they are unpinned, by whom and "
        "why.",
        e.PINS,
        takes=("memory_id", "reference", "limit", "cursor"),
        gives=a.Pins, do=_asking("pins"),
    ),
    _tool(
        "get_tasks",
        "Lists finished tasks, the latest first: what was to be done, how it ended, which memories it was given, and "
        "which of these are said to have helped.",
        e.TASKS,
        takes=("outcomes", "agents", "subjects", "memory_id", "limit", "cursor", "redact", "after"),
        gives=a.Tasks, do=_reading("tasks"),
    ),
    _tool(
        "get_experience",
        "Lists the memories that finished tasks were to show the help of, the latest change first: which of them are "
        "in experience, what each weighs, and in how many tasks it helped or did harm. With memory_id it tells why one "
        "is in experience or is not: what verifiers found, how members voted, and each version of its weight.",
        e.EXPERIENCE, e.EXPERIENCES,
        takes=("statuses", "limit", "cursor", *_GATES, "after"), own=(_TRIED,),
        gives=calls.Experience, do=calls.experience,
    ),
    _tool(
        "get_event_status",
        "Tells what became of what add_memory published. Its status is the outcome (refused with the reason why), or "
        "pending or unknown. If you gave the event_id yourself, give the content, too: the status is reused if the "
        "first content under that id is another one, which is kept in place of yours.",
        e.EVENT,
        own=(_EVENT, _PUBLISHED),
        gives=calls.Status, do=calls.status,
    ),
    _tool(
        "search",
        "Finds memories for a query and gives their ids, titles and addresses; fetch gives the text of each.",
        e.SEARCH,
        takes=("query",), required=("query",),
        gives=calls.Results, do=calls.results,
    ),
    _tool(
        "fetch",
        "Gives the text of a memory that search has found, by its id.",
        e.MEMORY,
        own=(_FOUND,),
        gives=calls.Document, do=calls.document,
    ),
)  # fmt: skip
WRITING = (
    _tool(
        "add_memory",
        "Remembers something that happened or that you learned, for all agents of this namespace. What says nothing "
        "new, thanks and small talk are not kept. Say explicit where somebody asks you to remember it, with a key "
        "where it is a value that may change, and subject where it is about a person.",
        e.PUBLISHED,
        takes=_EPISODE, required=("content",), own=(_WAIT,),
        gives=calls.Added, do=calls.add, writes=True,
    ),
    _tool(
        "update_memory",
        "Says what holds now in place of a memory: a new memory is made of it, and the old one is superseded: at once "
        "where it has a key and you wrote it, else as soon as the members have voted so. The old one can be restored.",
        e.MEMORY, e.PUBLISHED,
        takes=("content",), required=("content",), own=(_ID, _WAIT),
        gives=calls.Updated, do=calls.update, writes=True, destroys=True,
    ),
    _tool(
        "delete_memory",
        "Takes back what you wrote: by the key of its slot, or by its id. At once it is served no more; its text is "
        "kept, and restore_memory asks the members to bring it back, for as long as nothing erases it. What others "
        "wrote, or have said again, stays. What has to be destroyed is erased, by erase_memories.",
        e.MEMORY, e.CLEAR,
        takes=("memory_id", "key", "path"),
        gives=calls.Deleted, do=calls.delete, writes=True, destroys=True, again=True,
    ),
    _tool(
        "end_session",
        "Says that your part of a session is over: what is left of it is summed up, and members vote on the summary. "
        "With an outcome it is a finished task, too, of what a user said first in it where you give no goal: others "
        "learn from it what helps.",
        e.END_SESSION,
        takes=("session", "outcome", "goal", "inputs", "outputs", "tools", "retrieved", "said_by", "after"),
        gives=a.Ended, do=calls.end_session, writes=True, again=True,
    ),
    _tool(
        "finish_task",
        "Says that a task is finished: what was to be done, what you were given and gave, which memories you were "
        "given for it and how it ended. Others learn from it what helps. Say unknown where you cannot tell how it "
        "ended; what is said of a task first stands.",
        e.FINISH_TASK,
        takes=(
            "goal", "outcome", "inputs", "outputs", "tools", "retrieved", "said_by", "subject", "sensitivity",
            "purposes", "seed", "event_id", "finished_at",
        ),
        required=("goal", "outcome"), own=(_LESSONS, _WAIT),
        gives=calls.Kept, do=calls.finish_task, writes=True,
    ),
    _tool(
        "give_feedback",
        "Says which of the memories that a finished task was given have helped in it, and which have not.",
        e.FEEDBACK,
        takes=("task", "helped", "did_not_help", "event_id"), required=("task",), own=(_WAIT,),
        gives=calls.Kept, do=calls.give_feedback, writes=True,
    ),
)  # fmt: skip
ORDERING = (
    _tool(
        "propose_forget",
        "Shows what a vote to forget memories would look at; with dry_run false the members vote on them. What they "
        "forget is served no more, and can be restored for some days (seven by default). They may keep it: what has "
        "to be gone is erased.",
        e.FORGET,
        takes=("memory_ids", "dry_run", "reference"), required=("memory_ids",),
        gives=a.Forget, do=_asking("forget", "memory_ids"), writes=True, destroys=True, again=True,
    ),
    _tool(
        "restore_memory",
        "Asks for memories back that were forgotten or superseded: the members vote on it. Erased ones do not come "
        "back.",
        e.RESTORE,
        takes=("memory_ids", "reference"), required=("memory_ids",),
        gives=a.Restore, do=_asking("restore", "memory_ids"), writes=True, again=True,
    ),
    _tool(
        "rollback_weight",
        "Asks that a memory of experience weighs again what it did at an older version: the members vote on it. "
        "get_experience tells which versions there are. What came of its use until then moves the weight no more.",
        e.ROLLBACK,
        takes=("memory_id", "to", "reference"),
        gives=a.Rollback, do=_asking("rollback", "memory_id"), writes=True, again=True,
    ),
    _tool(
        "pin_memory",
        "Keeps a memory from being forgotten until it is unpinned. An erasure goes over it.",
        e.PIN,
        takes=("memory_id", "reference"),
        gives=a.Pinned, do=_asking("pin", "memory_id"), writes=True, again=True,
    ),
    _tool(
        "unpin_memory",
        "Ends a pin: the memory may be forgotten again.",
        e.UNPIN,
        takes=("memory_id", "reference"),
        gives=a.Pinned, do=_asking("unpin", "memory_id"), writes=True, again=True,
    ),
    _tool(
        "erase_memories",
        "Shows everything that an erasure would take: of one memory, subject, agent or source, or before a time, with "
        "all that was made of it. With dry_run false it is destroyed, and there is no way back. Ask a person before "
        "you do that.",
        e.ERASE,
        takes=("memory_id", "subject", "agent", "source", "before", "types", "dry_run", "reference"),
        gives=a.Erasure, do=_asking("erase"), writes=True, destroys=True, again=True,
    ),
    _tool(
        "get_order",
        "Tells what became of an order to forget, restore, roll a weight back, pin, unpin or erase.",
        e.ORDER,
        own=(_ORDER,),
        gives=a.Ordered, do=calls.order,
    ),
)  # fmt: skip
TOOLS = READING + WRITING + ORDERING
"""All tools, in the order in which they are listed."""
