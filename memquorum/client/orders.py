"""The commands that give orders, and the one that shows an order's outcome."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from memquorum.client.command import command, in_json, opened
from memquorum.client.errors import Invalid
from memquorum.commands import (
    BEFORE,
    FAILED,
    NOT_FOUND,
    NUMBERS,
    OF_TYPE,
    OK,
    OLDER_THAN,
    REFERENCE,
    Option,
    before,
    flag,
    one_of,
    option,
    seconds,
)
from memquorum.core.accounts import order_words
from memquorum.core.accounts.order_words import counted, nothing, remains, sent, stays, summed_up
from memquorum.core.accounts.restoring import UNKNOWN
from memquorum.core.accounts.telling import moment
from memquorum.core.api.answers import Erasure, Forget, Needed, Pinned, Restore
from memquorum.core.journal.anew import WORDS
from memquorum.core.showing.plurals import many

T = TypeVar("T", bound=Any)

_IDS = option("memory_ids", nargs="+", metavar="ID")
TIMEOUT = option("--timeout", type=seconds, default=10.0, metavar="S", help="20 at most (default: 10)")
_UNDER_WAY = ("ordered", "asked", "not yet")


def give(
    parsed: argparse.Namespace,
    order: str,
    words: Callable[[T], Iterable[str]],
    *named: Any,
    good: Callable[[T], bool] = lambda done: done.status not in _UNDER_WAY,
    there: Callable[[T], bool] = lambda done: True,
    **said: Any,
) -> int:
    """Gives an order by the client's method of that name and prints the outcome: returns 0 if `good`, 4 if a memory it
    names does not exist."""
    if parsed.sign is not None:
        raise Invalid("not_entitled", None, "an order is signed by the service: leave out --sign")
    with opened(parsed) as memory:
        done: T = getattr(memory, order)(*named, timeout=parsed.timeout, **said)
    print(in_json(done) if parsed.json else "\n".join(words(done)), flush=True)
    if not there(done):
        return NOT_FOUND
    return OK if good(done) else FAILED


def _known(done: Forget | Restore) -> bool:
    """True if the namespace has all memories that were named."""
    return all(one.status != UNKNOWN for one in done.memories)


def under_way(order_id: str | None) -> str:
    """The message for a pending order."""
    return f"ordered as {order_id}, and not carried out yet: `memquorum order {order_id}` tells"


@command("order", option("order_id", metavar="ID"), TIMEOUT.but(default=0.0, help="wait for it (default: 0)"),
         example="memquorum order 0b9c7a1e-6f6e-4a55-9a43-5d2d4f0e8a11")  # fmt: skip
def _order(parsed: argparse.Namespace) -> int:
    """Shows the outcome of an order of any kind. Exits with 1 unless it was carried out whole."""
    return give(parsed, "order", order_words.lines, parsed.order_id, good=order_words.done)


# Erasing and restoring ------------------------------------------------------------------------------------------------


NAMED = (
    option("--memory", dest="memory_id", metavar="ID", help="one memory, with its echoes"),
    option("--subject", metavar="NAME", help="everything about somebody"),
    option("--of-agent", metavar="NAME", help="everything that an agent has written"),
    option("--source", metavar="NAME", help="everything that came from a document, a tool, a feed"),
)
"""The options that name whose memories are erased, or reported."""


def named(parsed: argparse.Namespace) -> dict[str, Any]:
    """The arguments that these options select."""
    return {
        "memory_id": parsed.memory_id, "subject": parsed.subject, "agent": parsed.of_agent, "source": parsed.source,
    }  # fmt: skip


@command(
    "erase",
    one_of(
        *NAMED,
        OLDER_THAN,
        BEFORE,
        flag("--everything", "the whole namespace"),
        required=True,
    ),
    OF_TYPE,
    flag("--yes", "order it: there is no way back"),
    REFERENCE,
    TIMEOUT,
    example="memquorum erase -n greenhouse --subject ada --yes --reference request-12",
)
def _erase(parsed: argparse.Namespace) -> int:
    """Shows everything that an erasure would take; with --yes, orders it.

    Exits with 1 if it was withheld, or not carried out in time: it still will be.
    """
    return give(
        parsed, "erase", lines, good=lambda done: done.dry_run or done.status == "erased",
        **named(parsed), types=parsed.types, before=before(parsed), everything=parsed.everything,
        reference=parsed.reference, dry_run=not parsed.yes,
    )  # fmt: skip


_UNNAMED = (
    "memories and finished tasks that only name somebody in their texts stay; a key with the right `read` is shown them"
)


def lines(found: Erasure) -> Iterator[str]:
    """An erasure in words."""
    what = f"{found.selector} {found.value!r} in" if found.value else "everything in"
    count = counted(found.memories or 0, found.episodes or 0)
    if found.status == "ordered":
        yield under_way(found.order_id)
        return
    if found.status == "withheld":
        yield f"withheld, erasing {what} {found.namespace!r}: {found.why}; order {found.order_id}"
        return
    none = nothing(f"{what} {found.namespace!r}", found.value)
    if not found.dry_run:
        erased = f"erased {what} {found.namespace!r}: {count}" if found.episodes else none
        yield f"{erased}; order {found.order_id}"
        yield from _besides(found)
        yield f"  journal of shard {found.shard}, entries {found.first_seq} to {found.last_seq}"
        yield f"  {remains(found.residue_until or 0)}"
        yield from _staying(found)
        return
    yield f"would erase {what} {found.namespace!r}: {count}" if found.episodes else none
    yield from _besides(found)
    for one in found.going:
        because = f", because of {one.because}" if one.because else ""
        by = f", by {one.agent}, {moment(one.created)}" if one.agent and one.created is not None else ""
        summary = f"; {WORDS.get(one.summary, one.summary)}" if one.summary else ""
        to = f"; sent to {', '.join(one.sent_to)}" if one.sent_to else ""
        yield f"  {one.memory_id}  {one.was}{by}{because}{summary}{to}"
    if found.more:
        yield f"  and {found.more:,} more"
    yield from _staying(found)
    if found.selector in ("subject", "agent") and found.naming_count is None:
        yield _UNNAMED
    yield "nothing was erased: give --yes to order it" if found.episodes else "there is nothing to erase"


def _besides(found: Erasure) -> Iterator[str]:
    """The lines about rewritten summaries and about recipients to notify."""
    for line in (*summed_up(found.summaries or 0, found.anew or 0), *sent(found.recipients)):
        yield f"  {line}"


def _staying(found: Erasure) -> Iterator[str]:
    if found.staying:
        yield stays(found.selector)
    for one in found.staying:
        yield f"  {one.memory_id}  by {one.agent}, {moment(one.created)}: {one.why}"
    if found.staying_more:
        yield f"  and {found.staying_more:,} more"
    if found.naming_count:
        yield order_words.naming(found.naming_count)
    for one in found.naming:
        yield f"  {one.memory_id}  by {one.agent}, {moment(one.created)}: {one.why}"
    if more := (found.naming_count or 0) - len(found.naming):
        yield f"  and {more:,} more"


@command(
    "restore",
    _IDS.but(help="memories that were forgotten"),
    REFERENCE,
    TIMEOUT,
    example="memquorum restore -n greenhouse 11936ca0-73b1-5c8b-a836-cd85fc13cdfc",
)
def _restore(parsed: argparse.Namespace) -> int:
    """Asks to restore forgotten memories: members vote on it. Exits with 1 unless all are alive afterwards; 4 if the
    namespace has no such memory."""
    back = ("restored", "alive")
    return give(
        parsed, "restore", _restored, *parsed.memory_ids, reference=parsed.reference,
        good=lambda done: all(one.status in back for one in done.memories), there=_known,
    )  # fmt: skip


def _restored(done: Restore) -> Iterator[str]:
    if done.status == "asked":
        yield under_way(done.order_id)
    elif done.status == "decided":
        yield f"{done.restored} of {len(done.memories)} restored, in epoch {done.epoch} of shard {done.shard}"
    else:
        yield "nothing to restore: nobody was asked"
    for one in done.memories:
        yield f"  {one.memory_id}  {one.status}: {one.detail}"


@command(
    "forget",
    _IDS.but(help="memories that are alive"),
    flag("--yes", "propose it: the members vote as always"),
    NUMBERS,
    REFERENCE,
    TIMEOUT,
    example="memquorum forget -n greenhouse 11936ca0-73b1-5c8b-a836-cd85fc13cdfc --yes",
)
def _forget(parsed: argparse.Namespace) -> int:
    """Shows what a vote to forget would compare; with --yes, starts it. Exits with 1 unless all were forgotten; 4 if
    the namespace has no such memory."""

    def words(done: Forget) -> Iterator[str]:
        return forget_lines(done, numbers=parsed.numbers)

    def good(done: Forget) -> bool:
        return not parsed.yes or all(one.status == "forgotten" for one in done.memories)

    return give(
        parsed, "forget", words, *parsed.memory_ids, reference=parsed.reference, dry_run=not parsed.yes, good=good,
        there=_known,
    )  # fmt: skip


_MAY_GO = {"alive": "can be put to the vote", "unknown": "not found"}


def forget_lines(done: Forget, *, numbers: bool = False) -> Iterator[str]:
    """A proposal to forget in words, its outcome first. `numbers`: also the values that members compare."""
    can = [one for one in done.memories if one.status == "alive"]
    if done.status == "asked":
        yield f"The members were asked, and have not voted yet: `memquorum order {done.order_id}` tells."
    elif done.status == "decided":
        gone = sum(one.status == "forgotten" for one in done.memories)
        yield f"The members have voted: {gone} of {many(len(done.memories), 'memory')} forgotten."
    elif done.dry_run and can:
        yield f"Nothing has changed: the members could vote on {len(can)} of {many(len(done.memories), 'memory')}."
    else:
        yield "Nothing was asked: none of it can be put to the vote."
    for one in done.memories:
        yield f"  {one.memory_id}  {_MAY_GO.get(one.status, one.status)}: {one.detail}."
        if numbers and one.numbers is not None:
            yield f"    in numbers: {one.numbers}"
    if numbers and done.epoch is not None:
        yield f"  in numbers: epoch {done.epoch} of shard {done.shard}"
    if done.dry_run and can:
        yield "To have the members vote on it, say the same with --yes."


# Keeping --------------------------------------------------------------------------------------------------------------

_ID = option("memory_id", metavar="ID")
_WHY: Option = REFERENCE.but(help="why: a name for the reason elsewhere")


@command("pin", _ID, _WHY, TIMEOUT, example="memquorum pin 11936ca0-73b1-5c8b-a836-cd85fc13cdfc --reference ticket-7")
def _pin(parsed: argparse.Namespace) -> int:
    """Keeps a memory from being forgotten until it is unpinned. Exits with 1 if that is not in force in time; it still
    will be."""
    return give(parsed, "pin", _pinned, parsed.memory_id, reference=parsed.reference)


@command("unpin", _ID, _WHY, TIMEOUT, example="memquorum unpin 11936ca0-73b1-5c8b-a836-cd85fc13cdfc")
def _unpin(parsed: argparse.Namespace) -> int:
    """Ends a pin. Exits with 1 if that is not in force in time; it still will be."""
    return give(parsed, "unpin", _pinned, parsed.memory_id, reference=parsed.reference)


def _pinned(found: Pinned) -> Iterator[str]:
    if found.status == "ordered":
        yield under_way(found.order_id)
        return
    by = ", ".join(f"{one.kind} by {one.ordered_by}" for one in found.protected_by) or "nothing"
    order = f"; order {found.order_id}" if found.order_id else ""
    yield f"{found.status} {found.memory_id}: protected by {by}{order}"
    if found.detail:
        yield f"  {found.detail}"


@command(
    "goal",
    option("goal", metavar="NAME"),
    one_of(
        option("--needs", nargs="+", metavar="ID", help="memories that are not forgotten until the goal ends"),
        flag("--end", "the goal is reached, or given up"),
        required=True,
    ),
    TIMEOUT,
    example="memquorum goal sowing --needs 11936ca0-73b1-5c8b-a836-cd85fc13cdfc",
)
def _goal(parsed: argparse.Namespace) -> int:
    """Keeps the memories that a goal needs from being forgotten until the goal ends. Exits with 1 if that is not in
    force in time; it still will be."""
    if parsed.end:
        return give(parsed, "end_goal", _needed, parsed.goal)
    return give(parsed, "begin_goal", _needed, parsed.goal, parsed.needs)


def _needed(found: Needed) -> Iterator[str]:
    yield f"{found.status}: goal {found.goal!r} needs {many(len(found.memory_ids), 'memory')}"
