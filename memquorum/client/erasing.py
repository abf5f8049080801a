"""The command `erase` of a client: everything that would go, and nothing goes without --yes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict

from memquorum.client.errors import Invalid
from memquorum.client.sync import Memory
from memquorum.client.values import Erasure
from memquorum.core.retrieval.telling import moment

DONE, NOT_DONE = 0, 1


def options(erase: argparse.ArgumentParser) -> None:
    """Adds what `erase` takes: exactly one selector."""
    named = erase.add_mutually_exclusive_group(required=True)
    named.add_argument("--memory", dest="memory_id", metavar="ID", help="one memory, with its echoes")
    named.add_argument("--subject", metavar="NAME", help="everything about somebody")
    named.add_argument("--of-agent", metavar="NAME", help="everything that an agent has written")
    named.add_argument("--source", metavar="NAME", help="everything that came from a document, a tool, a feed")
    named.add_argument("--everything", action="store_true", help="the whole namespace")
    named.add_argument("--order", metavar="ID", help="what became of an order that was given before")
    erase.add_argument("--yes", action="store_true", help="order it: there is no way back")
    erase.add_argument("--reference", metavar="TEXT", help="the request's name elsewhere, for the receipt")
    erase.add_argument("--timeout", type=float, default=10.0, metavar="S", help="wait so long for it (default: 10)")


def run(parsed: argparse.Namespace) -> int:
    """Shows, or with --yes orders and waits. 1 where it was withheld, or not carried out in time: then it will be."""
    if parsed.sign is not None:
        raise Invalid("not_entitled", None, "an order is signed by the service: leave out --sign")
    named = {
        "memory_id": parsed.memory_id,
        "subject": parsed.subject,
        "agent": parsed.of_agent,
        "source": parsed.source,
    }
    with Memory(namespace=parsed.namespace, agent=parsed.agent, kafka=parsed.kafka, url=parsed.url) as memory:
        if parsed.order is not None:
            done = memory.erasure(parsed.order)
            _tell(done, parsed.json)
            return DONE if done.status == "erased" else NOT_DONE
        asked = {**named, "everything": parsed.everything, "reference": parsed.reference}
        done = memory.erase(**asked, dry_run=not parsed.yes, timeout=parsed.timeout)
        _tell(done, parsed.json)
    return DONE if done.dry_run or done.status == "erased" else NOT_DONE


def _tell(found: Erasure, as_json: bool) -> None:
    print(json.dumps(asdict(found)) if as_json else "\n".join(lines(found)), flush=True)


def lines(found: Erasure) -> Iterator[str]:
    """An erasure in words."""
    what = f"{found.selector} {found.value!r} in" if found.value else "everything in"
    count = f"{found.memories or 0:,} memories, {found.episodes or 0:,} episodes in all"
    if found.status == "ordered":
        yield f"ordered as {found.order_id}, and not carried out yet: `memquorum erase --order {found.order_id}` tells"
        return
    if found.status == "withheld":
        yield f"withheld, erasing {what} {found.namespace!r}: {found.why}; order {found.order_id}"
        return
    if not found.dry_run:
        yield f"erased {what} {found.namespace!r}: {count}; order {found.order_id}"
        yield f"  journal of shard {found.shard}, entries {found.first_seq} to {found.last_seq}"
        yield f"  remains may lie in files until {moment(found.residue_until or 0)}"
        yield from _staying(found)
        return
    yield f"would erase {what} {found.namespace!r}: {count}"
    for one in found.going:
        because = f", because of {one['because']}" if one["because"] else ""
        by = f", by {one['agent']}, {moment(one['created'])}" if one["agent"] else ""
        yield f"  {one['memory_id']}  {one['was']}{by}{because}"
    if found.more:
        yield f"  and {found.more:,} more"
    yield from _staying(found)
    yield "nothing was erased: give --yes to order it" if found.episodes else "there is nothing to erase"


def _staying(found: Erasure) -> Iterator[str]:
    if found.staying:
        yield "what says the same and stays, unless an order names it too:"
    for one in found.staying:
        yield f"  {one['memory_id']}  by {one['agent']}, {moment(one['created'])}: {one['why']}"
    if found.staying_more:
        yield f"  and {found.staying_more:,} more"
