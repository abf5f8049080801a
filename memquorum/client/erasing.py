"""The command `erase` of a client: everything that would go first, and nothing goes without --yes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict

from memquorum.client.errors import Invalid
from memquorum.client.sync import Memory
from memquorum.client.values import Erasure
from memquorum.core.retrieval.telling import moment

DONE, NOT_YET = 0, 1


def options(erase: argparse.ArgumentParser) -> None:
    """Adds what `erase` takes: exactly one selector."""
    named = erase.add_mutually_exclusive_group(required=True)
    named.add_argument("--memory", dest="memory_id", metavar="ID", help="one memory, with its echoes")
    named.add_argument("--subject", metavar="NAME", help="everything about somebody")
    named.add_argument("--of-agent", metavar="NAME", help="everything that an agent has written")
    named.add_argument("--source", metavar="NAME", help="everything that came from a document, a tool, a feed")
    named.add_argument("--everything", action="store_true", help="the whole namespace")
    erase.add_argument("--yes", action="store_true", help="order it: there is no way back")
    erase.add_argument("--reference", metavar="TEXT", help="the request's name elsewhere, for the receipt")
    erase.add_argument("--timeout", type=float, default=10.0, metavar="S", help="wait so long for it (default: 10)")


def run(parsed: argparse.Namespace) -> int:
    """Shows, and with --yes orders and waits. 1 where it was not carried out in time: it will be."""
    if parsed.sign is not None:
        raise Invalid("not_entitled", None, "an order is signed by the service: leave out --sign")
    named = {
        "memory_id": parsed.memory_id,
        "subject": parsed.subject,
        "agent": parsed.of_agent,
        "source": parsed.source,
    }
    with Memory(namespace=parsed.namespace, agent=parsed.agent, kafka=parsed.kafka, url=parsed.url) as memory:
        asked = {**named, "everything": parsed.everything, "reference": parsed.reference}
        found = memory.erase(**asked)
        _tell(found, parsed.json)
        if not parsed.yes:
            return DONE
        done = memory.erase(**asked, dry_run=False, timeout=parsed.timeout)
        _tell(done, parsed.json)
    return DONE if done.status == "erased" else NOT_YET


def _tell(found: Erasure, as_json: bool) -> None:
    print(json.dumps(asdict(found)) if as_json else "\n".join(lines(found)), flush=True)


def lines(found: Erasure) -> Iterator[str]:
    """An erasure in words."""
    what = f"{found.selector} {found.value!r} in" if found.value else "everything in"
    count = f"{found.memories or 0:,} memories, {found.episodes or 0:,} episodes in all"
    if found.status == "ordered":
        yield f"ordered as {found.order_id}, and not carried out yet: ask for it again, or for its receipt"
        return
    if not found.dry_run:
        yield f"erased {what} {found.namespace!r}: {count}; order {found.order_id}"
        yield f"  journal of shard {found.shard}, entries {found.first_seq} to {found.last_seq}"
        yield f"  remains may lie in files until {moment(found.residue_until or 0)}"
        return
    yield f"would erase {what} {found.namespace!r}: {count}"
    for one in found.going:
        because = f", because of {one['because']}" if one["because"] else ""
        by = f", by {one['agent']}, {moment(one['created'])}" if one["agent"] else ""
        yield f"  {one['memory_id']}  {one['was']}{by}{because}"
    if found.more:
        yield f"  and {found.more:,} more"
    yield "nothing was erased: give --yes to order it" if found.episodes else "there is nothing to erase"
