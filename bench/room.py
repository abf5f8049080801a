"""The influence of a namespace's size on a member's vote for want of room: a budget, a capacity, a maximum age."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from bench.feed import HOUR, START
from bench.kept import Row
from bench.parts import Parts, parts
from db.vault import PostgresVault
from db.view import View
from db.view_rows import Known
from infra import genesis
from memquorum.core.budgets.claims import AGE, BUDGET, PRESSURE
from memquorum.core.ids import memory_id, shard_of
from memquorum.core.policy import PPM, Policy
from memquorum.core.records import BallotCast, NominationProposed, Proposal
from memquorum.core.tiers import SHORT_TERM
from memquorum.core.vote.columns import places_of, read
from memquorum.core.vote.kinds.kind import Opinion
from tests.builders.whole_room import WholeRoom
from workers.replica.judge import Judge

_SIZE, _WARM, _BATCH = 64, 2, 1_000
_NOW, _DAY = START + 400 * 24 * HOUR, 24 * HOUR
_SHARDS = 4
_SPACE = next(name for name in map("room-{}".format, range(99)) if shard_of(name, _SHARDS) == 0)
_TOKENS = 20
_REASONS = (BUDGET, PRESSURE, AGE)
# The memories that go first by each reason: the others are worth more, fade later, and are younger.
_FIRST: dict[str, dict[str, Any]] = {
    BUDGET: {"worth": 0},
    PRESSURE: {"salience": 1_000, "used": _NOW - 90 * _DAY},
    AGE: {"type_": "task", "created": _NOW - 380 * _DAY},
}


def measure(quick: bool) -> Row:
    """A ballot on 64 memories, of one member, with its own view and the vault on Postgres."""
    row = Row("room", "a member's vote on 64 memories for want of room, in a namespace of 10 k, 100 k and 1 M memories")
    sizes, epochs = ((1_000, 3_000), 3) if quick else ((10_000, 100_000, 1_000_000), 12)
    seen: dict[str, list[float]] = {}
    for stored in sizes:
        for name, value in _at(stored, epochs).items():
            row.figure(f"{stored:,}: {name}", value, "µs" if "reading" in name else "ms")
            seen.setdefault(name, []).append(value)
    for reason in _REASONS:
        name = f"{reason}, largest ÷ smallest"
        row.figure(name, seen[f"{reason}, processor"][-1] / seen[f"{reason}, processor"][0], "")
        row.at_most(name, 1.3)
        row.figure(f"{reason}, p50, largest", seen[f"{reason}, p50"][-1], "ms")
        # The primary proposes 1.25 s after the nomination.
        row.at_most(f"{reason}, p50, largest", 1_250)
    name = f"{sizes[-1]:,}: {BUDGET}, processor"
    row.compare(name, "the same with all memories read and all keys opened", seen[f"{BUDGET}, whole"][-1], "ms")
    row.note("processor time is the member's and Postgres', a vote each; between two votes 64 memories are forgotten, "
             "64 come and 64 are used. *Whole*: the wall time of a vote that reads everything, as before")  # fmt: skip
    row.series["sizes"] = list(sizes)
    row.series["ms"] = {name: [round(one, 2) for one in told] for name, told in seen.items()}
    return row


def _at(stored: int, epochs: int) -> dict[str, float]:
    policy = {
        "budget": {"tokens": f"{_SPACE}={max(500, stored * _TOKENS * 9 // 10)}", "ttl_ms": [0, 0, 0, 370 * _DAY]},
        "epoch": {"capacity": max(100, stored * 9 // 10)},
    }
    with parts(policy=policy) as running, tempfile.TemporaryDirectory() as folder:
        vault = PostgresVault(running.settings.vault_dsn, genesis.secret(running.settings.master_key_file))
        with closing(vault), closing(View(Path(folder) / "view.db", running.genesis.cluster, 0)) as view:
            return _Member(running, vault, view, stored, epochs).measured()


class _Member:
    """One member with its view and its judge."""

    def __init__(self, running: Parts, vault: PostgresVault, view: View, stored: int, epochs: int) -> None:
        self._running, self._vault, self._view, self._stored, self._epochs = running, vault, view, stored, epochs
        self._judge = Judge(running.codec, view, vault, running.genesis)
        self._chance, self._count, self._offset, self._epoch = random.Random(5), 0, 0, 0
        asked = (epochs + _WARM) * _SIZE
        self._asked = {reason: [memory_id(_SPACE, f"{reason}-{at}") for at in range(asked)] for reason in _REASONS}

    def measured(self) -> dict[str, float]:
        """Fills the view and votes."""
        assert self._running.genesis.shards == _SHARDS
        self._view.holdings.rankings.follow(0, _SHARDS, self._running.genesis.policy)
        began = time.process_time()
        for reason, names in self._asked.items():
            self._reads(names, **_FIRST[reason])
        while self._count < self._stored:
            self._reads([memory_id(_SPACE, f"old-{self._count + at}") for at in range(_BATCH)])
        told = {"reading a memory, processor": (time.process_time() - began) / self._count * 1_000_000}
        for reason in _REASONS:
            walls, used = list[float](), 0.0
            for epoch in range(self._epochs + _WARM):
                asked = self._asked[reason][epoch * _SIZE :][:_SIZE]
                cpu, wall, yes = self._vote(reason, asked, self._judge)
                assert yes == _SIZE, f"{yes} of {_SIZE} go by {reason}"
                self._passes(asked)
                if epoch >= _WARM:
                    walls.append(wall)
                    used += cpu
            told[f"{reason}, processor"] = used / self._epochs
            told[f"{reason}, p50"] = median(walls)
            whole = Judge(self._running.codec, self._view, self._vault, self._running.genesis)
            whole._room = WholeRoom(self._view, self._vault, self._running.genesis)  # type: ignore[assignment]
            told[f"{reason}, whole"] = self._vote(reason, self._asked[reason][:_SIZE], whole)[1]
        return told

    def _vote(self, reason: str, asked: Sequence[str], judge: Judge) -> tuple[float, float, int]:
        """Returns processor and wall time of a ballot in milliseconds, and how many memories it lets go."""
        cluster, policy = self._running.genesis.cluster, self._running.genesis.policy
        proposals = tuple(Proposal((one,), _SPACE, "evict", reason, 0, 0, 0) for one in asked)
        made = NominationProposed(cluster, 0, 0, self._epoch + 1, _NOW, self._offset, reason, proposals)
        before, began, cpu = self._running.cpu_s(), time.perf_counter(), time.process_time()
        with self._view.batch():
            terms = judge.opinions(made, policy)
        own, wall, after = time.process_time() - cpu, time.perf_counter() - began, self._running.cpu_s()
        postgres = after["postgres"] - before["postgres"]
        return (own + postgres) * 1000, wall * 1000, sum(one.yes for one in _opinions(terms, made, policy))

    def _passes(self, forgotten: Sequence[str]) -> None:
        """Reads the decision, new memories and uses of old ones."""
        self._epoch += 1
        view = self._view
        with view.batch():
            view.decided(0, seq=self._epoch, epoch=self._epoch, commits=[], decisions=b"", forgotten=forgotten,
                         until=_NOW + _DAY, accepted_offset=self._offset, read=self._offset + 1)  # fmt: skip
            view.weights.rest(0, self._epoch, [], 0)
        self._reads([memory_id(_SPACE, f"new-{self._epoch}-{at}") for at in range(_SIZE)])
        with view.batch():
            for _ in range(_SIZE):
                one = memory_id(_SPACE, f"old-{self._chance.randrange(self._stored)}")
                self._offset += 1
                view.touch(one, _SPACE, at=_NOW, offset=self._offset, read=True)

    def _reads(
        self, names: Sequence[str], *, worth: int | None = None, salience: int = 450_000, used: int | None = None,
        type_: str = "episodic", created: int | None = None,
    ) -> None:  # fmt: skip
        """Reads memories into the view, a batch at a time, as a member does; their keys are in the vault."""
        for first in range(0, len(names), _BATCH):
            some = names[first : first + _BATCH]
            self._vault.create([(one, _SPACE, "ada") for one in some])
            with self._view.batch():
                for one in some:
                    self._offset += 1
                    self._count += 1
                    last = _NOW - self._chance.randrange(60 * _DAY) if used is None else used
                    begun = last if created is None else created
                    self._view.remember(
                        Known(one, _SPACE, "ada", begun, max(last, begun), self._offset, salience, 0, None, None, None,
                              bytes(32), bytes(118), bytes(28), "none", accepted=self._offset)
                    )  # fmt: skip
                    self._view.weights.add(
                        one, _SPACE, type_, tokens=self._chance.randrange(5, 2 * _TOKENS - 4), tier=SHORT_TERM,
                        worth_ppm=(10 + self._chance.randrange(90)) * PPM if worth is None else worth,
                        novelty_ppm=self._chance.randrange(PPM),
                    )  # fmt: skip
                self._judge.prepare()


def _opinions(terms: bytes, made: NominationProposed, policy: Policy) -> Sequence[Opinion]:
    cast = BallotCast(made.cluster, 0, 0, made.epoch, 0, b"", terms=terms)
    return read(cast, made, places_of(made), policy).opinions
