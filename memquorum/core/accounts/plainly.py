"""Explains votes and times in plain words: first the outcome, then the reason, with no numbers except of members and
days. `telling` has the same with all numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memquorum.core import moments
from memquorum.core.accounts.telling import why
from memquorum.core.accounts.votes import Vote
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.decisions import CAP
from memquorum.core.policy import Policy
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import Kind, Plain

_NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_ENDED = {
    "superseded": "Replaced",
    "consolidated": "Summed up",
    "admitted": "Admitted to experience",
    "united": "Made one in experience",
    "generalised": "Taken into experience",
    "restored": "Brought back",
}
"""Plain words for outcomes of votes whose names are technical."""
_UNITS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"))


def day(ms: int) -> str:
    """The day of a time in milliseconds since the epoch, in UTC: '3 May 2026'."""
    year, month, of_month = moments.moment(ms)[:-14].rsplit("-", 2)
    return f"{int(of_month)} {_MONTHS[int(month) - 1]} {year}"


def minute(ms: int) -> str:
    """The day and the minute: '3 May 2026, 14:43 UTC'."""
    return f"{day(ms)}, {moments.moment(ms)[-13:-8]} UTC"


def roughly(ms: int) -> str:
    """A duration in its largest unit, of which no more is said than has passed: '14 days'."""
    for size, name in _UNITS:
        if ms >= size:
            return f"{counted(ms // size)} {name}{'' if ms < 2 * size else 's'}"
    return "less than a minute"


def counted(count: int) -> str:
    """A count in words where that is short: 'three', '14'."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else f"{count:,}"


def named(some: Sequence[str]) -> str:
    """Names in a row: 'ada, tom and mira'."""
    *first, last = some
    return f"{', '.join(first)} and {last}" if first else last


def sentence(said: str) -> str:
    """A clause as a sentence."""
    return f"{said[:1].upper()}{said[1:]}{'' if said.endswith('.') else '.'}"


def of(kind: Kind) -> Plain:
    """A kind in plain words."""
    return kind.words.plain or Plain(f"whether to {kind.words.aim}", f"it is right to {kind.words.aim}")


def passed(vote: Vote) -> bool:
    """True if a vote accepted the proposal, it was carried out, and its certificate is valid."""
    return vote.complaint is None and vote.outcome == KINDS[vote.kind].outcome


def agreed(vote: Vote) -> str:
    """Counts the members who were for what was done: 'three of four members agreed that it was no longer worth
    keeping'."""
    return f"{_for_it(vote)} agreed that {of(KINDS[vote.kind]).agreed}"


def stopped(vote: Vote) -> str:
    """Gives the reason why the proposal was not carried out, as a clause."""
    if vote.outcome != vote.tallied:
        return f"{_for_it(vote)} were for it, but {why(KINDS[vote.kind], vote.reason)}"
    code = vote.tallied_because
    if code == "too_few_votes":
        only = f"only {counted(vote.yes)}" if vote.yes else "none"
        be = "were" if vote.yes > 1 else "was"
        return f"{only} of {counted(vote.members)} members {be} for it, and it takes {counted(vote.quorum)}"
    if code == "too_little_weight":
        return f"{_for_it(vote)} were for it, but the votes of those who were against it count for too much"
    if code == "contradicted":
        return "members whose votes count for at least half found that something contradicts it"
    if code == "validity":
        return f"{_for_it(vote)} were for it, but too few of them were sure, or found nothing against it"
    return "its namespace had lost as much as may go by then" if code == CAP else why(KINDS[vote.kind], code)


def _for_it(vote: Vote) -> str:
    return f"{counted(vote.yes)} of {counted(vote.members)} members"


def put_to_vote(vote: Vote) -> str | None:
    """Gives the reason why it was put to the vote, as a clause; None for an unknown one."""
    told = of(KINDS[vote.kind]).proposed.get(vote.proposed_because)
    if told is None:
        return None
    ages = [one.profile.age_ms for one in vote.opinions if one.profile is not None]
    unused = roughly(min(ages)) if ages else "long"
    return told.replace("{unused}", unused).replace("{somebody}", vote.asked_by or "somebody")


def findings(vote: Vote, policy: Policy, *, yes: bool) -> list[tuple[list[str], str]]:
    """Groups the members who were for it, or against it, by what they found: their names and the finding as a clause,
    the commonest first."""
    because = of(KINDS[vote.kind]).because
    if because is None:
        return []
    found: dict[str, list[str]] = {}
    for one in vote.opinions:
        if one.yes is yes:
            found.setdefault(because(one.terms, one.yes, policy), []).append(one.name)
    return sorted(((names, said) for said, names in found.items()), key=lambda one: -len(one[0]))


def reason(vote: Vote, genesis: Genesis) -> str:
    """Gives the reason for a vote's outcome as a clause: why it was held, and what most of the members found who
    decided it; empty for an unknown one. `genesis`: the configuration of its shard, which leads to those before it."""
    done = passed(vote)
    if not done and vote.outcome != vote.tallied:
        return ""  # what stopped it is no member's finding
    found = [said for _, said in findings(vote, _policy(vote, genesis), yes=done)]
    told = [put_to_vote(vote) if done else None, *found[:1]]
    return ", and ".join(_by_members(one) for one in dict.fromkeys(told) if one)


def _by_members(said: str) -> str:
    """A finding as a clause of its own, which names whose it is."""
    return f"the members {said.removeprefix('they ')}" if said.startswith("they ") else said


def _policy(vote: Vote, genesis: Genesis) -> Policy:
    return (genesis.of(vote.config) or genesis).policy


def voted(vote: Vote, genesis: Genesis) -> Iterator[str]:
    """A vote: how it ended, why it was held, and who found what, a sentence a line. `genesis`: as of `reason`."""
    if vote.complaint is not None:
        yield f"The record of this vote proves nothing: {vote.complaint}."
        return
    asked = of(KINDS[vote.kind]).asked
    if passed(vote):
        ended = _ENDED.get(vote.outcome, sentence(vote.outcome).rstrip("."))
        yield f"{ended} on {day(vote.as_of)}: {agreed(vote)}."
    else:
        yield f"No change on {day(vote.as_of)}: the members voted on {asked}, and {stopped(vote)}."
    if (put := put_to_vote(vote)) is not None:
        yield f"Why they were asked about {asked}: {put}."
    for yes, side in ((True, "For it"), (False, "Against it")):
        for names, said in findings(vote, _policy(vote, genesis), yes=yes):
            yield f"{side}: {named(names)}, since {said}."
