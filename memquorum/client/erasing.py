"""The command `erase` of a client: everything that would go, and nothing goes without --yes."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from memquorum.client.command import TIMEOUT, command, in_json, ordering
from memquorum.commands import FAILED, OK, REFERENCE, flag, one_of, option
from memquorum.core.api.answers import Erasure
from memquorum.core.retrieval.telling import moment
from memquorum.core.text.plurals import many


@command(
    "erase",
    one_of(
        option("--memory", dest="memory_id", metavar="ID", help="one memory, with its echoes"),
        option("--subject", metavar="NAME", help="everything about somebody"),
        option("--of-agent", metavar="NAME", help="everything that an agent has written"),
        option("--source", metavar="NAME", help="everything that came from a document, a tool, a feed"),
        flag("--everything", "the whole namespace"),
        option("--order", metavar="ID", help="what became of an order that was given before"),
        required=True,
    ),
    flag("--yes", "order it: there is no way back"),
    REFERENCE,
    TIMEOUT,
    example="memquorum erase -n greenhouse --subject ada --yes --reference request-12",
)
def _erase(parsed: argparse.Namespace) -> int:
    """Shows everything that an erasure would take; with --yes, orders it.

    1 where it was withheld, or not carried out in time: then it will be.
    """
    with ordering(parsed) as memory:
        if parsed.order is not None:
            done = memory.erasure(parsed.order)
        else:
            done = memory.erase(
                memory_id=parsed.memory_id, subject=parsed.subject, agent=parsed.of_agent, source=parsed.source,
                everything=parsed.everything, reference=parsed.reference, dry_run=not parsed.yes,
                timeout=parsed.timeout,
            )  # fmt: skip
    print(in_json(done) if parsed.json else "\n".join(lines(done)), flush=True)
    return OK if done.dry_run or done.status == "erased" else FAILED


def lines(found: Erasure) -> Iterator[str]:
    """An erasure in words."""
    what = f"{found.selector} {found.value!r} in" if found.value else "everything in"
    count = f"{many(found.memories or 0, 'memory')}, {many(found.episodes or 0, 'episode')} in all"
    if found.status == "ordered":
        yield f"ordered as {found.order_id}, and not carried out yet: `memquorum erase --order {found.order_id}` tells"
        return
    if found.status == "withheld":
        yield f"withheld, erasing {what} {found.namespace!r}: {found.why}; order {found.order_id}"
        return
    nothing = f"nothing was found for {what} {found.namespace!r}: {many(0, 'memory')}"
    if not found.dry_run:
        erased = f"erased {what} {found.namespace!r}: {count}" if found.episodes else nothing
        yield f"{erased}; order {found.order_id}"
        yield f"  journal of shard {found.shard}, entries {found.first_seq} to {found.last_seq}"
        yield f"  remains may lie in files until {moment(found.residue_until or 0)}"
        yield from _staying(found)
        return
    yield f"would erase {what} {found.namespace!r}: {count}" if found.episodes else nothing
    for one in found.going:
        because = f", because of {one.because}" if one.because else ""
        by = f", by {one.agent}, {moment(one.created)}" if one.agent and one.created is not None else ""
        yield f"  {one.memory_id}  {one.was}{by}{because}"
    if found.more:
        yield f"  and {found.more:,} more"
    yield from _staying(found)
    yield "nothing was erased: give --yes to order it" if found.episodes else "there is nothing to erase"


def _staying(found: Erasure) -> Iterator[str]:
    if found.staying:
        yield "what says the same and stays, unless an order names it too:"
    for one in found.staying:
        yield f"  {one.memory_id}  by {one.agent}, {moment(one.created)}: {one.why}"
    if found.staying_more:
        yield f"  and {found.staying_more:,} more"
