"""When a shard votes, and on what: the triggers of an epoch and its proposals (SPEC A, Alg. 4; SPEC B, Alg. 12).

A tick comes with where its shard stood then, as the journal has it (`Standing`), so whether it opens an epoch does not
depend on how late anybody asks, or how often. The stage calls, in this order: `trigger`; then `build` with the crossed
memories that still are candidates, with what has expired, under pressure also with those that are to go first, with
what may be promoted, and with who knows what is beyond a budget.
What is beyond a budget is nominated before what merely decayed, and does not count on that: members may keep it.
Nothing here removes a memory: decay and capacity nominate, the vote decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import decay, triage
from memquorum.core.budgets.claims import AGE, BUDGET, PRESSURE
from memquorum.core.identity.membership import Genesis
from memquorum.core.policy import EpochPolicy, Policy
from memquorum.core.records import ConfigurationOrdered, DecayCrossed, NominationProposed, Proposal, Standing, Weighed
from memquorum.core.tiers import SHORT_TERM
from memquorum.core.vote.configuring import TRIGGER
from memquorum.core.vote.kinds import (
    ADMITS,
    CONFIGURE,
    CONTESTS,
    GENERALISES,
    GOES,
    KINDS,
    LETS_GO,
    MAKES_ROOM,
    MERGES,
    SUMS_UP,
    UNITES,
)
from memquorum.core.vote.kinds.admit import TRIED
from memquorum.core.vote.kinds.generalise import GENERAL
from memquorum.core.vote.kinds.kind import Kind, Offered
from memquorum.core.vote.kinds.unite import TWINS
from memquorum.ports import Candidate

INTERACTIONS = "interactions"
INTERVAL = "interval"
TRIAGE = "triage"
"""Why an epoch is opened before its interval is over: something has expired."""
CONTRADICTION = "contradiction"
"""Why an epoch is opened that is about contradictions alone: its shard's rhythm is as if there had been none."""
ANEW = "anew"
"""Why an epoch is opened, apart from its shard's rhythm too, for summaries in the place of erased ones: what they say
is found nowhere until they are voted for."""
APART = frozenset({CONTRADICTION, ANEW})
"""The reasons of epochs that leave their shard's rhythm as it is."""
CONTRADICTED = "contradicted"
"""Why memories are nominated of which one says otherwise than the others."""
SUMMED_UP = "summed up"
"""Why memories are nominated of which there is a summary."""
DOUBTED = "doubted"
"""Why a memory is nominated that the last rehearsal found not to hold (`core.rehearsal`)."""
ALIKE = "alike"
"""Why summaries are nominated that say the same."""
ASKED = "asked"
"""Why a memory is nominated that somebody wants to be forgotten."""

LATEST = 2**62
"""Later than any due time: what is due by then is everything that does not rest, longest unused first."""


def nothing() -> bool:
    """Nothing has expired, is too much, or is found nowhere."""
    return False


class Elsewhere(Struct, frozen=True):
    """What the same epoch votes on for other reasons than a budget.

    `going`: memories that are to go, because somebody asked for it or because of their age; `drafts`: summaries that
    are to stay, each with what it takes the place of; `stays`: what else is voted on, and counts until that is decided.
    """

    going: Collection[str] = ()
    drafts: Mapping[str, Collection[str]] = {}
    stays: Collection[str] = ()


class Leaving(Struct, frozen=True):
    """What is to go for want of tokens, in the order of its policy, and how many of each of its namespaces may go."""

    chosen: tuple[tuple[Candidate, Weighed], ...] = ()
    rooms: Mapping[str, int] = {}


def something() -> bool:
    """Something takes another memory's place on purpose, and is to be voted on."""
    return True


def nobody(_: Elsewhere) -> Leaving:
    """No namespace is over its budget."""
    return Leaving()


RETRY_TICKS_MOST = 16
"""A retry waits for so many ticks at most."""


class Attempt(Struct, frozen=True):
    """The last nomination of an epoch that was sent, and the time it speaks of. `tries`: how often the epoch was
    nominated; `ticks`: how many ticks were read since the last time."""

    epoch: int
    as_of: int
    tries: int = 1
    ticks: int = 0

    def ticked(self) -> Attempt:
        """Counts a tick that was read since."""
        return replace(self, ticks=self.ticks + 1)

    def again(self, epoch: int, as_of: int) -> Attempt:
        """Replaces it by the nomination of this or another epoch."""
        return Attempt(epoch, as_of, self.tries + 1 if epoch == self.epoch else 1)


def trigger(
    standing: Standing,
    as_of: int,
    policy: Policy,
    expired: Callable[[], bool] = nothing,
    over: Callable[[], bool] = nothing,
    *,
    unsaid: Callable[[], bool] = nothing,
    contested: Callable[[], bool] = something,
) -> str | None:
    """Why the shard should vote at the tick `as_of`, or None.

    "pressure": more memories are alive than the capacity. "interactions": enough episodes and accesses since the last
    epoch. "interval": enough time since the last epoch; before the first epoch that holds at once. "triage": as much
    time as `triage.every_ms`, and something has expired, which `expired` is asked only then. "budget": as much as
    `budget.every_ms`, and a namespace is over its budget and may let something go, by `over`. "anew": none of these,
    but a summary waits for its first vote whose sources are found nowhere, by `unsaid`. "contradiction": none of these,
    but a memory says otherwise than another, no epoch has had that before it, and some such are to be voted on, by
    `contested`. A tick from before the last epoch triggers nothing: its time has been judged.
    """
    epoch = policy.epoch
    if as_of < standing.last_epoch_at:
        return None
    if excess(standing.alive, policy) > 0:
        return PRESSURE
    if standing.interactions >= epoch.interactions:
        return INTERACTIONS
    if as_of - standing.last_epoch_at >= epoch.interval_ms:
        return INTERVAL
    if as_of - standing.last_epoch_at >= policy.triage.every_ms and expired():
        return TRIAGE
    if policy.budget.tokens and as_of - standing.last_epoch_at >= policy.budget.every_ms and over():
        return BUDGET
    if unsaid():
        return ANEW
    return CONTRADICTION if standing.contested_at and contested() else None


def excess(alive: int, policy: Policy) -> int:
    """How many memories a shard has over its capacity."""
    return max(0, alive - policy.epoch.capacity)


def due_at(candidate: Candidate, policy: Policy) -> int:
    """The first millisecond at which a memory that nobody uses may be nominated to go, as far as its age goes."""
    at = decay.due_at(candidate.last_access, decay.of_tier(policy, candidate.tier))
    expires_at = expiry(candidate, policy)
    return at if expires_at is None else min(at, expires_at)


def expiry(candidate: Candidate, policy: Policy) -> int | None:
    """The first millisecond at which a memory that nobody uses has expired by its decay score; None where it never
    does, or has no such score."""
    if candidate.tier != SHORT_TERM or not candidate.fades:
        return None
    span = triage.span_ms(candidate.salience_ppm, candidate.replays, policy)
    return None if span is None else candidate.last_access + span


def evicted_limit(standing: Standing, named: int, policy: Policy) -> int:
    """How many memories to ask the schedule for that are to go for want of room: the excess, and as many as may be
    `named` for another reason before."""
    over = min(excess(standing.alive, policy), policy.epoch.proposals_max)
    return over + named if over else 0


def build(
    *,
    cluster: bytes,
    config: int,
    why: str,
    standing: Standing,
    tick: DecayCrossed,
    crossed: Sequence[Candidate],
    evicted: Sequence[Candidate],
    promotable: Sequence[Candidate],
    expired: Sequence[Candidate] = (),
    asked: Sequence[Candidate] = (),
    doubted: Sequence[Candidate] = (),
    aged: Sequence[Candidate] = (),
    contested: Sequence[tuple[Candidate, ...]] = (),
    drafted: Sequence[tuple[Candidate, ...]] = (),
    alike: Sequence[tuple[Candidate, ...]] = (),
    tried: Sequence[tuple[Candidate, tuple[bytes, ...]]] = (),
    twins: Sequence[tuple[Candidate, ...]] = (),
    general: Sequence[tuple[Candidate, ...]] = (),
    over: Callable[[Elsewhere], Leaving] = nobody,
    rooms: Mapping[str, int],
    policy: Policy,
) -> NominationProposed | None:
    """The next epoch's nomination, or None where there is nothing to propose.

    `why`: what `trigger` answered. `crossed`: the tick's memories that still are candidates; `expired`: those of short-
    term memory whose decay score is too low; `evicted`: those to go first, if there is pressure; `promotable`: what the
    schedule offers; each in its order of preference. `asked`: what somebody wants to be forgotten, which comes first.
    `doubted`: what rehearsals found not to hold, and is faint enough to go. `aged`: what is older than its type may
    become. `contested`: memories, each with those that it contradicts, all of a tier. `drafted`: summaries, each with
    all that it was made of. `alike`: summaries that say the same, first the one that stays. `tried`: what verifiers
    agree in, with what they signed. `twins`: memories of experience that say the same, first the one that stays there.
    `general`: general forms, each with what it was made of. `over` answers what is beyond budgets, as their policies
    weighed it, once it is told what else is voted on. `rooms`: how many memories each of their namespaces may lose now
    (core/caps). A memory is proposed once: rather where others contradict it than with its summary, or with those that
    say the same, rather with these than to be let go, rather to be let go than to have a general form, rather that than
    to be promoted; and to be let go rather because somebody asked, for its age, for want of tokens, since it does not
    hold, for want of room in its shard, and because it decayed, in this order; and to be admitted to experience, or to
    become one with others there, where it is proposed for nothing else.
    """
    disputed = _disputed(contested, asked)
    disputed += _together(drafted, SUMS_UP, SUMMED_UP, asked, disputed)
    disputed += _together(alike, MERGES, ALIKE, asked, disputed)
    told = _named(disputed)
    foremost, rooms = _foremost(asked, aged, disputed, over, rooms)
    named = told | _named(foremost)
    due, evicted, doubted = (_without(named, some) for some in ([*crossed, *expired], evicted, doubted))
    much = excess(standing.alive, policy) - sum(KINDS[one.kind].seals for one in foremost)
    falling = _doubting(_falling(due, evicted, over=much, as_of=tick.as_of, policy=policy), doubted)
    first = _within([*foremost, *falling], rooms)
    first += _together(general, GENERALISES, GENERAL, (), [*disputed, *first])
    taken = told | _named(first)
    rising = _rising(promotable, taken, tick.as_of, policy)
    others = [*first, *rising, *disputed, *_helping(tried, taken | _named(rising))]
    proposals = _share([*others, *_together(twins, UNITES, TWINS, (), others)], policy.epoch)
    if not proposals:
        return None
    return NominationProposed(
        cluster=cluster,
        config=config,
        shard=tick.shard,
        epoch=standing.last_epoch + 1,
        as_of=tick.as_of,
        accepted_offset=tick.accepted_offset,
        trigger=why,
        proposals=tuple(proposals),
    )


def build_order(
    genesis: Genesis, standing: Standing, tick: DecayCrossed, order: tuple[bytes, ConfigurationOrdered, str]
) -> NominationProposed:
    """The next epoch's nomination, of an order alone. `order`: as signed, its body, its id."""
    data, body, name = order
    return alone(
        genesis, standing, tick, TRIGGER, ((Proposal((name,), "", CONFIGURE.name, body.action, 0, 0, 0),), data)
    )


def alone(
    genesis: Genesis, standing: Standing, tick: DecayCrossed, why: str, ordered: tuple[tuple[Proposal, ...], bytes]
) -> NominationProposed:
    """The next epoch's nomination, of one order. `ordered`: what it proposes, and the order."""
    proposals, order = ordered
    return NominationProposed(
        cluster=genesis.cluster,
        config=genesis.config,
        shard=tick.shard,
        epoch=standing.last_epoch + 1,
        as_of=tick.as_of,
        accepted_offset=tick.accepted_offset,
        trigger=why,
        proposals=proposals,
        order=order,
    )


def may_send(last: Attempt | None, epoch: int, as_of: int, policy: Policy) -> bool:
    """Whether to nominate an epoch, given the last attempt on the shard: again only after `epoch.retry_ms` of ticks,
    and after twice as many ticks each time, up to `RETRY_TICKS_MOST`.

    Between the two the epoch is being voted on. Members hold the latest nominations alone: where each takes them longer
    than the next one takes to come, no two of them would vote on the same (infra/decisions/0148).
    """
    if last is None or last.epoch != epoch:
        return True
    waits = min(RETRY_TICKS_MOST, 1 << min(last.tries - 1, 62))
    return as_of - last.as_of >= policy.epoch.retry_ms and last.ticks >= waits


def rest_until(epoch: int, kept: int, policy: Policy) -> int:
    """The first epoch that may propose a memory again which `epoch` has kept, `kept` times in a row by now (≥ 1).

    It rests for 1, 2, 4, … epochs (times `epoch.rest_epochs`) up to the cap, so that keeping does not cost every epoch.
    """
    if kept < 1:
        raise ValueError(f"a memory that was kept {kept} times does not rest")
    doubled = policy.epoch.rest_epochs << min(kept - 1, 62)
    return epoch + 1 + min(doubled, policy.epoch.rest_epochs_max)


def latest(ticks: Iterable[DecayCrossed]) -> dict[int, DecayCrossed]:
    """The last tick of each shard among several that wait: an earlier one asks about a time that is over."""
    found: dict[int, DecayCrossed] = {}
    for tick in ticks:
        known = found.get(tick.shard)
        if known is None or tick.journal_seq >= known.journal_seq:
            found[tick.shard] = tick
    return found


def _named(proposals: Iterable[Proposal]) -> set[str]:
    """The memories that proposals are about."""
    return {memory_id for proposal in proposals for memory_id in proposal.memory_ids}


def _without(named: Collection[str], some: Iterable[Candidate]) -> list[Candidate]:
    return [one for one in some if one.memory_id not in named]


def _foremost(
    asked: Sequence[Candidate],
    aged: Sequence[Candidate],
    disputed: Sequence[Proposal],
    over: Callable[[Elsewhere], Leaving],
    rooms: Mapping[str, int],
) -> tuple[list[Proposal], Mapping[str, int]]:
    """What goes before what decayed: what somebody wants to be forgotten, what is older than it may become, and what is
    beyond a budget then; and how many of each namespace may go."""
    told, found = _named(disputed), _asking(asked)
    found += _aging(aged, told | _named(found))
    leaving = over(_elsewhere(_within(found, rooms), disputed))
    found += _beyond(leaving.chosen, told | _named(found))
    return found, {**leaving.rooms, **rooms}


def _asking(asked: Sequence[Candidate]) -> list[Proposal]:
    """What somebody wants to be forgotten."""
    return [_proposal(candidate, kind, ASKED) for candidate in asked if (kind := _lets_go(candidate)) is not None]


def _elsewhere(going: Sequence[Proposal], disputed: Sequence[Proposal]) -> Elsewhere:
    """What is voted on beside budgets, as their stage is told of it. What is only demoted stays."""
    sums_up = frozenset(SUMS_UP.values())
    drafts = {one.memory_ids[0]: one.memory_ids[1:] for one in disputed if one.kind in sums_up}
    return Elsewhere(
        _named(one for one in going if KINDS[one.kind].seals),
        drafts,
        _named(one for one in disputed if one.kind not in sums_up),
    )


def _falling(
    falling: Sequence[Candidate], evicted: Sequence[Candidate], *, over: int, as_of: int, policy: Policy
) -> list[Proposal]:
    """Proposes of those to go first as many as make the excess of the shard, then what else decayed or expired.

    What merely decayed counts for nothing where more is to go: members may keep it.
    """
    due: dict[str, Proposal] = {}
    for candidate in evicted:
        if len(due) >= over:
            break
        if candidate.memory_id not in due and (kind := _makes_room(candidate)) is not None:
            due[candidate.memory_id] = _proposal(candidate, kind, PRESSURE)
    for candidate in falling:
        lets_go = _lets_go(candidate)
        reason = None if lets_go is None else lets_go.eligible(candidate, as_of, policy)
        if lets_go is not None and reason is not None and candidate.memory_id not in due:
            due[candidate.memory_id] = _proposal(candidate, lets_go, reason)
    return list(due.values())


def _rising(promotable: Sequence[Candidate], named: Collection[str], as_of: int, policy: Policy) -> list[Proposal]:
    """What is worth keeping, where nothing else is voted on of it."""
    return [
        _proposal(candidate, kind, reason)
        for kind in KINDS.values() if kind.offered is Offered.SALIENT
        for candidate in promotable
        if candidate.memory_id not in named
        and (reason := kind.eligible(candidate, as_of, policy))
    ]  # fmt: skip


def _doubting(falling: Sequence[Proposal], doubted: Sequence[Candidate]) -> list[Proposal]:
    """What is to be let go, with what does not hold before what is only old."""
    found = [_proposal(candidate, kind, DOUBTED) for candidate in doubted if (kind := _lets_go(candidate)) is not None]
    named = _named(found)
    return [*found, *(one for one in falling if named.isdisjoint(one.memory_ids))]


def _aging(aged: Sequence[Candidate], named: Collection[str]) -> list[Proposal]:
    """What is older than it may become, where nothing else is voted on of it."""
    return [
        _proposal(candidate, kind, AGE)
        for candidate in aged
        if candidate.memory_id not in named and (kind := _makes_room(candidate)) is not None
    ]


def _beyond(over: Sequence[tuple[Candidate, Weighed]], named: Collection[str]) -> list[Proposal]:
    """What is beyond a budget, where nothing else is voted on of it."""
    return [
        replace(_proposal(candidate, KINDS[MAKES_ROOM[candidate.tier]], BUDGET), weighed=weighed)
        for candidate, weighed in over
        if candidate.memory_id not in named and candidate.tier in MAKES_ROOM
    ]


def capped(candidate: Candidate) -> bool:
    """Whether letting a memory go counts against the caps of its namespace, as it does not where it is demoted."""
    kind = _lets_go(candidate)
    return kind is not None and kind.capped


def _disputed(contested: Sequence[tuple[Candidate, ...]], asked: Sequence[Candidate]) -> list[Proposal]:
    """What contradicts others, each with as many of those as its kind takes, and no memory twice."""
    taken, found = {candidate.memory_id for candidate in asked}, list[Proposal]()
    for challenger, *incumbents in contested:
        left = [one for one in incumbents if one.memory_id not in taken]
        if challenger.memory_id in taken or not left or left[0].tier not in CONTESTS:
            continue
        kind = KINDS[CONTESTS[left[0].tier]]
        named = (challenger, *left[: kind.takes - 1])
        taken |= {one.memory_id for one in named}
        proposal = _proposal(challenger, kind, CONTRADICTED)
        found.append(replace(proposal, memory_ids=tuple(one.memory_id for one in named)))
    return found


def _together(
    some: Sequence[tuple[Candidate, ...]],
    kinds: Mapping[str, str],
    reason: str,
    asked: Sequence[Candidate],
    others: Sequence[Proposal],
) -> list[Proposal]:
    """Each summary with all that belongs to it, or each memory with its twins, unless something else is voted on of
    that. `kinds`: by the tier of the first."""
    taken = {one.memory_id for one in asked} | {i for proposal in others for i in proposal.memory_ids}
    found = list[Proposal]()
    for named in some:
        ids, kind = tuple(one.memory_id for one in named), KINDS[kinds[named[0].tier]]
        if len(named) < 2 or len(named) > kind.takes or not taken.isdisjoint(ids):
            continue
        taken |= set(ids)
        proposal = _proposal(named[0], kind, reason)
        used = max(one.last_access for one in named[1:])
        found.append(replace(proposal, memory_ids=ids, last_access=used))
    return found


def _helping(tried: Sequence[tuple[Candidate, tuple[bytes, ...]]], named: Collection[str]) -> list[Proposal]:
    """What verifiers agree in, where nothing else is voted on of it."""
    return [
        replace(_proposal(candidate, KINDS[ADMITS[candidate.tier]], TRIED), tried=made)
        for candidate, made in tried
        if candidate.memory_id not in named and candidate.tier in ADMITS
    ]


def _lets_go(candidate: Candidate) -> Kind | None:
    """The kind by which a memory of this tier goes."""
    return KINDS[LETS_GO[candidate.tier]] if candidate.tier in LETS_GO else None


def _makes_room(candidate: Candidate) -> Kind | None:
    """The kind by which a memory of this tier goes for want of room."""
    return KINDS[GOES[candidate.tier]] if candidate.tier in GOES else None


def _within(proposals: Sequence[Proposal], rooms: Mapping[str, int]) -> list[Proposal]:
    """No more of each namespace than there is room for, the first of them. What no cap counts has room."""
    taken, found = Counter[str](), []
    for proposal in proposals:
        capped = KINDS[proposal.kind].capped
        taken[proposal.namespace] += capped * len(proposal.memory_ids)
        if not capped or taken[proposal.namespace] <= rooms.get(proposal.namespace, 0):
            found.append(proposal)
    return found


def _share(proposals: Sequence[Proposal], policy: EpochPolicy) -> list[Proposal]:
    """All within `proposals_max`, kind by kind: each leaves free what those after it need of their shares."""
    most, found = policy.proposals_max, list[Proposal]()
    by_kind = {kind: [one for one in proposals if one.kind == name] for name, kind in KINDS.items()}
    free = {kind: min(len(of_kind), most * kind.share // 1) for kind, of_kind in by_kind.items()}
    for kind, of_kind in by_kind.items():
        del free[kind]
        found += of_kind[: most - len(found) - sum(free.values())]
    return found


def _proposal(candidate: Candidate, kind: Kind, reason: str) -> Proposal:
    return Proposal(
        memory_ids=(candidate.memory_id,),
        namespace=candidate.namespace,
        kind=kind.name,
        reason=reason,
        last_access=candidate.last_access,
        created=candidate.created,
        salience_ppm=candidate.salience_ppm,
    )
