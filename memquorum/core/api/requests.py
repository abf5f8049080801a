"""The bodies of requests as received. Each field is declared here with its sentence, a number with its bounds.

Types are checked where a body is read, values where each is used (`core.retrieval`). The description of the API, the
check of numbers and the arguments of tools derive from the declarations (`core.api.fields`).
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta, Struct

from memquorum.core.api.fields import counted
from memquorum.core.records.described import (
    AGENT,
    ENDED_AT,
    EVENT_ID,
    INPUTS,
    KEY,
    NAMESPACE,
    OCCURRED_AT,
    OUTPUTS,
    PATH,
    SAID_BY,
    SESSION,
    SUBJECT,
    TOOLS,
)

DAYS_MOST = 36_500
"""The longest time that an API key may have."""
# Fields that several requests declare in the same words.
_SENSITIVITY_MAX = Meta(description="The highest sensitivity to read, in [0, 1].")
_PURPOSE = Meta(description="The purpose of reading; without it, only memories for any purpose are given.")
_JURISDICTIONS = Meta(description="Only memories under these laws, as in DE, US-CA, EU.")
_REDACT = Meta(description="True: personal data and secrets are masked by kind, as in [phone] (default: false).")
_SUBJECTS = Meta(description="About one of these subjects.")
_SINCE = Meta(description="Said last at this time or later, in milliseconds since the epoch.")
_UNTIL = Meta(description="Said first before this time, in milliseconds since the epoch.")
_BELOW = Meta(description="Filed at this path or below, by whole segments, as in users/ada.")
_WHERE = Meta(
    description='Conditions on attributes, which all have to hold, as {"colour": "red", "size": '
    '{"$gte": 3}}: $eq, $ne, $gt, $gte, $lt, $lte, $in.'
)
_CURSOR = Meta(description="The `next` of the previous page.")
_LIMIT = counted("The maximum number of results.", 1, "listed_most", 100)
_MEMORY_ID = Meta(description="A memory, by its id.")
_DECIDED = Meta(description="Decided at this time of the shard or later, in milliseconds since the epoch.")
_DECIDED_BEFORE = Meta(description="Decided before this time of the shard, in milliseconds since the epoch.")
_HAPPENED = Meta(description="From this time of the shard on, in milliseconds since the epoch.")
_HAPPENED_BEFORE = Meta(description="Before this time of the shard, in milliseconds since the epoch.")
_REFERENCE = Meta(description="A name of the request or the reason in another system, as in ticket-12.")
_SHARD = Meta(description="A shard, in place of a namespace: all its namespaces.")
_MEMORY_IDS = Meta(description="Memories, by their ids; 100 at most.")
_QUERY = Meta(description="The query, in words.")
_DIFFUSION = Meta(
    description="True: only experience, with general forms of other namespaces whose publishers allow"
    " it (default: false)."
)
_AS_OF = Meta(
    description="The state at this time, in milliseconds since the epoch: memories that had been said"
    " and not been replaced by then, among those that are there now or were replaced "
    "since."
)
_TOKENS = counted("The maximum number of tokens.", 1, "budget_most", 2_000)
_K_MAX = counted("The maximum number of memories.", 1, "k_most", 20)
_HOPS = counted("The number of steps; 2 also finds what the first hits name, for a question across memories.", 1, 2, 1)
_GOAL = Meta(description="The name of a goal.")
_DRY_RUN = Meta(description="True: only a preview, changes nothing. False: carries it out (default: true).")


class Request(Struct, frozen=True, kw_only=True):
    """The field that every request has."""

    namespace: Annotated[str | None, NAMESPACE] = None


class Gated(Request, frozen=True, kw_only=True):
    """The limits of reading: sensitivity, purpose, laws, and whether personal data and secrets are masked
    (`redact`)."""

    sensitivity_max: Annotated[float | None, _SENSITIVITY_MAX] = None
    purpose: Annotated[str | None, _PURPOSE] = None
    jurisdictions: Annotated[tuple[str, ...] | None, _JURISDICTIONS] = None
    redact: Annotated[bool | None, _REDACT] = None
    agent: Annotated[str | None, AGENT] = None
    peek: Annotated[
        bool | None,
        Meta(description="True: the given memories do not count as used. A use keeps a memory alive (default: false)."),
    ] = None


class Filtered(Gated, frozen=True, kw_only=True):
    """The memories to consider. `subjects`: the persons or things they are about. `since`, `until`: milliseconds,
    `until` excluded. `path`: filed there or below; `keys`: under one of these. `where`: conditions on attributes, as in
    {"colour": "red", "size": {"$gte": 3}}. `experience`: only memories that have helped in finished tasks."""

    agents: Annotated[tuple[str, ...] | None, Meta(description="Recorded by one of these agents.")] = None
    subjects: Annotated[tuple[str, ...] | None, _SUBJECTS] = None
    sessions: Annotated[tuple[str, ...] | None, Meta(description="Recorded in one of these sessions.")] = None
    tiers: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="In these tiers: short-term, long-term; a list also takes sealed and superseded, without text."
        ),
    ] = None
    types: Annotated[tuple[str, ...] | None, Meta(description="Of these types: episodic, semantic, social, task.")] = (
        None
    )
    since: Annotated[int | None, _SINCE] = None
    until: Annotated[int | None, _UNTIL] = None
    path: Annotated[str | None, _BELOW] = None
    keys: Annotated[tuple[str, ...] | None, Meta(description="Filed under one of these keys.")] = None
    where: Annotated[dict[str, Any] | None, _WHERE] = None
    experience: Annotated[
        bool | None,
        Meta(
            description="True: only memories admitted to experience: they have helped in finished tasks "
            "(default: false)."
        ),
    ] = None


class ListRequest(Filtered, frozen=True, kw_only=True):
    """The body of a list. `cursor`: the `next` of the previous page."""

    cursor: Annotated[str | None, _CURSOR] = None
    limit: Annotated[int | None, _LIMIT] = None


class ClearRequest(Request, frozen=True, kw_only=True):
    """The body that clears a slot, or retracts a memory. `path`: exactly where it is filed; `subject`: the person or
    thing it is about."""

    agent: Annotated[str, AGENT]
    key: Annotated[str | None, KEY] = None
    memory_id: Annotated[str | None, _MEMORY_ID] = None
    path: Annotated[str | None, PATH] = None
    subject: Annotated[str | None, SUBJECT] = None
    session: Annotated[str | None, SESSION] = None
    event_id: Annotated[str | None, EVENT_ID] = None
    occurred_at: Annotated[int | None, OCCURRED_AT] = None


class EndRequest(Request, frozen=True, kw_only=True):
    """The body that ends a session: an agent's part of it, or without `agent` every agent's. With an `outcome`, told by
    the agent or `said_by`, it becomes a finished task, too; its aim is the `goal`, else the first words of a user in
    it."""

    session: Annotated[str, SESSION]
    agent: Annotated[str | None, AGENT] = None
    event_id: Annotated[str | None, EVENT_ID] = None
    ended_at: Annotated[int | None, ENDED_AT] = None
    outcome: Annotated[
        str | None,
        Meta(description="The outcome, which makes the session a finished task: succeeded, failed, or unknown."),
    ] = None
    said_by: Annotated[str | None, SAID_BY] = None
    goal: Annotated[
        str | None, Meta(description="With `outcome`: the aim; without it, the first words of a user in the session.")
    ] = None
    inputs: Annotated[str | None, INPUTS] = None
    outputs: Annotated[str | None, OUTPUTS] = None
    tools: Annotated[tuple[str, ...], TOOLS] = ()
    retrieved: Annotated[
        tuple[str, ...], Meta(description="With `outcome`: ids of the memories that the task was given, best first.")
    ] = ()


class PageRequest(Request, frozen=True, kw_only=True):
    """The fields of every list for people. `since`, `until`: milliseconds of the shard's time, `until` excluded.
    `cursor`: the `next` of the previous page."""

    since: Annotated[int | None, _SINCE] = None
    until: Annotated[int | None, _UNTIL] = None
    cursor: Annotated[str | None, _CURSOR] = None
    limit: Annotated[int | None, _LIMIT] = None


class PassingRequest(PageRequest, frozen=True, kw_only=True):
    """The fields of a list that only shows memories within these limits."""

    sensitivity_max: Annotated[float | None, _SENSITIVITY_MAX] = None
    purpose: Annotated[str | None, _PURPOSE] = None
    jurisdictions: Annotated[tuple[str, ...] | None, _JURISDICTIONS] = None


class DecisionsRequest(PassingRequest, frozen=True, kw_only=True):
    """The body of a list of decisions. `since`, `until`: milliseconds of the shard's time, `until` excluded. `cursor`:
    the `next` of the previous page. All memories of a decision have to pass the gates."""

    kinds: Annotated[
        tuple[str, ...] | None, Meta(description="Votes of these kinds, as in forget, promote, restore.")
    ] = None
    outcomes: Annotated[tuple[str, ...] | None, Meta(description="Only these outcomes, as in forgotten, kept.")] = None
    policies: Annotated[tuple[str, ...] | None, Meta(description="Only decisions by these policies of a budget.")] = (
        None
    )
    memory_id: Annotated[str | None, Meta(description="About this memory.")] = None
    since: Annotated[int | None, _DECIDED] = None
    until: Annotated[int | None, _DECIDED_BEFORE] = None
    limit: Annotated[int | None, counted("The maximum number of results.", 1, "listed_most", 20)] = None


class TasksRequest(PassingRequest, frozen=True, kw_only=True):
    """The body of a list of finished tasks. `agents`: that worked on them; `subjects`: the persons or things they are
    about; `memory_id`: tasks that were given this memory."""

    since: Annotated[int | None, Meta(description="Ended at this time or later, in milliseconds since the epoch.")] = (
        None
    )
    until: Annotated[int | None, Meta(description="Ended before this time, in milliseconds since the epoch.")] = None
    outcomes: Annotated[
        tuple[str, ...] | None, Meta(description="Only these outcomes: succeeded, failed, unknown.")
    ] = None
    agents: Annotated[tuple[str, ...] | None, Meta(description="Only tasks that one of these agents worked on.")] = None
    subjects: Annotated[tuple[str, ...] | None, _SUBJECTS] = None
    memory_id: Annotated[str | None, Meta(description="Only tasks that were given this memory.")] = None
    redact: Annotated[bool | None, _REDACT] = None


class ExperiencesRequest(Request, frozen=True, kw_only=True):
    """The body of a list of memories on their way into experience, which have no one time. `statuses`: only these."""

    sensitivity_max: Annotated[float | None, _SENSITIVITY_MAX] = None
    purpose: Annotated[str | None, _PURPOSE] = None
    jurisdictions: Annotated[tuple[str, ...] | None, _JURISDICTIONS] = None
    cursor: Annotated[str | None, _CURSOR] = None
    limit: Annotated[int | None, _LIMIT] = None
    statuses: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Only these statuses: provisional, agreed, admitted, rejected, demoted, removed, resting, left."
        ),
    ] = None
    redact: Annotated[bool | None, _REDACT] = None


class ConflictsRequest(PassingRequest, frozen=True, kw_only=True):
    """The body of a list of open contradictions."""

    redact: Annotated[bool | None, _REDACT] = None


class SessionsRequest(PassingRequest, frozen=True, kw_only=True):
    """The body of a list of sessions, by when something was said in them last. `agents`: that spoke in it."""

    agents: Annotated[tuple[str, ...] | None, Meta(description="Only sessions in which one of these agents spoke.")] = (
        None
    )


class StandingRequest(PassingRequest, frozen=True, kw_only=True):
    """The fields of a list of protections of memories."""

    since: Annotated[int | None, Meta(description="Said at this time or later, in milliseconds since the epoch.")] = (
        None
    )
    until: Annotated[int | None, Meta(description="Said before this time, in milliseconds since the epoch.")] = None
    memory_id: Annotated[str | None, Meta(description="Only those of this memory.")] = None


class GoalsRequest(StandingRequest, frozen=True, kw_only=True):
    """The body of a list of goals. `goals`: only these; `memory_id`: goals that need it."""

    memory_id: Annotated[str | None, Meta(description="Goals that need this memory.")] = None
    goals: Annotated[tuple[str, ...] | None, Meta(description="Only these goals, by name.")] = None


class ProtectorsRequest(StandingRequest, frozen=True, kw_only=True):
    """The body of a list of pins, or of holds. `ordered_by`, `reference`: exact values."""

    ordered_by: Annotated[
        str | None, Meta(description="Only orders given by this person or agent, as the order names it.")
    ] = None
    reference: Annotated[str | None, _REFERENCE] = None


class OrdersRequest(PageRequest, frozen=True, kw_only=True):
    """The body of a list of orders. `effects`: only those with these effects in the journal."""

    since: Annotated[
        int | None, Meta(description="Answered at this time of the shard or later, in milliseconds since the epoch.")
    ] = None
    until: Annotated[
        int | None, Meta(description="Answered before this time of the shard, in milliseconds since the epoch.")
    ] = None
    kinds: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Orders of these kinds: erase; protect: pins, goals, holds and their ends; restore: "
            "also requests to forget and to roll back."
        ),
    ] = None
    effects: Annotated[
        tuple[str, ...] | None,
        Meta(
            description="Only orders with these effects in the journal: erased, withheld, protected, "
            "requested, declined."
        ),
    ] = None


class EpochsRequest(PassingRequest, frozen=True, kw_only=True):
    """The body of a list of epochs: of those with votes on memories of a namespace, or of all of a `shard`, without
    gates, as votes are only counted there and no memory is named."""

    since: Annotated[int | None, _DECIDED] = None
    until: Annotated[int | None, _DECIDED_BEFORE] = None
    kinds: Annotated[
        tuple[str, ...] | None, Meta(description="Epochs with votes of these kinds; only these votes are counted.")
    ] = None
    shard: Annotated[int | None, _SHARD] = None


class VerifyRequest(Struct, frozen=True, kw_only=True):
    """The body of a check of a shard's journal, page by page from its first entry."""

    shard: Annotated[int, Meta(description="A shard (default: 0).")] = 0
    cursor: Annotated[str | None, _CURSOR] = None
    limit: Annotated[int | None, counted("The maximum number of entries to check.", 1, 10_000, 2_000)] = None


class MembersRequest(Request, frozen=True, kw_only=True):
    """The body of a list of members: of a namespace's shard, or of a `shard`. `seated`: true for present, false for
    former members."""

    shard: Annotated[int | None, _SHARD] = None
    seated: Annotated[bool | None, Meta(description="True: present members; false: former members.")] = None
    roles: Annotated[
        tuple[str, ...] | None, Meta(description="Only members in these roles, as in planning, review.")
    ] = None
    cursor: Annotated[str | None, _CURSOR] = None
    limit: Annotated[int | None, _LIMIT] = None


class JournalRequest(PageRequest, frozen=True, kw_only=True):
    """The body of a list of journal entries."""

    since: Annotated[int | None, _HAPPENED] = None
    until: Annotated[int | None, _HAPPENED_BEFORE] = None
    effects: Annotated[
        tuple[str, ...] | None, Meta(description="Only entries with these effects, as in stored, accessed, decided.")
    ] = None
    memory_id: Annotated[str | None, Meta(description="Only entries that name this memory.")] = None


class NamespacesRequest(Struct, frozen=True, kw_only=True):
    """The body of a list of namespaces."""

    cursor: Annotated[str | None, _CURSOR] = None
    limit: Annotated[int | None, _LIMIT] = None


class KeysRequest(NamespacesRequest, frozen=True, kw_only=True):
    """The body of a list of API keys."""


class KeyRequest(Struct, frozen=True, kw_only=True):
    """The body that makes an API key."""

    name: Annotated[str, Meta(description="Its owner, for people.")]
    namespaces: Annotated[
        tuple[str, ...], Meta(description="The namespaces that it is for: names, and prefixes that end in *.")
    ]
    rights: Annotated[tuple[str, ...], Meta(description="Its rights, of those that the asking key has.")]
    slots: Annotated[
        tuple[str, ...], Meta(description="With the right publish: slots that it takes from other agents.")
    ] = ()
    days: Annotated[int | None, Meta(description="The days until it ends; without it, it ends when it is revoked.")] = (
        None
    )


class RevokeRequest(Struct, frozen=True, kw_only=True):
    """The body that revokes an API key."""

    key_id: Annotated[str, Meta(description="The key's id: the part after mq_.")]


class SlotRequest(Gated, frozen=True, kw_only=True):
    """The body of a request for the memory in a slot. `path`: exactly where it is filed; None: at no path. `use`: the
    memory counts as used by `agent`."""

    key: Annotated[str, KEY]
    path: Annotated[str | None, PATH] = None
    use: Annotated[
        bool | None,
        Meta(description="True: the given memory counts as used by `agent`, once a minute (default: false)."),
    ] = None


class UsesRequest(Request, frozen=True, kw_only=True):
    """The body of a report of memories that an agent used. `event_id`: of the request, so that a repeated request
    counts once."""

    agent: Annotated[str, AGENT]
    memory_ids: Annotated[tuple[str, ...], _MEMORY_IDS]
    event_id: Annotated[str | None, EVENT_ID] = None


class PathsRequest(Gated, frozen=True, kw_only=True):
    """The body of a list of paths. `path`: there or below. `where`: conditions on the attributes of the memories there.
    `cursor`: the `next` of the previous page."""

    path: Annotated[str | None, PATH] = None
    where: Annotated[dict[str, Any] | None, _WHERE] = None
    cursor: Annotated[str | None, _CURSOR] = None
    limit: Annotated[int | None, _LIMIT] = None


class SearchRequest(Filtered, frozen=True, kw_only=True):
    """The body of a search: by a query, or by a vector of the service's encoder. `diffusion`: experience only, with
    general forms of other namespaces whose publishers allow it. `as_of`: the state at this time, in milliseconds."""

    query: Annotated[str | None, _QUERY] = None
    vector: Annotated[
        tuple[float, ...] | None, Meta(description="In place of a query: a vector that the service's own encoder made.")
    ] = None
    k: Annotated[int | None, counted("The maximum number of hits, nearest first.", 1, "k_most", 10)] = None
    exact: Annotated[
        bool | None, Meta(description="True: compares all memories; false: nearly all, by an index (default: false).")
    ] = None
    diffusion: Annotated[bool | None, _DIFFUSION] = None
    as_of: Annotated[int | None, _AS_OF] = None


class RetrieveRequest(Filtered, frozen=True, kw_only=True):
    """The body of a retrieval. `diffusion`, `as_of`: as of a search."""

    query: Annotated[str, _QUERY]
    budget_tokens: Annotated[int | None, _TOKENS] = None
    k_max: Annotated[int | None, _K_MAX] = None
    hops: Annotated[int | None, _HOPS] = None
    diffusion: Annotated[bool | None, _DIFFUSION] = None
    as_of: Annotated[int | None, _AS_OF] = None


class RecallRequest(Filtered, frozen=True, kw_only=True):
    """The body of a recall. `as_of`: as of a search."""

    memory_id: Annotated[str | None, _MEMORY_ID] = None
    query: Annotated[str | None, _QUERY] = None
    goal: Annotated[str | None, _GOAL] = None
    entity: Annotated[
        str | None, Meta(description="The name of a person or a thing, as texts have it: Grace Hopper, valve 3.")
    ] = None
    steps: Annotated[int | None, counted("The number of memories before and after it in the session.", 0, 50, 5)] = None
    links: Annotated[
        int | None, counted("The number of links to follow, to its sources and to memories made from it.", 0, 10, 2)
    ] = None
    hops: Annotated[
        int | None,
        counted("The number of relations to follow one behind another, as requires, isA and sameName.", 0, 4, 2),
    ] = None
    within_ms: Annotated[
        int | None,
        counted("Also memories that occurred within this time of it, in milliseconds.", 0, 31 * 24 * 3_600_000, 0),
    ] = None
    anchors: Annotated[
        int | None,
        counted("The number of memories to start from, where none is named; 20 for a goal or an entity.", 1, 20, 3),
    ] = None
    budget_tokens: Annotated[int | None, _TOKENS] = None
    as_of: Annotated[int | None, _AS_OF] = None


class ContextRequest(Gated, frozen=True, kw_only=True):
    """The body of a request for a context. `as_of`: as of a search."""

    agent: Annotated[str, AGENT]
    query: Annotated[str | None, _QUERY] = None
    session: Annotated[str | None, SESSION] = None
    budget_tokens: Annotated[int | None, _TOKENS] = None
    buffer_share: Annotated[
        float | None, Meta(description="The share of the budget for the agent's latest memories (default: 0.5).")
    ] = None
    quotas: Annotated[
        dict[str, float] | None,
        Meta(description="Shares of the budget that short_term (0.15), long_term (0.15) and rollups (0.1) have first."),
    ] = None
    k_max: Annotated[int | None, _K_MAX] = None
    hops: Annotated[int | None, _HOPS] = None
    path: Annotated[str | None, _BELOW] = None
    where: Annotated[dict[str, Any] | None, _WHERE] = None
    as_of: Annotated[int | None, _AS_OF] = None


class ErasureRequest(Request, frozen=True, kw_only=True):
    """The body of an erasure: one of memory_id, subject, agent, source, before, or everything. It is only a preview
    unless dry_run is false. `before`: memories that occurred earlier, in milliseconds since the epoch, of the named
    `types` or of all; `listed`: how many of the affected memories are listed one by one."""

    memory_id: Annotated[str | None, Meta(description="One memory, with those that say the same.")] = None
    subject: Annotated[str | None, Meta(description="Everything about this person or thing.")] = None
    agent: Annotated[str | None, Meta(description="Everything that this agent has written.")] = None
    source: Annotated[str | None, Meta(description="Everything from this source: a document, a tool, a feed.")] = None
    types: Annotated[
        tuple[str, ...], Meta(description="With `before`: only of these types: episodic, semantic, social, task.")
    ] = ()
    before: Annotated[
        int | None, Meta(description="Everything that occurred before this time, in milliseconds since the epoch.")
    ] = None
    everything: Annotated[bool | None, Meta(description="True: everything in the namespace.")] = None
    dry_run: Annotated[bool | None, _DRY_RUN] = None
    reference: Annotated[str | None, _REFERENCE] = None
    listed: Annotated[
        int | None, counted("The number of affected memories to list one by one.", 0, "listed_most", 100)
    ] = None


class ReportRequest(Request, frozen=True, kw_only=True):
    """The body of a request for all that concerns a person: one of memory_id, subject, agent, or source, as an erasure
    names them."""

    memory_id: Annotated[str | None, Meta(description="One memory, with those that say the same.")] = None
    subject: Annotated[str | None, Meta(description="Everything about this person or thing.")] = None
    agent: Annotated[str | None, Meta(description="Everything that this agent has written.")] = None
    source: Annotated[str | None, Meta(description="Everything from this source: a document, a tool, a feed.")] = None
    sensitivity_max: Annotated[float | None, _SENSITIVITY_MAX] = None
    purpose: Annotated[str | None, _PURPOSE] = None
    jurisdictions: Annotated[tuple[str, ...] | None, _JURISDICTIONS] = None
    redact: Annotated[bool | None, _REDACT] = None
    receipt: Annotated[
        bool | None, Meta(description="Adds a signed statement of what was done with the records (default: false).")
    ] = None
    cursor: Annotated[str | None, _CURSOR] = None
    limit: Annotated[int | None, counted("The maximum number of results.", 1, 50, 20)] = None


class RestoreRequest(Request, frozen=True, kw_only=True):
    """The body of a request to restore memories. `reference`: its name elsewhere."""

    memory_ids: Annotated[tuple[str, ...], _MEMORY_IDS] = ()
    reference: Annotated[str | None, _REFERENCE] = None


class ForgetRequest(RestoreRequest, frozen=True, kw_only=True):
    """The body of a proposal to forget memories. It is only a preview unless dry_run is false."""

    dry_run: Annotated[bool | None, _DRY_RUN] = None


class RollbackRequest(Request, frozen=True, kw_only=True):
    """The body of a request to roll the weight of a memory in experience back `to` an older version of it. `reference`:
    a name for the reason elsewhere."""

    memory_id: Annotated[str, _MEMORY_ID]
    to: Annotated[
        int,
        Meta(description="The older version of its weight to restore; GET /experience/{memory_id} lists the versions."),
    ]
    reference: Annotated[str | None, _REFERENCE] = None


class PinRequest(Request, frozen=True, kw_only=True):
    """The body of a pin, and of its end."""

    memory_id: Annotated[str, _MEMORY_ID]
    reference: Annotated[str | None, _REFERENCE] = None


class ReclassifyRequest(Request, frozen=True, kw_only=True):
    """The body that changes what stored memories state of their use; what it leaves out stays as it is."""

    memory_ids: Annotated[tuple[str, ...], _MEMORY_IDS]
    sensitivity: Annotated[float | None, Meta(description="Their sensitivity from now on, in [0, 1].")] = None
    purposes: Annotated[
        tuple[str, ...] | None, Meta(description="The purposes that they may be used for; an empty list: for any.")
    ] = None
    jurisdiction: Annotated[
        str | None, Meta(description="Whose law they are under, as ISO 3166 writes it (DE, US-CA, EU); empty: none.")
    ] = None
    reference: Annotated[str | None, _REFERENCE] = None


class ProfileRequest(Request, frozen=True, kw_only=True):
    """The body that sets the profile of a subject, whole."""

    stores: Annotated[bool, Meta(description="Whether anything about the subject is stored from now on.")] = True
    never: Annotated[
        tuple[str, ...],
        Meta(description="Names and things that are never kept: 200 at most, each of one to eight words."),
    ] = ()
    private_until: Annotated[
        int | None,
        Meta(description="Until then, in milliseconds, nothing about the subject is stored or shown."),
    ] = None
    retention: Annotated[
        dict[str, int], Meta(description="After how many days memories are erased, by their type.")
    ] = {}
    consents: Annotated[
        dict[str, int] | None,
        Meta(
            description="The purposes that memories may be read for, each until a time in milliseconds, 0 for no end; "
            "without it, any."
        ),
    ] = None
    template: Annotated[
        str | None,
        Meta(description="A template of ages and purposes (docs/use/privacy.md); what is said beside it counts."),
    ] = None
    reference: Annotated[str | None, _REFERENCE] = None


class NeedRequest(Request, frozen=True, kw_only=True):
    """The body that declares the memories that a goal needs while it is active."""

    goal: Annotated[str, _GOAL]
    memory_ids: Annotated[tuple[str, ...], _MEMORY_IDS]


class GoalRequest(Request, frozen=True, kw_only=True):
    """The body that ends a goal. `memory_ids`: memories declared a moment ago, which may not be known to be needed
    yet."""

    goal: Annotated[str, _GOAL]
    memory_ids: Annotated[tuple[str, ...], _MEMORY_IDS] = ()
