r"""Measures the cost of an epoch with more members: `make bench WHAT=scale MEMBERS="4 7" SILENT=1 KEEP=1`.

The real core with real Ed25519, on one log in memory that shows every record to everybody, in one process: Kafka, disks
and Postgres are not measured. A line has, for a decided epoch: records and bytes on the log, signatures made and
checked, and processor time, of all members together; and how long the timers run until the first epoch is decided,
which has to leave every silent primary behind.
"""

from __future__ import annotations

import json
import time
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import nacl.signing

from bench import kept
from bench.kept import Outcome, Row
from memquorum.core.avro import Codec
from memquorum.core.consensus import events as t
from memquorum.core.identity.membership import Genesis
from memquorum.schema_files import load_codec
from tests.builders.genesis import make
from tests.simulation.cluster import KINDS_OF_LOG, TIMERS, Cluster, Node

MEMBERS = (4, 5, 7, 10, 13, 31, 100)
RESULTS = Path(__file__).with_name("results") / "scale"


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of one decided epoch, all speaking members together.

    `cpu_s`: seconds of processor time of this process. `first_s`: the time of the timers until the first epoch was
    decided; all else takes no time there. `view`: in which.
    """

    n: int
    silent: int
    proposals: int
    epochs: int
    messages: float
    bytes: float
    signatures: float
    verifications: float
    cpu_s: float
    first_s: float
    view: int


class Undecided(Exception):
    """Some speaking members have not decided an epoch."""


@dataclass
class Count:
    """Counts Ed25519 operations."""

    signed: int = 0
    verified: int = 0


class Bare(Cluster):
    """A cluster without the checks at each member's decision, so that these are not measured.

    Its time is that of the timers: it goes on when the next of them runs out.
    """

    count: Count
    apart_s = 0.0
    now_ms = 0

    def __init__(self, codec: Codec, genesis: Genesis) -> None:
        self.decided_ms: dict[int, int] = {}
        """Sequence → the time of the last member's decision."""
        self._due: dict[tuple[int, t.Timer], int] = {}
        super().__init__(codec, genesis)

    def carry_out(self, node: Node, effects: list[t.Effect]) -> None:
        for effect in effects:
            if isinstance(effect, t.SetTimer):
                self._due[node.me, effect.timer] = self.now_ms + effect.ms
        super().carry_out(node, effects)

    def pass_time(self) -> bool:
        """Lets the next timers run out; True if there is one."""
        running = [(node, timer) for node in self.nodes.values() for timer in TIMERS if node.runs(timer)]
        if not running:
            return False
        self.now_ms = max(self.now_ms, min(self._due[node.me, timer] for node, timer in running))
        for node, timer in running:
            if self._due[node.me, timer] <= self.now_ms and node.runs(timer):
                self.fire(node, timer)
        return True

    def _decided(self, node: Node, decided: t.Decided) -> None:
        signed, verified, began = self.count.signed, self.count.verified, time.process_time()
        super()._decided(node, decided)
        self.decided_ms[decided.seq] = self.now_ms
        self.count.signed, self.count.verified = signed, verified
        self.apart_s += time.process_time() - began


@contextmanager
def counted() -> Iterator[Count]:
    """Counts calls of the library during the block."""
    count = Count()
    sign, verify = nacl.signing.SigningKey.sign, nacl.signing.VerifyKey.verify

    def signing(self: nacl.signing.SigningKey, *args: object, **named: object) -> object:
        count.signed += 1
        return sign(self, *args, **named)  # type: ignore[arg-type]

    def verifying(self: nacl.signing.VerifyKey, *args: object, **named: object) -> object:
        count.verified += 1
        return verify(self, *args, **named)  # type: ignore[arg-type]

    nacl.signing.SigningKey.sign = signing  # type: ignore[method-assign,assignment]
    nacl.signing.VerifyKey.verify = verifying  # type: ignore[method-assign,assignment]
    try:
        yield count
    finally:
        nacl.signing.SigningKey.sign = sign  # type: ignore[method-assign]
        nacl.signing.VerifyKey.verify = verify  # type: ignore[method-assign]


def silence(cluster: Cluster, members: Sequence[int]) -> None:
    """Silences these members: they neither send nor read."""
    for member in members:
        cluster.crash(cluster.nodes[member])
        del cluster.nodes[member]


def settle(cluster: Bare) -> None:
    """Has everybody read, answer and send everything; when all rest, the next timers run out."""
    while True:
        moved = False
        for node in cluster.nodes.values():
            assert node.halted is None, node.halted
            for kind in KINDS_OF_LOG:
                while node.positions[kind] < len(cluster.log[kind]):
                    cluster.deliver(node, kind)
                    moved = True
            while node.ballots_due:
                cluster.answer(node)
                moved = True
            while node.unsent:
                cluster.send(node)
                moved = True
        if not moved and not cluster.pass_time():
            return


def measure(n: int, *, epochs: int = 3, proposals: int = 64, silent: Sequence[int] = ()) -> Cost:
    """Measures so many epochs, the first apart; fails where a speaking member does not decide each."""
    cluster = Bare(load_codec(), make(n, shards=1))
    silence(cluster, silent)
    written, size, began = 0, 0, 0.0
    with counted() as count:
        cluster.count = count
        for epoch in range(1, epochs + 2):
            if epoch == 2:  # caches are filled, and a silent primary has been left
                written, size = _log(cluster)
                count.signed = count.verified = 0
                cluster.apart_s, began = 0.0, time.process_time()
            cluster.nominate(epoch, proposals)
            settle(cluster)
            behind = [m for m in cluster.nodes if epoch not in cluster.decisions[m]]
            if behind:
                raise Undecided(f"N = {n}: epoch {epoch} is not decided by {behind}")
        used = time.process_time() - began - cluster.apart_s
        after, bytes_after = _log(cluster)
        return Cost(
            n, len(silent), proposals, epochs, (after - written) / epochs, (bytes_after - size) / epochs,
            count.signed / epochs, count.verified / epochs, used / epochs,
            cluster.decided_ms[1] / 1000, max(node.view for node in cluster.nodes.values()),
        )  # fmt: skip


def _log(cluster: Cluster) -> tuple[int, int]:
    records = [data for log in cluster.log.values() for data in log]
    return len(records), sum(map(len, records))


def run(given: Namespace) -> Outcome:
    """Measures each number of members; with --keep, saves the result."""
    begun = kept.begin()
    costs = []
    print("   N silent  messages      bytes  signed  verified    CPU s  of an epoch; the first takes", flush=True)
    for n in given.members or (MEMBERS[:3] if given.quick else MEMBERS):
        silent = range((n - 1) // 3) if given.silent else ()
        cost = measure(n, silent=silent)
        costs.append(cost)
        print(f"{n:4} {cost.silent:6} {cost.messages:9.0f} {cost.bytes:10.0f} {cost.signatures:7.0f} "
              f"{cost.verifications:9.0f} {cost.cpu_s:8.3f}  {cost.first_s:g} s by the timers, view {cost.view}",
              flush=True)  # fmt: skip
    if given.keep:
        RESULTS.mkdir(parents=True, exist_ok=True)
        file = RESULTS / f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}.json"
        file.write_text(json.dumps({**begun, "costs": [asdict(c) for c in costs]}, indent=1) + "\n", encoding="utf-8")
        print(f"kept as {file.relative_to(kept.ROOT)}")
    return Outcome([_row(cost) for cost in costs])


def _row(cost: Cost) -> Row:
    """Returns an epoch's figures; those named *_s are in seconds."""
    row = Row(f"scale {cost.n}, {cost.silent} silent", f"an epoch of {cost.n} members")
    for name, value in asdict(cost).items():
        row.figure(name.removesuffix("_s"), value, "s" if name.endswith("_s") else "")
    return row
