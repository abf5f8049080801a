"""How long a decision takes when nothing else happens: from the nomination's acknowledgement to q commits in the log.

    python -m tests.benchmarks.decision_latency [epochs] [proposals]

Four replica processes, one broker and this one share the machine. Prints what one Ed25519 verification costs beside it,
because machines differ and drift.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from nacl.signing import SigningKey

from infra import topics
from infra.embedded.kafka import Kafka
from memquorum.core.consensus.membership import load
from memquorum.schema_files import load_codec
from tests.integration.replicas import HOUR, START, Decisions, Replicas, World
from tests.unit.genesis import make_bytes


def verify_us() -> float:
    key = SigningKey(bytes(32))
    signed = key.sign(bytes(200))
    began = time.perf_counter()
    for _ in range(1000):
        key.verify_key.verify(signed)
    return (time.perf_counter() - began) * 1000


def main(epochs: int, proposals: int) -> None:
    content = make_bytes(agents={f"agent-{i}": i for i in range(4)})
    genesis, codec = load(content), load_codec()
    with tempfile.TemporaryDirectory() as folder, Kafka(Path(folder) / "kafka") as server:
        topics.ensure(server.bootstrap, genesis.shards)
        world, decisions = World(server.bootstrap, genesis, codec), Decisions(server.bootstrap, genesis, codec)
        fleet = Replicas(server.bootstrap, content, Path(folder))
        try:
            memories = [world.episode(0, f"event-{i}", f"agent-{i % 4}", START + i) for i in range(max(64, proposals))]
            late = START + 10 * HOUR
            world.tick(0, late)
            fleet.start(0, 1, 2, 3)
            taken = []
            for epoch in range(1, epochs + 1):
                # What was forgotten stays known to the replicas for two epochs; then they abstain, at the same cost.
                world.nominate(0, epoch, late, memories[:proposals])
                began = time.perf_counter()
                decisions.wait((0, epoch))
                taken.append((time.perf_counter() - began) * 1000)
            fleet.stop()
        finally:
            fleet.clean_up()
            world.close()
            decisions.close()
    warm = sorted(taken[len(taken) // 10 :])
    p99 = warm[int(len(warm) * 0.99)]
    print(
        f"{len(warm)} epochs of {proposals}: p50 {statistics.median(warm):.1f} ms, p99 {p99:.1f} ms; "
        f"one verification {verify_us():.0f} µs"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 250, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
