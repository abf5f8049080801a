"""What comes of a session: which of its memories a summary says, which wait for their vote, and why others stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from memquorum.core.api.answers import Session, SessionDraft, SessionPart
from memquorum.core.consolidation import parting
from memquorum.core.consolidation.extractive import LEAST
from memquorum.core.policy import Policy
from memquorum.core.retrieval.telling import Opens, opening
from memquorum.core.text.plurals import many
from memquorum.core.tiers import DRAFT, LONG_TERM, SEALED, SHORT_TERM
from memquorum.ports import SessionMemory

WANTED, PROTECTED, PROMOTED, CONTRADICTED = "wanted", "protected", "promoted", "contradicted"
_STAYS = {
    WANTED: "wanted on purpose",
    PROTECTED: "protected",
    PROMOTED: "in long-term memory",
    CONTRADICTED: "in contradiction to what is alive",
    parting.FEW: f"too few to be summed up, as fewer than {LEAST} are bound alike",
    parting.WORTH: "worth more than a summary would say of them, or too little to be summed up",
}
"""Why memories are in no summary, after their number."""


class Member(Struct, frozen=True):
    """A memory of a session, as its row has it. `told_by`: the summary that says what is to be kept of it, where it
    rests sealed because of one. `summary`: one that was made of it and is not gone, with its tier, and in which epoch
    members voted last and did not take it."""

    agent: str
    memory_id: str
    tier: str
    created: int
    explicit: bool
    told_by: str | None
    protected: bool
    contradicted: bool
    summary: str | None
    summary_tier: str | None
    kept_in: int | None


class SessionShard(Struct, frozen=True):
    """Where the session's shard stands: its time, its last epoch, and when that was."""

    as_of: int
    last_epoch: int
    last_epoch_at: int


def told(
    place: tuple[str, str],
    members: Sequence[Member],
    free: Sequence[SessionMemory],
    standing: SessionShard,
    policy: Policy,
) -> Session:
    """What comes of a session. `place`: its namespace and its name. `free`: those of its memories of which a summary
    may be made."""
    by_agent: dict[str, list[Member]] = {}
    for one in members:
        by_agent.setdefault(one.agent, []).append(one)
    parts = (
        _part(agent, mine, [one for one in free if one.agent == agent], standing.as_of, policy)
        for agent, mine in sorted(by_agent.items())
    )
    return Session(
        *place,
        tuple(parts),
        standing.as_of,
        standing.last_epoch + 1,
        standing.last_epoch_at + policy.epoch.interval_ms,
        policy.epoch.interactions,
    )


def _part(agent: str, mine: Sequence[Member], free: Sequence[SessionMemory], as_of: int, policy: Policy) -> SessionPart:
    alive = [one for one in mine if one.tier in (SHORT_TERM, LONG_TERM)]
    sealed = [one for one in mine if one.tier == SEALED and one.told_by is not None]
    drafts = Counter(one.summary for one in mine if one.summary_tier == DRAFT and one.summary is not None)
    kept = {one.summary: one.kept_in for one in mine}
    served = [one.told_by for one in sealed] + [one.summary for one in alive if one.summary_tier == SHORT_TERM]
    made = parting.parts(free, policy.consolidate, as_of=as_of)
    staying = Counter(why for one in alive if one.summary is None and (why := _stays(one)))
    staying.update(parting.staying(free, made))
    return SessionPart(
        agent,
        len(alive),
        len(sealed),
        tuple(dict.fromkeys(one for one in served if one is not None)),
        tuple(SessionDraft(one, count, kept[one]) for one, count in sorted(drafts.items())),
        tuple(len(part.memories) for part in made),
        dict(staying),
        max(one.created for one in mine),
    )


def _stays(one: Member) -> str | None:
    """Why no summary may be made of a memory, as far as its row tells."""
    if one.tier == LONG_TERM:
        return PROMOTED
    if one.explicit:
        return WANTED
    if one.protected:
        return PROTECTED
    return CONTRADICTED if one.contradicted else None


def lines(found: Session, agent: str | None = None) -> Iterator[str]:
    """A session in words. `agent`: of this one's part alone."""
    parts = [one for one in found.parts if agent in (None, one.agent)]
    for one in parts:
        yield from _of_one(one)
    if any(one.waiting for one in parts):
        opens = Opens(found.as_of, found.opens_at, found.interactions)
        yield f"Members vote in epoch {opening(found.epoch, opens)}."


def _of_one(part: SessionPart) -> Iterator[str]:
    if not part.memories and not part.sealed:
        yield f"{part.agent}: nothing is left of it"
        return
    alive = many(part.memories, "memory") if part.memories else ""
    sealed = f"{part.sealed:,} sealed, since a summary says what is to be kept of them" if part.sealed else ""
    yield f"{part.agent}: {', '.join(filter(None, (alive, sealed)))}"
    yield from (f"  summary {one} is served" for one in part.summaries)
    for draft in part.waiting:
        before = "" if draft.kept_in is None else f"; in epoch {draft.kept_in} members did not take it"
        yield f"  summary {draft.memory_id} of {draft.memories:,} of them waits for its vote{before}"
    yield from (f"  a summary of {count:,} of them is not made yet" for count in part.coming)
    if not (part.summaries or part.waiting or part.coming):
        yield "  no summary is made of it"
    yield from (f"  {count:,} {_STAYS.get(why, why)}" for why, count in part.staying.items())
