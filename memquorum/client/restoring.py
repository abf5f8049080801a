"""The commands `restore` and `forget` of a client: memories that rest sealed are asked back, others are proposed to be
forgotten."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict

from memquorum.client.errors import Invalid
from memquorum.client.sync import Memory
from memquorum.client.values import Forget, Restore

DONE, NOT_YET = 0, 1


def options(restore: argparse.ArgumentParser) -> None:
    """Adds what `restore` takes."""
    _request_options(restore, "memories that were forgotten")


def _request_options(command: argparse.ArgumentParser, which: str) -> None:
    command.add_argument("memory_ids", nargs="+", metavar="ID", help=which)
    command.add_argument("--reference", metavar="TEXT", help="the request's name elsewhere")
    command.add_argument("--timeout", type=float, default=10.0, metavar="S", help="wait so long for it (default: 10)")


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


def forget_options(forget: argparse.ArgumentParser) -> None:
    """Adds what `forget` takes."""
    _request_options(forget, "memories that are alive")
    forget.add_argument("--yes", action="store_true", help="propose it: the members vote as always")


def forget(parsed: argparse.Namespace) -> int:
    """Shows, and with --yes proposes and waits. 1 unless all were forgotten."""
    if parsed.sign is not None:
        raise Invalid("not_entitled", None, "a request is signed by the service: leave out --sign")
    with Memory(namespace=parsed.namespace, agent=parsed.agent, kafka=parsed.kafka, url=parsed.url) as memory:
        asked = {"reference": parsed.reference, "dry_run": not parsed.yes}
        done = memory.forget(*parsed.memory_ids, timeout=parsed.timeout, **asked)
    print(json.dumps(asdict(done)) if parsed.json else "\n".join(forget_lines(done)), flush=True)
    return DONE if not parsed.yes or all(one["status"] == "forgotten" for one in done.memories) else NOT_YET


def forget_lines(done: Forget) -> Iterator[str]:
    """A proposal to forget in words."""
    if done.status == "asked":
        yield f"proposed by request {done.order_id}, and not decided yet: see `memquorum explain ID`"
    elif done.status == "decided":
        yield f"voted on in epoch {done.epoch} of shard {done.shard}"
    elif not (done.dry_run and any(one["status"] == "alive" for one in done.memories)):
        yield "nothing was proposed: none of it can be voted on"
    for one in done.memories:
        decay = "" if one["decay"] is None else f" (decay {one['decay']:.2f})"
        yield f"  {one['memory_id']}  {one['status']}{decay}: {one['detail']}"
    if done.dry_run and any(one["status"] == "alive" for one in done.memories):
        yield "nothing was proposed: give --yes to have the members vote on it"
