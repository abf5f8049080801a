"""A member that reads the beginning of its order finds what one finds that reads everything."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from db import view_holdings, view_rankings
from memquorum.core.budgets.claims import AGE, BUDGET, PRESSURE
from memquorum.core.facets import TYPES
from memquorum.core.policy import BudgetPolicy, CapsPolicy, EpochPolicy, Policy, TriagePolicy
from memquorum.core.records import AccessAccepted, ClockTicked, Link, NominationProposed, Proposal
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from tests.builders.genesis import make
from tests.builders.voters import LIE, SPACE, Voter
from tests.builders.whole_room import WholeRoom
from workers.replica import room
from workers.replica.room import Room

NOW, HOUR = 1_790_000_000_000, 3_600_000
PLAIN = BudgetPolicy(
    tokens="space=900", half_life_ms=2 * HOUR, ttl_ms=(30 * HOUR, 0, 10 * HOUR, 0),
    theta_social_ppm=(0, 900_000, 0, 100_000, 700_000, 0, 0), types_ppm=(0, 750_000, 500_000, 1_000_000),
)  # fmt: skip
SHARES = (100_000, 500_000, 300_000, 100_000)
GENESIS = make(shards=1, agents={"ann": 1, "bob": 2}, policy=Policy(budget=PLAIN, caps=CapsPolicy(floor=5)))


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the steps so small that each takes several."""
    monkeypatch.setattr(view_holdings, "_STEP", 5)
    monkeypatch.setattr(view_rankings, "_STEP", 7)
    monkeypatch.setattr(room, "_MOST", 4)
    monkeypatch.setattr(room, "_SOME", 3)


class History:
    """A member that reads what chance brings."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.voter = Voter(GENESIS, NOW)
        if seed % 2:
            self.voter.walk.follow(GENESIS)
        self.names: list[str] = []
        self.epoch = 1
        self.policy = GENESIS.policy

    def some(self, count: int) -> list[str]:
        return self.chance.sample(self.names, min(count, len(self.names)))

    def arrives(self) -> None:
        chance, name = self.chance, f"m{len(self.names):03}"
        of = self.some(chance.choice((0, 0, 0, 0, 1, 2)))
        links = tuple(
            Link(chance.choice(("requires", "partOf")), one) for one in self.some(chance.choice((0, 0, 0, 1)))
        )
        explicit = chance.random() < 0.2
        again = chance.choice(self.names) if self.names and chance.random() < 0.05 else None
        self.voter.episode(
            name, worth=chance.choice((0, 1, 5, 5, 20, 60)), at=chance.choice((0, 1, HOUR, 12 * HOUR, 90 * HOUR)),
            tokens=chance.choice((1, 7, 10, 10, 40)), agent=chance.choice(("ann", "bob")), again=again,
            type=chance.choice(TYPES), sensitivity_ppm=chance.choice((0, 0, 400_000, 1_000_000)),
            derives_from=tuple(of), links=links, explicit=explicit,
            slot=f"s{chance.randrange(9)}" if explicit and chance.random() < 0.5 else None,
        )  # fmt: skip
        self.names.append(name)

    def happens(self) -> None:
        """Reads one record or decision of any kind."""
        chance, voter = self.chance, self.voter
        match chance.randrange(20):
            case 0 | 1 | 2 | 3:
                at = NOW - chance.choice((-3 * HOUR, 0, HOUR, 5 * HOUR))
                voter.reads(AccessAccepted(f"u{voter.accepted}", tuple(self.some(2)), SPACE, "reader", at))
            case 4:
                for one in self.some(1):
                    voter.pinned(one)
            case 5:
                voter.moved({one: chance.choice((LONG_TERM, SHORT_TERM)) for one in self.some(2)})
            case 6:
                self.decided(forgotten=self.some(3))
            case 7:
                self.decided(back=self.some(2), rests=self.epoch + chance.randrange(4))
            case 8:
                for one in self.some(1):
                    if one in voter.vault.keys:
                        del voter.vault.keys[one]
            case 9:
                voter.reads(ClockTicked(f"t{voter.accepted}", NOW + voter.accepted))
            case 10:
                Room(voter.view, voter.vault, GENESIS).prepare()  # type: ignore[arg-type]
            case 11 if chance.random() < 0.3:
                changed = replace(
                    PLAIN, half_life_ms=chance.choice((1, 9)) * HOUR, lambda_priv_ppm=chance.choice((0, 3_000_000)),
                    band_ppm=chance.choice((0, 300_000)), stale_ppm=chance.choice((0, 500_000)),
                )  # fmt: skip
                self.policy = replace(self.policy, budget=changed)
            case _:
                self.arrives()

    def decided(self, *, forgotten: Sequence[str] = (), back: Sequence[str] = (), rests: int = 0) -> None:
        through = max(-1, self.voter.accepted - 1 - self.chance.randrange(3))
        self.voter.decided(*forgotten, epoch=self.epoch, through=through, back=back, rests=rests)
        self.epoch += 1

    def agrees(self, reason: str, policy: Policy) -> None:
        """Holds the member's places of some memories against those from all that it has read."""
        chance, voter = self.chance, self.voter
        alive = [
            one.candidate.memory_id for one in sorted(voter.alive().values(), key=lambda one: one.candidate.last_access)
        ]
        first = chance.randrange(1 + len(alive) // 2)
        asked = chance.choice((alive[first : first + 3], self.some(1), self.some(12), [*self.some(3), "unknown"]))
        proposals = tuple(Proposal((one,), SPACE, "evict", reason, 0, 0, 0, LIE) for one in dict.fromkeys(asked))
        as_of = NOW + chance.choice((0, HOUR, 30 * HOUR))
        made = NominationProposed(
            GENESIS.cluster, 0, 0, self.epoch, as_of, voter.accepted - chance.choice((0, 3, 60)), "budget", proposals
        )
        where = range(len(proposals))
        whole = WholeRoom(voter.view, voter.vault, GENESIS).places(made, where, policy)  # type: ignore[arg-type]
        assert Room(voter.view, voter.vault, GENESIS).places(made, where, policy) == whole  # type: ignore[arg-type]


def budget(history: History, name: str, shares: Sequence[int] = ()) -> Policy:
    tokens = f"space={history.chance.choice((200, 900, 1_500))}/{name}"
    return replace(history.policy, budget=replace(history.policy.budget, tokens=tokens, shares_ppm=tuple(shares)))


@pytest.mark.parametrize("shares", [(), SHARES], ids=["one", "shares"])
@pytest.mark.parametrize("name", ["fifo", "lru", "random", "priority", "worth", "reflection", "hybrid"])
def test_the_beginning_of_an_order_is_that_of_all_memories(name: str, shares: Sequence[int]) -> None:
    for seed in range(3):
        history = History(seed)
        for _ in range(160):
            history.arrives()
        for _ in range(16):
            for _ in range(history.chance.randrange(8)):
                history.happens()
            history.agrees(BUDGET, budget(history, name, shares))
        history.voter.view.close()


@pytest.mark.parametrize("rates", [(100_000, 10_000), (3_000, 0), (0, 0)])
def test_a_shards_order_and_an_age_are_those_of_all_memories(rates: tuple[int, int]) -> None:
    for seed in range(3):
        history = History(seed)
        for _ in range(100):
            history.arrives()
        for _ in range(16):
            for _ in range(history.chance.randrange(8)):
                history.happens()
            triage = TriagePolicy(rate_ppm=rates[0], slow_rate_ppm=rates[1], slow_ppm=500_000)
            epoch = EpochPolicy(capacity=history.chance.choice((30, 70)))
            history.agrees(PRESSURE, replace(history.policy, triage=triage, epoch=epoch))
            history.agrees(AGE, history.policy)
        history.voter.view.close()
