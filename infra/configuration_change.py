"""Orders changes of the configuration: members, keys, weights or a policy.

An order changes nothing by itself. It is signed with the operator's key and written to its topic; each shard votes on
it in an epoch of its own, and continues in the new configuration once that decision is a stable checkpoint. An order
that breaks a rule is refused here, and by every member if it did not come this way.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from infra import genesis
from infra.settings import Settings, SettingsError
from memquorum import terminal
from memquorum.commands import flag, option
from memquorum.core.avro import Codec
from memquorum.core.identity.membership import OPERATOR, Genesis
from memquorum.core.identity.messages import sign
from memquorum.core.orders.configuration import POLICY, configuration_digest, order_id
from memquorum.core.records import ConfigurationOrdered, NominationProposed, PrePrepare, Signed
from memquorum.ports import StoredOrders
from workers.audit import audited_configurations
from workers.upkeep import operator_topic

_LOOK_S = 1.0
_IN_FORCE = "in force"

HOW = (
    option("--shard", type=int, help="this one alone (default: all)"),
    flag("--dry-run", "show the effect, and order nothing"),
    option("--wait", type=float, metavar="SECONDS", help="until it is in force everywhere; 1 if not"),
)
"""The options of every command that orders a change of configuration."""


class Decided(msgspec.Struct, frozen=True, kw_only=True):
    """The decision of a shard's members about an order, by the epochs in which they voted on it. `config`: the
    configuration that it replaces; `says`: its changes."""

    order_id: str
    kind: str = "configuration"
    status: str
    shard: int
    config: int
    says: dict[str, Any]
    epochs: tuple[int, ...]

    @property
    def in_force(self) -> bool:
        """True if the members accepted the order."""
        return self.status == _IN_FORCE

    def lines(self) -> Iterator[str]:
        """Yields the outcome of the order in words."""
        said = "".join(f", {name} {value}" for name, value in self.says.items() if name not in ("action", POLICY))
        yield f"{self.says['action']}: {self.status}"
        yield f"  of configuration {self.config} of shard {self.shard}{said}; order {self.order_id}"
        yield f"  voted on in epoch {', '.join(map(str, self.epochs))}"


def decided(stored: StoredOrders, codec: Codec, made: Genesis, wanted: str) -> Decided | None:
    """Returns the decision about the order with this id; None if no shard has voted on it. Raises StoreUnavailable."""
    for shard in range(made.shards):
        votes = [vote for vote in stored.decided(shard) if vote.order_id == wanted]
        if votes:
            proposal = codec.decode_as(PrePrepare, codec.decode_as(Signed, votes[-1].pre_prepare).body)
            nomination = codec.decode_as(NominationProposed, codec.decode_as(Signed, proposal.nomination).body)
            one = codec.decode_as(ConfigurationOrdered, codec.decode_as(Signed, nomination.order or b"").body)
            return Decided(
                order_id=wanted, status=_IN_FORCE if votes[-1].configured else "refused", shard=shard,
                config=one.config, says=dict(_said(one)), epochs=tuple(vote.epoch for vote in votes),
            )  # fmt: skip
    return None


def _said(order: ConfigurationOrdered) -> Iterator[tuple[str, Any]]:
    yield "action", order.action
    if order.member >= 0:
        yield "member", order.member
    for name in ("name", "role", "weight_milli", "reliabilities", POLICY):
        if value := getattr(order, name):
            yield name, value
    if order.public_key:
        yield "public_key", order.public_key.hex()


def shards(settings: Settings, made: Genesis, named: int | None) -> Sequence[int]:
    """Returns the shards of an order: the named one, or all. Raises SettingsError if this machine cannot order, or
    there is no such shard."""
    if made.operator is None:
        raise SettingsError(
            f"{settings.genesis_file} names no operator: its members, keys, weights and policy cannot be changed. "
            "A genesis file made today names one"
        )
    if named is not None and not 0 <= named < made.shards:
        raise SettingsError(f"--shard {named}: there are {made.shards} shards, counted from 0")
    return range(made.shards) if named is None else (named,)


def order(now: Genesis, shard: int, action: str, **changes: Any) -> ConfigurationOrdered:
    """Builds an order for the shard's present configuration, and no other."""
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
    """Signs the orders with the operator's key, publishes them, and waits until they are in force, if `wait_s` is
    given. Returns 1 if one is not in force by then. Raises KeyFileError and KafkaException."""
    if not wanted:
        return 0
    console = terminal.console()
    if dry_run:
        console.print("nothing was ordered: --dry-run")
        return 0
    seed = genesis.signing_seed(settings, OPERATOR, made.operator or b"")
    signed = [(one, codec.encode(sign(made.cluster, OPERATOR, seed, codec.encode(one)))) for one in wanted]
    operator_topic.publish_configurations(settings.bootstrap, signed)
    for one in wanted:
        console.print(f"ordered as {order_id(codec.encode(one))} for shard {one.shard}")
    console.print(f"{len(wanted)} shard(s) vote on it, each in its next epoch")
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
        now = audited_configurations.read(settings.bootstrap, made, codec)
        left = [one.shard for one in wanted if now[one.shard].config <= one.config]
        if not left or time.monotonic() >= until:
            return left
        time.sleep(_LOOK_S)
