"""Reads a proposal to forget: checks it like a record, and previews what a vote would look at now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from memquorum.core import caps
from memquorum.core.accounts.plainly import counted, roughly
from memquorum.core.accounts.restoring import NOT_NOMINATED, checked
from memquorum.core.accounts.telling import moment
from memquorum.core.api.answers import Leaving
from memquorum.core.api.requests import ForgetRequest
from memquorum.core.caps import Losses
from memquorum.core.decay import decay_ppm, of_tier
from memquorum.core.orders.protect import GOAL, HOLD, PIN
from memquorum.core.orders.restore import FORGET
from memquorum.core.policy import PPM, CapsPolicy, Policy
from memquorum.core.records import RestoreOrdered
from memquorum.core.retrieval.query import read_body
from memquorum.core.tiers import FINISHED
from memquorum.core.vote.kinds import KINDS, LETS_GO

ALIVE, PROTECTED, FORGOTTEN, KEPT, UNKNOWN = "alive", "protected", "forgotten", "kept", "unknown"


class Used(Struct, frozen=True):
    """A memory as its rows have it; what it was used is there while it is alive. Times in milliseconds. `rest`: the
    first epoch that may propose it; `next_epoch`: the next of its shard. `rank_ppm`: of its worth when it came."""

    memory_id: str
    tier: str
    last_access: int | None
    rest: int
    as_of: int
    next_epoch: int = 1
    rank_ppm: int | None = None


class ForgetAsked(Struct, frozen=True):
    """A proposal that may be looked at, or made: who makes it, when and by which id is still open."""

    order: RestoreOrdered
    dry_run: bool

    @property
    def namespace(self) -> str:
        """The namespace that it is about."""
        return self.order.namespace


def read_forget(body: bytes, policy: Policy) -> ForgetAsked:
    """Returns the proposal in a JSON body. Raises BadRequest."""
    asked = read_body(body, ForgetRequest)
    return ForgetAsked(checked(asked, policy, FORGET), asked.dry_run is not False)


def standing(
    memory_ids: Iterable[str],
    rows: Iterable[Used],
    policy: Policy,
    *,
    shields: Mapping[str, str] | None = None,
    quota: Losses | None = None,
) -> tuple[Leaving, ...]:
    """Returns the state of each memory that a vote would consider, in the order of the request; living ones may be
    proposed.

    `shields`: what protects which, in words; `quota`: where their namespace stands."""
    known = {row.memory_id: row for row in rows}
    found = []
    for memory_id in memory_ids:
        row = known.get(memory_id)
        stop = None if row is None or quota is None else stopped(quota, row.as_of, policy.caps)
        found.append(_standing(memory_id, row, policy, (shields or {}).get(memory_id), stop))
    return tuple(found)


def passed_over(found: Leaving, row: Used | None, epoch: int) -> str:
    """Returns why an epoch about a request to forget a memory did not propose it. `found`: how it stands."""
    if row is None or row.last_access is None or found.status == PROTECTED:
        return f"{NOT_NOMINATED}: {found.detail}"
    if row.rest > epoch:
        return f"{NOT_NOMINATED}: it was kept before, and the members pass it over for some votes: ask again later"
    told = "only so many can go at once, of its namespace and in all, and others came first: ask again"
    return f"{NOT_NOMINATED}: {told}"


_SOME = 0.01
"""Below it next to nothing is so irrelevant."""


def shield(kind: str, ordered_by: str, reference: str | None, order_id: str) -> str:
    """One order that protects a memory, in words."""
    how = {PIN: "pinned", HOLD: "held"}.get(kind) or f"needed by the goal {kind.removeprefix(GOAL)!r}, as ordered"
    why = f" ({reference})" if reference and not kind.startswith(GOAL) else ""
    return f"{how} by {ordered_by}{why}, order {order_id}"


def stopped(quota: Losses, as_of: int, given: CapsPolicy) -> str | None:
    """Returns in words until when a namespace's caps block all forgetting; None if they do not."""
    until = caps.stopped_until(quota, as_of, given)
    if until is None:
        return None
    return f"its namespace has lost as much as may be forgotten in a day: nothing more goes before {moment(until)}"


def _standing(memory_id: str, row: Used | None, policy: Policy, shielded: str | None, stop: str | None) -> Leaving:
    if row is None:
        return Leaving(memory_id, UNKNOWN, "this namespace has no such memory")
    if row.tier == FINISHED:
        return Leaving(memory_id, UNKNOWN, "it is a finished task, on which nobody votes: an order to erase takes it")
    if row.last_access is None:
        return Leaving(memory_id, FORGOTTEN, "it is forgotten already")
    kind = KINDS[LETS_GO[row.tier]]
    decay = decay_ppm(min(row.last_access, row.as_of), row.as_of, of_tier(policy, row.tier))
    if shielded is not None:
        told = f"it is {shielded}: it is not forgotten while that stands, and nobody votes on it"
        return Leaving(memory_id, PROTECTED, told, decay / PPM)
    given = policy.forget
    below = max(0, given.theta_ppm * PPM - given.omega_decay_ppm * decay) / max(1, given.omega_relevance_ppm)
    share = min(PPM, int(below)) / PPM
    detail = _found(row, share)
    numbers = f"decay {decay / PPM:.2f}; a member lets it go if its relevance to it is below {share:.2f}"
    numbers += _of_rank(row.rank_ppm, share)
    if row.rest > row.next_epoch:
        left = row.rest - row.next_epoch
        votes = "next vote" if left == 1 else f"next {counted(left)} votes"
        detail += f"; it was kept lately, so the members pass it over in their {votes}"
        numbers += f"; not proposed before epoch {row.rest} (the next is {row.next_epoch})"
    if not kind.seals:
        first = (
            "it is in long-term memory: the first vote is on moving it back to short-term memory, ask again after it"
        )
        detail = f"{first}; {detail}"
    elif stop is not None:
        detail = f"{stop}, and a request waits until then; {detail}"
    return Leaving(memory_id, ALIVE, detail, decay / PPM, share, numbers)


def _found(row: Used, below: float) -> str:
    """Returns in words what members will find of a memory, as far as it is the same for all of them."""
    used = f"it was last used {roughly(row.as_of - min(row.last_access or 0, row.as_of))} ago"
    if below < _SOME:
        return f"{used}, and no member lets go what was used so lately; an erasure takes it whatever they think"
    rest = None if row.rank_ppm is None else 2 * below - row.rank_ppm / PPM
    if rest is None:
        return f"{used}; a member lets it go if it means little to what its agents do"
    if rest <= 0:
        return f"{used}, and its words are too rare for any member to let it go so soon"
    if rest > 1:
        return f"{used}, so long ago that each member lets it go"
    return f"{used}; a member lets it go if its agents did little like it lately"


def _of_rank(rank_ppm: int | None, below: float) -> str:
    """Explains the rank of the memory's worth, which is the same for all members and half of the relevance."""
    if rank_ppm is None:
        return ""
    rest = 2 * below - rank_ppm / PPM
    told = f". Half of that is how its worth ranks, {rank_ppm / PPM:.2f} when it came"
    if rest <= 0:
        return f"{told}: no member lets it go"
    if rest > 1:
        return f"{told}: each lets it go"
    return f"{told}: a member lets it go if its nearness to what the member's agents did lately is below {rest:.2f}"
