"""The command that changes what stored memories may be used for."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from memquorum.client.command import command
from memquorum.client.orders import TIMEOUT, give, under_way
from memquorum.commands import REFERENCE, flag, one_of, option
from memquorum.core.api.answers import Classed, Reclassified


@command(
    "reclassify",
    option("memory_ids", nargs="+", metavar="ID", help="memories, 100 at most"),
    option("--sensitivity", type=float, metavar="S", help="how sensitive they are from now on, in [0, 1]"),
    one_of(
        option("--purpose", action="append", metavar="NAME", help="they may be used for this alone; repeatable"),
        flag("--any-purpose", "they may be used for anything"),
    ),
    one_of(
        option("--jurisdiction", metavar="CODE", help="whose law they are under: DE, US-CA, EU"),
        flag("--no-jurisdiction", "no law is named"),
    ),
    REFERENCE.but(help="why: a name for the reason elsewhere"),
    TIMEOUT,
    example="memquorum reclassify -n clinic 11936ca0-73b1-5c8b-a836-cd85fc13cdfc --sensitivity 0.9 --purpose care",
)
def _reclassify(parsed: argparse.Namespace) -> int:
    """Changes the sensitivity, purposes or jurisdiction of memories; all that was made of them inherits. Exits with 1
    unless that is in force in time."""
    return give(
        parsed, "reclassify", _lines, *parsed.memory_ids, sensitivity=parsed.sensitivity,
        purposes=[] if parsed.any_purpose else parsed.purpose,
        jurisdiction="" if parsed.no_jurisdiction else parsed.jurisdiction, reference=parsed.reference,
        good=lambda done: done.status == "reclassified",
    )  # fmt: skip


def _lines(found: Reclassified) -> Iterator[str]:
    for one in found.memories:
        if one.status == "ordered":
            yield f"{one.memory_id}  {under_way(one.order_id)}"
        else:
            yield f"{one.memory_id}  {one.status}: {_limits(one)}; order {one.order_id}"


def _limits(one: Classed) -> str:
    """Tells in words what holds for a memory."""
    purposes = "for anything" if one.purposes is None else f"for {', '.join(one.purposes) or 'no purpose'}"
    law = f", under the law of {', '.join(one.jurisdictions)}" if one.jurisdictions else ""
    return f"sensitivity {one.sensitivity:g}, {purposes}{law}"
