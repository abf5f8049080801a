"""The influence of the store's size on an epoch's cost: the same due work beside 1 k, 10 k and 100 k memories."""

from __future__ import annotations

import time

from bench.epochs import LATE, until_decided
from bench.feed import Feed
from bench.ingest import STORE_ALL
from bench.kept import Row
from bench.parts import REPLICAS, difference, parts
from bench.reference import quantile
from bench.stored import fill
from memquorum.core.ids import shard_of
from memquorum.core.policy import UNCAPPED

_SIZE, _WARM, _STEP = 64, 5, 1_000
# A tick triggers an epoch that proposes what is due and nothing else, 64 at a time.
_POLICY = STORE_ALL | {
    "decay": {"scales_s": [10.0, 60.0, 3600.0]},
    "promote": {"salience_ppm": 1_000_000},
    "epoch": {"interval_ms": _STEP, "interactions": 10**9, "capacity": 10**9, "proposals_max": _SIZE},
    "caps": UNCAPPED,
}


def measure(quick: bool) -> Row:
    """From the tick in the accepted stream to the applied decision: decay, nomination, votes, commit."""
    row = Row("flatness", "cost of an epoch of 64 at 1 k, 10 k and 100 k stored memories, with equal due work")
    sizes = (1_000, 5_000) if quick else (1_000, 10_000, 100_000)
    costs, medians = [], []
    for stored in sizes:
        cost, taken = _at(stored, 10 if quick else 40)
        costs.append(sum(cost.values()))
        medians.append(quantile(taken, 0.5))
        row.figure(f"{stored:,} stored: processor time", costs[-1], "ms/epoch")
        row.figure(f"{stored:,} stored: tick to applied, p50", medians[-1], "ms")
        row.series[f"CPU ms per epoch at {stored}"] = {name: round(ms, 2) for name, ms in cost.items()}
    row.figure("processor time, largest ÷ smallest", max(costs) / min(costs), "")
    row.figure("latency, largest ÷ smallest", max(medians) / min(medians), "")
    row.at_most("processor time, largest ÷ smallest", 1.2)
    row.at_most("latency, largest ÷ smallest", 1.2)
    row.compare(f"{sizes[-1]:,} stored: processor time", f"the same at {sizes[0]:,} stored", costs[0], "ms/epoch")
    row.note("the stored memories were brought into Postgres and the replicas' views by COPY, none of them due; "
             "processor time is of all processes, broker and Postgres included")  # fmt: skip
    return row


def _at(stored: int, epochs: int) -> tuple[dict[str, float], list[float]]:
    """Milliseconds of processor time per epoch by process, and of each epoch from tick to applied."""
    with parts(policy=_POLICY, encoder="hashing") as running:
        feed = Feed(running)
        room = next(n for n in map("old-{}".format, range(999)) if shard_of(n, running.genesis.shards) == 0)
        fill(running, 0, room, stored)
        feed.episodes(0, (epochs + _WARM) * _SIZE, scored=False)
        feed.flush()
        running.start("streams", *REPLICAS, "commit")
        running.until_applied(feed.offset[0])
        taken: list[float] = []
        with running.reader() as connection:
            for epoch in range(1, epochs + _WARM + 1):
                if epoch == _WARM + 1:
                    before = running.cpu_s()
                began = time.perf_counter()
                feed.tick(0, LATE + epoch * _STEP)
                feed.flush()
                until_decided(connection, epoch)
                taken.append((time.perf_counter() - began) * 1000)
            used = difference(before, running.cpu_s())
            # A proposal may name several memories: of texts made by chance a few pairs contradict each other.
            row = connection.execute("SELECT count(DISTINCT (shard, epoch, position)) FROM outcome").fetchone()
            assert row is not None and row[0] == (epochs + _WARM) * _SIZE, f"not {_SIZE} proposals an epoch: {row}"
        feed.close()
    return {name: s / epochs * 1000 for name, s in used.items()}, taken[_WARM:]
