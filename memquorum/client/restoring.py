"""The command `restore` of a client: asks for memories back that were forgotten and rest sealed."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict

from memquorum.client.errors import Invalid
from memquorum.client.sync import Memory
from memquorum.client.values import Restore

DONE, NOT_YET = 0, 1


def options(restore: argparse.ArgumentParser) -> None:
    """Adds what `restore` takes."""
    restore.add_argument("memory_ids", nargs="+", metavar="ID", help="memories that were forgotten")
    restore.add_argument("--reference", metavar="TEXT", help="the request's name elsewhere")
    restore.add_argument("--timeout", type=float, default=10.0, metavar="S", help="wait so long for it (default: 10)")


def run(parsed: argparse.Namespace) -> int:
    """Asks and waits. 1 unless all came back, or were there already."""
    if parsed.sign is not None:
        raise Invalid("not_entitled", None, "a request is signed by the service: leave out --sign")
    with Memory(namespace=parsed.namespace, agent=parsed.agent, kafka=parsed.kafka, url=parsed.url) as memory:
        done = memory.restore(*parsed.memory_ids, reference=parsed.reference, timeout=parsed.timeout)
    print(json.dumps(asdict(done)) if parsed.json else "\n".join(lines(done)), flush=True)
    return DONE if all(one["status"] in ("restored", "alive") for one in done.memories) else NOT_YET


def lines(done: Restore) -> Iterator[str]:
    """A restore in words."""
    if done.status == "asked":
        yield f"asked for by request {done.order_id}, and not decided yet: see `memquorum explain`"
    elif done.status == "decided":
        yield f"{done.restored} of {len(done.memories)} restored, in epoch {done.epoch} of shard {done.shard}"
    else:
        yield "nothing to restore: nobody was asked"
    for one in done.memories:
        yield f"  {one['memory_id']}  {one['status']}: {one['detail']}"
