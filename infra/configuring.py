"""What all orders of another configuration have in common: members, keys, weights or a policy.

An order changes nothing by itself. It is signed with the operator's key and written to its topic; each shard votes on
it in an epoch of its own, and goes on in the new configuration once that decision is a stable checkpoint. So an order
that breaks a rule is refused here, and by every member if it comes past here.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from infra import genesis
from infra.settings import Settings, SettingsError
from memquorum import terminal
from memquorum.commands import flag, option
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.identity.messages import sign
from memquorum.core.orders.configuration import configuration_digest
from memquorum.core.records import ConfigurationOrdered
from workers.audit import configurations
from workers.upkeep import orders

_LOOK_S = 1.0

HOW = (
    option("--shard", type=int, help="this one alone (default: all)"),
    flag("--dry-run", "say what would come of it, and order nothing"),
    option("--wait", type=float, metavar="SECONDS", help="until it is in force everywhere; 1 if not"),
)
"""What every command takes that orders another configuration."""


def shards(settings: Settings, made: Genesis, named: int | None) -> Sequence[int]:
    """Returns the shards that an order is for: the one that is named, or all. Raises SettingsError where nobody can
    order, or there is no such shard."""
    if made.operator is None:
        raise SettingsError(
            f"{settings.genesis_file} names no operator: its members, keys, weights and policy hold for ever. "
            "A genesis file made today names one"
        )
    if named is not None and not 0 <= named < made.shards:
        raise SettingsError(f"--shard {named}: there are {made.shards} shards, counted from 0")
    return range(made.shards) if named is None else (named,)


def order(now: Genesis, shard: int, action: str, **changes: Any) -> ConfigurationOrdered:
    """Makes an order that means the shard's configuration of now, and no other."""
    return ConfigurationOrdered(now.cluster, now.config, shard, configuration_digest(now), action, **changes)


def give(
    settings: Settings,
    made: Genesis,
    codec: Codec,
    wanted: Sequence[ConfigurationOrdered],
    *,
    dry_run: bool,
    wait_s: float | None,
) -> int:
    """Signs the orders with the operator's key, publishes them, and waits for them where that is asked for. Returns 1
    if one is not in force by then. Raises KeyFileError and KafkaException."""
    if not wanted:
        return 0
    console = terminal.console()
    if dry_run:
        console.print("nothing was ordered: --dry-run")
        return 0
    seed = genesis.signing_seed(settings, OPERATOR, made.operator or b"")
    signed = [(one, codec.encode(sign(made.cluster, OPERATOR, seed, codec.encode(one)))) for one in wanted]
    orders.publish_configurations(settings.bootstrap, signed)
    console.print(f"ordered; {len(wanted)} shard(s) vote on it, each in its next epoch")
    left = [] if wait_s is None else _wait(settings, made, codec, wanted, wait_s)
    if left:
        console.print(f"not yet in force in shard(s) {', '.join(map(str, left))}: see `show`, and the replicas' logs")
    elif wait_s is not None:
        console.print("in force in every shard that it was ordered for")
    return 1 if left else 0


def _wait(
    settings: Settings, made: Genesis, codec: Codec, wanted: Sequence[ConfigurationOrdered], seconds: float
) -> list[int]:
    """Waits until every order is in force, and returns the shards in which one is not by then."""
    until = time.monotonic() + seconds
    while True:
        now = configurations.read(settings.bootstrap, made, codec)
        left = [one.shard for one in wanted if now[one.shard].config <= one.config]
        if not left or time.monotonic() >= until:
            return left
        time.sleep(_LOOK_S)
