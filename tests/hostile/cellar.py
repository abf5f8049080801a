r"""A namespace of each shard over its budget; its nominations, false and true; and the memories that stay.

Each has memories of two sorts, all of the same weight: common words (`CHAFF`), which make the excess, and rare words of
high worth (`GRAIN`). First the nomination's key is in wrong hands (`ACTS`). Then the shipped stage nominates, by the
rows in Postgres, until it finds no excess.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec import structs

from db.schedule import PostgresSchedule
from memquorum.core.budgets.claims import BUDGET
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import shard_of
from memquorum.core.records import DecayCrossed, NominationProposed, Proposal, Standing
from memquorum.core.vote import nomination
from streams.budget_choice import Budgets
from tests.builders.genesis import seed_of

SPACES = "cellar-*"
WEIGHS = 30
"""Tokens, each of them."""
CHAFF, GRAIN = 8, 18
BUDGET_TOKENS = GRAIN * WEIGHS
CAP = 3
"""So many may go in one epoch."""
HONEST, WORTHIEST, UNFOUNDED, BEYOND = "honest", "worthiest", "unfounded", "beyond"
ACTS = (WORTHIEST, UNFOUNDED, BEYOND)
"""The first nominations, one epoch after the other: the worthiest memories, said to be worth nothing, and behind them
those to forget; the worthiest, with a score that does not follow; and all memories, those to forget first.
"""
_MOST = 6 * len(ACTS)
"""After so many epochs no further one is looked for: who leaves ballots out may put off for long."""
_SORTS = ((CHAFF, 1), (GRAIN, 13))
"""The number of each sort, and the rare words of each memory."""
_BYTES = 4 * WEIGHS


def space_of(shard: int, shards: int) -> str:
    """The namespace of a shard."""
    return next(name for name in map("cellar-{}".format, range(1000)) if shard_of(name, shards) == shard)


def cellar_texts(shard: int) -> Iterable[tuple[str, str]]:
    """Event id and text of each memory, in the order of `Cellar.ids`."""
    for count, words in _SORTS:
        for number in range(count):
            yield f"cellar-{words}-{number}", _text(f"{shard}-{words}-{number}", words)


def _text(seed: str, words: int) -> str:
    """So many words that stand nowhere else, all texts of the same length."""
    dice = random.Random(seed)
    letters = _BYTES - words  # a blank or a full stop behind each
    lengths = [letters // words + (at < letters % words) for at in range(words)]
    return " ".join("".join(dice.choice("bcdfghjklmnpqrstvwxz") for _ in range(one)) for one in lengths) + "."


@dataclass
class Cellar:
    """The one of a shard. `ids`: its memories, what is worth least first."""

    genesis: Genesis
    shard: int
    ids: Sequence[str]
    schedule: PostgresSchedule
    stage: Budgets = field(init=False)
    asked: dict[int, str] = field(default_factory=dict)
    """The kind of each epoch: one of `ACTS`, or the stage's own."""

    def __post_init__(self) -> None:
        self.stage = Budgets(self.schedule, seed_of("service:nomination"))
        self.space = space_of(self.shard, self.genesis.shards)

    @property
    def chaff(self) -> Sequence[str]:
        """Returns the memories that make the excess."""
        return self.ids[:CHAFF]

    def applied(self, epoch: int, through: int) -> bool:
        """Whether the commit worker has applied an epoch of the shard, and what was let in until some time."""
        status = self.schedule.status(self.shard)
        return status.last_epoch >= epoch and status.as_of >= through

    def nominated(self, as_of: int, offset: int) -> NominationProposed | None:
        """The next epoch's nomination, once all before it are applied; None where nothing is too much any more, or all
        that is rests, or it takes too long."""
        if len(self.asked) == _MOST:
            return None
        status = self.schedule.status(self.shard)
        standing = Standing(status.last_epoch, status.last_epoch_at, 0, status.alive)
        act = ACTS[len(self.asked)] if len(self.asked) < len(ACTS) else HONEST
        tick = DecayCrossed(self.shard, as_of, offset, status.seq, (), standing)
        going = nomination.Going(over=lambda also: self.stage.leaving(self.shard, standing, as_of, self.genesis, also))
        made = nomination.build(self.genesis, standing, tick, BUDGET, nomination.Offers(going))
        if made is None:
            return None
        self.asked[made.epoch] = act
        if act == HONEST:
            return made
        return structs.replace(made, proposals=tuple(self._lies(act, made.proposals)))

    def _lies(self, act: str, true: Sequence[Proposal]) -> Iterable[Proposal]:
        said = true[0]
        assert said.weighed is not None
        claims = {one.memory_ids[0]: one for one in true}
        nothing = structs.replace(said.weighed, features=(0,) * len(said.weighed.features), net_ppm=0, score=0)
        higher = structs.replace(said.weighed, score=(said.weighed.score or 0) + 1)
        best = [*reversed(self.ids[-GRAIN:])]
        named, weighed = {
            WORTHIEST: ([*best, *claims], nothing),
            UNFOUNDED: (best, higher),
            BEYOND: ([*claims, *(one for one in self.ids if one not in claims)], nothing),
        }[act]
        for memory_id in named:
            yield structs.replace(said, memory_ids=(memory_id,), weighed=weighed)

    def beyond(self) -> int:
        """Returns the excess in tokens, by what the commit worker has applied."""
        return self.schedule.held(self.shard, (SPACES,))[self.space] - BUDGET_TOKENS

    def lets_go(self, asked: Sequence[str]) -> list[bool]:
        """Returns an honest member's present votes on the memories of a nomination, in this order."""
        beyond, said = self.beyond(), list[bool]()
        room = CAP if len(asked) <= CAP else self.together()
        for memory_id in asked:
            goes = memory_id in self.chaff and beyond > 0 and room > 0
            said.append(goes)
            beyond, room = beyond - goes * WEIGHS, room - goes
        return said

    def together(self) -> int:
        """So many a member lets go where more is named than the cap leaves: what its honest votes make of these all
        members together lets no more go."""
        return CAP * (self.genesis.quorum - self.genesis.f) // (self.genesis.n - self.genesis.f)

    def epochs(self) -> int:
        """Returns the number of epochs if no ballot comes too late: two of the lies name memories to forget, too."""
        return len(ACTS) - (2 * self.together() - CHAFF) // CAP
