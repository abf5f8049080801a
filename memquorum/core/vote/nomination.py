"""The triggers of an epoch and its proposals (SPEC A, Alg. 4; SPEC B, Alg. 12).

A tick comes with its shard's standing at that time, as the journal has it (`Standing`), so whether it opens an epoch
does not depend on when or how often the service asks. The stage calls `trigger`, then `build` with the memories in
question: those that decayed or expired, under pressure those to evict first, those that may be promoted, and a function
that names those beyond a budget.

Memories beyond a budget are nominated before those that merely decayed, and the excess is not reduced by the decayed
ones: members may keep them. This module removes no memory: decay and capacity nominate, the vote decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import decay, triage
from memquorum.core.budgets.claims import AGE, BUDGET, FINISHED, PRESSURE, UNUSED
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
    RAISES,
    SUMS_UP,
    UNITES,
)
from memquorum.core.vote.kinds.admit import TRIED
from memquorum.core.vote.kinds.generalise import GENERAL
from memquorum.core.vote.kinds.kind import Kind
from memquorum.core.vote.kinds.unite import FAMILY, TWINS
from memquorum.ports import Candidate

INTERACTIONS = "interactions"
INTERVAL = "interval"
TRIAGE = "triage"
"""The trigger of an epoch before its interval is over: a memory has expired."""
CONTRADICTION = "contradiction"
"""The trigger of an epoch that is about contradictions alone; it does not move the shard's schedule."""
ANEW = "anew"
"""The trigger of an epoch for summaries that replace erased ones; it does not move the shard's schedule either. Their
content cannot be found until they are voted for."""
APART = frozenset({CONTRADICTION, ANEW})
"""The triggers of epochs that do not move their shard's schedule."""
CONTRADICTED = "contradicted"
"""The reason of a nomination: one memory contradicts the others."""
SUMMED_UP = "summed up"
"""The reason of a nomination: there is a summary of the memories."""
DOUBTED = "doubted"
"""The reason of a nomination: the last rehearsal found that the memory does not hold (`core.rehearsal`)."""
ALIKE = "alike"
"""The reason of a nomination: the summaries say the same."""
ASKED = "asked"
"""The reason of a nomination: somebody asked to forget the memory."""

LATEST = 2**62
"""A due time after all others: the memories due by then are all that do not rest, longest unused first."""


def nothing() -> bool:
    """Returns False, for a caller that knows of no such memory."""
    return False


class Elsewhere(Struct, frozen=True):
    """The other proposals of the same epoch, for the stage of budgets.

    `going`: memories that go on request or because of their age; `drafts`: summaries that are to stay, each with the
    memories that it replaces; `stays`: the other memories in proposals, which count until the decision.
    """

    going: Collection[str] = ()
    drafts: Mapping[str, Collection[str]] = {}
    stays: Collection[str] = ()


class Leaving(Struct, frozen=True):
    """The memories to evict for lack of tokens, in the order of the budget's policy, and how many each namespace may
    lose."""

    chosen: tuple[tuple[Candidate, Weighed], ...] = ()
    rooms: Mapping[str, int] = {}


def something() -> bool:
    """Returns True, for a caller that does not look whether a replacement on purpose waits for its vote."""
    return True


def nobody(_: Elsewhere) -> Leaving:
    """Returns no memory, where no namespace is over its budget."""
    return Leaving()


RETRY_TICKS_MOST = 16
"""The maximum number of ticks that a retry waits for."""


class Attempt(Struct, frozen=True):
    """The last nomination of an epoch that was sent, and its time. `tries`: how often the epoch was nominated; `ticks`:
    the ticks read since then."""

    epoch: int
    as_of: int
    tries: int = 1
    ticks: int = 0

    def ticked(self) -> Attempt:
        """Counts one more tick."""
        return replace(self, ticks=self.ticks + 1)

    def again(self, epoch: int, as_of: int) -> Attempt:
        """Returns the attempt that follows, for the nomination of this or another epoch."""
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
    """Returns the reason to open an epoch at the tick `as_of`, or None.

    - "pressure": more memories are alive than the capacity.
    - "interactions": enough episodes and accesses since the last epoch.
    - "interval": enough time since the last epoch; always true before the first one.
    - "triage": `triage.every_ms` have passed, and a memory has expired; `expired` is called only then.
    - "budget": `budget.every_ms` have passed, and a namespace is over its budget and may lose memories, by `over`.
    - "anew": none of these, but a summary waits for its first vote and its sources cannot be found, by `unsaid`.
    - "contradiction": none of these, but a memory contradicts another, no epoch has voted on that, and some such
      proposals may be made, by `contested`.

    A tick from before the last epoch triggers nothing: its time has been judged.
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
    """Returns the number of memories beyond a shard's capacity."""
    return max(0, alive - policy.epoch.capacity)


def due_at(candidate: Candidate, policy: Policy) -> int:
    """Returns the first millisecond at which an unused memory may be nominated because it decayed or expired."""
    at = decay.due_at(candidate.last_access, decay.of_tier(policy, candidate.tier))
    expires_at = expiry(candidate, policy)
    return at if expires_at is None else min(at, expires_at)


def expiry(candidate: Candidate, policy: Policy) -> int | None:
    """Returns the first millisecond at which an unused memory has expired by its decay score; None where it never does,
    or has no such score."""
    if candidate.tier != SHORT_TERM or not candidate.fades:
        return None
    span = triage.span_ms(candidate.salience_ppm, candidate.replays, policy)
    return None if span is None else candidate.last_access + span


def evicted_limit(standing: Standing, named: int, policy: Policy) -> int:
    """Returns how many memories to read from the schedule of evictions: the excess, and as many as may be `named` for
    another reason."""
    over = min(excess(standing.alive, policy), policy.epoch.proposals_max)
    return over + named if over else 0


class Going(Struct, frozen=True):
    """The memories that may be forgotten, each list in its order of preference.

    `crossed`: the tick's memories that still are candidates; `expired`: short-term memories whose decay score is too
    low; `evicted`: those to evict first, under pressure; `asked`: those that somebody asked to forget; `doubted`: those
    that the last rehearsal found not to hold, and whose decay score is low; `aged`: those older than their types may
    become; `unused`: those that nobody has used for as long as their namespace allows; `steps`: those of tasks that are
    over. `over`: returns the memories beyond budgets, as their policies weigh them, given the other proposals.
    `rooms`: how many memories each of their namespaces may lose now (core/caps).
    """

    crossed: Sequence[Candidate] = ()
    expired: Sequence[Candidate] = ()
    evicted: Sequence[Candidate] = ()
    asked: Sequence[Candidate] = ()
    doubted: Sequence[Candidate] = ()
    aged: Sequence[Candidate] = ()
    unused: Sequence[Candidate] = ()
    steps: Sequence[Candidate] = ()
    over: Callable[[Elsewhere], Leaving] = nobody
    rooms: Mapping[str, int] = {}


class Rising(Struct, frozen=True):
    """The memories that may be raised, each list in its order of preference.

    `promotable`: those that the schedule offers for promotion; `tried`: those that verifiers agree on, with the signed
    results; `general`: general forms, each with its memory.
    """

    promotable: Sequence[Candidate] = ()
    tried: Sequence[tuple[Candidate, tuple[bytes, ...]]] = ()
    general: Sequence[tuple[Candidate, ...]] = ()


class Groups(Struct, frozen=True):
    """The memories that may replace others or stand for them, first of their group, each list in its order of
    preference.

    `contested`: memories, each with those that it contradicts, all of one tier; `drafted`: summaries, each with all its
    sources; `alike`: summaries that say the same; `twins`: memories of experience that say the same;
    `families`: general forms, each with the lessons of experience that have it.
    """

    contested: Sequence[tuple[Candidate, ...]] = ()
    drafted: Sequence[tuple[Candidate, ...]] = ()
    alike: Sequence[tuple[Candidate, ...]] = ()
    twins: Sequence[tuple[Candidate, ...]] = ()
    families: Sequence[tuple[Candidate, ...]] = ()


class Offers(Struct, frozen=True):
    """All memories that may be proposed."""

    going: Going = Going()
    rising: Rising = Rising()
    groups: Groups = Groups()


def build(
    genesis: Genesis,
    standing: Standing,
    tick: DecayCrossed,
    why: str,
    offers: Offers,
) -> NominationProposed | None:
    """Builds the next epoch's nomination; None where there is nothing to propose. `why`: from `trigger`.

    A memory is proposed once, for the first of these reasons that applies. In this order: somebody asked
    to forget it, a contradiction, its summary, summaries that say the same, its age, lack of use, the end of its task;
    lack of tokens, doubt, lack of room in its shard, decay; a general form, promotion, admission to experience, uniting
    with others there.
    """
    going, rising, groups = offers.going, offers.rising, offers.groups
    policy, asked = genesis.policy, going.asked
    disputed = _disputed(groups.contested, asked)
    disputed += _together(groups.drafted, SUMS_UP, SUMMED_UP, asked, disputed)
    disputed += _together(groups.alike, MERGES, ALIKE, asked, disputed)
    told = _named(disputed)
    foremost, rooms = _foremost(going, disputed)
    named = told | _named(foremost)
    lists = [*going.crossed, *going.expired], going.evicted, going.doubted
    due, evicted, doubted = (_without(named, some) for some in lists)
    much = excess(standing.alive, policy) - sum(KINDS[one.kind].seals for one in foremost)
    falling = _doubting(_falling(due, evicted, over=much, as_of=tick.as_of, policy=policy), doubted)
    first = _within([*foremost, *falling], rooms)
    first += _together(rising.general, GENERALISES, GENERAL, (), [*disputed, *first])
    taken = told | _named(first)
    promoted = _rising(rising.promotable, taken, tick.as_of, policy)
    others = [*first, *promoted, *disputed, *_helping(rising.tried, taken | _named(promoted))]
    every = [*others, *_together(groups.twins, UNITES, TWINS, (), others)]
    every += _together(groups.families, UNITES, FAMILY, (), every)
    # Members would refuse these, and they would take the places of others.
    every = [one for one in every if KINDS[one.kind].barred(one.namespace, policy) is None]
    proposals = _share(every, policy.epoch)
    return alone(genesis, standing, tick, why, (tuple(proposals), None)) if proposals else None


def build_order(
    genesis: Genesis, standing: Standing, tick: DecayCrossed, order: tuple[bytes, ConfigurationOrdered, str]
) -> NominationProposed:
    """Builds the next epoch's nomination, for an order of another configuration. `order`: as signed, its body, its
    id."""
    data, body, name = order
    return alone(
        genesis, standing, tick, TRIGGER, ((Proposal((name,), "", CONFIGURE.name, body.action, 0, 0, 0),), data)
    )


def alone(
    genesis: Genesis,
    standing: Standing,
    tick: DecayCrossed,
    why: str,
    ordered: tuple[tuple[Proposal, ...], bytes | None],
) -> NominationProposed:
    """Builds the next epoch's nomination of these proposals alone. `ordered`: the proposals, and the signed order that
    they are about, if any."""
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
    """True if an epoch may be nominated now, given the last attempt on the shard: a retry waits for `epoch.retry_ms`,
    and for twice as many ticks each time, up to `RETRY_TICKS_MOST`.

    In the meantime the epoch is being voted on. Members hold only the latest nominations: if voting took longer than
    the time between two nominations, no two members would vote on the same one (infra/decisions/0148).
    """
    if last is None or last.epoch != epoch:
        return True
    waits = min(RETRY_TICKS_MOST, 1 << min(last.tries - 1, 62))
    return as_of - last.as_of >= policy.epoch.retry_ms and last.ticks >= waits


def rest_until(epoch: int, kept: int, policy: Policy) -> int:
    """Returns the first epoch that may propose a memory again after `epoch` has kept it, for the `kept`-th time in a
    row (≥ 1).

    It rests for 1, 2, 4, … epochs (times `epoch.rest_epochs`) up to the cap, so that a kept memory does not take a
    place in every epoch. Raises ValueError where `kept` is below 1.
    """
    if kept < 1:
        raise ValueError(f"kept is {kept}; a memory rests only after it was kept, so it has to be 1 or more")
    doubled = policy.epoch.rest_epochs << min(kept - 1, 62)
    return epoch + 1 + min(doubled, policy.epoch.rest_epochs_max)


def latest(ticks: Iterable[DecayCrossed]) -> dict[int, DecayCrossed]:
    """Returns the last tick of each shard among those that wait: earlier ones are about a time that is over."""
    found: dict[int, DecayCrossed] = {}
    for tick in ticks:
        known = found.get(tick.shard)
        if known is None or tick.journal_seq >= known.journal_seq:
            found[tick.shard] = tick
    return found


def _named(proposals: Iterable[Proposal]) -> set[str]:
    """Returns the memories that proposals name."""
    return {memory_id for proposal in proposals for memory_id in proposal.memory_ids}


def _without(named: Collection[str], some: Iterable[Candidate]) -> list[Candidate]:
    return [one for one in some if one.memory_id not in named]


def _foremost(going: Going, disputed: Sequence[Proposal]) -> tuple[list[Proposal], Mapping[str, int]]:
    """Proposes the memories that come before decayed ones: on request, for their age, and beyond a budget; and returns
    how many memories each namespace may lose."""
    told, found = _named(disputed), _asking(going.asked)
    for reason, some in ((AGE, going.aged), (UNUSED, going.unused), (FINISHED, going.steps)):
        found += _outliving(reason, some, told | _named(found))
    leaving = going.over(_elsewhere(_within(found, going.rooms), disputed))
    found += _over_budget(leaving.chosen, told | _named(found))
    return found, {**leaving.rooms, **going.rooms}


def _asking(asked: Sequence[Candidate]) -> list[Proposal]:
    """Proposes the memories that somebody asked to forget."""
    return [_proposal(candidate, kind, ASKED) for candidate in asked if (kind := _lets_go(candidate)) is not None]


def _elsewhere(going: Sequence[Proposal], disputed: Sequence[Proposal]) -> Elsewhere:
    """Returns the other proposals for the stage of budgets. A memory that is only demoted counts as staying."""
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
    """Proposes as many of the `evicted` as make the shard's excess, then the other memories that decayed or expired.

    Decayed memories do not reduce the excess: members may keep them.
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
    """Proposes promotions of memories that no other proposal names."""
    return [
        _proposal(candidate, kind, reason)
        for kind in map(KINDS.__getitem__, dict.fromkeys(RAISES.values()))
        for candidate in promotable
        if candidate.memory_id not in named
        and (reason := kind.eligible(candidate, as_of, policy))
    ]  # fmt: skip


def _doubting(falling: Sequence[Proposal], doubted: Sequence[Candidate]) -> list[Proposal]:
    """Puts doubted memories before those that are only old."""
    found = [_proposal(candidate, kind, DOUBTED) for candidate in doubted if (kind := _lets_go(candidate)) is not None]
    named = _named(found)
    return [*found, *(one for one in falling if named.isdisjoint(one.memory_ids))]


def _outliving(reason: str, some: Sequence[Candidate], named: Collection[str]) -> list[Proposal]:
    """Proposes the memories that have outlived their use, where no other proposal names them."""
    return [
        _proposal(candidate, kind, reason)
        for candidate in some
        if candidate.memory_id not in named and (kind := _makes_room(candidate)) is not None
    ]


def _over_budget(over: Sequence[tuple[Candidate, Weighed]], named: Collection[str]) -> list[Proposal]:
    """Proposes the memories beyond a budget, where no other proposal names them."""
    return [
        replace(_proposal(candidate, KINDS[MAKES_ROOM[candidate.tier]], BUDGET), weighed=weighed)
        for candidate, weighed in over
        if candidate.memory_id not in named and candidate.tier in MAKES_ROOM
    ]


def capped(candidate: Candidate) -> bool:
    """True if forgetting the memory counts against the caps of its namespace; a demotion does not."""
    kind = _lets_go(candidate)
    return kind is not None and kind.capped


def _disputed(contested: Sequence[tuple[Candidate, ...]], asked: Sequence[Candidate]) -> list[Proposal]:
    """Proposes memories with those that they contradict, as many as the kind takes, and no memory twice."""
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
    """Proposes each summary with its sources, or each memory with those that say the same, unless another proposal
    names one of them. `kinds`: by the tier of the first."""
    taken = {one.memory_id for one in asked} | {i for proposal in others for i in proposal.memory_ids}
    found = list[Proposal]()
    for named in some:
        ids, kind = tuple(one.memory_id for one in named), KINDS[kinds[named[0].tier]]
        if len(named) < 2 or len(named) > kind.most(reason) or not taken.isdisjoint(ids):
            continue
        taken |= set(ids)
        proposal = _proposal(named[0], kind, reason)
        used = max(one.last_access for one in named[1:])
        found.append(replace(proposal, memory_ids=ids, last_access=used))
    return found


def _helping(tried: Sequence[tuple[Candidate, tuple[bytes, ...]]], named: Collection[str]) -> list[Proposal]:
    """Proposes the memories that verifiers agree on, where no other proposal names them."""
    return [
        replace(_proposal(candidate, KINDS[ADMITS[candidate.tier]], TRIED), tried=made)
        for candidate, made in tried
        if candidate.memory_id not in named and candidate.tier in ADMITS
    ]


def _lets_go(candidate: Candidate) -> Kind | None:
    """Returns the kind that proposes unused memories of this tier."""
    return KINDS[LETS_GO[candidate.tier]] if candidate.tier in LETS_GO else None


def _makes_room(candidate: Candidate) -> Kind | None:
    """Returns the kind that evicts memories of this tier."""
    return KINDS[GOES[candidate.tier]] if candidate.tier in GOES else None


def _within(proposals: Sequence[Proposal], rooms: Mapping[str, int]) -> list[Proposal]:
    """Returns the first proposals of each namespace, as many as it may lose. Kinds that no cap counts are not
    limited."""
    taken, found = Counter[str](), []
    for proposal in proposals:
        capped = KINDS[proposal.kind].capped
        taken[proposal.namespace] += capped * len(proposal.memory_ids)
        if not capped or taken[proposal.namespace] <= rooms.get(proposal.namespace, 0):
            found.append(proposal)
    return found


def _share(proposals: Sequence[Proposal], policy: EpochPolicy) -> list[Proposal]:
    """Fits the proposals into `proposals_max`, kind by kind: each leaves free what the kinds after it need of their
    shares."""
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
