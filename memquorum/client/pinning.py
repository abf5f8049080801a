"""`memquorum pin`, `unpin` and `goal`."""

from __future__ import annotations

import argparse
import json

from memquorum.client.errors import Invalid
from memquorum.client.sync import Memory

DONE, NOT_YET = 0, 1


def options(command: argparse.ArgumentParser, action: str) -> None:
    """Adds what `pin` and `unpin` take."""
    command.add_argument("memory_id", metavar="ID")
    command.add_argument("--reference", metavar="TEXT", help="why: a name for the reason elsewhere")
    command.set_defaults(action=action)


def goal_options(command: argparse.ArgumentParser) -> None:
    """Adds what `goal` takes."""
    command.add_argument("goal", metavar="NAME")
    what = command.add_mutually_exclusive_group(required=True)
    what.add_argument("--needs", nargs="+", metavar="ID", help="memories that are not forgotten until the goal ends")
    what.add_argument("--end", action="store_true", help="the goal is reached, or given up")


def goal(parsed: argparse.Namespace) -> int:
    """Orders and waits. 1 where it did not hold in time: it will."""
    _unsigned(parsed)
    with _opened(parsed) as memory:
        found = memory.end_goal(parsed.goal) if parsed.end else memory.begin_goal(parsed.goal, parsed.needs)
    if parsed.json:
        print(json.dumps(found))
    else:
        print(f"{found['status']}: goal {found['goal']!r} needs {len(found['memory_ids'])} memories")
    return NOT_YET if found["status"] in ("ordered", "not yet") else DONE


def run(parsed: argparse.Namespace) -> int:
    """Orders and waits. 1 where it did not hold in time: it will."""
    _unsigned(parsed)
    with _opened(parsed) as memory:
        found = getattr(memory, parsed.action)(parsed.memory_id, reference=parsed.reference)
    if parsed.json:
        print(json.dumps(found))
    else:
        by = ", ".join(f"{one['kind']} by {one['ordered_by']}" for one in found["protected_by"]) or "nothing"
        order = f"; order {found['order_id']}" if found["order_id"] else ""
        print(f"{found['status']} {found['memory_id']}: protected by {by}{order}")
        if found["detail"]:
            print(f"  {found['detail']}")
    return NOT_YET if found["status"] == "ordered" else DONE


def _unsigned(parsed: argparse.Namespace) -> None:
    if parsed.sign is not None:
        raise Invalid("not_entitled", None, "an order is signed by the service: leave out --sign")


def _opened(parsed: argparse.Namespace) -> Memory:
    return Memory(namespace=parsed.namespace, agent=parsed.agent, kafka=parsed.kafka, url=parsed.url)
