"""One behaviour: a fleet of four on a broker of its own, epochs on every shard, and what came of them."""

from __future__ import annotations

import multiprocessing
import random
import re
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException

from infra import topics as declared
from infra.embedded.kafka import Kafka
from memquorum import topics
from memquorum.core.consensus.membership import load
from memquorum.core.consensus.messages import sign
from memquorum.core.records import Commit
from memquorum.schema_files import load_codec
from tests.hostile.member import EQUIVOCATES, process
from tests.hostile.watch import Watch
from tests.integration.replicas import HOUR, START, World
from tests.unit.genesis import make_bytes
from workers import evidence

# No member has an agent: opinions rest on decay alone, so no epoch depends on what an earlier one decided.
GENESIS = make_bytes()
LIAR = 1  # primary of one shard in four
LATE = START + 10 * HOUR
LIMIT_S = 5.0
_GIVE_UP_S = 60.0
_AGAIN_S = 2.0
_VOTED = (topics.NOMINATIONS, topics.BALLOTS, topics.PRE_PREPARES, topics.PREPARES, topics.COMMITS, topics.VIEW_CHANGES)

Outcomes = dict[tuple[int, int], tuple[tuple[str, str], ...]]


@dataclass
class Met:
    """What one behaviour did to the line."""

    behaviour: str
    nominated: int = 0
    took_s: list[float] = field(default_factory=list)
    ballots: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    views: int = 0
    proven: int = 0
    kills: int = 0
    outcomes: Outcomes = field(default_factory=dict)
    unanimous: Outcomes = field(default_factory=dict)
    votes: dict[tuple[int, int], dict[int, list[int]]] = field(default_factory=dict)
    different: int = 0
    problems: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def row(self) -> dict[str, Any]:
        """The figures to keep."""
        took = sorted(self.took_s) or [float("nan")]

        def at(share: float) -> float:
            return round(took[min(len(took) - 1, int(share * len(took)))], 3)

        return {
            "behaviour": self.behaviour, "nominated": self.nominated, "decided": len(self.took_s),
            "late": sum(t > LIMIT_S for t in self.took_s), "p50_s": at(0.5), "p99_s": at(0.99), "max_s": at(1.0),
            "ballots": {str(n): c for n, c in sorted(self.ballots.items())}, "views": self.views,
            "proven": self.proven, "kills": self.kills, "different": self.different, "problems": self.problems,
            "seconds": round(self.seconds, 1),
        }  # fmt: skip


class Fleet:
    """The members' processes."""

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload(["tests.hostile.member"])
        self._bootstrap, self._folder = bootstrap, folder
        self._processes: dict[str, Any] = {}
        self._events: list[Any] = []

    def begin(self, member: int, lies: tuple[str, ...] = (), name: str = "") -> Any:
        """Starts one; answers the event that says that it is live."""
        ready = self._context.Event()
        self._events.append(ready)  # a process that starts can find it only while somebody holds it
        run_dir = self._folder / name if name else self._folder
        more = {"run_dir": run_dir, "lies": lies, "ready": ready}
        started = self._context.Process(target=process, args=(self._bootstrap, GENESIS, member), kwargs=more)
        started.start()
        self._processes[name or str(member)] = started
        return ready

    def kill(self, member: int) -> None:
        """kill -9."""
        self._processes[str(member)].kill()
        self._processes[str(member)].join()

    def ended(self) -> list[str]:
        """Who is no longer there."""
        return [name for name, one in self._processes.items() if not one.is_alive()]

    def stop(self) -> None:
        for one in self._processes.values():
            one.terminate()
        for one in self._processes.values():
            one.join(5)
            if one.is_alive():
                one.kill()
                one.join()


def lies_of(behaviour: str) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Process name → member and behaviours of the liar's processes; none for runs whose four members are honest."""
    if behaviour in ("none", "stranger", "kills"):
        return {}
    if behaviour == "twins":
        return {str(LIAR): (LIAR, ("twins",)), "twin": (LIAR, ("opposite-twin",))}
    return {str(LIAR): (LIAR, (behaviour,))}


def run(behaviour: str, epochs: int, folder: Path, truth: Met | None, seed: int = 1) -> Met:
    """Nominates `epochs` on each of four shards, one after the other, and holds every decision to the rules.

    `truth`: the fault-free run, whose outcomes count where all its members agreed; None for that run itself.
    """
    met, began = Met(behaviour), time.monotonic()
    genesis, codec = load(GENESIS), load_codec()
    with Kafka(folder / "kafka") as broker:
        declared.ensure(broker.bootstrap, genesis.shards)
        world = World(broker.bootstrap, genesis, codec)
        memories = _fill(world, genesis.shards, epochs)
        fleet, watch = Fleet(broker.bootstrap, folder), Watch(broker.bootstrap, genesis, codec)
        try:
            liars = lies_of(behaviour)
            waits = [fleet.begin(member, lies, "" if name == str(member) else name)
                     for name, (member, lies) in liars.items()]  # fmt: skip
            waits += [fleet.begin(member) for member in range(4) if str(member) not in liars]
            for ready in waits:
                if not ready.wait(30):
                    met.problems.append("a member did not come to life within 30 s")
            _epochs(met, world, watch, fleet, memories, seed)
            watch.read(0.3)
            met.problems += watch.wrong
            _settle(folder, genesis.shards * epochs, set(range(4)) - {m for m, _ in liars.values()}, met)
            for name in fleet.ended():
                if name not in liars:
                    met.problems.append(f"honest member {name} ended")
            reports, _ = evidence.read(broker.bootstrap, genesis, codec)
        except KafkaException as error:
            met.problems.append(f"Kafka: {error}")
            reports = []
        finally:
            fleet.stop()
            watch.close()
            world.close()
        _judge(met, watch, evidence.faults(codec, genesis, reports, verify=True), bool(liars), truth)
    met.views = len(set(_grep(folder, r"WARNING shard (\d+): view (\d+), member")))
    met.seconds = time.monotonic() - began
    return met


def _fill(world: World, shards: int, epochs: int) -> dict[int, list[str]]:
    """Per shard a memory for each epoch, which all forget, and last one that nobody knows: ignorance keeps it."""
    memories = {}
    for shard in range(shards):
        memories[shard] = [world.episode(shard, f"event-{i}", f"agent-{i % 4}", START + i) for i in range(epochs)]
        memories[shard].append(f"unknown-{shard}")
        world.tick(shard, LATE)
    return memories


def _epochs(  # noqa: PLR0917
    met: Met, world: World, watch: Watch, fleet: Fleet, memories: dict[int, list[str]], seed: int
) -> None:
    epochs, dice = len(memories[0]) - 1, random.Random(seed)
    epoch, asked, told = dict.fromkeys(memories, 0), dict[int, float](), dict[int, float]()
    stranger = Stranger(world, dice) if met.behaviour == "stranger" else None
    killed, kill_at = None, time.monotonic() + 1
    while True:
        now = time.monotonic()
        for shard, known in memories.items():
            decision = watch.found.get((shard, epoch[shard]))
            if shard in asked and decision is not None:
                met.took_s.append(decision.at - asked.pop(shard))
                met.ballots[len(decision.checked.ballots)] += 1
            if shard not in asked and epoch[shard] < epochs:
                epoch[shard] += 1
                asked[shard] = told[shard] = time.monotonic()
                met.nominated += 1
                world.nominate(shard, epoch[shard], LATE, [known[epoch[shard] - 1], known[-1]])
            elif shard in asked and now - told[shard] > _AGAIN_S:  # as the service does while an epoch is open
                told[shard] = now
                world.nominate(shard, epoch[shard], LATE, [known[epoch[shard] - 1], known[-1]])
        if not asked:
            break
        if now - min(asked.values()) > _GIVE_UP_S:
            met.problems.append(f"undecided after {_GIVE_UP_S:g} s: " + str({s: epoch[s] for s in asked}))
            return
        if stranger is not None:
            stranger.write()
        if met.behaviour == "kills" and now > kill_at:
            if killed is None:
                killed = dice.randrange(4)
                fleet.kill(killed)
                met.kills += 1
            else:
                fleet.begin(killed)
                killed = None
            kill_at = now + dice.uniform(1.0, 3.0)
        watch.read(0.02)
    if killed is not None:
        fleet.begin(killed)


class Stranger:
    """A producer without any key: garbage, huge records, and forged members, each also again."""

    def __init__(self, world: World, dice: random.Random) -> None:
        self._world, self._dice = world, dice
        self._written: list[bytes] = []

    def write(self) -> None:
        topic, shard = self._dice.choice(_VOTED), self._dice.randrange(4)
        values = [self._dice.randbytes(self._dice.randrange(200)) for _ in range(20)]
        values += self._forged(shard)
        if self._dice.random() < 0.02:
            values.append(bytes(900_000))
        self._world.flood(topic, shard, values)

    def _forged(self, shard: int) -> list[bytes]:
        genesis, codec, dice = self._world.genesis, self._world.codec, self._dice
        said = Commit(genesis.cluster, 0, shard, 0, dice.randrange(200), dice.randrange(4), b"d" * 32)
        forged = codec.encode(sign(genesis.cluster, f"member:{said.member}", dice.randbytes(32), codec.encode(said)))
        self._written = [*self._written[-50:], forged]
        return [forged, self._dice.choice(self._written)]


def _grep(folder: Path, pattern: str) -> list[tuple[str, ...]]:
    found = []
    for file in sorted(folder.glob("replica-*.log")):
        found += [m.groups() for m in re.finditer(pattern, file.read_text())]
    return found


def _settle(folder: Path, wanted: int, honest: set[int], met: Met) -> None:
    """Waits until each honest member has decided everything, and compares what they say they decided."""
    pattern = re.compile(r"shard (\d+): epoch (\d+) decided in view \d+ by (\d+) ballots: (\d+) of (\d+)")
    deadline = time.monotonic() + 15
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
            met.problems.append(f"15 s later honest members lack decisions: {left}")
            break
        time.sleep(0.2)
    for slot in set().union(*said.values()):
        if len({decided[slot] for decided in said.values() if slot in decided}) > 1:
            met.problems.append(f"honest members differ on shard {slot[0]}, epoch {slot[1]}")


def _judge(met: Met, watch: Watch, faults: list[evidence.Fault], lied: bool, truth: Met | None) -> None:
    for slot, decision in watch.found.items():
        checked = decision.checked
        met.outcomes[slot] = tuple((o.memory_id, o.outcome) for o in checked.outcomes)
        met.votes[slot] = {b.member: [int(o.yes) for o in b.opinions] for b in checked.ballots}
        if len({tuple(opinion.yes for opinion in ballot.opinions) for ballot in checked.ballots}) == 1:
            met.unanimous[slot] = met.outcomes[slot]
        if len(checked.ballots) < 3:
            met.problems.append(f"{slot}: {len(checked.ballots)} ballots")
    for slot, outcome in truth.unanimous.items() if truth is not None else ():
        if slot in met.outcomes and met.outcomes[slot] != outcome:
            met.different += 1
            mine, theirs = met.votes[slot], truth.votes[slot] if truth is not None else {}
            met.problems.append(f"{slot}: {met.outcomes[slot]} by {mine}, without faults {outcome} by {theirs}")
    for fault in faults:
        if fault.verdict is not None:
            met.proven += 1
            if fault.accused != LIAR or not lied:
                met.problems.append(f"honest member {fault.accused} is convicted: {fault.what}")
    if met.behaviour in EQUIVOCATES and not met.proven:
        met.problems.append("it said two things, and nobody has proven it")
    if met.different:
        met.problems.append(f"{met.different} epochs ended otherwise than without faults")
    late = sum(took > LIMIT_S for took in met.took_s)
    if late:
        met.problems.append(f"{late} epochs took longer than {LIMIT_S:g} s")
