"""The endpoints of the service, in one table: its routes, its description and its clients are derived from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from memquorum.core.access import ADMIN, AUDIT, PUBLISH, READ, RIGHTS
from memquorum.core.api import answers as a
from memquorum.core.api import requests as r
from memquorum.core.api.fields import sentences
from memquorum.core.orders.envelope import OrderKind
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.protect import PROTECTION
from memquorum.core.orders.reclassify import RECLASSIFICATION
from memquorum.core.orders.restore import REQUEST
from memquorum.core.orders.table import GIVEN, ORDERS
from memquorum.core.records import EpisodeRecorded, FeedbackGiven, TaskFinished

A = TypeVar("A")
# The default time that an answer waits for its order.
WAIT_MS = 10_000


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the query string."""

    name: str
    kind: type
    sentence: str


@dataclass(frozen=True, slots=True)
class Endpoint(Generic[A]):
    """One address of the service. `name`: unique, for metrics and the description.

    `rights`: the key needs one of them; none where no key is needed. `body`: the type of its JSON. `answer`: None where
    it is no JSON object. `status`: of a successful answer. `waits`: it mostly waits, so it does not count against the
    limit of concurrent requests.
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
    Parameter("confirm", bool, "Wait until Kafka has confirmed the uses of the given memories (default: false)."),
)
_GATES = (
    Parameter("sensitivity_max", float, sentences(r.Gated)["sensitivity_max"]),
    Parameter("purpose", str, sentences(r.Gated)["purpose"]),
    Parameter("jurisdictions", str, "Only memories under these laws, separated by commas."),
    Parameter("redact", bool, "Personal data and secrets in texts are masked by kind (default: false)."),
)
_USE = (
    Parameter("use", bool, "A living memory counts as used by `agent`, after the answer (default: false)."),
    Parameter("agent", str, "The agent that uses it."),
)
_WITHIN = (Parameter("namespace", str, "Only of this namespace: a memory of another one is not found."),)


def _reads(name: str, body: type, answer: type[A], sentence: str) -> Endpoint[A]:
    return Endpoint(name, "POST", f"/{name}", (READ,), sentence, answer, body, _CONFIRM + _AFTER)


def _waits(what: str, default: int = WAIT_MS) -> tuple[Parameter, ...]:
    return (Parameter("wait_ms", int, f"Wait {what}, so many milliseconds at most (default: {default})."),)


def _orders(name: str, kind: OrderKind[Any], body: type, answer: type[A], until: str, sentence: str) -> Endpoint[A]:  # noqa: PLR0917
    """Returns an endpoint that gives orders of a kind, and waits for their effect."""
    path, waits = f"/orders/{name}", _waits(until)
    return Endpoint(name, "POST", path, (kind.right,), sentence, answer, body, waits, waits=True)


SEARCH = _reads("search", r.SearchRequest, a.SearchResult, "The memories nearest in meaning.")
RETRIEVE = _reads(
    "retrieve", r.RetrieveRequest, a.Retrieved,
    "The memories that answer best and fit the budget, and which were left out and why.",
)  # fmt: skip
RECALL = _reads(
    "recall", r.RecallRequest, a.Recalled,
    "The memories around one memory, around the best answers to a query, or around those that a goal needs.",
)  # fmt: skip
CONTEXT = _reads(
    "context", r.ContextRequest, a.Context,
    "The memories for a prompt: the agent's latest, and those that answer the query best, within a budget.",
)  # fmt: skip
MEMORIES = Endpoint(
    "memories", "POST", "/memories/list", (READ,),
    "The memories of a namespace that pass the filters, page by page in the order of time, each with its links.",
    a.Page, r.ListRequest, _AFTER,
)  # fmt: skip
SLOT = Endpoint(
    "slot", "POST", "/memories/slot", (READ,),
    "The memory in a slot: the latest of those filed under a key at a path.", a.Shown, r.SlotRequest,
    _AFTER,
)  # fmt: skip
PATHS = Endpoint(
    "paths", "POST", "/memories/paths", (READ,),
    "The paths with memories, page by page in the order of their characters.", a.Paths, r.PathsRequest,
    _AFTER,
)  # fmt: skip
REPORT = Endpoint(
    "report", "POST", "/memories/report", (READ,),
    "All that concerns a person, page by page: texts, origins, scores, uses, votes, orders and recipients.", a.Report,
    r.ReportRequest,
)  # fmt: skip
PUBLISHED = Endpoint(
    "publish", "POST", "/memories", (PUBLISH,),
    "Publishes an episode: Kafka has it when the answer comes, and `/events` tells its outcome.",
    a.Published, EpisodeRecorded, status=202,
)  # fmt: skip
CLEAR = Endpoint(
    "clear", "POST", "/memories/clear", (PUBLISH,),
    "Clears a slot, or retracts a memory of the agent: no longer served, can be restored. `/events` tells the outcome.",
    a.Published, r.ClearRequest, status=202,
)  # fmt: skip
USES = Endpoint(
    "uses", "POST", "/memories/uses", (READ,),
    "Reports uses of memories, which keep them alive: each counts once a minute for an agent.",
    a.Used, r.UsesRequest, _CONFIRM, status=202,
)  # fmt: skip
END_SESSION = Endpoint(
    "end_session", "POST", "/sessions/end", (PUBLISH,),
    "Ends a session, an agent's part of it or every agent's: the remaining memories are summed up, and voted on. "
    "With an outcome it becomes a finished task, too.",
    a.Ended, r.EndRequest, _AFTER, status=202,
)  # fmt: skip
SESSION = Endpoint(
    "session", "GET", "/sessions/{namespace}/{session:path}", (READ, PUBLISH),
    "The state of a session, by agents: its summaries, which of them wait for their vote, and why others are not made.",
    a.Session, query=_AFTER,
)  # fmt: skip
SESSIONS = Endpoint(
    "sessions", "POST", "/sessions/list", (READ,),
    "The sessions of a namespace, the one in which something was said last first: who spoke, when, and how many "
    "memories are left.",
    a.Sessions, r.SessionsRequest,
)  # fmt: skip
FINISH_TASK = Endpoint(
    "finish_task", "POST", "/tasks", (PUBLISH,),
    "Publishes a finished task: its aim, the memories that it was given, how it ended. `/events` tells the outcome.",
    a.Published, TaskFinished, status=202,
)  # fmt: skip
FEEDBACK = Endpoint(
    "feedback", "POST", "/tasks/feedback", (PUBLISH,),
    "Publishes which memories of a task have helped in it, and which have not. `/events` tells the outcome.",
    a.Published, FeedbackGiven, status=202,
)  # fmt: skip
TASKS = Endpoint(
    "tasks", "POST", "/tasks/list", (READ,),
    "The finished tasks of a namespace, the latest first: aims, outcomes, and the memories that they were given.",
    a.Tasks, r.TasksRequest, _AFTER,
)  # fmt: skip
TASK = Endpoint(
    "task", "GET", "/tasks/{task_id}", (READ,),
    "A finished task in full: its texts, the memories that it was given, and the feedback on them.",
    a.FinishedTask, query=_WITHIN + _GATES + _AFTER,
)  # fmt: skip
EXPERIENCES = Endpoint(
    "experiences", "POST", "/experience/list", (READ,),
    "The memories of a namespace that were tried for experience, the last changed first: their status and weight.",
    a.Experiences, r.ExperiencesRequest, _AFTER,
)  # fmt: skip
EXPERIENCE = Endpoint(
    "experience", "GET", "/experience/{memory_id}", (READ,),
    "The state of a memory on its way into experience, and why: the verifiers' results, the votes, its weight.",
    a.Admission, query=_WITHIN + _GATES + _AFTER,
)  # fmt: skip
MEMORY = Endpoint(
    "memory", "GET", "/memories/{memory_id}", (READ,),
    "One memory; its text only while it is alive. A memory that a search would withhold is not found.", a.Shown,
    query=_WITHIN + _GATES + _USE + _AFTER,
)  # fmt: skip
EXPLAIN = Endpoint(
    "explain", "GET", "/memories/{memory_id}/explain", (READ, AUDIT),
    "The account of a memory: why it is in its tier, in structure and in words.", a.Explained,
    query=_WITHIN + _GATES + _AFTER,
)  # fmt: skip
DECISIONS = Endpoint(
    "decisions", "POST", "/decisions/list", (READ, AUDIT),
    "The members' decisions about the memories of a namespace, the latest first: outcome, reason, policy, votes.",
    a.Decisions, r.DecisionsRequest,
)  # fmt: skip
GOALS = Endpoint(
    "goals", "POST", "/goals/list", (READ, PROTECTION.right, AUDIT),
    "The active goals of a namespace, by name: the memories that each needs, by whose order, and when it lapses.",
    a.Goals, r.GoalsRequest,
)  # fmt: skip
PINS = Endpoint(
    "pins", "POST", "/pins/list", (READ, PROTECTION.right, AUDIT),
    "The pins in force in a namespace, the latest first: the memory, by whom, since when.",
    a.Pins, r.ProtectorsRequest,
)  # fmt: skip
HOLDS = Endpoint(
    "holds", "POST", "/holds/list", (READ, AUDIT),
    "The holds in force in a namespace, the latest first: the memory, by whom, since when.",
    a.Holds, r.ProtectorsRequest,
)  # fmt: skip
ORDERS_GIVEN = Endpoint(
    "orders", "POST", "/orders/list", (*dict.fromkeys(kind.right for kind in GIVEN), AUDIT),
    "The orders of a namespace that were answered, the latest first; of the kinds that the key may give, or audit.",
    a.Orders, r.OrdersRequest,
)  # fmt: skip
EPOCHS = Endpoint(
    "epochs", "POST", "/epochs/list", (READ, AUDIT),
    "The epochs with votes on memories of a namespace, the latest first; for an auditor of all namespaces, all epochs "
    "of a shard.",
    a.Epochs, r.EpochsRequest,
)  # fmt: skip
CONFLICTS = Endpoint(
    "conflicts", "POST", "/conflicts/list", (READ,),
    "The open contradictions of a namespace, the last found first: which memory holds, and what both say.",
    a.Conflicts, r.ConflictsRequest,
)  # fmt: skip
OPEN_EPOCH = Endpoint(
    "open_epoch", "GET", "/epochs/{namespace}/open", (READ, AUDIT),
    "The epoch that members vote on now, as far as it is about a namespace: proposals, ballots as they come, phases.",
    a.OpenEpoch, query=_GATES[:3],
)  # fmt: skip
OPEN_EPOCH_OF_SHARD = Endpoint(
    "open_epoch_of_shard", "GET", "/shards/{shard}/open", (AUDIT,),
    "The epoch that members vote on now, with the proposals of all namespaces; for a key to all namespaces.",
    a.OpenEpoch, query=_GATES[:3],
)  # fmt: skip
MEMBERS = Endpoint(
    "members", "POST", "/members/list", (READ, AUDIT),
    "The present and former members of a namespace's shard: their weights, since when, and their keys.",
    a.Members, r.MembersRequest,
)  # fmt: skip
EVENT = Endpoint(
    "event", "GET", "/events/{namespace}/{event_id:path}", (READ, PUBLISH),
    "The outcome of an event, or why intake refused it; waits for the outcome where the request says how long.",
    a.Became,
    query=(
        *_waits("for an outcome", 0),
        Parameter("agent", str, "The publishing agent: if another one used the id first, the outcome is `taken`."),
        Parameter(
            "place", str,
            "Its place in Kafka, as TOPIC/PARTITION/OFFSET: the answer is about this record, and not about one that "
            "was published under the id before. Without it the last refusal is given.",
        ),
        Parameter(
            "said", str,
            "The SHA-256, in hexadecimal, of the text that was published: if the first text under the id is another "
            "one, the outcome is `reused`.",
        ),
    ),
    waits=True,
)  # fmt: skip
REWARDS = Endpoint(
    "rewards", "GET", "/rewards/{namespace}", (READ, AUDIT),
    "The sums of the rewards that the agents of a namespace got for their contributions to its memory.", a.Rewards,
    query=(Parameter("agent", str, "Only this agent."),),
)  # fmt: skip
_OF_ROLLUPS = (
    Parameter("as_of", int, "Their state at this time, in milliseconds; without it, now."),
    Parameter("persona", str, "Only sentences about this subject, or by this agent."),
)
ROLLUPS = Endpoint(
    "rollups", "GET", "/rollups/{namespace}", (READ,),
    "The topics of the roll-ups, each with the number of its sentences.", a.Rollups,
    query=_OF_ROLLUPS + _GATES,
)  # fmt: skip
ROLLUP = Endpoint(
    "rollup", "GET", "/rollups/{namespace}/{topic:path}", (READ,),
    "The sentences about one topic across sessions, word for word, now or as of a time.", a.Rollup,
    query=(*_OF_ROLLUPS, Parameter("history", bool, "Also the patches that made it so (default: false)."), *_GATES),
)  # fmt: skip
ERASE = _orders(
    "erase", ERASURE, r.ErasureRequest, a.Erasure, "until an order is carried out",
    "Everything that an erasure would erase; with dry_run: false it is ordered, and the answer waits until it is done.",
)  # fmt: skip
FORGET = _orders(
    "forget", REQUEST, r.ForgetRequest, a.Forget, "until it is decided on",
    "A preview of a vote to forget memories; with dry_run: false they are nominated, and the answer waits for it.",
)  # fmt: skip
RESTORE = _orders(
    "restore", REQUEST, r.RestoreRequest, a.Restore, "until it is decided on",
    "Asks to restore sealed memories, and waits for the members' decision; for other memories it tells why not.",
)  # fmt: skip
ROLLBACK = _orders(
    "rollback", REQUEST, r.RollbackRequest, a.Rollback, "until it is decided on",
    "Asks to roll the weight of a memory in experience back to an older version, and waits for the decision.",
)  # fmt: skip
PIN = _orders(
    "pin", PROTECTION, r.PinRequest, a.Pinned, "until it holds",
    "Protects a memory from being forgotten until it is unpinned; an erasure overrides it.",
)  # fmt: skip
UNPIN = _orders(
    "unpin", PROTECTION, r.PinRequest, a.Pinned, "until it holds",
    "Ends the pin of a memory; holds on it stay in force.",
)  # fmt: skip
BEGIN_GOAL = _orders(
    "begin_goal", PROTECTION, r.NeedRequest, a.Needed, "until it holds",
    "Declares the memories that a goal needs: they are not forgotten until it ends; an erasure overrides it.",
)  # fmt: skip
END_GOAL = _orders(
    "end_goal", PROTECTION, r.GoalRequest, a.Needed, "until it holds",
    "Ends a goal: memories that only it needed may be forgotten again.",
)  # fmt: skip
RECLASSIFY = Endpoint(
    "reclassify", "POST", "/orders/reclassify", (RECLASSIFICATION.right, READ),
    "Changes the sensitivity, purposes or jurisdiction of stored memories and of all that was made of them; for a key "
    "with the right to forget, or whose grant names the subject of each.",
    a.Reclassified, r.ReclassifyRequest, _waits("until it is in force"), waits=True,
)  # fmt: skip
PROFILE_OF = Endpoint(
    "profile", "GET", "/subjects/{subject:path}/profile", (READ,),
    "The profile of a subject; for a key whose grant names the subject.", a.Profile,
    query=(Parameter("namespace", str, "The namespace of the profile (default: default)."),),
)  # fmt: skip
SET_PROFILE = Endpoint(
    "set_profile", "POST", "/subjects/{subject:path}/profile", (READ,),
    "Sets the profile of a subject whole, and waits until it is in force; for a key whose grant names the subject.",
    a.Profile, r.ProfileRequest, _waits("until it is in force"), waits=True,
)  # fmt: skip
ORDER = Endpoint(
    "order", "GET", "/orders/{order_id}", (*dict.fromkeys(kind.right for kind in ORDERS.values()), AUDIT),
    "The result of an order of any kind; needs the right to give such an order, or to audit.", a.Ordered,
    query=_waits("until it is answered", 0), waits=True,
)  # fmt: skip
RECEIPT = Endpoint(
    "receipt", "GET", "/orders/{order_id}/receipt", (ERASURE.right, AUDIT),
    "The proof of an erasure; it says so if the members have not decided yet.", a.ErasureReceipt,
)  # fmt: skip

JOURNAL = Endpoint(
    "journal", "POST", "/journal/list", (READ, AUDIT),
    "The journal's entries about a namespace in sentences, the latest first, page by page.", a.Journal,
    r.JournalRequest,
)  # fmt: skip
JOURNAL_FEED: Endpoint[Any] = Endpoint(
    "journal_feed", "GET", "/journal/{namespace}/feed", (READ, AUDIT),
    "The journal's new entries about a namespace as server-sent events: each is a line of `/journal/list`, with its "
    "cursor as id. Without `cursor` it begins now; it ends after some minutes, and goes on after the last id.",
    query=(Parameter("cursor", str, "Begin after this entry: the `latest` of a list, or the last id."),), waits=True,
)  # fmt: skip
VERIFY_JOURNAL = Endpoint(
    "verify_journal", "POST", "/journal/verify", (AUDIT,),
    "Checks that the entries of a shard's journal in the store follow each other by their hashes, page by page from "
    "the first, and end as the journal service signed; for a key to all namespaces.",
    a.JournalChecked, r.VerifyRequest,
)  # fmt: skip
NAMESPACES = Endpoint(
    "namespaces", "POST", "/namespaces/list", (READ, AUDIT),
    "The namespaces that the key sees and that have memories, by name, with their numbers.", a.Namespaces,
    r.NamespacesRequest,
)  # fmt: skip
NAMESPACE = Endpoint(
    "namespace", "GET", "/namespaces/{namespace}", (READ, AUDIT),
    "The state of a namespace: its memories by tier and agent, what may be forgotten now, and the next epoch.",
    a.NamespaceState,
)  # fmt: skip
POLICY = Endpoint(
    "policy", "GET", "/policy/{namespace}", (READ, AUDIT),
    "The policy in force by which a namespace's memories are judged, and where it differs from the defaults.",
    a.PolicyInForce,
)  # fmt: skip
FLEET = Endpoint(
    "fleet", "GET", "/fleet", (AUDIT,),
    "The processes of the fleet with their rates, lags and problems; for a key to all namespaces.", a.Fleet,
)  # fmt: skip
DEAD_LETTERS = Endpoint(
    "dead_letters", "GET", "/dead-letters", (AUDIT,),
    "The latest records that intake refused, with their reasons; for a key to all namespaces.", a.DeadLetters,
)  # fmt: skip
EVIDENCE = Endpoint(
    "evidence", "GET", "/evidence", (AUDIT,),
    "The reported faults of members, each judged from the signed messages; for a key to all namespaces.", a.Evidence,
)  # fmt: skip
TRACE = Endpoint(
    "trace", "GET", "/memories/{memory_id}/trace", (READ, AUDIT),
    "The recorded steps of a memory through the fleet, with their times.", a.MemoryTrace, query=_WITHIN + _GATES,
)  # fmt: skip

ACCESS = Endpoint(
    "access", "GET", "/access", RIGHTS,
    "The rights of the key, and its namespaces; all rights but admin everywhere where the service needs no key.",
    a.Access,
)  # fmt: skip
KEYS = Endpoint(
    "keys", "POST", "/keys/list", (ADMIN,),
    "The API keys whose namespaces are all the asker's, the latest first, without their secrets.", a.ApiKeys,
    r.KeysRequest,
)  # fmt: skip
MAKE_KEY = Endpoint(
    "make_key", "POST", "/keys", (ADMIN,),
    "Makes an API key, which is told this once. Nobody grants more than he has: no other right, namespace or slot, and "
    "no later end.",
    a.KeyMade, r.KeyRequest, status=201,
)  # fmt: skip
REVOKE_KEY = Endpoint(
    "revoke_key", "POST", "/keys/revoke", (ADMIN,),
    "Revokes an API key whose namespaces are all the asker's: it opens nothing any more, and stays listed.",
    a.KeyInShort, r.RevokeRequest,
)  # fmt: skip

ENDPOINTS: tuple[Endpoint[Any], ...] = (
    SEARCH, RETRIEVE, RECALL, CONTEXT, MEMORIES, SLOT, PATHS, REPORT, PUBLISHED, CLEAR, USES, END_SESSION, SESSION,
    SESSIONS, FINISH_TASK, FEEDBACK, TASKS, TASK, EXPERIENCES, EXPERIENCE, MEMORY, EXPLAIN,
    DECISIONS, GOALS, PINS, HOLDS, ORDERS_GIVEN, EPOCHS, OPEN_EPOCH, OPEN_EPOCH_OF_SHARD, MEMBERS, CONFLICTS, EVENT,
    REWARDS, ROLLUPS, ROLLUP, ERASE, FORGET, RESTORE, ROLLBACK,
    PIN, UNPIN, BEGIN_GOAL, END_GOAL, RECLASSIFY, PROFILE_OF, SET_PROFILE, ORDER, RECEIPT,
    JOURNAL, JOURNAL_FEED, VERIFY_JOURNAL, NAMESPACES, NAMESPACE, POLICY, FLEET, DEAD_LETTERS, EVIDENCE, TRACE, ACCESS,
    KEYS, MAKE_KEY, REVOKE_KEY,
    Endpoint(
        "metrics", "GET", "/metrics", (AUDIT,),
        "The metrics of the process, as Prometheus reads them; for a key to all namespaces, since they count all.",
    ),
    Endpoint("livez", "GET", "/livez", (), "Answers while the process is alive.", a.Alive),
    Endpoint(
        "readyz", "GET", "/readyz", (),
        "The things that it needs, and the problem of each; 503 where there is one. `access`: whether it needs a key.",
        a.Ready,
    ),
    Endpoint("openapi", "GET", "/openapi.json", (), "This description."),
)  # fmt: skip
