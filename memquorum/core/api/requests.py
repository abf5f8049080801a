"""The bodies of requests, as they come: their types are held here, their values where each is read."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Gated(Struct, frozen=True, kw_only=True):
    """What may be read, what for, and whether what is found of persons and secrets is masked (`redact`)."""

    namespace: str | None = None
    sensitivity_max: float | None = None
    purpose: str | None = None
    jurisdictions: tuple[str, ...] | None = None
    redact: bool | None = None
    agent: str | None = None
    peek: bool | None = None


class Filtered(Gated, frozen=True, kw_only=True):
    """Which memories are asked at all. `subjects`: who they are about. `since`, `until`: milliseconds; what occurred at
    the second is out. `path`: what is filed there or below; `keys`: under one of these. `where`: what attributes are,
    as {"colour": "red", "size": {"$gte": 3}}. `experience`: what has shown in finished tasks that it helps, alone."""

    agents: tuple[str, ...] | None = None
    subjects: tuple[str, ...] | None = None
    sessions: tuple[str, ...] | None = None
    tiers: tuple[str, ...] | None = None
    types: tuple[str, ...] | None = None
    since: int | None = None
    until: int | None = None
    path: str | None = None
    keys: tuple[str, ...] | None = None
    where: dict[str, Any] | None = None
    experience: bool | None = None


class ListRequest(Filtered, frozen=True, kw_only=True):
    """The body of a list. `cursor`: what the page before gave as `next`."""

    cursor: str | None = None
    limit: int | None = None


class DecisionsRequest(Struct, frozen=True, kw_only=True):
    """The body of a list of decisions. `since`, `until`: milliseconds of the shard's time; what was voted on at the
    second is out. `cursor`: what the page before gave as `next`. All memories of a decision pass the gates."""

    namespace: str | None = None
    kinds: tuple[str, ...] | None = None
    outcomes: tuple[str, ...] | None = None
    policies: tuple[str, ...] | None = None
    memory_id: str | None = None
    since: int | None = None
    until: int | None = None
    sensitivity_max: float | None = None
    purpose: str | None = None
    jurisdictions: tuple[str, ...] | None = None
    cursor: str | None = None
    limit: int | None = None


class ClearRequest(Struct, frozen=True, kw_only=True):
    """The body that clears a slot, or takes a memory back. `path`: where it is filed, and not below; `subject`: whom it
    is about."""

    agent: str
    key: str | None = None
    memory_id: str | None = None
    namespace: str | None = None
    path: str | None = None
    subject: str | None = None
    session: str | None = None
    event_id: str | None = None
    occurred_at: int | None = None


class EndRequest(Struct, frozen=True, kw_only=True):
    """The body that ends a session: an agent's part of it, or without `agent` every agent's. With an `outcome`, which
    the agent says, or `said_by`, it is a finished task, too: of what a user said first in it, where no `goal` is
    given."""

    session: str
    agent: str | None = None
    namespace: str | None = None
    event_id: str | None = None
    ended_at: int | None = None
    outcome: str | None = None
    said_by: str | None = None
    goal: str | None = None
    inputs: str | None = None
    outputs: str | None = None
    tools: tuple[str, ...] = ()
    retrieved: tuple[str, ...] = ()


class PageRequest(Struct, frozen=True, kw_only=True):
    """What the body of every list for people says. `since`, `until`: milliseconds of the shard's time; what is of the
    second is out. `cursor`: what the page before gave as `next`."""

    namespace: str | None = None
    since: int | None = None
    until: int | None = None
    cursor: str | None = None
    limit: int | None = None


class PassingRequest(PageRequest, frozen=True, kw_only=True):
    """What the body of a list says of which memories alone it may tell."""

    sensitivity_max: float | None = None
    purpose: str | None = None
    jurisdictions: tuple[str, ...] | None = None


class TasksRequest(PassingRequest, frozen=True, kw_only=True):
    """The body of a list of finished tasks. `agents`: who worked on them; `subjects`: who or what they are about;
    `memory_id`: those that were given it."""

    outcomes: tuple[str, ...] | None = None
    agents: tuple[str, ...] | None = None
    subjects: tuple[str, ...] | None = None
    memory_id: str | None = None
    redact: bool | None = None


class ExperiencesRequest(PassingRequest, frozen=True, kw_only=True):
    """The body of a list of memories on their way into experience. `statuses`: those that stand so."""

    statuses: tuple[str, ...] | None = None
    redact: bool | None = None


class StandingRequest(PassingRequest, frozen=True, kw_only=True):
    """What the body of a list of what protects memories says."""

    memory_id: str | None = None


class GoalsRequest(StandingRequest, frozen=True, kw_only=True):
    """The body of a list of goals. `goals`: these alone; `memory_id`: those that need it."""

    goals: tuple[str, ...] | None = None


class ProtectorsRequest(StandingRequest, frozen=True, kw_only=True):
    """The body of a list of pins, or of holds. `ordered_by`, `reference`: word for word."""

    ordered_by: str | None = None
    reference: str | None = None


class OrdersRequest(PageRequest, frozen=True, kw_only=True):
    """The body of a list of orders. `effects`: what the journal says of them."""

    kinds: tuple[str, ...] | None = None
    effects: tuple[str, ...] | None = None


class EpochsRequest(PassingRequest, frozen=True, kw_only=True):
    """The body of a list of epochs: of those in which something of a namespace was voted on, or of all of a `shard`,
    which no gate keeps back: they are counted, and no memory is named."""

    kinds: tuple[str, ...] | None = None
    shard: int | None = None


class MembersRequest(Struct, frozen=True, kw_only=True):
    """The body of a list of members: of those of a namespace's shard, or of a `shard`. `seated`: that vote now, or that
    did once."""

    namespace: str | None = None
    shard: int | None = None
    seated: bool | None = None
    roles: tuple[str, ...] | None = None
    cursor: str | None = None
    limit: int | None = None


class SlotRequest(Gated, frozen=True, kw_only=True):
    """The body of a question for what fills a slot. `path`: where it is filed, and not below; None: at no path. `use`:
    what is given counts as used by `agent`."""

    key: str
    path: str | None = None
    use: bool | None = None


USES_MOST = 100
"""Memories that are told as used in one request."""


class UsesRequest(Struct, frozen=True, kw_only=True):
    """The body that tells of memories that an agent used. `event_id`: of the request, so that one that is sent again
    counts once."""

    agent: str
    memory_ids: tuple[str, ...]
    namespace: str | None = None
    event_id: str | None = None


class PathsRequest(Gated, frozen=True, kw_only=True):
    """The body of a list of paths. `path`: there or below. `where`: what attributes are, of what is filed there.
    `cursor`: what the page before gave as `next`."""

    path: str | None = None
    where: dict[str, Any] | None = None
    cursor: str | None = None
    limit: int | None = None


class SearchRequest(Filtered, frozen=True, kw_only=True):
    """The body of a search: by a query, or by a vector of the encoder that the service has. `diffusion`: of experience
    alone, with general forms of other namespaces, whose publishers allow it."""

    query: str | None = None
    vector: tuple[float, ...] | None = None
    k: int | None = None
    exact: bool | None = None
    diffusion: bool | None = None


class RetrieveRequest(Filtered, frozen=True, kw_only=True):
    """The body of a retrieval. `diffusion`: as of a search."""

    query: str
    budget_tokens: int | None = None
    k_max: int | None = None
    hops: int | None = None
    diffusion: bool | None = None


class RecallRequest(Filtered, frozen=True, kw_only=True):
    """The body of a recall."""

    memory_id: str | None = None
    query: str | None = None
    goal: str | None = None
    steps: int | None = None
    links: int | None = None
    within_ms: int | None = None
    anchors: int | None = None
    budget_tokens: int | None = None


class ContextRequest(Gated, frozen=True, kw_only=True):
    """The body of a request for a context."""

    agent: str
    query: str | None = None
    session: str | None = None
    budget_tokens: int | None = None
    buffer_share: float | None = None
    k_max: int | None = None
    hops: int | None = None
    path: str | None = None
    where: dict[str, Any] | None = None


class ErasureRequest(Struct, frozen=True, kw_only=True):
    """The body of an erasure: one of memory_id, subject, agent, source, before, or everything. Nothing goes unless
    dry_run is false. `before`: what occurred earlier, in milliseconds since the epoch, of the `types` that are named or
    of all; `listed`: how many of those that go are told one by one."""

    namespace: str | None = None
    memory_id: str | None = None
    subject: str | None = None
    agent: str | None = None
    source: str | None = None
    types: tuple[str, ...] = ()
    before: int | None = None
    everything: bool | None = None
    dry_run: bool | None = None
    reference: str | None = None
    listed: int | None = None


class RestoreRequest(Struct, frozen=True, kw_only=True):
    """The body of a request: the memories that are to come back. `reference`: its name elsewhere."""

    namespace: str | None = None
    memory_ids: tuple[str, ...] = ()
    reference: str | None = None


class ForgetRequest(RestoreRequest, frozen=True, kw_only=True):
    """The body of a proposal: the memories that are to be forgotten. Nothing is proposed unless dry_run is false."""

    dry_run: bool | None = None


class RollbackRequest(Struct, frozen=True, kw_only=True):
    """The body of a request to roll the weight of a memory of experience back, `to` an older version of it.
    `reference`: why, a name for the reason elsewhere."""

    memory_id: str
    to: int
    namespace: str | None = None
    reference: str | None = None


class PinRequest(Struct, frozen=True, kw_only=True):
    """The body of a pin, and of its end."""

    memory_id: str
    namespace: str | None = None
    reference: str | None = None


class NeedRequest(Struct, frozen=True, kw_only=True):
    """The body that says which memories a goal needs for as long as it is active."""

    goal: str
    memory_ids: tuple[str, ...]
    namespace: str | None = None


class GoalRequest(Struct, frozen=True, kw_only=True):
    """The body that ends a goal. `memory_ids`: what it was said to need a moment ago, and may not be known to yet."""

    goal: str
    namespace: str | None = None
    memory_ids: tuple[str, ...] = ()
