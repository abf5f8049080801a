"""The commands `restore` and `forget` of a client: memories that rest sealed are asked back, others are proposed to be
forgotten."""

from __future__ import annotations

import argparse
from collections.abc import Iterator

from memquorum.client.command import TIMEOUT, command, in_json, ordering
from memquorum.commands import FAILED, OK, REFERENCE, flag, option
from memquorum.core.api.answers import Forget, Restore

_IDS = option("memory_ids", nargs="+", metavar="ID")


@command(
    "restore",
    _IDS.but(help="memories that were forgotten"),
    REFERENCE,
    TIMEOUT,
    example="memquorum restore -n greenhouse 11936ca0-73b1-5c8b-a836-cd85fc13cdfc",
)
def _restore(parsed: argparse.Namespace) -> int:
    """Asks for memories back that were forgotten: members vote on it. 1 unless all came back, or were there already."""
    with ordering(parsed) as memory:
        done = memory.restore(*parsed.memory_ids, reference=parsed.reference, timeout=parsed.timeout)
    print(in_json(done) if parsed.json else "\n".join(lines(done)), flush=True)
    return OK if all(one.status in ("restored", "alive") for one in done.memories) else FAILED


@command(
    "forget",
    _IDS.but(help="memories that are alive"),
    flag("--yes", "propose it: the members vote as always"),
    REFERENCE,
    TIMEOUT,
    example="memquorum forget -n greenhouse 11936ca0-73b1-5c8b-a836-cd85fc13cdfc --yes",
)
def _forget(parsed: argparse.Namespace) -> int:
    """Shows what a vote to forget would look at; with --yes, has it. 1 unless all were forgotten."""
    with ordering(parsed) as memory:
        asked = {"reference": parsed.reference, "dry_run": not parsed.yes}
        done = memory.forget(*parsed.memory_ids, timeout=parsed.timeout, **asked)
    print(in_json(done) if parsed.json else "\n".join(forget_lines(done)), flush=True)
    return OK if not parsed.yes or all(one.status == "forgotten" for one in done.memories) else FAILED


def lines(done: Restore) -> Iterator[str]:
    """A restore in words."""
    if done.status == "asked":
        yield f"asked for by request {done.order_id}, and not decided yet: see `memquorum explain`"
    elif done.status == "decided":
        yield f"{done.restored} of {len(done.memories)} restored, in epoch {done.epoch} of shard {done.shard}"
    else:
        yield "nothing to restore: nobody was asked"
    for one in done.memories:
        yield f"  {one.memory_id}  {one.status}: {one.detail}"


def forget_lines(done: Forget) -> Iterator[str]:
    """A proposal to forget in words."""
    if done.status == "asked":
        yield f"proposed by request {done.order_id}, and not decided yet: see `memquorum explain ID`"
    elif done.status == "decided":
        yield f"voted on in epoch {done.epoch} of shard {done.shard}"
    elif not (done.dry_run and any(one.status == "alive" for one in done.memories)):
        yield "nothing was proposed: none of it can be voted on"
    for one in done.memories:
        decay = "" if one.decay is None else f" (decay {one.decay:.2f})"
        yield f"  {one.memory_id}  {one.status}{decay}: {one.detail}"
    if done.dry_run and any(one.status == "alive" for one in done.memories):
        yield "nothing was proposed: give --yes to have the members vote on it"
