r"""Orders in a simulated world: other members, keys and policies, erasures, restores, and old orders.

The operator and the nomination service do here what `infra.members` and `streams` do, and members judge as
`workers.replica.casting` does: beside the order's rules they know what they have read and what was decided.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from memquorum.core.consensus.certificate import Checked, Nominated
from memquorum.core.consensus.reliability import FRESH, enough, reliabilities
from memquorum.core.identity.membership import Genesis, GenesisError
from memquorum.core.ids import memory_id
from memquorum.core.orders.configuration import (
    POLICY,
    RESIZES,
    ROTATE_SERVICE,
    apply,
    configuration_digest,
    next_id,
    order_id,
)
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.restore import REQUEST
from memquorum.core.policy import written
from memquorum.core.records import (
    ConfigurationOrdered,
    DecayCrossed,
    ErasureOrdered,
    NominationProposed,
    OrderFound,
    RestoreOrdered,
    Signed,
    Standing,
)
from memquorum.core.vote import asking, nomination
from memquorum.core.vote.kinds import CONFIGURE
from tests.simulation.dice import Dice
from tests.simulation.signatures import next_key
from workers.replica.casting import answers

if TYPE_CHECKING:
    from tests.simulation.node import Node
    from tests.simulation.world import World

FURTHER = ("add", "rotate", ROTATE_SERVICE, "reliability", POLICY, "erase", "restore", "again")
"""Orders of an epoch beside weights and removals.

`again`: a lying nomination service repeats an order that was answered.
"""


def further(dice: Dice, epochs: int, taken: frozenset[int]) -> tuple[tuple[int, str], ...]:
    """Adds orders in some worlds, in epochs that have none."""
    if not dice.chance(350, "further orders"):
        return ()
    free = [epoch for epoch in range(1, epochs + 1) if epoch not in taken]
    return tuple(
        (epoch, dice.pick(FURTHER, "a further order", epoch))
        for epoch in free
        if dice.chance(600, "is there a further order", epoch)
    )


class Desk:
    """Makes and nominates orders."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._asked: list[asking.OpenOrder] = []

    def nominated(self, epoch: int, as_of: int) -> NominationProposed | None:
        """Nominates an epoch's order, if there is one and it may be."""
        world, action = self._world, dict(self._world.plan.orders).get(epoch)
        if action is None:
            return None
        standing, tick = Standing(epoch - 1, as_of, 0, 0), DecayCrossed(world.plan.shard, as_of, 1, epoch, ())
        if action in ("erase", "restore", "again"):
            return self._asks(action, standing, tick)
        order = self._members(action, epoch)
        if order is None:
            return None
        told = f"service:{order.name}" if action == ROTATE_SERVICE else f"member {order.member}"
        world.tell(None, f"The operator orders {action} of {told if order.member >= 0 or order.name else 'all'}.")
        name = order_id(world.codec.encode(order))
        return nomination.build_order(world.genesis, standing, tick, (world.signed("operator", order), order, name))

    def nominator(self, record: NominationProposed) -> Genesis:
        """Returns the configuration whose key signs a nomination."""
        world = self._world
        genesis = world.genesis.of(record.config) or world.genesis
        if record.proposals[0].kind != CONFIGURE.name or record.order is None:
            return genesis
        return apply(genesis, world.codec.decode(world.codec.decode_as(Signed, record.order).body))

    def holds(self, node: Node, nominated: Nominated, at: int) -> bool:
        """True if a member votes for an order, or for one memory of it, by what it has read and decided itself."""
        world, record, view = self._world, nominated.record, node.view
        if nominated.makes is None:
            known = world.dice.chance(world.plan.yes_permille, "has read of it", node.me, record.epoch, at, node.lives)
            return known and asked_in(world.codec, record).order not in view.answered
        order = world.codec.decode(world.codec.decode_as(Signed, record.order or b"").body)
        shown, last = dict(view.shown), view.progress.seq - 1
        if order.action == "reliability":
            assert nominated.makes.previous is not None
            fits = reliabilities(nominated.makes.previous, shown, order.through)
            return last - FRESH < order.through <= last and fits == order.reliabilities
        return order.action not in RESIZES or enough(nominated.makes, shown, last)

    # Orders ---------------------------------------------------------------------------------------------------------

    def _members(self, action: str, epoch: int) -> ConfigurationOrdered | None:
        world, dice = self._world, self._world.dice
        genesis, plan = world.genesis, world.plan
        who = genesis.members[dice.roll(genesis.n, "ordered", epoch)]
        place = (genesis.cluster, genesis.config, plan.shard, configuration_digest(genesis), action)
        order = ConfigurationOrdered(*place, who.id, weight_milli=700 + dice.roll(600, "weight", epoch))
        match action:
            case "add":
                new = next_id(genesis)
                if new >= plan.n + plan.added:
                    return None
                key = next_key(genesis, f"member:{new}")
                order = replace(order, member=new, name=f"member-{new}", role="review", public_key=key)
            case "rotate":
                order = replace(order, public_key=next_key(genesis, f"member:{who.id}"))
            case "rotate-service":
                name = dice.pick(("nomination", "nomination", "journal"), "which service", epoch)
                order = replace(order, member=-1, name=name, public_key=next_key(genesis, f"service:{name}"))
            case "policy":
                limits = genesis.policy
                scales = (10.0, 60.0, 3_600.0 + dice.roll(3_600, "a scale", epoch))
                forget = replace(limits.forget, theta_ppm=300_000 + dice.roll(200_000, "theta", epoch))
                made_by = replace(limits, forget=forget, decay=replace(limits.decay, scales_s=scales))
                order = replace(order, member=-1, weight_milli=0, policy=written(made_by))
            case "reliability":
                through = max(world.shown, default=0)
                rates = reliabilities(genesis, world.shown, through) if through else None
                if rates is None:
                    return None
                order = replace(order, member=-1, weight_milli=0, reliabilities=rates, through=through)
        try:
            made = apply(genesis, order)
        except GenesisError:
            return None
        # A member that has forgotten its sign-state is silent for a while, and so is one that was added and was not
        # there.
        bad = {liar for liar, _ in plan.liars} | {fault.member for fault in plan.faults if fault.kind == "amnesia"}
        count = sum(made.member(member) is not None for member in bad) + (action == "add")
        return order if count <= made.f else None

    def _asks(self, action: str, standing: Standing, tick: DecayCrossed) -> NominationProposed | None:
        world, number = self._world, len(self._asked)
        if action == "again":
            if not self._asked:
                return None
            kind, found, order = self._asked[world.dice.roll(number, "which again", tick.journal_seq)]
            world.tell(None, f"An order of before, {order.order_id[:8]}, is nominated again.")
        else:
            kind, found, order = (self._erasure if action == "erase" else self._restore)(number)
            self._asked.append((kind, found, order))
            world.tell(None, f"Somebody has ordered to {action}: {order.order_id[:8]}.")
        return asking.build(world.codec, world.genesis, standing, tick, (kind, found, order))

    def _erasure(self, number: int) -> asking.OpenOrder:
        world, name = self._world, memory_id("orders", str(number))
        order = ErasureOrdered(world.first.cluster, name, world.namespace, "subject", "ada", "ops", 1_000_000)
        return ERASURE, OrderFound(world.signed("operator", order), world.as_of - 1_000, 0), order

    def _restore(self, number: int) -> asking.OpenOrder:
        world, name = self._world, memory_id("orders", str(number))
        wanted = tuple(memory_id("wanted", f"{number}/{at}") for at in range(1 + number % 2))
        order = RestoreOrdered(world.first.cluster, name, world.namespace, wanted, "ops", 1_000_000)
        return REQUEST, OrderFound(world.signed("operator", order), world.as_of, 0), order


def asked_in(codec: Any, record: NominationProposed) -> OrderFound:
    """Decodes a nomination's reference to an erasure or a request."""
    found: OrderFound = codec.decode_as(OrderFound, record.order or b"")
    return found


def answered(codec: Any, checked: Checked) -> bytes | None:
    """Returns the order, as signed, that a decision answers finally."""
    return asked_in(codec, checked.nomination).order if answers(codec, checked) else None
