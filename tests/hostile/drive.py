"""One behaviour: a fleet on new topics and databases, epochs on every shard, and what came of them."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Collection
from pathlib import Path

from confluent_kafka import KafkaException

from infra import topic_files as declared
from infra.embedded.brokers import Brokers
from memquorum.core.identity.membership import load
from memquorum.schema_files import load_codec
from tests.hostile import judge, store
from tests.hostile.brokers import BrokerFaults
from tests.hostile.disturb import Disturbance, Kills, Stranger
from tests.hostile.fleet import HONEST, TWIN, Fleet, Lies, RunPlace, genesis_of
from tests.hostile.judge import LIAR, Met
from tests.hostile.memories import Line
from tests.hostile.watch import Watch
from tests.support.waiting import PATIENCE_S
from workers.audit import accusations

PROPOSALS = 8
"""Memories in an epoch; see memories.planned."""
_GIVE_UP_S = 60.0
_AGAIN_S = 2.0
# The fault-free run waits longer for its fourth ballot: the others are held against what all four say.
_GRACE_MS, LONG_GRACE_MS = 250, 2_000

BROKERS = {"one-broker": 1, "one-broker-and-a-liar": 1, "two-brokers": 2}
"""Runs on three brokers, and how many of them are away at a time."""
BEYOND = "kills-and-a-liar"
"""A member is killed while as many lie as may: at times one fault more than is tolerated.

Nothing wrong may be decided.
"""
HONEST_RUNS = ("none", "stranger", "kills", "one-broker", "two-brokers")
MIXED: Lies = (("two-ballots",), ("other-victims",), ("opposite-votes",), ("contrary",))
"""Four lies at once, each on a shard of its own; the second needs the liar to be primary there, as it is."""

Disturb = Callable[[Line, Fleet, random.Random, Met], Disturbance]
Liars = dict[str, tuple[int, Lies]]


def liars_of(behaviour: str, count: int = 1) -> Liars:
    """Process name → member and behaviours of the liars' processes; none for runs whose members are all honest."""
    if behaviour in HONEST_RUNS:
        return {}
    members = range(LIAR, LIAR + count)
    if behaviour in ("mixed", "one-broker-and-a-liar", BEYOND):
        # Member m is primary of shard m: so there each of them proposes twice.
        return {str(m): (m, [MIXED[(shard - (m - LIAR)) % len(MIXED)] for shard in range(len(MIXED))]) for m in members}
    lies: Lies = ((behaviour,),) * len(HONEST)
    liars: Liars = {str(m): (m, lies) for m in members}
    if behaviour == "twins":
        liars |= {f"{TWIN}-{m}": (m, (("contrary",),) * len(HONEST)) for m in members}
    return liars


def disturbed(behaviour: str, brokers: Brokers | None = None) -> Disturb:
    """Returns the disturbance beside the lies. `brokers`: of runs in which some are away."""
    if brokers is not None and behaviour in BROKERS:
        return lambda _, __, dice, met: BrokerFaults(brokers, BROKERS[behaviour], dice, met)
    if behaviour == "stranger":
        return lambda line, _, dice, __: Stranger(line, dice)
    if behaviour in ("kills", BEYOND):
        return lambda _, fleet, dice, met: Kills(fleet, sorted(set(range(met.members)) - set(met.liars)), dice, met)
    return lambda *_: Disturbance()


def run(
    met: Met,
    epochs: int,
    place: RunPlace,
    truth: Met | None,
    *,
    liars: Liars,
    disturb: Disturb,
    seed: int = 1,
    copies: int = 1,
    grace_ms: int | None = None,
) -> Met:
    """Nominates `epochs` on each shard, after those that promote, one after the other, and holds every decision, and
    the store, to the rules.

    `met`: the members that there are, and nothing yet of what they met.
    `truth`: the fault-free run, whose outcomes count where all honest members agree; None for that run itself.
    `copies`: of each partition, of which all but one must have a record.
    `grace_ms`: how long a primary waits for the ballots beyond those that it needs; None: as long as a run is given.
    """
    began, dice = time.monotonic(), random.Random(seed)
    genesis, codec, vault = load(genesis_of(met.members)), load_codec(), place.vault()
    met.liars = {member for member, _ in liars.values()}
    place.folder.mkdir(parents=True, exist_ok=True)
    declared.ensure(place.bootstrap, genesis.shards, copies, max(1, copies - 1))
    line = Line(place.bootstrap, genesis, codec, vault, place.memory_dsn)
    line.fill(epochs, PROPOSALS)
    grace_ms = grace_ms or (LONG_GRACE_MS if truth is None else _GRACE_MS)
    fleet = Fleet(place, met.members, liars, grace_ms)
    watch = Watch(place.bootstrap, genesis, codec)
    honest = set(range(met.members)) - met.liars
    faults: list[accusations.Fault] = []
    try:
        met.problems += [f"{name} did not come to life" for name in fleet.start()]
        if not met.problems:
            _epochs(met, line, watch, disturb(line, fleet, dice, met))
            watch.read(0.3)
            met.problems += watch.wrong
            _agree(place.folder, sum(len(made.epochs) for made in line.made.values()), honest, met)
            unsettled = store.settle(place, line)
            if unsettled:
                met.problems.append(unsettled)
            else:
                met.entries, wrong = store.verify(place, genesis, codec, line)
                met.tiers, worse = store.check(place, genesis, codec, line, watch.found)
                met.problems += wrong + worse
        met.problems += [f"honest process {name} ended" for name in fleet.ended() if name not in liars]
        reports, _ = accusations.read(place.bootstrap, genesis, codec)
        faults = accusations.faults(codec, reports, verify=True)
    except KafkaException as error:
        met.problems.append(f"Kafka: {error}")
    finally:
        fleet.stop()
        watch.close()
        line.close()
        vault.close()
    made = {shard: one.epochs for shard, one in line.made.items()}
    judge.decisions(met, watch.found, made, honest)
    judge.store(met, truth, made, honest)
    if met.tiers:
        judge.budgets(met, [one.cellar for one in line.made.values()])
        judge.experience(met, [one.school for one in line.made.values()])
    told = {name for _, lies in liars.values() for names in lies for name in names}
    judge.convictions(met, faults, judge.must_be_proven(told))
    judge.times(met)
    met.views = len(set(_grep(place.folder, r"WARNING shard (\d+): view (\d+), member")))
    met.seconds = time.monotonic() - began
    return met


def _epochs(met: Met, line: Line, watch: Watch, disturbance: Disturbance) -> None:
    epoch, asked, told = dict.fromkeys(line.made, 0), dict[int, float](), dict[int, float]()
    next_at, moved = dict.fromkeys(line.made, 0.0), time.monotonic()
    while True:
        now = time.monotonic()
        for shard, made in line.made.items():
            decision = watch.found.get((shard, epoch[shard]))
            if shard in asked and decision is not None:
                since = asked.pop(shard)
                met.took_s.append(decision.at - since)
                met.ballots[len(decision.checked.ballots)] += 1
                disturbance.decided(shard, since, decision.at)
                next_at[shard], moved = since + disturbance.pace_s, now
            if shard not in asked and epoch[shard] == len(made.epochs):
                line.go_on(shard)
            if shard not in asked and epoch[shard] < len(made.epochs) and now >= next_at[shard]:
                epoch[shard] += 1
                asked[shard] = told[shard] = time.monotonic()
                met.nominated += 1
                line.nominate(shard, epoch[shard])
            elif shard in asked and now - told[shard] > _AGAIN_S:  # as the service does while an epoch is open
                told[shard] = now
                line.nominate(shard, epoch[shard])
        over = all(made.over and epoch[shard] == len(made.epochs) for shard, made in line.made.items())
        if over and not asked:
            break
        if asked and now - min(asked.values()) > _GIVE_UP_S:
            met.problems.append(f"undecided after {_GIVE_UP_S:g} s: " + str({s: epoch[s] for s in asked}))
            break
        if not asked and now - moved > _GIVE_UP_S:
            met.problems.append(f"nothing is applied of what was decided {_GIVE_UP_S:g} s ago")
            break
        disturbance.step(now)
        watch.read(0.02)
    disturbance.over()


def _grep(folder: Path, pattern: str) -> list[tuple[str, ...]]:
    found = []
    for file in sorted(folder.glob("replica-*.log")):
        found += [m.groups() for m in re.finditer(pattern, file.read_text())]
    return found


def _agree(folder: Path, wanted: int, honest: Collection[int], met: Met) -> None:
    """Waits until each honest member has decided everything, and compares what they say they decided."""
    pattern = re.compile(r"shard (\d+): epoch (\d+) decided in view \d+ by (\d+) ballots: (\d+) of (\d+)")
    deadline = time.monotonic() + PATIENCE_S
    while True:
        said = {
            member: {m.groups()[:2]: m.groups()[2:] for m in
                     pattern.finditer((folder / f"replica-{member}.log").read_text())}
            for member in honest
        }  # fmt: skip
        if met.problems or all(len(decided) == wanted for decided in said.values()):
            break
        if time.monotonic() > deadline:
            left = {member: wanted - len(decided) for member, decided in said.items() if len(decided) != wanted}
            met.problems.append(f"{PATIENCE_S:g} s later honest members lack decisions: {left}")
            break
        time.sleep(0.1)
    for slot in set().union(*said.values()):
        if len({decided[slot] for decided in said.values() if slot in decided}) > 1:
            met.problems.append(f"honest members differ on shard {slot[0]}, epoch {slot[1]}")
