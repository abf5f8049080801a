"""The commands that list what stands and who votes: goals, pins, holds, orders, epochs and members; a line for each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from rich.text import Text

from memquorum import terminal
from memquorum.client.command import command, in_json, opened
from memquorum.client.reading import PASSES
from memquorum.commands import OK, Option, flag, one_of, option, titled, when
from memquorum.core.api.answers import Epoch, Goal, Member, Ordered, Protector, Since
from memquorum.core.orders.table import GIVEN
from memquorum.core.retrieval.pages import EFFECTS
from memquorum.core.retrieval.telling import moment
from memquorum.core.text.plurals import many
from memquorum.core.vote.kinds import KINDS

T = TypeVar("T")
_PAGE = (
    option("--limit", type=int, metavar="N", help="how many at most (default: 100)"),
    option("--cursor", help="go on behind the page that ended with this"),
)
_KEY = 16  # digits of a public key that a person compares


def _times(what: str) -> tuple[Option, Option]:
    return (
        option("--since", type=when, metavar="WHEN", help=f"{what} from then on; ISO 8601, or milliseconds"),
        option("--until", type=when, metavar="WHEN", help=f"{what} before then"),
    )


_PROTECTING = (
    option("--memory", metavar="ID", help="of this memory"),
    option("--by", metavar="WHO", help="ordered by this one, word for word"),
    option("--reference", help="with this reference"),
    *_times("ordered"),
    *_PAGE,
    titled("only if the memory passes", *PASSES),
)
_SHARD = option("--shard", type=int, metavar="N", help="all of this shard, with a key that audits all namespaces")


@command(
    "goals",
    option("--goal", action="append", metavar="NAME", help="this one; repeatable"),
    option("--memory", metavar="ID", help="those that need this memory"),
    *_times("said last"),
    *_PAGE,
    titled("only the memories that pass", *PASSES),
    example="memquorum goals -n greenhouse",
)
def _goals(parsed: argparse.Namespace) -> int:
    """Lists the goals that are active, by name: which memories each needs, who said so, and when it lapses."""
    return _list(
        parsed, "goals", _goal, "no goal is active",
        goals=parsed.goal, memory_id=parsed.memory, **_timed(parsed), **_gates(parsed),
    )  # fmt: skip


def _goal(one: Goal) -> str:
    more = ", …" if one.needs > len(one.memory_ids) else ""
    said = f"said {moment(one.said_at)} by {', '.join(one.ordered_by)}, lapses {moment(one.lapses_at)}"
    return f"{one.goal}  needs {many(one.needs, 'memory')}, {said}: {', '.join(one.memory_ids)}{more}"


@command("pins", *_PROTECTING, example="memquorum pins -n greenhouse")
def _pins(parsed: argparse.Namespace) -> int:
    """Lists the pins that stand, the latest first: of which memory, by whom, since when."""
    return _list(parsed, "pins", _protector, "nothing is pinned", **_protecting(parsed))


@command("holds", *_PROTECTING, example="memquorum holds -n greenhouse --reference case-9")
def _holds(parsed: argparse.Namespace) -> int:
    """Lists the operator's holds that stand, the latest first: of which memory, by whom, since when."""
    return _list(parsed, "holds", _protector, "nothing is held", **_protecting(parsed))


def _protector(one: Protector) -> str:
    why = f" ({one.reference})" if one.reference else ""
    return f"{moment(one.accepted_at)}  {one.memory_id}  by {one.ordered_by}{why}; order {one.order_id}"


@command(
    "orders",
    option("--kind", action="append", choices=[kind.name for kind in GIVEN],
           help="to erase; to protect: pins, goals, holds and their ends; to restore, forget, roll back; repeatable"),
    option("--effect", action="append", choices=EFFECTS, help="that ended so; repeatable"),
    *_times("answered"),
    *_PAGE,
    example="memquorum orders -n greenhouse --kind erase",
)  # fmt: skip
def _orders(parsed: argparse.Namespace) -> int:
    """Lists the orders that were answered, the latest first: what was asked by whom, and what became of it.
    `memquorum order ID` tells more of one."""
    return _list(
        parsed, "orders", _ordered, "no order was answered", kinds=parsed.kind, effects=parsed.effect, **_timed(parsed)
    )


def _ordered(one: Ordered) -> str:
    says, why = one.says, f" ({one.reference})" if one.reference else ""
    if "selector" in says:
        what = f"erase {says['selector']} {says['value']!r}" if says["value"] else "erase everything"
        took = f", {many(one.took.memories, 'memory')}" if one.took is not None else ""
    elif "memory_ids" in says:
        what, took = f"{says['action']} {', '.join(says['memory_ids'])}", ""
    else:
        what, took = f"{says['action']} {says['memory_id']}", ""
    return f"{moment(one.accepted_at)}  {what}: {one.status}{took}, by {one.ordered_by}{why}; order {one.order_id}"


@command(
    "epochs",
    option("--kind", action="append", choices=tuple(KINDS), help="with votes to do this; repeatable"),
    _SHARD,
    *_times("voted on"),
    *_PAGE,
    titled("only proposals whose memories pass", *PASSES),
    example="memquorum epochs -n greenhouse --since 2026-03-01",
)
def _epochs(parsed: argparse.Namespace) -> int:
    """Lists the epochs in which something of the namespace was voted on, the latest first: when, why they were opened,
    and how the namespace's proposals ended. `memquorum decisions` tells of each vote."""
    return _list(
        parsed, "epochs", _epoch, "nothing was voted on",
        kinds=parsed.kind, shard=parsed.shard, **_timed(parsed), **_gates(parsed),
    )  # fmt: skip


def _epoch(one: Epoch) -> str:
    ended = ", ".join(f"{count} {outcome}" for outcome, count in sorted(one.outcomes.items())) or "no proposal"
    where = f"epoch {one.epoch} of shard {one.shard}, configuration {one.config}, opened by {one.trigger}"
    return f"{moment(one.as_of)}  {where}: {ended}"


@command(
    "members",
    one_of(flag("--seated", "who votes now"), flag("--left", "who did, and does no more")),
    option("--role", action="append", metavar="ROLE", help="in this role; repeatable"),
    _SHARD,
    *_PAGE,
    example="memquorum members -n greenhouse --seated",
)
def _members(parsed: argparse.Namespace) -> int:
    """Lists who votes in the namespace's shard, and who did, by their ids: with what weight, since when, and since when
    by which key. `python -m infra members` orders others."""
    seated = True if parsed.seated else False if parsed.left else None
    return _list(parsed, "members", _member, "nobody that passes", seated=seated, roles=parsed.role, shard=parsed.shard)


def _member(one: Member) -> str:
    key = f"key {one.public_key[:_KEY]}… since {_since(one.key_since)}"
    left = "" if one.left is None else f"; left with {_since(one.left)}"
    rates = f"weighs {one.weight:g}, reliability {one.reliability:g}"
    return f"{one.id}  {one.name}, {one.role}: {rates}, since {_since(one.since)}, {key}{left}"


def _since(one: Since) -> str:
    decided = f" (epoch {one.epoch}, {moment(one.as_of)})" if one.as_of is not None else ""
    return f"configuration {one.config}{decided}"


def _list(parsed: argparse.Namespace, what: str, line: Callable[[T], str], none: str, **asked: Any) -> int:
    """Prints a page of a list of the client's: a line for each, or its JSON."""
    with opened(parsed) as memory:
        page = getattr(memory, what)(cursor=parsed.cursor, limit=parsed.limit, **asked)
        where = memory.namespace if asked.get("shard") is None else f"shard {asked['shard']}"
    found: Iterable[T] = getattr(page, what)
    console = terminal.console()
    for said in _lines(parsed, found, line):
        if parsed.json:
            print(said)
        else:
            console.print(terminal.text(console, said), soft_wrap=True)
    if not found and not parsed.json:
        # Of one that is asked in part, what is left out may be there.
        part = any(value is not None for name, value in asked.items() if name != "shard")
        console.print(Text(f"{none} in {where!r}{' that passes' if part else ''}"))
    if page.next:
        # Beside what is listed, so that it can be piped.
        print(f"there are more: --cursor {page.next}", file=sys.stderr)
    return OK


def _lines(parsed: argparse.Namespace, found: Iterable[T], line: Callable[[T], str]) -> Iterator[str]:
    return (in_json(one) if parsed.json else line(one) for one in found)


def _timed(parsed: argparse.Namespace) -> dict[str, Any]:
    return {"since": parsed.since, "until": parsed.until}


def _gates(parsed: argparse.Namespace) -> dict[str, Any]:
    return {
        "sensitivity_max": parsed.sensitivity_max, "purpose": parsed.purpose, "jurisdictions": parsed.jurisdiction,
    }  # fmt: skip


def _protecting(parsed: argparse.Namespace) -> dict[str, Any]:
    said = {"memory_id": parsed.memory, "ordered_by": parsed.by, "reference": parsed.reference}
    return said | _timed(parsed) | _gates(parsed)
