"""The command that shows and sets the profile of a subject."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

from memquorum.client.command import command, in_json, opened
from memquorum.client.errors import Invalid
from memquorum.client.orders import TIMEOUT
from memquorum.commands import FAILED, OK, REFERENCE, flag, one_of, option
from memquorum.core.accounts.telling import moment
from memquorum.core.api.answers import Profile
from memquorum.core.templates import TEMPLATES, named

_DAY_MS = 24 * 3600 * 1000


@command(
    "profile",
    option("subject", metavar="SUBJECT"),
    one_of(
        flag("--store-nothing", "nothing about the subject is stored from now on"),
        flag("--store", "what is said about the subject is stored again"),
    ),
    option("--never", action="append", metavar="NAME",
           help="a name or thing that is never kept; repeatable; these replace those before"),
    one_of(
        option("--private", type=float, metavar="HOURS", help="nothing about the subject is stored or shown so long"),
        flag("--not-private", "private mode ends"),
    ),
    option("--erase-after", action="append", metavar="TYPE=DAYS",
           help="memories of this type are erased after so many days; repeatable"),
    option("--consent", action="append", metavar="PURPOSE[=DAYS]",
           help="memories may be read for this purpose, and for none that is not named; repeatable"),
    option("--withdraw", action="append", metavar="PURPOSE", help="they may no more be read for it; repeatable"),
    option("--template", metavar="NAME", choices=tuple(TEMPLATES),
           help=f"ages and purposes of a template, which further options change: {', '.join(TEMPLATES)}"),
    flag("--clear", "begins with an empty profile, and not with the one in force"),
    REFERENCE.but(help="why: a name for the reason elsewhere"),
    TIMEOUT,
    example="memquorum profile ada -n greenhouse --never 'Dr. Meyer' --private 2",
)  # fmt: skip
def _profile(parsed: argparse.Namespace) -> int:
    """Shows the profile of a subject, or changes what the options name and keeps the rest. Exits with 1 if that is not
    in force in time; it still will be. Your key's grant has to name the subject."""
    with opened(parsed) as memory:
        found: Profile = memory.profile(parsed.subject)
        if changes := _changes(parsed, found):
            now = Profile(found.namespace, found.subject, "none") if parsed.clear else found
            said = {name: getattr(now, name) for name in _SET} | changes
            found = memory.set_profile(parsed.subject, reference=parsed.reference, timeout=parsed.timeout, **said)
    print(in_json(found) if parsed.json else "\n".join(_lines(found)), flush=True)
    return FAILED if found.status == "ordered" else OK


_SET = ("stores", "never", "private_until", "retention", "consents")


def _changes(parsed: argparse.Namespace, found: Profile) -> dict[str, Any]:
    """Returns what the options change; of purposes all that are consented to then."""
    changes: dict[str, Any] = {"stores": found.stores} if parsed.clear else {}
    if parsed.template is not None:
        chosen = named(parsed.template)
        changes["retention"] = dict(chosen.days)
        changes["consents"] = None if chosen.purposes is None else dict.fromkeys(chosen.purposes, 0)
    if parsed.store or parsed.store_nothing:
        changes["stores"] = parsed.store
    if parsed.never is not None:
        changes["never"] = tuple(parsed.never)
    if parsed.not_private or parsed.private is not None:
        changes["private_until"] = None if parsed.not_private else _now() + round(parsed.private * 3_600_000)
    if parsed.erase_after is not None:
        ages = {name: _days("--erase-after", days) for name, days in map(_parted, parsed.erase_after)}
        changes["retention"] = changes.get("retention", {}) | ages
    if parsed.consent is not None or parsed.withdraw is not None:
        consents = dict(changes.get("consents") or ({} if parsed.clear else found.consents) or {})
        for name, days in map(_parted, parsed.consent or ()):
            consents[name] = _now() + _days("--consent", days) * _DAY_MS if days else 0
        changes["consents"] = {one: until for one, until in consents.items() if one not in (parsed.withdraw or ())}
    return changes


def _parted(said: str) -> tuple[str, str]:
    name, _, number = said.partition("=")
    return name, number


def _days(field: str, said: str) -> int:
    if not said.isdecimal():
        raise Invalid("wrong_type", field, f"{said!r} is no number of days")
    return int(said)


def _now() -> int:
    return time.time_ns() // 1_000_000


def _lines(found: Profile) -> Iterator[str]:
    """A profile in words."""
    whose = f"{found.subject} in {found.namespace}"
    if found.status == "none":
        yield f"{whose} has no profile: everything is stored and shown as the namespace's rules say"
        return
    order = f", order {found.order_id}" if found.order_id else ""
    if found.status == "ordered":
        yield f"the profile of {whose} is on its way{order}"
        return
    yield f"the profile of {whose} is in force{order}"
    yield f"  stored: {'yes' if found.stores else 'nothing from now on'}"
    if found.private_until is not None:
        ends = "until" if found.private_until > _now() else "ended at"
        yield f"  private mode: {ends} {moment(found.private_until)}"
    if found.never:
        yield f"  never kept: {', '.join(found.never)}"
    for name, days in found.retention.items():
        yield f"  {name}: erased after {days} days"
    if found.consents is not None:
        told = (one if not until else f"{one} until {moment(until)}" for one, until in found.consents.items())
        yield f"  read for: {', '.join(told) or 'no purpose'}"
