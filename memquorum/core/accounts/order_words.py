"""Describes in words what became of an order of any kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memquorum.core.accounts.telling import moment
from memquorum.core.api.answers import Ordered
from memquorum.core.orders.erase import AGE, NAMING_MOST
from memquorum.core.showing.plurals import many

_NOT_DONE = ("asked", "withheld", "changed nothing", "nothing to restore", "nothing to forget", "nothing to roll back")
# A living memory reached the goal of a request to restore; one that was to be forgotten has the status "kept" instead.
_REACHED = ("restored", "alive", "forgotten", "rolled back")


def lines(found: Ordered) -> Iterator[str]:
    """Yields the lines that describe what became of an order."""
    said = ", ".join(f"{name} {value}" for name, value in found.says.items() if value)
    by = f"by {found.ordered_by}" + (f" ({found.reference})" if found.reference else "")
    why = f": {found.why}" if found.why else ""
    yield f"{found.says.get('action', found.kind)}: {found.status}{why}"
    yield f"  {found.kind} in {found.namespace!r}, {said}; {by}, {moment(found.ordered_at)}; order {found.order_id}"
    if found.took is not None:
        took = found.took
        yield f"  {counted(took.memories, took.episodes)}; {remains(took.residue_until)}"
        yield from (f"  {line}" for line in (*summed_up(took.summaries, took.anew), *sent(took.recipients)))
    voted = f", epoch {found.epoch}" if found.epoch is not None else ""
    yield f"  journal of shard {found.shard}, entry {found.journal_seq}{voted}"
    for one in found.memories:
        yield f"  {one.memory_id}  {one.status}: {one.detail}"


def counted(memories: int, episodes: int) -> str:
    """Returns the number of memories and episodes that an erasure takes, in words."""
    return f"{many(memories, 'memory')}, {many(episodes, 'episode')} in all"


def summed_up(summaries: int, anew: int) -> Iterator[str]:
    """Yields a line on the fate of the summaries that an erasure takes; no line if there are none."""
    if summaries:
        named = "is a summary" if summaries == 1 else "are summaries"
        made = f"{anew} to be made anew of what others said, if members agree; {summaries - anew} dropped"
        yield f"{summaries} of them {named}: {made}"


def sent(recipients: Sequence[str]) -> Iterator[str]:
    """Yields the recipients to whom something was sent that an erasure takes; no line if there were none."""
    for recipient in recipients:
        yield f"something of it was sent to {recipient}, to a model there: tell them of the erasure"


def nothing(what: str, value: str | None) -> str:
    """Returns the sentence of an erasure that finds nothing. `value`: the name that was looked for, if there is one."""
    exactly = "; names are compared letter by letter, with capitals" if value else ""
    return f"nothing was found for {what}: {many(0, 'memory')}{exactly}"


def stays(selector: str) -> str:
    """Returns the heading of the list of memories that an erasure leaves."""
    if selector == AGE:
        return "what is as old and stays, until a hold ends:"
    return "what says the same and stays, unless an order names it too:"


def naming(count: int) -> str:
    """Returns the heading of the list of memories that an erasure leaves and that name whom it erases."""
    most = " or more" if count >= NAMING_MOST else ""
    return f"what stays and has the name in its words, {many(count, 'memory')}{most}: erase by id what has to go, too:"


def remains(until: int) -> str:
    """Returns in words the time until which remains of erased data may lie in files."""
    return f"remains may lie in files until {moment(until)}"


def done(found: Ordered) -> bool:
    """True if an order was carried out completely: for a request, if it succeeded for all memories that it names."""
    return found.status not in _NOT_DONE and all(one.status in _REACHED for one in found.memories)
