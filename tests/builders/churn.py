"""A namespace under random operations, and a model of it that counts violations of a budget's rules.

The model does not use the ledger's structures: it is a dictionary of the living memories and of their sources.
"""

from __future__ import annotations

from collections import Counter
from random import Random

from msgspec.structs import replace

from memquorum.core.budgets.items import CAPPED, HELD, LONG_TERM, NEEDED, PINNED, RESTING, SUPPORTS, Item
from memquorum.core.budgets.ledger import REPLACED, Group, Ledger, Plan
from memquorum.core.budgets.lots import Lots
from memquorum.core.budgets.rules import REFLECTS
from memquorum.core.facets import TYPES
from memquorum.core.policy import PPM, BudgetPolicy

HOUR_MS = 3600 * 1000
_WHY = (PINNED, HELD, NEEDED, LONG_TERM, RESTING)


class Churn:
    """Random operations on a ledger; `broken` counts the violations by name."""

    def __init__(self, name: str, seed: int, policy: BudgetPolicy | None = None, *, budget: int = 4_000) -> None:
        self._random = Random(f"{name}/{seed}")
        constants = policy or BudgetPolicy()
        lots = Lots(constants, b"churn", {}, {}) if constants.epsilon_ppm else None
        self.ledger = Ledger(name, constants, b"churn", lots)
        self.alive: dict[str, Item] = {}
        self._children: Counter[str] = Counter()
        # Ids in a list, so that drawing one is cheap; ids of removed memories are skipped and cleared away now and
        # then.
        self._ids: list[str] = []
        self._made = 0
        self.now = 1_790_000_000_000
        self._budget = budget
        self.budget = budget
        self.broken: Counter[str] = Counter()
        self.plans = self.went = 0

    def run(self, operations: int) -> None:
        """Runs so many operations, with all checks."""
        for _ in range(operations):
            self.step()
        self.check()

    def step(self) -> None:
        """Does one operation: most are arrivals and uses."""
        self.now += self._random.randrange(HOUR_MS)
        drawn = self._random.random()
        if drawn < 0.45:
            self._arrive()
        elif drawn < 0.70:
            self._change(lambda one: replace(one, last_access=max(one.last_access, self.now), uses=one.uses + 1))
        elif drawn < 0.75:
            self._change(lambda one: replace(one, protected=self._random.choice(_WHY)))
        elif drawn < 0.85:
            self._change(lambda one: replace(one, protected=None))
        elif drawn < 0.88:
            self._erase()
        elif drawn < 0.94:
            self._plan()
        else:
            self._evict()

    def check(self) -> None:
        """Compares the ledger with the model."""
        self._holds("weight", self.ledger.tokens == sum(one.tokens for one in self.alive.values()))
        self._holds("count", len(self.ledger) == len(self.alive))

    def _arrive(self) -> None:
        draw, self._made = self._random, self._made + 1
        late = draw.random() < 0.05
        at = self.now - (draw.randrange(1_000 * HOUR_MS) if late else 0)
        parents = {one.memory_id for _ in range(draw.randrange(3)) if draw.random() < 0.1 and (one := self._any())}
        self._put(
            Item(
                str(self._made), draw.choice(TYPES), draw.randrange(1, 80), at, at,
                sensitivity_ppm=draw.choice((0, 0, 0, 400_000, PPM)), goals_ppm=draw.randrange(PPM),
                centrality_ppm=draw.randrange(PPM), worth=draw.randrange(300 * PPM), novelty_ppm=draw.randrange(PPM),
                urgency_ppm=draw.randrange(PPM), needs=tuple(sorted(parents)),
            )
        )  # fmt: skip

    def _put(self, item: Item) -> None:
        if item.memory_id not in self.alive:
            self._children.update(item.needs)
            self._ids.append(item.memory_id)
        self.alive[item.memory_id] = item
        self.ledger.put(item)

    def _gone(self, memory_id: str) -> None:
        item = self.alive.pop(memory_id)
        self._children.subtract(item.needs)
        if len(self._ids) > 2 * len(self.alive) + 64:
            self._ids = list(self.alive)

    def _any(self) -> Item | None:
        for _ in range(8):
            if self._ids and (found := self.alive.get(self._random.choice(self._ids))) is not None:
                return found
        return None

    def _change(self, how) -> None:  # type: ignore[no-untyped-def]
        one = self._any()
        if one is not None:
            self._put(how(one))

    def _erase(self) -> None:
        """Erases by an order: a leaf, or a memory with everything that was made of it."""
        one = self._any()
        if one is not None and not self._children[one.memory_id]:
            self._gone(one.memory_id)
            self.ledger.remove(one.memory_id)

    def _plan(self) -> None:
        """Plans twice: planning changes nothing, and the second plan equals the first."""
        before = self.ledger.tokens
        plan = self.ledger.plan(self.budget, self.now, most=20)
        self._holds("look changes nothing", self.ledger.tokens == before and len(self.ledger) == len(self.alive))
        self._holds("most", len(plan.goes) <= 20)

    def _evict(self) -> None:
        # Now and then the budget falls to a tenth, so that ten times too much lives.
        self.budget = self._budget // 10 if self._random.random() < 0.02 else self._budget
        most = self._random.choice((None, None, None, 5))
        plan = self.ledger.evict(self.budget, self.now, most=most, groups=self._groups())
        self.plans += 1
        for group in plan.replaces:
            self._took(group.memory_ids)
            self._made += 1
            self._put(
                Item(
                    str(self._made), "semantic", group.tokens, self.now, self.now, sensitivity_ppm=group.sensitivity_ppm
                )
            )
        for one in plan.goes:
            self._took((one.memory_id,))
        self._kept_to(plan, most)

    def _took(self, memory_ids: tuple[str, ...]) -> None:
        for memory_id in memory_ids:
            item = self.alive.get(memory_id)
            self._holds("what goes lives", item is not None)
            if item is not None:
                self._holds("nothing protected goes", item.protected is None)
                inner = sum(memory_id in self.alive[one].needs for one in memory_ids if one in self.alive)
                self._holds("leaves first", self._children[memory_id] == inner)
        for memory_id in memory_ids:
            self.went += 1
            self._gone(memory_id)

    def _kept_to(self, plan: Plan, most: int | None) -> None:
        """Checks that Σw ≤ B plus the weight of the memories that may not be forgotten, by their reasons."""
        total = sum(one.tokens for one in self.alive.values())
        by_reason, made = Counter[str](), {str(self._made - at) for at in range(len(plan.replaces))}
        for one in self.alive.values():
            if one.memory_id in made:
                by_reason[REPLACED] += one.tokens
                continue
            supports = SUPPORTS if self._children[one.memory_id] else CAPPED
            by_reason[one.protected or supports] += one.tokens
        self._holds("held", total == plan.held == self.ledger.tokens)
        self._holds("budget", total <= self.budget + sum(by_reason.values()) - by_reason[CAPPED] * (most is None))
        if total > self.budget:
            self._holds(
                "over",
                plan.over == total - self.budget and dict(plan.excess) == {k: v for k, v in by_reason.items() if v},
            )
            self._holds("nothing is left that may go", most is not None or not by_reason[CAPPED])
        else:
            self._holds("none over", not plan.over and not plan.excess)

    def _groups(self) -> list[Group]:
        if self.ledger.name not in REFLECTS or self._random.random() < 0.7:
            return []
        found, taken = [], set[str]()
        for _ in range(3):
            some = {one.memory_id: one for _ in range(4) if (one := self._any()) and one.memory_id not in taken}
            if len(some) > 1:
                taken |= some.keys()
                tokens = sum(one.tokens for one in some.values()) // self._random.choice((1, 2, 4)) or 1
                most = max(one.sensitivity_ppm for one in some.values())
                told = max(0, most - self._random.choice((0, 200_000)))
                found.append(Group("summary", tuple(some), tokens, self._random.randrange(PPM), told))
        return found

    def _holds(self, what: str, holds: bool) -> None:
        if not holds:
            self.broken[what] += 1
