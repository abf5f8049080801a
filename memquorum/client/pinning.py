"""The commands `pin`, `unpin` and `goal`. Each orders and waits; it ends with 1 where the order did not hold in time:
it will."""

from __future__ import annotations

import argparse

from memquorum.client.command import command, in_json, ordering
from memquorum.commands import FAILED, OK, flag, one_of, option
from memquorum.core.api.answers import Pinned
from memquorum.core.text.plurals import many

_ID = option("memory_id", metavar="ID")
_REFERENCE = option("--reference", metavar="TEXT", help="why: a name for the reason elsewhere")


@command("pin", _ID, _REFERENCE, example="memquorum pin 11936ca0-73b1-5c8b-a836-cd85fc13cdfc --reference ticket-7")
def _pin(parsed: argparse.Namespace) -> int:
    """Keeps a memory from being forgotten until it is unpinned."""
    with ordering(parsed) as memory:
        return _tell(memory.pin(parsed.memory_id, reference=parsed.reference), parsed.json)


@command("unpin", _ID, _REFERENCE, example="memquorum unpin 11936ca0-73b1-5c8b-a836-cd85fc13cdfc")
def _unpin(parsed: argparse.Namespace) -> int:
    """Ends a pin."""
    with ordering(parsed) as memory:
        return _tell(memory.unpin(parsed.memory_id, reference=parsed.reference), parsed.json)


@command(
    "goal",
    option("goal", metavar="NAME"),
    one_of(
        option("--needs", nargs="+", metavar="ID", help="memories that are not forgotten until the goal ends"),
        flag("--end", "the goal is reached, or given up"),
        required=True,
    ),
    example="memquorum goal sowing --needs 11936ca0-73b1-5c8b-a836-cd85fc13cdfc",
)
def _goal(parsed: argparse.Namespace) -> int:
    """Keeps what a goal needs from being forgotten until the goal ends."""
    with ordering(parsed) as memory:
        found = memory.end_goal(parsed.goal) if parsed.end else memory.begin_goal(parsed.goal, parsed.needs)
    told = f"{found.status}: goal {found.goal!r} needs {many(len(found.memory_ids), 'memory')}"
    print(in_json(found) if parsed.json else told)
    return FAILED if found.status in ("ordered", "not yet") else OK


def _tell(found: Pinned, as_json: bool) -> int:
    if as_json:
        print(in_json(found))
    else:
        by = ", ".join(f"{one.kind} by {one.ordered_by}" for one in found.protected_by) or "nothing"
        order = f"; order {found.order_id}" if found.order_id else ""
        print(f"{found.status} {found.memory_id}: protected by {by}{order}")
        if found.detail:
            print(f"  {found.detail}")
    return FAILED if found.status == "ordered" else OK
