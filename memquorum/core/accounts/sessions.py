"""Explains the state of a session: which of its memories are in a summary, which wait for their vote, and why others
stay."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from memquorum.core.access import covers
from memquorum.core.accounts.plainly import counted, minute
from memquorum.core.accounts.telling import Opens, opening
from memquorum.core.api.answers import Session, SessionDraft, SessionPart, SessionSummary
from memquorum.core.consolidation import parting
from memquorum.core.consolidation.extractive import LEAST
from memquorum.core.policy import Policy
from memquorum.core.showing.plurals import many
from memquorum.core.tiers import DRAFT, LONG_TERM, SEALED, SHORT_TERM
from memquorum.ports import SessionMemory

WANTED, PROTECTED, PROMOTED, CONTRADICTED = "wanted", "protected", "promoted", "contradicted"
_STAYS = {
    WANTED: "saved on purpose, and what is wanted stays as it is",
    PROTECTED: "kept by a pin, a hold or a goal",
    PROMOTED: "in long-term memory already",
    CONTRADICTED: "at odds with something else that is in use",
    parting.FEW: f"too few: it takes {counted(LEAST)} that may be used alike",
    parting.TALK: "saying too little",
    parting.WORTH: "worth more than a summary would say of them",
    parting.UNREAL: "a joke, a draft, a tale, a simulation or a rumour",
    parting.OFF: "in a namespace in which consolidation is switched off",
    parting.SAVES: "so dense that a summary would be no shorter",
}
"""The reasons why memories are in no summary, after "not summed up:"."""


SERVED, MERGED, ERASED, FORGOTTEN = "served", "merged", "erased", "forgotten"
_SAYS = SERVED, MERGED
"""The statuses of summaries whose content searches find."""


class Member(Struct, frozen=True):
    """A memory of a session, as its row has it. `told_by`: the summary that says what is to be kept of it, where it
    rests sealed because of one. `summary`: one that was made of it and is not gone, with its tier, and in which epoch
    members voted last and did not take it. `sealed_until`: of what rests, when its key goes. `seq`, `summed_seq`: at
    which entry of the journal it came into its tier, and the last summary of it came. The fields that bind it are those
    of `core.facets.Kept`."""

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
    sealed_until: int | None = None
    seq: int = 0
    summed_seq: int | None = None
    sensitivity_ppm: int = 0
    purposes: str | None = None
    jurisdictions: str = ""


class Made(Struct, frozen=True):
    """A summary of what an agent said in a session, as its row has it. `says`: which one says now what it said, itself
    or the one that it was merged into, and `alive` whether that is; `erased`: whether an order has erased either."""

    memory_id: str
    agent: str
    tier: str
    renews: str | None
    says: str
    alive: bool
    erased: bool


class SessionShard(Struct, frozen=True):
    """The state of the session's shard: its time, its last epoch, and the time of that epoch."""

    as_of: int
    last_epoch: int
    last_epoch_at: int


def session_state(
    place: tuple[str, str],
    members: Sequence[Member],
    made: Sequence[Made],
    free: Sequence[SessionMemory],
    standing: SessionShard,
    *,
    policy: Policy,
) -> Session:
    """Returns the state of a session. `place`: its namespace and its name. `made`: the summaries of it, in the order in
    which they came; `free`: those of its memories of which one may be made."""
    by_agent: dict[str, list[Member]] = {}
    for one in members:
        by_agent.setdefault(one.agent, []).append(one)
    parts = (
        _part(
            agent,
            mine,
            [one for one in made if one.agent == agent],
            [one for one in free if one.agent == agent],
            policy,
            off=covers(policy.consolidate.off.split(), place[0]),
        )
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


def _part(
    agent: str,
    mine: Sequence[Member],
    made: Sequence[Made],
    free: Sequence[SessionMemory],
    policy: Policy,
    *,
    off: bool,
) -> SessionPart:
    alive = [one for one in mine if one.tier in (SHORT_TERM, LONG_TERM)]
    drafts = Counter(one.summary for one in mine if one.summary_tier == DRAFT and one.summary is not None)
    kept = {one.summary: one.kept_in for one in mine}
    renews = {one.memory_id: one.renews for one in made}
    summaries = _summaries(mine, made)
    divided = parting.undivided(free) if off else parting.divide(free, policy.consolidate, _beside(mine))
    staying = Counter(why for one in alive if one.summary is None and (why := _stays(one)))
    staying.update(divided.reasons())
    latest = max((one.created for one in free), default=None)
    return SessionPart(
        agent,
        len(alive),
        sum(one.memories for one in summaries if one.status in _SAYS),
        summaries,
        tuple(SessionDraft(one, count, kept[one], renews.get(one)) for one, count in sorted(drafts.items())),
        tuple(len(part.memories) for part in divided.parts),
        dict(staying),
        max(one.created for one in mine),
        sum(one.memories for one in summaries if one.status not in _SAYS),
        None if latest is None else latest + policy.consolidate.idle_ms,
    )


def _summaries(mine: Sequence[Member], made: Sequence[Made]) -> tuple[SessionSummary, ...]:
    """The summaries on which members have voted, as they stand. A summary that is gone and was replaced is listed only
    as long as a memory rests because of it."""
    resting = [one for one in mine if one.tier == SEALED and one.told_by is not None]
    renewed = {one.renews for one in made}
    found: list[SessionSummary] = []
    for one in made:
        of_it = [two.sealed_until or 0 for two in resting if two.told_by == one.memory_id]
        status = _status(one)
        gone = status not in _SAYS
        if one.tier == DRAFT or (gone and not of_it and (status != ERASED or one.memory_id in renewed)):
            continue
        into = one.says if status == MERGED else None
        until = min(of_it) if gone and of_it else None
        found.append(SessionSummary(one.memory_id, status, len(of_it), into, one.renews, until))
    return tuple(found)


def _status(one: Made) -> str:
    if one.alive:
        return SERVED if one.says == one.memory_id else MERGED
    return ERASED if one.erased else FORGOTTEN


def _beside(mine: Sequence[Member]) -> frozenset[str]:
    """Returns the memories that already existed when the last summary of memories with the same binding was made."""
    summed = Counter[object]()
    for one in mine:
        summed[parting.bound(one)] = max(summed[parting.bound(one)], one.summed_seq or 0)
    return frozenset(one.memory_id for one in mine if one.seq < summed[parting.bound(one)])


def _stays(one: Member) -> str | None:
    """Returns why a memory may not be summed up, as far as its row tells."""
    if one.tier == LONG_TERM:
        return PROMOTED
    if one.explicit:
        return WANTED
    if one.protected:
        return PROTECTED
    return CONTRADICTED if one.contradicted else None


def lines(found: Session, agent: str | None = None, *, ended: bool = False, numbers: bool = False) -> Iterator[str]:
    """A session in words: first how it stands. `agent`: of this one's part alone. `ended`: it is known to be over.
    `numbers`: also when members vote, by the shard's count."""
    parts = [one for one in found.parts if agent in (None, one.agent)]
    over = {one.agent: ended or (one.ends_at or 0) <= found.as_of for one in parts}
    yield _stands_now(parts, over=all(over.values()))
    for one in parts:
        yield from _of_one(one, over=over[one.agent])
    if any(one.waiting for one in parts):
        at = found.opens_at
        yield f"Next: the members vote {f'by {minute(at)} at the latest' if at > found.as_of else 'at once'}."
        if numbers:
            opens = Opens(found.as_of, at, found.interactions)
            yield f"  in numbers: epoch {opening(found.epoch, opens)}"
    open_until = [one.ends_at for one in parts if one.coming and not over[one.agent] and one.ends_at is not None]
    if open_until:
        now = f"`memquorum end-session -n {found.namespace} {shlex.quote(found.session)}` ends it now"
        yield f"Next: it is over by {minute(max(open_until))}, unless somebody speaks in it before; {now}."


def _stands_now(parts: Sequence[SessionPart], *, over: bool) -> str:
    """Returns the state of a session in a sentence."""
    if any(one.waiting for one in parts):
        return "A summary of the session waits for the members' vote."
    if any(one.coming for one in parts):
        if over:
            return "The session is over, and a summary of it is about to be made."
        return "The session is not over yet; a summary of it is made once it is."
    if any(made.status in _SAYS for one in parts for made in one.summaries):
        return "The session is summed up, and searches find its summary."
    if any(one.unsaid and one.summaries for one in parts):
        return "The session was summed up, and its summary is gone."
    if not any(one.memories or one.sealed or one.unsaid for one in parts):
        return "Nothing is left of the session."
    return f"No summary is made of the session{'' if over else ' as it stands'}."


def _of_one(part: SessionPart, *, over: bool) -> Iterator[str]:
    held = (
        f"{many(part.memories, 'memory')} in use" if part.memories else "",
        f"{part.sealed:,} put away, since a summary says what is to be kept of them" if part.sealed else "",
        f"{part.unsaid:,} put away that no summary says any more" if part.unsaid else "",
    )
    yield f"{part.agent}: {', '.join(filter(None, held)) or 'nothing is left'}"
    yield from (f"  summary {one.memory_id} {_stands(one)}" for one in part.summaries)
    for draft in part.waiting:
        before = "" if draft.kept_in is None else "; they did not take it when they voted last"
        told = f"waits for the members' vote{_in_place(draft.renews)}{before}"
        yield f"  summary {draft.memory_id} of {draft.memories:,} of them {told}"
    comes = "is about to be made" if over else "is made once the session is over"
    yield from (f"  a summary of {count:,} of them {comes}" for count in part.coming)
    yield from (f"  {count:,} not summed up: {_STAYS.get(why, why)}" for why, count in part.staying.items())


def _stands(one: SessionSummary) -> str:
    """Returns the state of a summary, as the words after its id."""
    place = _in_place(one.renews)
    if one.status == MERGED:
        return f"was merged into {one.into}, which searches find"
    rest = ""
    if one.memories and one.status not in _SAYS:
        until = "" if one.until is None else f": `memquorum restore ID` asks for each back until {minute(one.until)}"
        rest = f"; {one.memories:,} put away that it said{until}"
    now = "in use: searches find it" if one.status == SERVED else one.status
    return f"is {now}{place}{rest}"


def _in_place(renews: str | None) -> str:
    return "" if renews is None else f", in the place of {renews}, which was erased"
