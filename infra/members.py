"""Shows which members vote in which shard and by which keys the services sign there, or orders a change.

An order changes nothing by itself. It is signed with the operator's key and written to its topic; each shard votes on
it in an epoch of its own, and continues in the new configuration once that decision is a stable checkpoint. An order
that breaks a rule is refused here, and by every member if it did not come this way.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace
from rich.table import Table

from infra import configuration_change, genesis
from infra.configuration_change import HOW
from infra.operator_command import command
from infra.settings import Settings, SettingsError
from memquorum import terminal
from memquorum.commands import JSON, option
from memquorum.core.avro import Codec
from memquorum.core.consensus.reliability import LATE, enough, reliabilities
from memquorum.core.identity.membership import SERVICES, Genesis
from memquorum.core.orders.configuration import RESIZES, ROTATE_SERVICE, apply, next_id
from memquorum.core.records import ConfigurationOrdered
from memquorum.schema_files import load_codec
from workers.audit import audited_configurations

SERVICE = "service:"
ROTATED = SERVICES
_SERVICES = [SERVICE + name for name in ROTATED]


def _who(text: str) -> int | str:
    """A member's id, or a service's name."""
    name = text.removeprefix(SERVICE)
    if name != text and name in ROTATED:
        return name
    if name == text and text.isdecimal():
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is neither a member's id nor one of {', '.join(_SERVICES)}")


def _key(text: str) -> bytes:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != 32:
        raise argparse.ArgumentTypeError("a public key is 64 hexadecimal digits")
    return key


_FAILED = "the members cannot be read, or no order be given"
_MEMBER = option("member", type=int, help="its id")
_PUBLIC_KEY = option("--public-key", type=_key, metavar="HEX", help="default: one is made in the keys' folder")


@command("members show", JSON, kafka="operator", failed=_FAILED, example="members show")
def _shows(settings: Settings, parsed: argparse.Namespace) -> int:
    """Shows which members vote in which shard, with what weight."""
    return run(settings, parsed)


@command(
    "members weight",
    _MEMBER,
    option("weight_milli", type=int, metavar="THOUSANDTHS", help="1000 is a weight of one"),
    *HOW,
    kafka="operator",
    failed=_FAILED,
    example="members weight 2 1500",
)
def _weighs(settings: Settings, parsed: argparse.Namespace) -> int:
    """Orders another weight for a member."""
    return run(settings, parsed)


@command(
    "members rotate",
    option("member", type=_who, metavar="WHO", help=f"a member's id, or {' or '.join(_SERVICES)}"),
    _PUBLIC_KEY,
    *HOW,
    kafka="operator",
    failed=_FAILED,
    example="members rotate 2 --wait 60",
)
def _rotates(settings: Settings, parsed: argparse.Namespace) -> int:
    """Orders another key for a member or a service."""
    return run(settings, parsed)


@command("members remove", _MEMBER, *HOW, kafka="operator", failed=_FAILED, example="members remove 4 --wait 60")
def _removes(settings: Settings, parsed: argparse.Namespace) -> int:
    """Orders the removal of a member; its id is never used again."""
    return run(settings, parsed)


@command(
    "members add",
    option("name"),
    option("--role", required=True, help="what it is for: planning, review, perception, execution"),
    option("--weight", type=int, default=1000, metavar="THOUSANDTHS", help="default: 1000, a weight of one"),
    _PUBLIC_KEY,
    *HOW,
    kafka="operator",
    failed=_FAILED,
    example="members add second-review --role review --wait 60",
)
def _adds(settings: Settings, parsed: argparse.Namespace) -> int:
    """Orders a new member; start it (`fleet run replica --member ID`) before the next."""
    return run(settings, parsed)


@command("members reliability", *HOW, kafka="operator", failed=_FAILED, example="members reliability --dry-run")
def _rates(settings: Settings, parsed: argparse.Namespace) -> int:
    """Computes the members' reliabilities from recent votes, and orders the changes."""
    return run(settings, parsed)


def run(settings: Settings, parsed: argparse.Namespace) -> int:
    """Shows, or orders. Raises SettingsError or GenesisError for an invalid order, KeyFileError."""
    settings.require("bootstrap")
    made, codec = genesis.read(settings), load_codec()
    now = audited_configurations.read(settings.bootstrap, made, codec)
    if parsed.step == "show":
        _show(now, as_json=parsed.json)
        return 0
    shards = configuration_change.shards(settings, made, parsed.shard)
    if parsed.step == "reliability":
        wanted = _rated(settings, now, shards, codec)
    else:
        wanted = [_STEPS[parsed.step](now[shard], shard, parsed) for shard in shards]
    if len({order.member for order in wanted}) > 1:
        raise SettingsError(
            "the shards have had different members: the next id is not the same. Order it for each --shard"
        )
    made_of = [apply(now[order.shard], order) for order in wanted]
    if parsed.step in RESIZES:
        _refuse_too_few(settings, now, wanted, made_of, codec)
    console = terminal.console()
    for order, after in zip(wanted, made_of, strict=True):
        console.print(f"shard {order.shard}: configuration {order.config} → {after.config}: {_told(order)}")
    if parsed.step in ("add", "rotate") and not parsed.dry_run:
        wanted = _with_key(settings, wanted, parsed)
    return configuration_change.give(settings, made, codec, wanted, dry_run=parsed.dry_run, wait_s=parsed.wait)


# Orders --------------------------------------------------------------------------------------------------------------


def _weight(now: Genesis, shard: int, parsed: argparse.Namespace) -> ConfigurationOrdered:
    return configuration_change.order(now, shard, "weight", member=parsed.member, weight_milli=parsed.weight_milli)


def _rotate(now: Genesis, shard: int, parsed: argparse.Namespace) -> ConfigurationOrdered:
    # The checks do not depend on the key: one is made only after them.
    key = parsed.public_key if parsed.public_key is not None else bytes(32)
    if isinstance(parsed.member, str):
        return configuration_change.order(now, shard, ROTATE_SERVICE, name=parsed.member, public_key=key)
    return configuration_change.order(now, shard, "rotate", member=parsed.member, public_key=key)


def _add(now: Genesis, shard: int, parsed: argparse.Namespace) -> ConfigurationOrdered:
    key = parsed.public_key if parsed.public_key is not None else bytes(32)
    told = {"name": parsed.name, "role": parsed.role, "weight_milli": parsed.weight}
    return configuration_change.order(now, shard, "add", member=next_id(now), public_key=key, **told)


def _remove(now: Genesis, shard: int, parsed: argparse.Namespace) -> ConfigurationOrdered:
    return configuration_change.order(now, shard, "remove", member=parsed.member)


_STEPS: dict[str, Callable[[Genesis, int, argparse.Namespace], ConfigurationOrdered]] = {
    "weight": _weight, "rotate": _rotate, "remove": _remove, "add": _add
}  # fmt: skip


def _rated(
    settings: Settings, now: Sequence[Genesis], shards: Sequence[int], codec: Codec
) -> list[ConfigurationOrdered]:
    """Makes the orders for the shards in which something changes."""
    shown = audited_configurations.shown(settings.bootstrap, now, codec)
    wanted = []
    for shard in shards:
        ballots, through = shown[shard]
        rates = reliabilities(now[shard], ballots, through) if through else None
        if rates is None:
            print(f"shard {shard}: nothing is known of who voted of late: nothing to order")
        elif rates == tuple(member.reliability_milli for member in now[shard].members):
            print(f"shard {shard}: the members have these reliabilities already")
        else:
            wanted.append(
                configuration_change.order(now[shard], shard, "reliability", reliabilities=rates, through=through)
            )
    return wanted


def _refuse_too_few(
    settings: Settings,
    now: Sequence[Genesis],
    wanted: Sequence[ConfigurationOrdered],
    made_of: Sequence[Genesis],
    codec: Codec,
) -> None:
    """Raises SettingsError if fewer members than needed can vote, as the members do: the shard would decide nothing any
    more."""
    shown = audited_configurations.shown(settings.bootstrap, now, codec)
    short = [
        order.shard for order, after in zip(wanted, made_of, strict=True) if not enough(after, *shown[order.shard])
    ]
    if short:
        raise SettingsError(
            f"shard(s) {', '.join(map(str, short))}: too few members have voted in the last {LATE} decisions to go on "
            "with another number of them. Was one added before? Start it, wait until it has voted, then order the next"
        )


def _with_key(
    settings: Settings, wanted: Sequence[ConfigurationOrdered], parsed: argparse.Namespace
) -> list[ConfigurationOrdered]:
    """The same orders with one key, a new one if none was given, which the member's process finds in the keys'
    folder."""
    (member,) = {order.member for order in wanted}
    key, name = parsed.public_key, f"member-{member}"
    if wanted[0].action == ROTATE_SERVICE:
        name = f"service-{wanted[0].name}"
    if parsed.step == "add":
        key = genesis.add_member(settings, member, key=key is None) or key
        print(f"intake, streams and commit stamp for member {member} once all of each were stopped and started again")
    elif key is None:
        key = genesis.new_key(settings, name)
    return [replace(order, public_key=key) for order in wanted]


# Telling -------------------------------------------------------------------------------------------------------------


def _told(order: ConfigurationOrdered) -> str:
    match order.action:
        case "weight":
            return f"member {order.member} weighs {order.weight_milli / 1000:g}"
        case "add":
            return f"{order.name} becomes member {order.member} and weighs {order.weight_milli / 1000:g}"
        case "reliability":
            return f"reliabilities {', '.join(f'{rate / 1000:g}' for rate in order.reliabilities)}"
        case "rotate-service":
            return f"service:{order.name} gets another key"
        case "rotate":
            return f"member {order.member} gets another key"
        case _:
            return f"member {order.member} leaves"


def _show(now: Sequence[Genesis], *, as_json: bool) -> None:
    if as_json:
        for shard, config in enumerate(now):
            print(json.dumps(_plain(shard, config)))
        return
    console = terminal.console()
    alike: dict[tuple[object, ...], list[int]] = {}
    for shard, config in enumerate(now):
        alike.setdefault((config.config, config.members, tuple(config.services.items())), []).append(shard)
    for shards in alike.values():
        config = now[shards[0]]
        names = ", ".join(map(str, shards))
        console.print(f"shard {names}: configuration {config.config}, {config.n} members bear {config.f} liar(s)")
        table = Table("id", "name", "role", "weight", "reliability", "key", box=None, pad_edge=False)
        for m in config.members:
            rates = (f"{m.weight_milli / 1000:g}", f"{m.reliability_milli / 1000:g}")
            table.add_row(str(m.id), m.name, m.role, *rates, f"{m.public_key.hex()[:16]}…")
        console.print(table)
        keys = (f"{SERVICE}{name} {key.hex()[:16]}…" for name, key in sorted(config.services.items()))
        console.print(f"services sign by {', '.join(keys)}")
    if now[0].operator is None:
        console.print("the genesis file names no operator: this holds for ever", style="dim")


def _plain(shard: int, config: Genesis) -> dict[str, Any]:
    return {
        "shard": shard,
        "config": config.config,
        "begins_at_sequence": config.begins,
        "services": {name: key.hex() for name, key in sorted(config.services.items())},
        "members": [
            {
                "id": m.id, "name": m.name, "role": m.role, "public_key": m.public_key.hex(),
                "weight_milli": m.weight_milli, "reliability_milli": m.reliability_milli,
            }
            for m in config.members
        ],
    }  # fmt: skip
