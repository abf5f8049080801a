"""What the client gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from memquorum.core.facets import EPISODIC


@dataclass(frozen=True, slots=True)
class Receipt:
    """What was published. Kafka has confirmed it on all replicas before a receipt is given.

    `memory_id`: the memory that the episode is to become, or, once the outcome is known, the one that holds it: another
    where it `reinforced` one. `outcome`: stored, reinforced, below_threshold or accessed; erased where an order to
    erase took the episode, or kept it out: added again, it stays out; unreadable
    where its key was destroyed meanwhile; failed where it could not be encoded or judged: its dead letter brings it
    back (`dlq replay`), and then its outcome is another. None if nobody waited.
    """

    namespace: str
    event_id: str
    memory_id: str
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class Erasure:
    """What an erasure takes (`status` "nothing ordered"), or took ("erased"). "ordered": it was not carried out in
    time, and will be. "withheld": something that it names is held, so nothing went; `why` says what to do.

    `memories`, `episodes`: how many. `going`: of a dry run some of them one by one, `more` are not listed. `staying`:
    what says the same and stays, with the reason (`why`); who wants it gone names it in an order. `order_id`:
    its receipt's name; `residue_until`: until when remains may lie in files, in milliseconds.
    """

    namespace: str
    selector: str
    value: str
    dry_run: bool
    status: str
    memories: int | None = None
    episodes: int | None = None
    going: tuple[dict[str, Any], ...] = ()
    more: int = 0
    order_id: str | None = None
    ordered_by: str | None = None
    reference: str | None = None
    ordered_at: int | None = None
    accepted_at: int | None = None
    shard: int | None = None
    first_seq: int | None = None
    last_seq: int | None = None
    residue_until: int | None = None
    attested_epoch: int | None = None
    why: str | None = None
    staying: tuple[dict[str, Any], ...] = ()
    staying_more: int = 0


@dataclass(frozen=True, slots=True)
class Restore:
    """What was asked, and what became of it. `status`: "nothing to restore", "asked" (not decided in time; it will be)
    or "decided"; `action`: restore, or forget. `memories`: of each its id, its status (sealed, restored, alive,
    destroyed, erased, unknown; forgotten, kept) and why. `restored`: how many came back.
    """

    namespace: str
    status: str
    memories: tuple[dict[str, Any], ...]
    order_id: str | None = None
    shard: int | None = None
    epoch: int | None = None
    journal_seq: int | None = None
    restored: int = 0
    action: str = "restore"


@dataclass(frozen=True, slots=True)
class Forget:
    """What a vote to forget would look at (`status` "nothing asked"), or what became of it ("asked", "decided").

    `memories`: of each its id, its status (alive, protected, forgotten, kept, unknown) and why; its `decay` now, and
    the relevance below which a member lets it go (`relevance_below`)."""

    namespace: str
    status: str
    dry_run: bool
    memories: tuple[dict[str, Any], ...]
    order_id: str | None = None
    shard: int | None = None
    epoch: int | None = None
    journal_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a memory is where it is: `account` as plain values, `lines` in words."""

    account: dict[str, Any]
    lines: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(self.lines)


class Episode(TypedDict, total=False):
    """What may be said of an episode beside its content.

    `occurred_at`: in milliseconds. `agent`, `namespace`: in place of the client's. One `event_id` is one episode.
    """

    session: str | None
    role: str | None
    subject: str | None
    source: str | None
    derives_from: Sequence[str] | None
    type: str | None
    sensitivity: float | None
    purposes: Sequence[str] | None
    jurisdiction: str | None
    reward: float | None
    confidence: float | None
    uncertainty: float | None
    event_id: str | None
    occurred_at: int | None
    agent: str | None
    namespace: str | None


class Gates(TypedDict, total=False):
    """What may be read, and what for.

    `sensitivity_max`: in [0, 1]. `purpose`: what you read for; without one you are given nothing that is for certain
    purposes only. `jurisdictions`: a memory passes if all those whose law it is under are among them.
    """

    sensitivity_max: float | None
    purpose: str | None
    jurisdictions: Sequence[str] | None


class Only(Gates, total=False):
    """Which memories are asked at all; of what is not named, all.

    `agents`: who recorded it. `tiers`: short-term, long-term. `types`: episodic, semantic, social, task. `since`,
    `until`: when it occurred, in milliseconds, from the first until before the second.
    """

    agents: Sequence[str] | None
    sessions: Sequence[str] | None
    tiers: Sequence[str] | None
    types: Sequence[str] | None
    since: int | None
    until: int | None


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that was given. `tokens`: what it counts in the budget. `folded`: the ids of others that say the same.

    Of a retrieval: `score` = `relevance` × `strength` × the factor of its tier, and the `cosine`. Of a recall: the
    `way` that led here from which `anchor` (anchor, source, derived, session, time), and how far `apart` they are, in
    links of derivation, steps of the session or milliseconds, below 0 where it came before. Of a context: `why` it is
    in (buffer, relevant), and its `place` among what the agent said last, 1 for the newest, if it is there.

    `purposes`: what it may be used for; None: for anything. `jurisdictions`: whose law it is under.
    """

    memory_id: str
    text: str
    tier: str
    agent: str
    session: str | None
    role: str | None
    occurred_at: int
    last_access: int
    accesses: int
    salience: float
    tokens: int
    folded: tuple[str, ...]
    score: float | None = None
    relevance: float | None = None
    strength: float | None = None
    cosine: float | None = None
    way: str | None = None
    anchor: str | None = None
    apart: int | None = None
    why: str | None = None
    place: int | None = None
    type: str = EPISODIC
    sensitivity: float = 0.0
    purposes: tuple[str, ...] | None = None
    jurisdictions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many were left out for one reason, and the first few of them where they are named."""

    count: int
    memory_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Context:
    """Memories that fit a budget, and what did not come in, by reason: duplicate, budget, k_max, not_found, and the
    filters tier, agent, session, type, time, sensitivity, purpose, jurisdiction. `text`: for a prompt, where a context
    was asked for."""

    items: tuple[Found, ...]
    tokens: int
    budget_tokens: int
    left_out: Mapping[str, LeftOut]
    text: str | None = None

    def __str__(self) -> str:
        return self.text if self.text is not None else "\n".join(item.text for item in self.items)


def context(answer: Mapping[str, Any]) -> Context:
    """What the service answered."""
    items = tuple(Found(**named(item)) for item in answer["items"])
    left = {why: LeftOut(told["count"], tuple(told["memory_ids"])) for why, told in answer["left_out"].items()}
    return Context(items, answer["tokens"], answer["budget_tokens"], left, answer.get("text"))


def named(found: Mapping[str, Any]) -> dict[str, Any]:
    """What was found, its arrays made tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in found.items()}
