"""Explains in plain words what became of a memory: the outcome in one sentence, the reason, the future, and what can be
done about it. It holds no content but what an order or a request says of itself."""

from __future__ import annotations

from collections.abc import Iterator

from memquorum.core.accounts.explain import Account, Anew, Birth, Erasing
from memquorum.core.accounts.plainly import agreed, counted, day, minute, named, passed, reason, roughly
from memquorum.core.accounts.telling import ENDED
from memquorum.core.accounts.votes import Vote
from memquorum.core.experience import abstract
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.anew import WORDS
from memquorum.core.journal.resting import waits_for_use
from memquorum.core.journal.slots import CLEARINGS, CONTESTED, EMPTY
from memquorum.core.orders.protect import GOAL, HOLD, PIN
from memquorum.core.orders.restore import ROLLBACK
from memquorum.core.policy import PPM, Policy
from memquorum.core.salience import FAILED, UNREADABLE
from memquorum.core.tiers import ALIVE, DRAFT, FINISHED, GONE, LONG_TERM, SEALED, SUPERSEDED
from memquorum.core.vote.kinds import KINDS, LETS_GO, MAKES_ROOM, RAISES

_LOW, _HIGH = PPM // 3, 2 * PPM // 3
_LEVELS = {
    "novelty": ("it repeats what was known", "it is partly new", "it says something new"),
    "reward": (
        "its agent reported a poor result", "its agent reported a fair result", "its agent reported a good result",
    ),
    "confidence": ("its agent was unsure of it", "its agent was fairly sure of it", "its agent was sure of it"),
    "rank": ("its words are common", "its words are neither common nor rare", "its words are rare"),
    "learned": (
        "texts like it were seldom used", "texts like it were used now and then", "texts like it were used often",
    ),
}  # fmt: skip
"""By signal of a salience: how a low, a middling and a high one is told."""


def lines(account: Account, genesis: Genesis) -> Iterator[str]:
    """The outcome, why, and what comes next, a line each. `genesis`: the configuration that the account was made
    with."""
    yield outcome(account)
    yield from (f"Why: {one}." for one in [_why(account, genesis)] if one)
    yield from (f"Next: {one}" for one in _next(account, genesis.policy))


# The outcome ----------------------------------------------------------------------------------------------------------


def outcome(account: Account) -> str:
    """Returns a sentence on what became of a memory."""
    if account.erased is not None:
        return f"Erased on {day(account.erased.accepted_at)}: {_ordered(account.erased)}."
    if account.born is not None and account.tier not in (*ALIVE, SEALED, SUPERSEDED, GONE, DRAFT, FINISHED):
        return _not_stored(account.born)
    by_tier = {
        SEALED: _let_go, GONE: _let_go, SUPERSEDED: _replaced, DRAFT: _waits, FINISHED: _task,
    }  # fmt: skip
    if account.tier in by_tier:
        return by_tier[account.tier](account)
    return _in_use(account) if account.tier in ALIVE else "Not stored."


def _ordered(order: Erasing) -> str:
    if order.rule is not None:
        return "the rule that limits how long such memories are kept took it, and nobody was asked"
    why = f" ({order.reference})" if order.reference else ""
    return f"{order.ordered_by or 'somebody who may'} ordered it{why}, and an erasure needs no vote"


def _not_stored(born: Birth) -> str:
    if born.outcome == FAILED:
        return "Not stored yet: it could not be read by the encoder or judged, and it can be tried again."
    if born.outcome == UNREADABLE:
        return "Not stored: it could not be opened any more when it was to be judged."
    if born.outcome in CLEARINGS:
        if born.outcome == EMPTY:
            return "Nothing changed: it asked to clear something, and nothing was there."
        if born.outcome == CONTESTED:
            return f"Not cleared yet: it asked to clear {named(born.stays or ('something',))}, on which members vote."
        return f"Done: it was no memory but a request to clear, and it took {named(born.superseded)} out of use."
    if _unkept(born):
        return "Not stored: it asked not to be remembered."
    if born.outcome == "below_threshold":
        return "Not stored: it was judged to be worth too little to be remembered."
    return f"Not stored: it ended as {born.outcome.replace('_', ' ')}."


def _unkept(born: Birth) -> bool:
    return born.outcome == "below_threshold" and all(signal.name != "novelty" for signal in born.signals)


def _taken(account: Account) -> Iterator[Vote]:
    """The votes by which something became of the memory itself, the latest first."""
    for vote in reversed(account.votes):
        if passed(vote) and account.memory_id in KINDS[vote.kind].taken(vote.memory_ids):
            yield vote


def deciding(account: Account) -> Vote | None:
    """Returns the vote that brought a memory into its current state; None if no vote did."""
    if account.tier in (SEALED, GONE):
        return next((one for one in _taken(account) if KINDS[one.kind].seals), None)
    if account.tier == SUPERSEDED:
        gave = account.superseded[-1] if account.superseded else None
        return None if gave is None or gave.epoch is None else next(_taken(account), None)
    if account.tier not in ALIVE:
        return None
    raised = account.tier == LONG_TERM
    for vote in reversed(account.votes):
        if passed(vote) and (vote.kind in RAISES.values()) is raised:
            kind = KINDS[vote.kind]
            if raised or _lowers(vote) or (kind.revives and vote.memory_ids[0] == account.memory_id):
                return vote
    return None


def _lowers(vote: Vote) -> bool:
    """True if it moves a memory back to short-term memory."""
    return vote.kind in LETS_GO.values() and not KINDS[vote.kind].seals


def _let_go(account: Account) -> str:
    vote, by = deciding(account), stands_for(account)
    end = ""
    if account.tier == GONE and account.changed is not None:
        end = f"; nobody can read it since {day(account.changed)}"
    if vote is None:
        if account.born is not None and account.born.summary is not None:
            return f"Given up: it was a summary that no vote took in time{end}."
        return f"Gone{end}."
    if KINDS[vote.kind].inherits:  # by a summary
        if by is not None and by.tier == GONE:
            gone = f"{by.memory_id} said what was to be kept of it, and is gone too"
            return f"Put away on {day(vote.as_of)}: {gone}{end}."
        into = by.memory_id if by is not None else vote.memory_ids[0]
        return f"Summed up on {day(vote.as_of)}: {into} says what is to be kept of it{end}."
    return f"Forgotten on {day(vote.as_of)}: {agreed(vote)}{end}."


def stands_for(account: Account) -> Anew | None:
    """The summary that says what is to be kept of a memory, or the one that this became one with since."""
    stands, into = account.told_by, {one.gone: one for one in account.merged if one.rests}
    while stands is not None and stands.memory_id in into:
        one = into.pop(stands.memory_id)
        stands = Anew(one.kept, one.tier)
    return stands


_SHOWN = "A question about the past may still show it."


def _replaced(account: Account) -> str:
    gave = account.superseded[-1] if account.superseded else None
    if gave is None:
        return f"Replaced on {day(account.changed or 0)}: another memory took its place."
    if gave.cleared:
        return f"Cleared on {day(gave.at)}: {gave.by}, a request to clear it, took it out of use."
    vote = deciding(account)
    how = "which was saved under the same key" if vote is None else agreed(vote)
    return f"Replaced on {day(gave.at)} by {gave.by}{', ' if vote is None else ': '}{how}. {_SHOWN}"


def _waits(account: Account) -> str:
    born = account.born
    what = "a summary" if born is None or not abstract.made(born.summary) else "the general form of another memory"
    since = f", who did not take it on {day(account.votes[-1].as_of)}" if account.votes else ""
    return f"Not in use yet: it is {what} and waits for the members' vote{since}."


def _task(account: Account) -> str:
    task = account.born.task if account.born else None
    ended = f" that {ENDED[task.outcome]}" if task else ""
    return f"Kept as the record of a finished task{ended}: searches do not show it."


def _in_use(account: Account) -> str:
    vote = deciding(account)
    if account.tier == LONG_TERM:
        if vote is None:
            return "In use, and promoted to long-term memory: every search can find it."
        return f"In use, and promoted to long-term memory on {day(vote.as_of)}: {agreed(vote)}."
    if vote is None:
        since = f" since {day(account.born.occurred_at)}" if account.born else ""
        return f"In use{since}: it is in short-term memory, where searches find it."
    if _lowers(vote):
        return f"In use, and back in short-term memory since {day(vote.as_of)}: {agreed(vote)}."
    if account.born and abstract.made(account.born.summary):
        return f"In use in experience alone, since {day(vote.as_of)}: {agreed(vote)}."
    how = "taken into memory" if account.born and account.born.summary else "brought back"
    return f"In use, and {how} on {day(vote.as_of)}: {agreed(vote)}."


# Why ------------------------------------------------------------------------------------------------------------------


def _why(account: Account, genesis: Genesis) -> str:
    """Gives the reason as a clause; empty where the outcome says it all."""
    if account.erased is not None:
        return _erased_for(account.erased)
    if (vote := deciding(account)) is not None:
        return reason(vote, genesis)
    born = account.born
    if account.tier == SUPERSEDED or born is None:
        return ""
    if account.tier == FINISHED:
        return "it tells what a task came to, and what helps in tasks is tried on such records"
    if account.tier == DRAFT:
        return "what is made of others is used only once members have agreed to it"
    if account.tier not in ALIVE:
        return _not_stored_for(born)
    return stored_for(born)


def _erased_for(order: Erasing) -> str:
    if order.selector == "everything":
        return "the order names everything in the namespace"
    what = f" {order.value!r}" if order.value else ""
    return f"the order names the {order.selector}{what}"


def _not_stored_for(born: Birth) -> str:
    if born.outcome == FAILED:
        return "that says nothing of its worth; it is kept sealed until somebody tries again"
    if born.outcome == UNREADABLE:
        return "its key was destroyed before, as an erasure does, or what was kept of it has been altered"
    if born.outcome in CLEARINGS or _unkept(born):
        return ""
    told = _signals(born)
    if any(one.name == "novelty" and not one.value_ppm for one in born.signals):
        return "it says nothing that could be remembered, as a greeting or a thank-you does"
    return f"{named(told)}; taken together, that was too little" if told else ""


def stored_for(born: Birth) -> str:
    """Gives the reason why it was stored, as a clause; empty where nothing was judged."""
    if born.explicit:
        return "its agent asked for it to be remembered"
    if born.summary is not None:
        return ""
    told = _signals(born)
    return f"{named(told)}; taken together, that was enough to store it" if told else ""


def _signals(born: Birth) -> list[str]:
    return [_LEVELS[one.name][(one.value_ppm > _LOW) + (one.value_ppm >= _HIGH)] for one in born.signals]


# Future ---------------------------------------------------------------------------------------------------------------


def _next(account: Account, policy: Policy) -> Iterator[str]:
    """Yields sentences on what will or may become of the memory."""
    for by in account.protected:
        why = f" ({by.reference})" if by.reference and not by.kind.startswith(GOAL) else ""
        how = {PIN: "pinned", HOLD: "held"}.get(by.kind, f"needed by the goal {by.reference!r}, says")
        by_whom = by.ordered_by if by.kind not in (PIN, HOLD) else f"by {by.ordered_by}"
        kept = "its key is kept" if by.kind == HOLD and account.tier == SEALED else "it is not forgotten"
        yield f"It is {how} {by_whom}{why} since {day(by.accepted_at)}: {kept} while that stands."
    if account.erased is not None:
        yield from _after_erasure(account, account.erased)
    elif account.tier == SEALED:
        held = " once nothing holds it" if any(by.kind == HOLD for by in account.protected) else ""
        yield f"It is never served, and nobody can bring it back after {minute(account.sealed_until or 0)}{held}."
    elif account.tier == DRAFT:
        end = day(account.sealed_until or 0)
        yield f"Members may vote on it {_by(account)}; without their consent it is dropped on {end}."
    elif account.tier in ALIVE:
        yield from _alive(account)
    elif account.tier not in (GONE, SUPERSEDED, FINISHED) and _fades(account):
        after = f"after {roughly(policy.forget.grace_ms)}" if policy.forget.grace_ms else "at once"
        yield f"Its sealed copy, which nobody is given, is destroyed {after}."
    for asked in account.waiting:
        what = "let it count in experience as it did before" if asked.action == ROLLBACK else f"{asked.action} it"
        why = f" ({asked.reference})" if asked.reference else ""
        yield f"{asked.ordered_by} asked on {day(asked.accepted_at)} to {what}{why}; nobody has voted on that yet."


def _fades(account: Account) -> bool:
    return account.born is not None and account.born.outcome not in (FAILED, *CLEARINGS)


def _after_erasure(account: Account, order: Erasing) -> Iterator[str]:
    if account.as_of < order.residue_until:
        yield f"Remains of it, which nobody can read, may lie in files until {minute(order.residue_until)}."
    if order.summary is not None:
        yield f"It was {WORDS.get(order.summary, order.summary)}."
    for one in account.renewed:
        now = {DRAFT: "which waits for the members' vote", GONE: "which is gone too"}.get(one.tier, "which is in use")
        yield f"{one.memory_id} was made of what was left, {now}."


def _by(account: Account) -> str:
    """When the shard votes next."""
    at = account.next_epoch_at
    return f"by {minute(at)} at the latest" if at > account.as_of else "at once"


def _alive(account: Account) -> Iterator[str]:
    """When it may go, and when it may be promoted."""
    if (at := account.erases_at) is not None:
        held = ", once nothing holds it" if any(by.kind == HOLD for by in account.protected) else ""
        when = f"on {minute(at)}" if at > account.as_of else "as soon as that is carried out"
        yield f"The rule that limits how long such memories are kept erases it {when}{held}."
    if not account.protected and account.due_at is not None:
        yield from _goes(account, account.due_at)
    until = account.rest.get(RAISES.get(account.tier, ""), 0)
    if waits_for_use(until):
        yield "Members found it contradicted too often to promote it: they are not asked again before it is used."
    elif until > account.last_epoch + 1:
        yield f"It was not promoted lately: the members pass it over in their next {_votes(account, until)}."


def _votes(account: Account, until: int) -> str:
    """Counts the shard's next votes that are passed over until the one named."""
    left = until - account.last_epoch - 1
    return "vote" if left == 1 else f"{counted(left)} votes"


def _goes(account: Account, due_at: int) -> Iterator[str]:
    kind = KINDS[LETS_GO[account.tier]]
    to_be = "forgetting it" if kind.seals else "moving it back to short-term memory"
    halted = account.stopped_until if kind.capped else None
    if halted is not None:
        yield f"Its namespace has lost as much as may go in a day: nothing more is forgotten before {minute(halted)}."
    if account.erases_at is not None and account.erases_at <= max(due_at, account.as_of):
        return  # the rule comes first
    rest = account.rest.get(kind.name, 0)
    if due_at > account.as_of:
        used = "used or not, as it is then older than its kind may become"
        how = f", {used}" if due_at == account.aged_at else ", unless somebody uses it before"
        yield f"From {minute(due_at)} on the members may vote on {to_be}{how}."
    elif due_at != account.aged_at and rest > account.last_epoch + 1:
        yield f"The members kept it lately, and pass it over in their next {_votes(account, rest)}."
    elif halted is None:
        yield f"The members may vote on {to_be} {_by(account)}."
    room = account.rest.get(MAKES_ROOM.get(account.tier, ""), 0)
    if room > account.last_epoch + 1:
        kept = "the members kept it, or brought it back"
        yield f"It need not go for want of room in the next {_votes(account, room)}: {kept}."


# Commands -------------------------------------------------------------------------------------------------------------


def doing(account: Account) -> list[tuple[str, str]]:
    """Lists what can be done, each with the command that does it, or an empty one."""
    name, one = account.namespace, account.memory_id
    command = f"memquorum {{}} -n {name} {one}"
    if account.erased is not None:
        proof = "show the proof of the erasure", f"memquorum receipt get {account.erased.order_id}"
        return [("nothing: an erasure has no way back", ""), proof]
    if account.tier == GONE:
        return [("nothing: its key is destroyed, so nobody can bring it back", "")]
    erase = ("destroy it for good (--yes does it)", f"memquorum erase -n {name} --memory {one}")
    if account.tier in (SEALED, SUPERSEDED):
        return [("ask the members to bring it back", command.format("restore")), erase]
    if account.tier == FINISHED:
        return [("read it", f"memquorum experience show -n {name} {one}"), erase]
    if account.tier == DRAFT:
        return [("see what comes of it", command.format("explain")), erase]
    if account.tier in ALIVE:
        keep = "keep it whatever happens", command.format("pin")
        if any(by.kind == PIN for by in account.protected):
            keep = "let it be forgotten again", command.format("unpin")
        return [keep, ("ask the members to forget it (--yes does it)", command.format("forget")), erase]
    return _undone(account)


def _undone(account: Account) -> list[tuple[str, str]]:
    """Lists what can be done about an episode that was not stored."""
    born = account.born
    if born is None or born.outcome == UNREADABLE:
        return [("publish it again under a new event id", "")]
    if born.outcome == FAILED:
        return [("have the operator try it again", "memquorum admin dlq replay --reason failed --go")]
    if born.outcome in CLEARINGS:
        back = "ask the members to bring it back"
        commands = [(back, f"memquorum restore -n {account.namespace} {one}") for one in born.superseded]
        stay = "ask the members to forget what stays (--yes does it)"
        commands += [(stay, f"memquorum forget -n {account.namespace} {one}") for one in born.stays]
        return commands or [("nothing: there was nothing to clear", "")]
    if _unkept(born):
        return [("have it stored all the same", f"memquorum publish -n {account.namespace} --explicit TEXT")]
    return [("have it stored whatever it is worth", f"memquorum publish -n {account.namespace} --explicit TEXT")]
