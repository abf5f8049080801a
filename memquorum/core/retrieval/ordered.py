"""What became of an order of any kind, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from memquorum.core.api.answers import Ordered
from memquorum.core.orders.erase import AGE
from memquorum.core.retrieval.telling import moment
from memquorum.core.text.plurals import many

_NOT_DONE = ("asked", "withheld", "changed nothing", "nothing to restore", "nothing to forget", "nothing to roll back")
# What is alive was asked back and is there; of what was to be forgotten the members say that they kept it.
_REACHED = ("restored", "alive", "forgotten", "rolled back")


def lines(found: Ordered) -> Iterator[str]:
    """What became of an order, in words."""
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
    """How much an erasure takes."""
    return f"{many(memories, 'memory')}, {many(episodes, 'episode')} in all"


def summed_up(summaries: int, anew: int) -> Iterator[str]:
    """What becomes of the summaries among what an erasure takes; nothing where there are none."""
    if summaries:
        named = "is a summary" if summaries == 1 else "are summaries"
        made = f"{anew} to be made anew of what others said, if members agree; {summaries - anew} dropped"
        yield f"{summaries} of them {named}: {made}"


def sent(recipients: Sequence[str]) -> Iterator[str]:
    """Names to whom something of what an erasure takes had been sent; nothing where it was to nobody."""
    for recipient in recipients:
        yield f"something of it was sent to {recipient}, to a model there: tell them of the erasure"


def stays(selector: str) -> str:
    """What is said before what an erasure leaves, each with its reason."""
    if selector == AGE:
        return "what is as old and stays, until a hold ends:"
    return "what says the same and stays, unless an order names it too:"


def remains(until: int) -> str:
    """How long something of what was erased may still be found."""
    return f"remains may lie in files until {moment(until)}"


def done(found: Ordered) -> bool:
    """Whether an order was carried out whole: a request, whether all that it names came of it."""
    return found.status not in _NOT_DONE and all(one.status in _REACHED for one in found.memories)
