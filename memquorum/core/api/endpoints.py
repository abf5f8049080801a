"""The endpoints of the service, in one table: its routes, its description and its clients are made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memquorum.core.access import AUDIT, PUBLISH, READ, RIGHTS
from memquorum.core.api import answers as a
from memquorum.core.api import requests as r
from memquorum.core.orders.envelope import OrderKind
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.protect import PROTECTION
from memquorum.core.orders.restore import REQUEST
from memquorum.core.orders.table import GIVEN, ORDERS
from memquorum.core.records import EpisodeRecorded, FeedbackGiven, TaskFinished

A = TypeVar("A")
# How long an answer waits for its order where the request does not say.
WAIT_MS = 10_000


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the query string."""

    name: str
    kind: type
    sentence: str


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[A]):
    """What is answered at one address. `name`: no other endpoint's, for metrics and the description.

    `rights`: one of them is needed to come in; none where nobody is asked for a key. `body`: what its JSON is read as.
    `answer`: None where it is no JSON object. `status`: of its answer when all is well. `waits`: it mostly waits, and
    takes no place from those who work.
    """

    name: str
    method: str
    path: str
    rights: tuple[str, ...]
    sentence: str
    answer: type[A] | None = None
    body: type | None = None
    query: tuple[Parameter, ...] = ()
    status: int = 200
    waits: bool = False


_AFTER = (
    Parameter(
        "after", str, "Wait until the store has the write with this token: its namespace, a slash, its event id."
    ),
)
_CONFIRM = (
    Parameter("confirm", bool, "Wait until Kafka has confirmed that what is given counts as used (default: false)."),
)
_GATES = (
    Parameter("sensitivity_max", float, "As sensitive as that at most, in [0, 1]."),
    Parameter("purpose", str, "What is read for; without it, only what is for anything."),
    Parameter("jurisdictions", str, "Under no law but these, with commas between them."),
    Parameter("redact", bool, "What is found of persons and secrets is masked by kind (default: false)."),
)
_USE = (
    Parameter("use", bool, "A living memory counts as used by `agent`, behind the answer (default: false)."),
    Parameter("agent", str, "Who uses it."),
)
_WITHIN = (Parameter("namespace", str, "Of this namespace alone: one of another is not there."),)


def _reads(name: str, body: type, answer: type[A], sentence: str) -> Endpoint[A]:
    return Endpoint(name, "POST", f"/{name}", (READ,), sentence, answer, body, _CONFIRM + _AFTER)


def _waits(what: str, default: int = WAIT_MS) -> tuple[Parameter, ...]:
    return (Parameter("wait_ms", int, f"Wait {what}, so many milliseconds at most (default: {default})."),)


def _orders(name: str, kind: OrderKind[Any], body: type, answer: type[A], until: str, sentence: str) -> Endpoint[A]:  # noqa: PLR0917
    """One that gives orders of a kind, and waits until it is so."""
    path, waits = f"/orders/{name}", _waits(until)
    return Endpoint(name, "POST", path, (kind.right,), sentence, answer, body, waits, waits=True)


SEARCH = _reads("search", r.SearchRequest, a.SearchResult, "The memories nearest in meaning.")
RETRIEVE = _reads(
    "retrieve", r.RetrieveRequest, a.Retrieved,
    "The memories that answer best and fit the budget, and what was left out and why.",
)  # fmt: skip
RECALL = _reads(
    "recall", r.RecallRequest, a.Recalled,
    "What surrounds a memory, the memories that answer a query best, or those that a goal needs.",
)  # fmt: skip
CONTEXT = _reads(
    "context", r.ContextRequest, a.Context,
    "What to put into a prompt: what the agent said last, and what answers the query best, within a budget.",
)  # fmt: skip
MEMORIES = Endpoint(
    "memories", "POST", "/memories/list", (READ,),
    "The memories of a namespace that pass, page by page in the order of time, each with what it is linked with.",
    a.Page, r.ListRequest, _AFTER,
)  # fmt: skip
SLOT = Endpoint(
    "slot", "POST", "/memories/slot", (READ,),
    "What fills a slot: of the memories that are filed under a key at a path, the latest.", a.Shown, r.SlotRequest,
    _AFTER,
)  # fmt: skip
PATHS = Endpoint(
    "paths", "POST", "/memories/paths", (READ,),
    "The paths that something is filed at, page by page in the order of their characters.", a.Paths, r.PathsRequest,
    _AFTER,
)  # fmt: skip
PUBLISHED = Endpoint(
    "publish", "POST", "/memories", (PUBLISH,),
    "Publishes what happened: Kafka has it then, and `/events` tells what becomes of it.",
    a.Published, EpisodeRecorded, status=202,
)  # fmt: skip
CLEAR = Endpoint(
    "clear", "POST", "/memories/clear", (PUBLISH,),
    "Clears a slot, or takes a memory of the agent's back: served no more, and can be restored. `/events` tells.",
    a.Published, r.ClearRequest, status=202,
)  # fmt: skip
USES = Endpoint(
    "uses", "POST", "/memories/uses", (READ,),
    "Says that memories were used, which keeps them alive: each counts once a minute for an agent.",
    a.Used, r.UsesRequest, _CONFIRM, status=202,
)  # fmt: skip
END_SESSION = Endpoint(
    "end_session", "POST", "/sessions/end", (PUBLISH,),
    "Says that a session is over, an agent's part of it or every agent's: what is left is summed up, and voted on. "
    "With an outcome it is a finished task, too.",
    a.Ended, r.EndRequest, _AFTER, status=202,
)  # fmt: skip
SESSION = Endpoint(
    "session", "GET", "/sessions/{namespace}/{session:path}", (READ, PUBLISH),
    "What comes of a session, by agents: its summaries, which of them wait for their vote, why others are not made.",
    a.Session, query=_AFTER,
)  # fmt: skip
FINISH_TASK = Endpoint(
    "finish_task", "POST", "/tasks", (PUBLISH,),
    "Says that a task is finished: what it was, what it was given, how it ended. `/events` tells what becomes of it.",
    a.Published, TaskFinished, status=202,
)  # fmt: skip
FEEDBACK = Endpoint(
    "feedback", "POST", "/tasks/feedback", (PUBLISH,),
    "Says which of the memories that a task was given have helped in it, and which have not. `/events` tells.",
    a.Published, FeedbackGiven, status=202,
)  # fmt: skip
TASKS = Endpoint(
    "tasks", "POST", "/tasks/list", (READ,),
    "The finished tasks of a namespace, the latest first: what was to be done, how it ended, what it was given.",
    a.Tasks, r.TasksRequest, _AFTER,
)  # fmt: skip
TASK = Endpoint(
    "task", "GET", "/tasks/{task_id}", (READ,),
    "A finished task whole: its texts, what it was given, and what is said to have helped in it.",
    a.FinishedTask, query=_WITHIN + _GATES + _AFTER,
)  # fmt: skip
EXPERIENCES = Endpoint(
    "experiences", "POST", "/experience/list", (READ,),
    "The memories of a namespace that were tried, those that changed last first: how each stands, and what it weighs.",
    a.Experiences, r.ExperiencesRequest, _AFTER,
)  # fmt: skip
EXPERIENCE = Endpoint(
    "experience", "GET", "/experience/{memory_id}", (READ,),
    "Where a memory stands on its way into experience, and why: what verifiers found, how members voted, its weight.",
    a.Admission, query=_WITHIN + _GATES + _AFTER,
)  # fmt: skip
MEMORY = Endpoint(
    "memory", "GET", "/memories/{memory_id}", (READ,),
    "One memory; its text only while it is alive. What a search would keep back is not there.", a.Shown,
    query=_WITHIN + _GATES + _USE + _AFTER,
)  # fmt: skip
EXPLAIN = Endpoint(
    "explain", "GET", "/memories/{memory_id}/explain", (READ, AUDIT),
    "Why a memory is where it is, in structure and in words.", a.Explained,
    query=_WITHIN + _GATES + _AFTER,
)  # fmt: skip
DECISIONS = Endpoint(
    "decisions", "POST", "/decisions/list", (READ, AUDIT),
    "What members decided about the memories of a namespace, the latest first: what, why, by which policy, who voted.",
    a.Decisions, r.DecisionsRequest,
)  # fmt: skip
GOALS = Endpoint(
    "goals", "POST", "/goals/list", (READ, PROTECTION.right, AUDIT),
    "The goals of a namespace that are active, by name: what each needs, who said so when, and when it lapses.",
    a.Goals, r.GoalsRequest,
)  # fmt: skip
PINS = Endpoint(
    "pins", "POST", "/pins/list", (READ, PROTECTION.right, AUDIT),
    "The pins of a namespace that stand, the latest first: of which memory, by whom, since when.",
    a.Pins, r.ProtectorsRequest,
)  # fmt: skip
HOLDS = Endpoint(
    "holds", "POST", "/holds/list", (READ, AUDIT),
    "The holds of a namespace that stand, the latest first: of which memory, by whom, since when.",
    a.Holds, r.ProtectorsRequest,
)  # fmt: skip
ORDERS_GIVEN = Endpoint(
    "orders", "POST", "/orders/list", (*dict.fromkeys(kind.right for kind in GIVEN), AUDIT),
    "The orders of a namespace that were answered, the latest first; of the kinds that the key may give, or audit.",
    a.Orders, r.OrdersRequest,
)  # fmt: skip
EPOCHS = Endpoint(
    "epochs", "POST", "/epochs/list", (READ, AUDIT),
    "The epochs in which something of a namespace was voted on, the latest first; for who audits all namespaces, all "
    "of a shard.",
    a.Epochs, r.EpochsRequest,
)  # fmt: skip
MEMBERS = Endpoint(
    "members", "POST", "/members/list", (READ, AUDIT),
    "Who votes in a namespace's shard, and who did: with what weight, since when, and since when by which key.",
    a.Members, r.MembersRequest,
)  # fmt: skip
EVENT = Endpoint(
    "event", "GET", "/events/{namespace}/{event_id:path}", (READ, PUBLISH),
    "What became of an event, or why intake refused it; waits until it has an outcome where the request says how long.",
    a.Became,
    query=(
        *_waits("for an outcome", 0),
        Parameter("agent", str, "Who published it: where another agent used the id first, the outcome is `taken`."),
        Parameter(
            "place", str,
            "Where Kafka has it, as TOPIC/PARTITION/OFFSET: a refusal of this very record is told, and of none that "
            "was published under the id before. Without it the last refusal is told.",
        ),
    ),
    waits=True,
)  # fmt: skip
REWARDS = Endpoint(
    "rewards", "GET", "/rewards/{namespace}", (READ, AUDIT),
    "What the agents of a namespace were given for what they did to its memory, in all.", a.Rewards,
    query=(Parameter("agent", str, "This agent alone."),),
)  # fmt: skip
_OF_ROLLUPS = (
    Parameter("as_of", int, "As they stood at this time, in milliseconds; without it, as they stand now."),
    Parameter("persona", str, "Of sentences about this subject, or by this agent, alone."),
)
ROLLUPS = Endpoint(
    "rollups", "GET", "/rollups/{namespace}", (READ,),
    "What things there are roll-ups of, each with how much is said of it.", a.Rollups,
    query=_OF_ROLLUPS + _GATES,
)  # fmt: skip
ROLLUP = Endpoint(
    "rollup", "GET", "/rollups/{namespace}/{topic:path}", (READ,),
    "What is said of one thing across sessions, word for word, now or as of a time.", a.Rollup,
    query=(*_OF_ROLLUPS, Parameter("history", bool, "Also the patches that made it so (default: false)."), *_GATES),
)  # fmt: skip
ERASE = _orders(
    "erase", ERASURE, r.ErasureRequest, a.Erasure, "until an order is carried out",
    "Everything that an erasure takes; with dry_run: false it is ordered, and the answer waits until it is done.",
)  # fmt: skip
FORGET = _orders(
    "forget", REQUEST, r.ForgetRequest, a.Forget, "until it is decided on",
    "What a vote on memories would look at; with dry_run: false they are nominated, and the answer waits for it.",
)  # fmt: skip
RESTORE = _orders(
    "restore", REQUEST, r.RestoreRequest, a.Restore, "until it is decided on",
    "Asks for memories back that rest sealed, and waits for the members' decision; the others are told why not.",
)  # fmt: skip
ROLLBACK = _orders(
    "rollback", REQUEST, r.RollbackRequest, a.Rollback, "until it is decided on",
    "Asks that a memory of experience weighs again what it did at an older version, and waits for the decision.",
)  # fmt: skip
PIN = _orders(
    "pin", PROTECTION, r.PinRequest, a.Pinned, "until it holds",
    "Protects a memory from being forgotten until it is unpinned; an erasure goes over it.",
)  # fmt: skip
UNPIN = _orders(
    "unpin", PROTECTION, r.PinRequest, a.Pinned, "until it holds",
    "Protects a memory no longer by a pin; what holds it, holds it still.",
)  # fmt: skip
BEGIN_GOAL = _orders(
    "begin_goal", PROTECTION, r.NeedRequest, a.Needed, "until it holds",
    "Says which memories a goal needs: they are not forgotten until it ends; an erasure goes over it.",
)  # fmt: skip
END_GOAL = _orders(
    "end_goal", PROTECTION, r.GoalRequest, a.Needed, "until it holds",
    "Ends a goal: what it alone needed may be forgotten again.",
)  # fmt: skip
ORDER = Endpoint(
    "order", "GET", "/orders/{order_id}", (*dict.fromkeys(kind.right for kind in ORDERS.values()), AUDIT),
    "What became of an order of any kind; for the right to give such a one, or to audit.", a.Ordered,
    query=_waits("until it is answered", 0), waits=True,
)  # fmt: skip
RECEIPT = Endpoint(
    "receipt", "GET", "/orders/{order_id}/receipt", (ERASURE.right, AUDIT),
    "What proves an erasure; before the members have decided it says so.", a.ErasureReceipt,
)  # fmt: skip

ACCESS = Endpoint(
    "access", "GET", "/access", RIGHTS,
    "What the key may do, and where; all of it everywhere where the service wants none.", a.Access,
)  # fmt: skip

ENDPOINTS: tuple[Endpoint[Any], ...] = (
    SEARCH, RETRIEVE, RECALL, CONTEXT, MEMORIES, SLOT, PATHS, PUBLISHED, CLEAR, USES, END_SESSION, SESSION,
    FINISH_TASK, FEEDBACK, TASKS, TASK, EXPERIENCES, EXPERIENCE, MEMORY, EXPLAIN,
    DECISIONS, GOALS, PINS, HOLDS, ORDERS_GIVEN, EPOCHS, MEMBERS, EVENT,
    REWARDS, ROLLUPS, ROLLUP, ERASE, FORGET, RESTORE, ROLLBACK,
    PIN, UNPIN, BEGIN_GOAL, END_GOAL, ORDER, RECEIPT, ACCESS,
    Endpoint(
        "metrics", "GET", "/metrics", (AUDIT,),
        "The metrics of the process, as Prometheus reads them; for a key to all namespaces, since they count all.",
    ),
    Endpoint("livez", "GET", "/livez", (), "That it answers at all.", a.Alive),
    Endpoint(
        "readyz", "GET", "/readyz", (),
        "What it needs, and what is wrong with each; 503 where something is. `access`: whether it wants a key.",
        a.Ready,
    ),
    Endpoint("openapi", "GET", "/openapi.json", (), "This description."),
)  # fmt: skip
