"""Disturbances of a run beside a liar: records of strangers, and processes that are killed."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable

from memquorum import topics
from memquorum.core.identity.messages import sign
from memquorum.core.records import Commit
from tests.hostile.fleet import COMMIT, Fleet
from tests.hostile.judge import Met
from tests.hostile.memories import Line

_VOTED = (topics.NOMINATIONS, topics.BALLOTS, topics.PRE_PREPARES, topics.PREPARES, topics.COMMITS, topics.VIEW_CHANGES)


class Disturbance:
    """Nothing. `step` is called again and again while epochs are open."""

    pace_s = 0.0
    """The shortest wait of a shard between two nominations: so that a run lasts as long as its faults."""

    def step(self, now: float) -> None:
        """The next bit of it, where its time has come."""

    def decided(self, shard: int, asked: float, at: float) -> None:
        """A shard has decided what was nominated at `asked`."""

    def over(self) -> None:
        """Everything that is down comes back."""


class Stranger(Disturbance):
    """A producer without any key: garbage, huge records, and forged members, each also again."""

    def __init__(self, line: Line, dice: random.Random) -> None:
        self._line, self._dice = line, dice
        self._written: list[bytes] = []

    def step(self, now: float) -> None:
        topic, shard = self._dice.choice(_VOTED), self._dice.randrange(self._line.genesis.shards)
        values = [self._dice.randbytes(self._dice.randrange(200)) for _ in range(20)]
        values += self._forged(shard)
        if self._dice.random() < 0.02:
            values.append(bytes(900_000))
        self._line.write(topic, shard, values)

    def _forged(self, shard: int) -> list[bytes]:
        genesis, codec, dice = self._line.genesis, self._line.codec, self._dice
        said = Commit(
            genesis.cluster, genesis.config, shard, 0, dice.randrange(200), dice.randrange(genesis.n), b"d" * 32
        )
        forged = codec.encode(sign(genesis.cluster, f"member:{said.member}", dice.randbytes(32), codec.encode(said)))
        self._written = [*self._written[-50:], forged]
        return [forged, self._dice.choice(self._written)]


class Kills(Disturbance):
    """Ends one process after the other with kill -9, members and the commit worker, and starts it again."""

    pace_s = 0.6

    def __init__(self, fleet: Fleet, members: Iterable[int], dice: random.Random, met: Met) -> None:
        self._fleet, self._dice, self._met = fleet, dice, met
        self._victims = [*map(str, members), COMMIT]
        self._killed: str | None = None
        self._at = time.monotonic() + 1

    def step(self, now: float) -> None:
        if now <= self._at:
            return
        if self._killed is None:
            self._killed = self._dice.choice(self._victims)
            self._fleet.kill(self._killed)
            self._met.kills += 1
        else:
            self.over()
        self._at = now + self._dice.uniform(1.0, 3.0)

    def over(self) -> None:
        if self._killed is not None:
            self._fleet.begin(self._killed)
        self._killed = None
