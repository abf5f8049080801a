"""The commands that list goals, pins, holds, orders, epochs, members, changes and API keys, one a line; and make and
revoke such keys."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeVar

from memquorum import terminal
from memquorum.client.command import command, in_json, opened, page_of, selected, tell_more, times
from memquorum.client.reading import PASSES, passed
from memquorum.commands import OK, flag, one_of, option, titled, when
from memquorum.core.access import READ, RIGHTS
from memquorum.core.accounts import changes
from memquorum.core.accounts.changes import Change, Changes
from memquorum.core.accounts.pages import EFFECTS
from memquorum.core.accounts.telling import moment
from memquorum.core.api.answers import (
    Conflict,
    DeadLetter,
    Epoch,
    Fault,
    Goal,
    KeyInShort,
    Member,
    OpenEpoch,
    Ordered,
    Protector,
    SessionInShort,
    Since,
)
from memquorum.core.orders.table import GIVEN
from memquorum.core.showing.plurals import many
from memquorum.core.vote.kinds import KINDS

T = TypeVar("T")
_KEY = 16  # digits of a public key that a person compares
_TEXT = 100  # characters of a text of a contradiction


_PROTECTING = (
    option("--memory", metavar="ID", help="of this memory"),
    option("--by", metavar="WHO", help="ordered by this name, word for word"),
    option("--reference", help="with this reference"),
    *times("ordered"),
    *page_of(),
    titled("only if the memory passes", *PASSES),
)
_SHARD = option("--shard", type=int, metavar="N", help="all of this shard, with a key that audits all namespaces")


@command(
    "goals",
    option("--goal", action="append", metavar="NAME", help="this one; repeatable"),
    option("--memory", metavar="ID", help="those that need this memory"),
    *times("said last"),
    *page_of(),
    titled("only the memories that pass", *PASSES),
    example="memquorum goals -n greenhouse",
)
def _goals(parsed: argparse.Namespace) -> int:
    """Lists the active goals, by name: the memories each needs, who set it, and when it lapses."""
    return _list(
        parsed, "goals", _goal, "no goal is active",
        goals=parsed.goal, memory_id=parsed.memory, **passed(parsed),
    )  # fmt: skip


def _goal(one: Goal) -> str:
    more = ", …" if one.needs > len(one.memory_ids) else ""
    said = f"said {moment(one.said_at)} by {', '.join(one.ordered_by)}, lapses {moment(one.lapses_at)}"
    return f"{one.goal}  needs {many(one.needs, 'memory')}, {said}: {', '.join(one.memory_ids)}{more}"


@command("pins", *_PROTECTING, example="memquorum pins -n greenhouse")
def _pins(parsed: argparse.Namespace) -> int:
    """Lists the pins in force, the latest first: of which memory, by whom, since when."""
    return _list(parsed, "pins", _protector, "nothing is pinned", **_protecting(parsed))


@command("holds", *_PROTECTING, example="memquorum holds -n greenhouse --reference case-9")
def _holds(parsed: argparse.Namespace) -> int:
    """Lists the operator's holds in force, the latest first: of which memory, by whom, since when."""
    return _list(parsed, "holds", _protector, "nothing is held", **_protecting(parsed))


def _protector(one: Protector) -> str:
    why = f" ({one.reference})" if one.reference else ""
    return f"{moment(one.accepted_at)}  {one.memory_id}  by {one.ordered_by}{why}; order {one.order_id}"


@command(
    "orders",
    option("--kind", action="append", choices=[kind.name for kind in GIVEN],
           help="to erase; to protect: pins, goals, holds and their ends; to restore, forget, roll back; repeatable"),
    option("--effect", action="append", choices=EFFECTS, help="that ended so; repeatable"),
    *times("answered"),
    *page_of(),
    example="memquorum orders -n greenhouse --kind erase",
)  # fmt: skip
def _orders(parsed: argparse.Namespace) -> int:
    """Lists the answered orders, the latest first: what was ordered by whom, and with what effect. `memquorum order ID`
    shows more of one."""
    return _list(parsed, "orders", _ordered, "no order was answered", kinds=parsed.kind, effects=parsed.effect)


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
    "conflicts",
    *times("contradicted"),
    *page_of(),
    titled("only if both memories pass", *PASSES),
    example="memquorum conflicts -n greenhouse",
)
def _conflicts(parsed: argparse.Namespace) -> int:
    """Lists the open contradictions, the last found first: which memory holds, and which newer one says otherwise."""
    return _list(parsed, "conflicts", _conflict, "nothing contradicts anything", **passed(parsed))


def _conflict(one: Conflict) -> str:
    how = "disputed" if one.disputed else f"{one.first} holds"
    by = "on purpose" if one.stated else "by a model" if one.compared else "by a rule"
    said = f"{one.older} ({one.older_agent}) and {one.newer} ({one.agent}, {one.newer_tier})"
    texts = ((one.older, one.older_text), (one.newer, one.newer_text))
    quoted = [f"    {memory}: {textwrap.shorten(text, _TEXT, placeholder=' …')}" for memory, text in texts if text]
    return "\n".join([f"{moment(one.newer_at)}  {said}: {how}, found {by}", *quoted])


@command(
    "sessions",
    option("--of", action="append", metavar="AGENT", help="in which this agent spoke; repeatable"),
    *times("said last"),
    *page_of(),
    titled("only what was said in memories that pass", *PASSES),
    example="memquorum sessions -n greenhouse",
)
def _sessions(parsed: argparse.Namespace) -> int:
    """Lists the sessions, the one in which something was said last first. `memquorum session NAME` shows the state of
    one."""
    return _list(parsed, "sessions", _session, "there is no session", agents=parsed.of, **passed(parsed))


def _session(one: SessionInShort) -> str:
    rest = f", {one.sealed:,} behind a summary" if one.sealed else ""
    return (
        f"{moment(one.said_at)}  {one.session}: {many(one.memories, 'memory')} in use{rest}, by {', '.join(one.agents)}"
    )


@command(
    "diff",
    option("since", type=when, metavar="SINCE", help="from then on; ISO 8601, or milliseconds"),
    option("until", type=when, nargs="?", metavar="UNTIL", help="before then (default: now)"),
    example="memquorum diff -n greenhouse 2026-03-01 2026-03-08",
)
def _diff(parsed: argparse.Namespace) -> int:
    """Tells what a namespace learned, promoted, overtook, forgot and erased between two times. Texts are those that may
    be read today. Needs the right to audit."""
    with opened(parsed) as memory:
        found = memory.diff(parsed.since, parsed.until)
    if parsed.json:
        for one in found.changes:
            print(in_json(one))
        return OK
    _show(_different(found))
    return OK


def _different(found: Changes) -> Iterator[str]:
    """The changes by kind, each kind in the order of time."""
    span = f"{found.namespace}, from {moment(found.since)} to {moment(found.until)}"
    if not found.changes:
        yield f"{span}: nothing became otherwise"
        return
    yield span
    by_kind = sorted(found.changes, key=lambda one: changes.ORDER.index(one.what))
    for what, some in groupby(by_kind, key=lambda one: one.what):
        told = list(some)
        yield f"{what}: {many(len(told), 'change')}"
        yield from map(_change, told)


def _change(one: Change) -> str:
    text = f"“{' '.join(one.text.split())}”  " if one.text else ""
    by = f" → {one.by}" if one.by else ""
    return f"  {moment(one.at)}  {text}{', '.join(one.memories)}{by}  {one.words}"


@command(
    "epochs",
    option("--kind", action="append", choices=tuple(KINDS), help="with votes to do this; repeatable"),
    _SHARD,
    flag("--open", "only the one that members vote on now: its ballots and phases so far"),
    *times("voted on"),
    *page_of(),
    titled("only proposals whose memories pass", *PASSES),
    example="memquorum epochs -n greenhouse --since 2026-03-01",
)
def _epochs(parsed: argparse.Namespace) -> int:
    """Lists the epochs in which something of the namespace was voted on, the latest first: when, why they were opened,
    and the outcomes of the namespace's proposals. `memquorum decisions` shows each vote."""
    if parsed.open:
        return _open_epoch(parsed)
    return _list(
        parsed, "epochs", _epoch, "nothing was voted on",
        kinds=parsed.kind, shard=parsed.shard, **passed(parsed),
    )  # fmt: skip


def _open_epoch(parsed: argparse.Namespace) -> int:
    with opened(parsed) as memory:
        found = memory.open_epoch(shard=parsed.shard)
    if parsed.json:
        print(in_json(found))
        return OK
    _show(_opened(found))
    return OK


def _opened(one: OpenEpoch) -> Iterator[str]:
    """An open epoch: its proposals, then who has voted, then who has sent which phase."""
    if one.epoch is None:
        where = f"shard {one.shard}" if one.namespace is None else repr(one.namespace)
        yield f"members vote on nothing in {where} now"
        return
    cast = [ballot for ballot in one.ballots if ballot.at is not None]
    came = f"{len(cast)} of {many(one.members, 'ballot')}"
    yield f"epoch {one.epoch} of shard {one.shard} is open, by {one.trigger}: {came}"
    for each in one.proposals:
        weighs = f"weight {each.weight_ppm / 1e6:.2f} of {each.needed_ppm / 1e6:.2f}"
        of = f"{each.namespace}: " if one.namespace is None else ""
        yield f"  {of}{each.kind} {', '.join(each.memory_ids)}: {each.yes} of {each.quorum} votes, {weighs}"
    for ballot in cast:
        yield f"  {moment(ballot.at or 0)}  {ballot.name} voted, for {many(len(ballot.yes), 'proposal')}"
    for step in one.steps:
        yield f"  {moment(step.at)}  member {step.member} sent {step.step}, view {step.view}"


def _epoch(one: Epoch) -> str:
    ended = ", ".join(f"{count} {outcome}" for outcome, count in sorted(one.outcomes.items())) or "no proposal"
    where = f"epoch {one.epoch} of shard {one.shard}, configuration {one.config}, opened by {one.trigger}"
    return f"{moment(one.as_of)}  {where}: {ended}"


@command(
    "members",
    one_of(flag("--seated", "present members"), flag("--left", "former members")),
    option("--role", action="append", metavar="ROLE", help="in this role; repeatable"),
    _SHARD,
    *page_of(),
    example="memquorum members -n greenhouse --seated",
)
def _members(parsed: argparse.Namespace) -> int:
    """Lists the present and former voting members of the namespace's shard by their ids: with what weight, since when,
    and since when by which key. `memquorum admin members` changes them."""
    seated = True if parsed.seated else False if parsed.left else None
    return _list(parsed, "members", _member, "nobody that passes", seated=seated, roles=parsed.role, shard=parsed.shard)


def _member(one: Member) -> str:
    key = f"key {one.public_key[:_KEY]}… since {_since(one.key_since)}"
    left = "" if one.left is None else f"; left with {_since(one.left)}"
    rates = f"weighs {one.weight:g}, reliability {one.reliability:g}"
    return f"{one.id}  {one.name}, {one.role}: {rates}, since {_since(one.since)}, {key}{left}"


@command("dead-letters", example="memquorum dead-letters")
def _letters(parsed: argparse.Namespace) -> int:
    """Lists the latest records that intake refused, the latest first, with their reasons. Needs the right audit in all
    namespaces."""
    return _told(parsed, "dead_letters", "letters", _letter, "nothing was refused lately")


def _letter(one: DeadLetter) -> str:
    field = f" at {one.field}" if one.field else ""
    return f"{moment(one.refused_at)}  {one.reason}{field}: {one.detail} ({one.place})"


@command("evidence", example="memquorum evidence")
def _evidence(parsed: argparse.Namespace) -> int:
    """Lists the reported faults of members, each judged from the signed messages. Needs the right audit in all
    namespaces."""
    return _told(parsed, "evidence", "faults", _fault, "no member is accused")


def _fault(one: Fault) -> str:
    verdict = f"{'proven' if one.proven else 'not proven'}: {one.detail}"
    by = ", ".join(map(str, one.reported_by))
    return f"{moment(one.first_at)}  member {one.member} of shard {one.shard}: {one.what}, {verdict}; by {by}"


@command("keys list", *page_of(), example="memquorum keys list")
def _keys(parsed: argparse.Namespace) -> int:
    """Lists the API keys of namespaces that are all your key's, the latest first, without their secrets. Your key needs
    the right admin, to make and to revoke keys, too."""
    return _list(parsed, "keys", _key, "nobody has a key for")


@command(
    "keys add",
    option("name", help="its owner, for people"),
    option("--for", dest="spaces", action="append", metavar="NAME",
           help="a namespace that it is for; team-* is a prefix; repeatable (default: --namespace)"),
    option("-r", "--right", action="append", choices=RIGHTS,
           help="of those that your key has (default: read); repeatable"),
    option("--slot", action="append", default=[], metavar="KEY",
           help="a slot that it takes from other agents; repeatable"),
    option("--days", type=int, metavar="N", help="until it ends (default: until it is revoked)"),
    example="memquorum keys add planner -n greenhouse --right read --days 90",
)  # fmt: skip
def _add(parsed: argparse.Namespace) -> int:
    """Makes an API key and prints it, this once. Nobody grants more than he has: no other right, namespace or slot, and
    no later end."""
    with opened(parsed) as memory:
        made = memory.make_key(
            parsed.name, namespaces=parsed.spaces, rights=parsed.right or [READ], slots=parsed.slot, days=parsed.days
        )
    if parsed.json:
        print(in_json(made))
        return OK
    print(f"{_key(made.made)}. This is the key; it is not shown again:", file=sys.stderr)
    print(made.key)
    return OK


@command(
    "keys revoke", option("id", metavar="ID", help="as `list` shows it"), example="memquorum keys revoke 1f2e3d4c5b6a"
)
def _revoke(parsed: argparse.Namespace) -> int:
    """Revokes an API key; it stays listed."""
    with opened(parsed) as memory:
        found = memory.revoke_key(parsed.id.removeprefix("mq_").partition("_")[0])
    print(in_json(found) if parsed.json else f"{found.key_id} opens nothing any more")
    return OK


def _key(one: KeyInShort) -> str:
    slots = f", slots {' '.join(one.slots)}" if one.slots else ""
    by = f" by {one.made_by}" if one.made_by else ""
    until = "" if one.expires_at is None else f", until {moment(one.expires_at)}"
    gone = "" if one.revoked_at is None else f", revoked {moment(one.revoked_at)}"
    may = f"{', '.join(one.rights)} in {', '.join(one.namespaces)}{slots}"
    return f"{one.key_id}  {one.name}: {may}; made {moment(one.created_at)}{by}{until}{gone}"


def _since(one: Since) -> str:
    decided = f" (epoch {one.epoch}, {moment(one.as_of)})" if one.as_of is not None else ""
    return f"configuration {one.config}{decided}"


def _told(parsed: argparse.Namespace, what: str, of: str, line: Callable[[T], str], none: str) -> int:
    """Prints an answer that has no pages: a line for each of its entries, or its JSON."""
    with opened(parsed) as memory:
        answer = getattr(memory, what)()
    if parsed.json:
        print(in_json(answer))
        return OK
    found: Sequence[T] = getattr(answer, of)
    _show(map(line, found) if found else [none])
    return OK


def _show(lines: Iterable[str]) -> None:
    """Prints lines for people, without what a terminal would obey."""
    console = terminal.console()
    for line in lines:
        console.print(terminal.text(console, line), soft_wrap=True)


def _list(parsed: argparse.Namespace, what: str, line: Callable[[T], str], none: str, **asked: Any) -> int:
    """Prints one page of a list: a line for each entry, or its JSON."""
    with opened(parsed) as memory:
        asked |= selected(parsed)
        page = getattr(memory, what)(**asked)
        where = memory.namespace if asked.get("shard") is None else f"shard {asked['shard']}"
    found: Sequence[T] = getattr(page, what)
    if parsed.json:
        for one in found:
            print(in_json(one))
    elif found:
        _show(map(line, found))
    else:
        # Filtered: there may be entries that the filters left out.
        part = any(value is not None for name, value in asked.items() if name not in ("shard", "limit", "cursor"))
        _show([f"{none} in {where!r}{' that passes' if part else ''}"])
    tell_more(page)
    return OK


def _protecting(parsed: argparse.Namespace) -> dict[str, Any]:
    said = {"memory_id": parsed.memory, "ordered_by": parsed.by, "reference": parsed.reference}
    return said | passed(parsed)
