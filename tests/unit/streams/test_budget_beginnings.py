"""The nominator lets go by the beginning of an order what it lets go with all memories read, to the last digit,
over random histories of namespaces."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from memquorum.core.budgets.beginning import Beginning, beginning, whole
from memquorum.core.caps import Losses
from memquorum.core.facets import TYPES
from memquorum.core.identity.membership import Genesis
from memquorum.core.policy import FORGETTING, NO_CAPS, PPM, BudgetPolicy, EpochPolicy
from memquorum.core.records import Standing
from memquorum.core.tiers import DRAFT, LONG_TERM, SHORT_TERM
from memquorum.core.vote.nomination import Elsewhere, Leaving
from memquorum.ports import Candidate, ShardStatus, Weighted
from streams.budget_choice import Budgets
from streams.room_orders import RoomOrders
from tests.builders import genesis as cluster
from tests.builders.policies import by_the_paper
from tests.builders.shelf import Shelf

NOW = 1_790_000_000_000
HOUR = 3_600_000
SEED = bytes(32)
DRAWS = {"epsilon_ppm": PPM, "subject_epsilon_ppm": 4 * PPM, "band_ppm": 200_000}
SHARES = {"shares_ppm": (400_000, 200_000, 200_000, 200_000)}


class WholeBudgets(Budgets):
    """Reads all memories of a namespace, as the nominator did before."""

    def _beginning(self, shard: int, namespace: str, *_: object, **__: object) -> Beginning:
        return whole(self._schedule.weighted(shard, namespace))


class History:
    """A namespace in which memories come, are used, protected, kept by votes, and go."""

    def __init__(self, seed: int, count: int, *, goals: bool = False, dated: float = 0.1) -> None:
        self.chance, self.goals, self.number = random.Random(seed), goals, 0
        self.dated = dated
        self.shelf = Shelf(status_of={1: ShardStatus(1, 0, 0, 0, 0, 0, 0)})
        for _ in range(count):
            self.come()

    def come(self, tier: str = SHORT_TERM, needs: Sequence[str] = ()) -> str:
        some, ids = self.chance, [one.candidate.memory_id for one in self.shelf.weighs]
        name, at = f"m{some.randrange(10**6):06}-{self.number}", NOW - some.randrange(900) * HOUR
        self.number += 1
        if not needs and ids and some.random() < 0.2:
            needs = sorted(set(some.choices(ids, k=some.randrange(1, 4))))
        protections = (some.choice(["pin", "hold", "goal:x"]),) if some.random() < 0.1 else ()
        rests = some.random() < 0.1
        self.shelf.weighs.append(
            Weighted(
                Candidate(name, "n", tier if some.random() < 0.9 or tier == DRAFT else LONG_TERM, at,
                          min(NOW, at + some.randrange(400) * HOUR), 400_000, early=False),
                some.choice(TYPES), some.randrange(1, 60), some.randrange(6),
                some.choice([0, 0, 0, some.randrange(PPM)]), some.randrange(PPM) if self.goals else 0,
                some.randrange(4), tuple(needs), rests, protections,
                worth_ppm=some.choice([None, 0, some.randrange(100) * PPM]), novelty_ppm=some.randrange(PPM),
                subject=some.choice("abc"), until=some.randrange(3, 9) if rests else 0,
                deadline=NOW + some.randrange(-200, 600) * HOUR if some.random() < self.dated else None,
            )
        )  # fmt: skip
        return name

    def passes(self, epoch: int) -> None:
        """Lets something happen to a few memories."""
        some, weighs, seen = self.chance, self.shelf.weighs, self.shelf.seen
        for at, one in enumerate(weighs):
            if one.until and one.until <= epoch + 2 and seen.get(one.candidate.memory_id) == one:
                # No entry of the journal tells of it: the epoch alone ends the rest.
                weighs[at] = seen[one.candidate.memory_id] = replace(one, rests=False, until=0)
        for _ in range(some.randrange(6)):
            at = some.randrange(len(weighs))
            one = weighs[at]
            what = some.randrange(5)
            if what == 0:
                del weighs[at]
            elif what == 1:
                used = replace(one.candidate, last_access=NOW)
                weighs[at] = replace(one, candidate=used, uses=one.uses + 1, links=some.randrange(4))
            elif what == 2:
                weighs[at] = replace(one, protections=() if one.protections else ("pin",))
            elif what == 3:
                weighs[at] = replace(one, rests=True, until=epoch + 4)
            else:
                self.come()

    def elsewhere(self) -> Elsewhere:
        """Chooses what other proposals of the epoch take."""
        some, ids = self.chance, [one.candidate.memory_id for one in self.shelf.weighs if one.candidate.tier != DRAFT]
        named = some.sample(ids, k=min(len(ids), 9))
        drafts = {self.come(DRAFT, needs=named[:3]): named[:3]} if some.random() < 0.5 else {}
        return Elsewhere(going=named[3:5], drafts=drafts, stays=named[5:])


def _genesis(history: History, name: str, **budget: object) -> Genesis:
    tokens = max(64, sum(one.tokens for one in history.shelf.weighs) * history.chance.randrange(2, 10) // 10)
    policy = by_the_paper(
        caps=NO_CAPS,
        epoch=EpochPolicy(proposals_max=history.chance.choice([1, 8, 40])),
        budget=BudgetPolicy(tokens=f"n={tokens}/{name}", **budget),  # type: ignore[arg-type]
    )
    return cluster.make(policy=policy)


@pytest.mark.parametrize("name", sorted(FORGETTING))
def test_a_floor_is_kept_by_the_beginning_of_an_order_and_ends_no_evictions(name: str) -> None:
    """However many of the lowest memories it keeps: others are found behind them."""
    chosen = 0
    for seed in range(4):
        history = History(seed, 120)
        for one in list(history.shelf.weighs):
            if one.type == "task":  # worth least, and all of them kept
                history.shelf.weighs.append(
                    replace(one, worth_ppm=0, candidate=replace(one.candidate, memory_id=f"t{one.candidate.memory_id}"))
                )
        held = {one: sum(w.tokens for w in history.shelf.weighs if w.type == one) for one in TYPES}
        floors = {"task": held["task"], "social": held["social"] * 2 // 3}
        told = ",".join(f"{one}:{tokens}" for one, tokens in floors.items())
        budget = BudgetPolicy(tokens=f"n={sum(held.values()) * 9 // 10}/{name}/{told}")
        policy = by_the_paper(caps=NO_CAPS, epoch=EpochPolicy(proposals_max=2), budget=budget)
        budgets, genesis = Budgets(history.shelf, SEED), cluster.make(policy=policy)
        for epoch in range(1, 9):
            history.shelf.stands["n"] = Losses(living=len(history.shelf.weighs))
            found = _leaving(budgets, genesis, epoch, NOW + epoch * 30 * HOUR, Elsewhere())
            gone = {one.memory_id for one, _ in found.chosen}
            chosen += len(gone)
            history.shelf.weighs[:] = [one for one in history.shelf.weighs if one.candidate.memory_id not in gone]
            for one, least in floors.items():
                assert sum(w.tokens for w in history.shelf.weighs if w.type == one) >= least
    assert chosen > 20


def _leaving(budgets: Budgets, genesis: Genesis, epoch: int, as_of: int, also: Elsewhere) -> Leaving:
    return budgets.leaving(1, Standing(epoch, 0, 0, 10), as_of, genesis, also)


@pytest.mark.parametrize("goals", [False, True])
@pytest.mark.parametrize("settings", [{}, SHARES, DRAWS, {**SHARES, **DRAWS}], ids=["plain", "shares", "draws", "both"])
@pytest.mark.parametrize("name", sorted(FORGETTING))
def test_the_beginning_of_an_order_is_planned_as_the_whole_of_it(
    name: str, settings: dict[str, object], *, goals: bool
) -> None:
    chosen = 0
    for seed in range(3):
        history = History(seed, 120, goals=goals)
        genesis = _genesis(history, name, **settings)
        kept, every = Budgets(history.shelf, SEED), WholeBudgets(history.shelf, SEED)
        for epoch in range(1, 7):
            history.shelf.stands["n"] = Losses(living=len(history.shelf.weighs))
            also, as_of = history.elsewhere(), NOW + epoch * 30 * HOUR
            found, wanted = (_leaving(one, genesis, epoch, as_of, also) for one in (kept, every))
            assert found == wanted, f"seed {seed}, epoch {epoch}"
            assert kept._told == every._told, f"seed {seed}, epoch {epoch}"
            chosen += len(found.chosen)
            gone = {one.memory_id for one, _ in found.chosen[: history.chance.randrange(20)]}
            history.shelf.weighs[:] = [
                one for one in history.shelf.weighs
                if one.candidate.memory_id not in gone and one.candidate.tier != DRAFT
            ]  # fmt: skip
            history.passes(epoch)
    assert chosen > 20, "something was to be chosen"


def test_a_memory_without_a_key_makes_all_be_read() -> None:
    history = History(5, 80)
    last = history.shelf.weighs[-1]
    free = replace(last.candidate, tier=SHORT_TERM)
    history.shelf.weighs[-1] = replace(last, candidate=free, worth_ppm=10**15, protections=(), rests=False, until=0)
    genesis = _genesis(history, "worth")
    history.shelf.stands["n"] = Losses(living=80)
    kept, every = Budgets(history.shelf, SEED), WholeBudgets(history.shelf, SEED)
    found, wanted = (_leaving(one, genesis, 1, NOW, Elsewhere()) for one in (kept, every))
    assert found == wanted and found.chosen
    assert [one for one in history.shelf.asked if one[0] == "weighted"] == [("weighted", 1, "n")] * 2


def test_no_more_of_a_namespace_is_read_than_a_plan_looks_at() -> None:
    history = History(7, 3_000, dated=0.01)
    dated = {one.candidate.memory_id for one in history.shelf.weighs if one.deadline is not None}
    policy = BudgetPolicy(tokens="n=64/worth")
    genesis = cluster.make(policy=by_the_paper(caps=NO_CAPS, epoch=EpochPolicy(proposals_max=40), budget=policy))
    orders = RoomOrders(history.shelf, lambda _: b"")
    while "n" not in orders.follow(1, 1, genesis.policy):
        pass
    read = beginning(orders.of("n"), "worth", policy, NOW, most=40)
    assert 10 < len(dated) < 50 and dated <= read.weighted.keys(), "what has a deadline is in no order that is kept"
    assert len(read.weighted.keys() - dated) >= 57 and len(read.weighted) < 200
    sums = sum(read.others.of_type) + sum(max(1, one.tokens) for one in read.weighted.values())
    assert sums == sum(one.tokens for one in history.shelf.weighs)
