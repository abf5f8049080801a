"""Carries out the faults of a plan, and heals nodes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memquorum.core.consensus.certificate import BadCertificate, looked_back
from memquorum.core.consensus.events import Message
from memquorum.core.identity.messages import BadMessage
from memquorum.core.records import BallotCast, Commit, NominationProposed, Prepare, PrePrepare
from tests.simulation.broker import LOGS
from tests.simulation.plan import EVERYBODY, FAVOURED, MS, POINTS, WITHHELD, Fault

if TYPE_CHECKING:
    from tests.simulation.node import Node
    from tests.simulation.world import World

# The logs that the journal replaces, once a checkpoint covers them.
PRUNED = {
    Message.NOMINATION: NominationProposed,
    Message.BALLOT: BallotCast,
    Message.PRE_PREPARE: PrePrepare,
    Message.PREPARE: Prepare,
    Message.COMMIT: Commit,
}
_AT_ONCE = len(POINTS) - 1


def strike(world: World, fault: Fault) -> None:
    """Carries out a fault of the plan."""
    if world.healed:
        return
    world.tell(None, f"FAULT: {fault.told()}.")
    if fault.kind == "truncate":
        _truncate(world, fault)
    elif fault.kind == "favour":
        _favour(world, fault)
    elif fault.kind == "prune":
        _prune(world)
    elif fault.kind == "renominate":
        world.renominate(fault.epoch)
    elif fault.kind == "withhold":
        _withhold(world, fault)
    elif fault.member == EVERYBODY:
        for node in world.nodes.values():
            node.disk.cut(fault.number >> 4)
            node.crash(fault.lasts + world.dice.roll(20, "back", node.reader) * MS)
    else:
        for node in world.nodes.values():
            if node.me == fault.member:
                _hit(node, fault)


def _hit(node: Node, fault: Fault) -> None:
    world, number = node.world, fault.number
    log = LOGS[number % len(LOGS)]
    match fault.kind:
        case "crash" | "power" if number % len(POINTS) == _AT_ONCE:
            if fault.kind == "power":
                node.disk.cut(number >> 4)
            node.crash(fault.lasts)
        case "crash" | "power" | "claim-fails" | "view-fails":
            node.armed.append((fault.kind, number, fault.lasts))
        case "wipe":
            node.disk.wipe()
            node.crash(fault.lasts)
        case "amnesia":
            node.disk.forget(view=bool(number % 2))
            world.watch.forgot(node)
            node.crash(fault.lasts)
        case "goes back":
            logged = {data for each in world.broker.logs.values() for data in each}
            node.disk.signed.go_back(logged, node.disk.view.progress)
            world.watch.forgot(node)
            node.crash(fault.lasts)
        case "stall":
            for each in LOGS if number % 3 == 0 else (log,):
                node.stalled[each] = world.now + fault.lasts
        case "mute":
            node.mute_until = world.now + fault.lasts
        case "hide":
            world.broker.hide(node.reader, log, node.positions[log], 1 + number % 3)
        case "lose":
            node.lost.append(bool(number % 2))
        case "repeat":
            node.thrice += 1
        case "reread":
            node.positions[log] = number % (node.positions[log] + 1)
            node.expect(world.now)
        case "clock":
            node.rate = 50 + number % 150
        case _:
            raise ValueError(f"no such fault: {fault.kind}")


def _favour(world: World, fault: Fault) -> None:
    """Lets only one member read on in a log: the others are late, or the broker hides the rest from them."""
    log = Message(FAVOURED[fault.number % len(FAVOURED)])
    for node in world.nodes.values():
        if node.me == fault.member:
            continue
        if fault.number >> 4 & 1:
            world.broker.hide(node.reader, log, len(world.broker.logs[log]), world.plan.n)
        else:
            node.stalled[log] = world.now + fault.lasts


def _withhold(world: World, fault: Fault) -> None:
    """Withholds the last record of a log, or the next where there is none, from some members until the faults end."""
    log, mask = Message(WITHHELD[fault.number % len(WITHHELD)]), fault.number >> 4
    at = max(0, len(world.broker.logs[log]) - 1)
    for node in world.nodes.values():
        if mask >> node.me & 1:
            world.broker.withhold(node.reader, log, at)


def _truncate(world: World, fault: Fault) -> None:
    log = LOGS[fault.number % len(LOGS)]
    end = world.broker.truncate(log, 1 + fault.number % 4)
    for node in world.nodes.values():
        node.amiss = True
        node.ends[log] = min(end, node.ends.get(log, 0))
        if max(node.positions[log], *(view.at_log(log) for view in node.disk.versions)) > end:
            # Kafka answers that there is no such offset, and the process ends. The same offsets may hold other records
            # next, which only a process without its view reads.
            node.disk.wipe()
            node.crash(20 * MS)


def _prune(world: World) -> None:
    """Prunes as `workers.upkeep.prune`: in each log, the records before the first message beyond the last stable
    checkpoint.
    """
    broker, covered = world.broker, max(world.watch.nodes_stable.values(), default=0)
    for log in PRUNED:
        beyond = (at for at, data in enumerate(broker.logs[log]) if _number(world, log, data) > covered)
        if covered:
            broker.prune(log, next(beyond, len(broker.logs[log])))


def _number(world: World, log: Message, data: bytes) -> int:
    """Returns the sequence or the epoch of a record, which are one in this world; 0 for other records."""
    try:
        if log == Message.NOMINATION:
            return looked_back(world.codec, world.genesis, data).epoch
        signed, record = world.signatures.read(world.codec, world.genesis, data, PRUNED[log])
        world.signatures.verify(world.genesis, signed)
    except (BadMessage, BadCertificate):
        return 0
    return int(record.seq if hasattr(record, "seq") else record.epoch)


def heal(node: Node, *, deceived: bool) -> None:
    """Heals a node.

    A node that was shown a false log reads it again from the start; one that lost messages restarts and sends them
    again.
    """
    node.armed.clear()
    node.lost.clear()
    node.stalled.clear()
    node.mute_until, node.thrice, node.rate = 0, 0, 100
    if deceived:
        node.disk.wipe()
    if node.core is not None and (deceived or node.amiss):
        node.crash(0)
    node.amiss = False
    if node.core is not None:
        node.expect(node.world.now)
