"""Replicas killed with -9 at random under load, some of them without their view when they return.

    python -m tests.faults.kill_replicas [seconds] [seed]

Up to three of four are down at once. Afterwards every epoch that was nominated must be decided with a certificate that
convinces a stranger, no member may have said two things for a slot, and all four must still run. Prints how long an
epoch took from its nomination on, outages included.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from pathlib import Path

from infra import topic_files
from infra.embedded.kafka_broker import Kafka
from memquorum.core.identity.membership import load
from memquorum.schema_files import load_codec
from tests.builders.genesis import make_bytes
from tests.support.replicas import HOUR, START, Decisions, Replicas, World

LATE = START + 10 * HOUR
MEMBERS = range(4)


class Chaos:
    """Kills and revives members."""

    def __init__(self, fleet: Replicas, dice: random.Random) -> None:
        self.fleet, self.dice, self.kills = fleet, dice, 0
        self.down: dict[int, float] = {}

    def strike(self) -> None:
        """Now and then kills one; revives who was down for long enough."""
        up = [m for m in MEMBERS if m not in self.down]
        if len(up) > 1 and self.dice.random() < 0.02:
            victim = self.dice.choice(up)
            self.fleet.kill(victim)
            self.down[victim] = time.monotonic() + self.dice.uniform(0.5, 3)
            self.kills += 1
        self.revive(time.monotonic())

    def revive(self, until: float) -> None:
        for member in [m for m, when in self.down.items() if when <= until]:
            if self.dice.random() < 0.3:
                for file in (self.fleet.run_dir / f"replica-{member}").glob("view.db*"):
                    file.unlink()
            self.fleet.begin(member)
            del self.down[member]

    def check(self) -> None:
        """Checks that members end only by being killed."""
        for member, process in self.fleet.processes.items():
            assert member in self.down or process.is_alive(), f"member {member} ended with {process.exitcode}"


def main(seconds: float, seed: int) -> None:
    content, dice = make_bytes(agents={f"agent-{i}": i for i in MEMBERS}), random.Random(seed)
    genesis, codec = load(content), load_codec()
    with tempfile.TemporaryDirectory() as folder, Kafka(Path(folder) / "kafka") as server:
        topic_files.ensure(server.bootstrap, genesis.shards)
        world, decisions = World(server.bootstrap, genesis, codec), Decisions(server.bootstrap, genesis, codec)
        fleet = Replicas(server.bootstrap, content, Path(folder))
        try:
            memories = {
                shard: [world.episode(shard, f"event-{i}", f"agent-{i % 4}", START + i) for i in range(20)]
                for shard in range(genesis.shards)
            }
            for shard in memories:
                world.tick(shard, LATE)
            fleet.start(*MEMBERS)
            chaos = Chaos(fleet, dice)
            epochs, since, taken = dict.fromkeys(memories, 0), dict.fromkeys(memories, 0.0), list[float]()
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                for shard, known in memories.items():
                    if epochs[shard] == 0 or (shard, epochs[shard]) in decisions.found:
                        taken += [time.monotonic() - since[shard]] if epochs[shard] else []
                        epochs[shard], since[shard] = epochs[shard] + 1, time.monotonic()
                        world.nominate(shard, epochs[shard], LATE, dice.sample(known, 5))
                chaos.strike()
                chaos.check()
                decisions.read(0.05)
            chaos.revive(float("inf"))
            decisions.wait(*[(s, e) for s, last in epochs.items() for e in range(1, last + 1)])
            chaos.check()
            assert fleet.stop() == dict.fromkeys(MEMBERS, 0)
        finally:
            fleet.clean_up()
            world.close()
            decisions.close()
    taken.sort()
    p50, p99 = taken[len(taken) // 2], taken[int(len(taken) * 0.99)]
    print(
        f"{chaos.kills} kills, {sum(epochs.values())} epochs decided; "
        f"an epoch took p50 {p50:.2f} s, p99 {p99:.2f} s, at most {taken[-1]:.2f} s"
    )


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 60, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
