"""A namespace's living memories as its budget counts them, and the plan of what goes until it fits (MaRS 3.2.7).

What a plan keeps to:

- The weight of all that lives counts, of what may not go too. Things go until it is within the budget, or nothing is
  left that may go; what is then beyond the budget is told by reason (`Plan.excess`).
- *Provenance closure*: only leaves go. What something alive was made of goes after that.
- *Task safety*, pins and holds: what is protected does not go.
- Shares by type are soft: while all fit the budget a type may have more than its share. Where they do not, those give
  that have more than theirs; what these may not give, the others do.

The cost of a plan is that of what goes, by the policy's order, and not of what is stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.budgets.items import CAPPED, SUPPORTS, Item, Score, place, score
from memquorum.core.budgets.lots import Lots
from memquorum.core.budgets.rules import BY_LOT, REFLECTS, STALE, Rule, rule
from memquorum.core.facets import TYPES
from memquorum.core.policy import PPM, BudgetPolicy
from memquorum.core.records import Lot

REPLACED = "summed up"
"""Why a summary is beyond a budget that takes the place of others in the very plan."""
_LOW_PPM = 300_000


class Group(Struct, frozen=True):
    """Memories that a summary may take the place of: with its tokens, its distortion and its sensitivity.

    `distortion_ppm`: the mean distance of their embeddings from the summary's (MaRS 3.1).
    """

    summary: str
    memory_ids: tuple[str, ...]
    tokens: int
    distortion_ppm: int = 0
    sensitivity_ppm: int = 0


class Going(Struct, frozen=True):
    """A memory that is to go: its tokens, why it is the next one, and its score by the policy's constants; `lot`: how
    it was drawn, of what lies near others in score."""

    memory_id: str
    tokens: int
    why: str
    score: Score
    lot: Lot | None = None


class Plan(Struct, frozen=True):
    """What goes, in its order; which summaries take the place of others first; what the namespace holds after that.

    `over`: how many tokens are beyond the budget still; `excess`: then, by reason, the tokens that may not go.
    """

    goes: tuple[Going, ...]
    replaces: tuple[Group, ...]
    held: int
    over: int
    excess: Mapping[str, int]


class Ledger:
    """The memories of one namespace, in the order of one policy. Not safe to share between threads."""

    def __init__(self, name: str, policy: BudgetPolicy, seed: bytes = b"", lots: Lots | None = None) -> None:
        """`name`: of the policy; `policy`: its constants; `seed`: of `random`; `lots`: by which near-ties are drawn,
        None where they stand in their order. Raises UnknownPolicy."""
        self.name, self.policy, self._lots = name, policy, lots
        kinds = range(len(TYPES)) if policy.shares_ppm else range(1)
        self._rules = [rule(name, policy, seed, looks=lots is not None) for _ in kinds]
        self._items: dict[str, Item] = {}
        # How many of what is alive may not be without it.
        self._supports: Counter[str] = Counter()
        self._of_type = [0] * len(TYPES)
        self._protected: Counter[str] = Counter()
        self._free = 0
        self._named: frozenset[str] = frozenset()

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._items

    def get(self, memory_id: str) -> Item | None:
        """The memory as it was put last."""
        return self._items.get(memory_id)

    @property
    def tokens(self) -> int:
        """The weight of all that lives."""
        return sum(self._of_type)

    def put(self, item: Item) -> None:
        """Takes a memory, or what has become of one: it was used, protected, kept by a vote."""
        if item.tokens < 1:
            item = replace(item, tokens=1)
        self.remove(item.memory_id)
        self._items[item.memory_id] = item
        self._of_type[place(item.type)] += item.tokens
        if item.protected is not None:
            self._protected[item.protected] += item.tokens
        for parent in item.needs:
            self._supports[parent] += 1
            if self._supports[parent] == 1 and (known := self._items.get(parent)) is not None:
                self._leave(known)
        if not self._supports[item.memory_id]:
            self._enter(item)

    def used(self, memory_id: str, at: int) -> None:
        """A memory was read, or said again; of one that is not here nothing is noted."""
        item = self._items.get(memory_id)
        if item is not None:
            self.put(replace(item, last_access=max(at, item.last_access), uses=item.uses + 1))

    def protect(self, memory_id: str, why: str | None) -> None:
        """A memory may not go for a reason, or may again."""
        item = self._items.get(memory_id)
        if item is not None and item.protected != why:
            self.put(replace(item, protected=why))

    def remove(self, memory_id: str) -> Item | None:
        """Lets a memory go, whatever the reason; None where it was not here."""
        item = self._items.pop(memory_id, None)
        if item is None:
            return None
        if not self._supports[memory_id]:
            self._leave(item)
        self._of_type[place(item.type)] -= item.tokens
        if item.protected is not None:
            self._protected[item.protected] -= item.tokens
        for parent in item.needs:
            self._supports[parent] -= 1
            if not self._supports[parent]:
                del self._supports[parent]
                if (known := self._items.get(parent)) is not None:
                    self._enter(known)
        return item

    def plan(self, tokens: int, as_of: int, *, most: int | None = None, groups: Sequence[Group] = ()) -> Plan:
        """What goes until all fit so many tokens, at most so many memories. Nothing changes, but that what is to go now
        has to gain more than the band to be spared by the next plan.

        `groups`: what summaries may take the place of, for the policies that reflect, in their order.
        """
        taken = list[Item]()
        made = self._take(tokens, as_of, most, groups, taken)
        before, self._named = self._named, frozenset(one.memory_id for one in made.goes)
        for item in reversed(taken):
            self.put(item)
        for memory_id in before - self._named:
            if memory_id in self._items:
                self.put(self._items[memory_id])
        return made

    def evict(self, tokens: int, as_of: int, *, most: int | None = None, groups: Sequence[Group] = ()) -> Plan:
        """Plans, and takes out what goes; whoever asks puts the summaries that took the place of others."""
        self._named = frozenset()
        return self._take(tokens, as_of, most, groups, [])

    def _take(self, tokens: int, as_of: int, most: int | None, groups: Iterable[Group], taken: list[Item]) -> Plan:
        goes, replaces, reserved = list[Going](), list[Group](), 0
        waiting = iter(groups if self.name in REFLECTS else ())
        if self._lots is not None:
            self._lots.begin()
        while self.tokens + reserved > tokens and (most is None or len(goes) < most):
            found = self._next(tokens, as_of)
            if found is None or found[1] != STALE:
                group = next((one for one in waiting if self._admits(one)), None)
                if group is not None:
                    taken += [item for one in group.memory_ids if (item := self.remove(one)) is not None]
                    replaces.append(group)
                    reserved += group.tokens
                    continue
            if found is None:
                break
            # Members find it among the least by their own orders, as far as the excess and the margin reach. Half of
            # the margin is for the lot; the other half is left for what they have read otherwise.
            reach = self.tokens + reserved - tokens + tokens * self.policy.margin_ppm // (2 * PPM)
            memory_id, why, lot = self._drawn(found, as_of, reach)
            item = self._items[memory_id]
            goes.append(Going(memory_id, item.tokens, why, score(item, as_of, self.policy), lot))
            taken.append(item)
            self.remove(memory_id)
        held = self.tokens + reserved
        over = max(0, held - tokens)
        return Plan(tuple(goes), tuple(replaces), held, over, self._excess(reserved) if over else {})

    def _drawn(self, found: tuple[str, str, Rule], as_of: int, reach: int) -> tuple[str, str, Lot | None]:
        """The next one by lot, where others lie near it in score and no more than `reach` tokens before them."""
        memory_id, why, of = found
        drawn = None if self._lots is None else self._lots.draw(of.near(as_of), as_of, reach)
        if drawn is None:
            return memory_id, why, None
        one, lot = drawn
        return (one.item.memory_id, BY_LOT, lot) if lot.charged else (memory_id, why, lot)

    def _next(self, tokens: int, as_of: int) -> tuple[str, str, Rule] | None:
        """The next one, why, and by which rule: of the types that have more than their share, if any of these may go;
        else of all."""
        rules = self._rules
        if self.policy.shares_ppm:
            shares = zip(rules, self._of_type, self.policy.shares_ppm, strict=True)
            rules = [of for of, held, share in shares if held * PPM > share * tokens]
        for some in (rules, self._rules):
            found = [(one, at) for at, of in enumerate(some) if (one := of.first(as_of)) is not None]
            if found:
                (_, memory_id, why), at = min(found)
                return memory_id, why, some[at]
        return None

    def _admits(self, group: Group) -> bool:
        """Whether a summary may take their place: cheaper, near enough, and no more sensitive than it may be."""
        items = [self._items.get(memory_id) for memory_id in group.memory_ids]
        sources = [item for item in items if item is not None and item.protected is None]
        if len(sources) < len(items) or not sources or group.tokens >= sum(one.tokens for one in sources):
            return False
        inner = Counter(parent for one in sources for parent in one.needs)
        if any(self._supports[one.memory_id] > inner[one.memory_id] for one in sources):
            return False
        most = max(one.sensitivity_ppm for one in sources)
        allowed = most - self.policy.relief_ppm if most >= _LOW_PPM else most
        return group.distortion_ppm <= self.policy.distortion_ppm and group.sensitivity_ppm <= allowed

    def _excess(self, reserved: int) -> dict[str, int]:
        told = {why: held for why, held in sorted(self._protected.items()) if held}
        supports = self.tokens - self._free - sum(told.values())
        others = {SUPPORTS: supports, CAPPED: self._free, REPLACED: reserved}
        return told | {why: held for why, held in others.items() if held}

    def _enter(self, item: Item) -> None:
        """It is a leaf now."""
        if item.protected is None:
            self._free += item.tokens
            self._rule(item).add(item, item.memory_id in self._named)

    def _leave(self, item: Item) -> None:
        if item.protected is None:
            self._free -= item.tokens
            self._rule(item).drop(item)

    def _rule(self, item: Item) -> Rule:
        return self._rules[place(item.type) if self.policy.shares_ppm else 0]
