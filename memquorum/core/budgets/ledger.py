"""A namespace's living memories as its budget counts them, and the plan of evictions until it fits (MaRS 3.2.7).

The rules of a plan:

- The weight of all living memories counts, also of those that may not go. Memories go until the rest is within the
  budget, or none is left that may go; the remaining excess is reported by reason (`Plan.excess`).
- *Provenance closure*: only leaves go; a source goes after the living memories made from it.
- *Task safety*, pins and holds: protected memories do not go.
- *Floors*: a memory does not go where its type would hold less than its floor without it.
- Shares by type are soft: while all fit the budget a type may exceed its share. Otherwise the types that exceed theirs
  give memories first; if these may not give enough, the others do.

The cost of a plan depends on the number of memories that go, and not on the number stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.budgets.items import CAPPED, FLOOR, SUPPORTS, Item, Score, place, score
from memquorum.core.budgets.lots import Lots
from memquorum.core.budgets.rules import BY_LOT, REFLECTS, STALE, Rule, rule
from memquorum.core.facets import TYPES, summary_fits
from memquorum.core.policy import PPM, BudgetPolicy
from memquorum.core.records import Lot

REPLACED = "summed up"
"""The reason of an excess: a summary that replaces others in this very plan."""


class Group(Struct, frozen=True):
    """Memories that a summary may replace, with its tokens, its distortion and its sensitivity.

    `distortion_ppm`: the mean distance of their embeddings from the summary's (MaRS 3.1).
    """

    summary: str
    memory_ids: tuple[str, ...]
    tokens: int
    distortion_ppm: int = 0
    sensitivity_ppm: int = 0


class Going(Struct, frozen=True):
    """A memory that is to go: its tokens, why it is the next one, and its score by the policy's constants; `lot`: the
    draw among near-ties, if there was one."""

    memory_id: str
    tokens: int
    why: str
    score: Score
    lot: Lot | None = None


class Plan(Struct, frozen=True):
    """The memories that go, in order; the summaries that replace others first; and the tokens that the namespace holds
    after that.

    `over`: the tokens that are still beyond the budget; `excess`: the tokens that may not go then, by reason.
    """

    goes: tuple[Going, ...]
    replaces: tuple[Group, ...]
    held: int
    over: int
    excess: Mapping[str, int]


class Others(Struct, frozen=True):
    """The memories of a namespace that are not put into a ledger (`beginning`): their tokens by type; the same by what
    `Plan.excess` counts them as, `CAPPED` for those that may go; and, by memory, how many of them need it."""

    of_type: Sequence[int]
    excess: Mapping[str, int]
    supports: Mapping[str, int]


class Ledger:
    """The memories of one namespace, in the order of one policy. Not safe to share between threads."""

    def __init__(
        self,
        name: str,
        policy: BudgetPolicy,
        seed: bytes = b"",
        lots: Lots | None = None,
        floors: Sequence[int] = (),
    ) -> None:
        """`name`: of the policy; `policy`: its constants; `seed`: of `random`; `lots`: the draws among near-ties, None
        where these go in order; `floors`: the tokens that each type keeps. Raises UnknownPolicy."""
        self._floors = tuple(floors)
        self.name, self.policy, self._lots = name, policy, lots
        kinds = range(len(TYPES)) if policy.shares_ppm else range(1)
        self._rules = [rule(name, policy, seed, looks=lots is not None) for _ in kinds]
        self._items: dict[str, Item] = {}
        # The number of living memories that need each one.
        self._supports: Counter[str] = Counter()
        self._of_type = [0] * len(TYPES)
        self._protected: Counter[str] = Counter()
        self._free = 0
        self._named: frozenset[str] = frozenset()

    def beside(self, others: Others) -> None:
        """Counts memories that are not put into it. Called before the first memory is put."""
        self._of_type = [mine + more for mine, more in zip(self._of_type, others.of_type, strict=True)]
        self._protected.update({why: held for why, held in others.excess.items() if why not in (CAPPED, SUPPORTS)})
        self._free += others.excess.get(CAPPED, 0)
        self._supports.update(others.supports)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, memory_id: str) -> bool:
        return memory_id in self._items

    def get(self, memory_id: str) -> Item | None:
        """Returns the memory as it was put last."""
        return self._items.get(memory_id)

    @property
    def tokens(self) -> int:
        """The weight of all living memories."""
        return sum(self._of_type)

    def put(self, item: Item) -> None:
        """Adds a memory, or updates one that was used, protected or kept by a vote."""
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
        """Notes that a memory was read or repeated; an unknown one is ignored."""
        item = self._items.get(memory_id)
        if item is not None:
            self.put(replace(item, last_access=max(at, item.last_access), uses=item.uses + 1))

    def protect(self, memory_id: str, why: str | None) -> None:
        """Protects a memory for a reason, or ends that (None)."""
        item = self._items.get(memory_id)
        if item is not None and item.protected != why:
            self.put(replace(item, protected=why))

    def remove(self, memory_id: str) -> Item | None:
        """Removes a memory, whatever the reason; returns None for an unknown one."""
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
        """Returns the memories that go until all others fit so many tokens, at most `most`. The ledger does not change,
        except that a memory to go now is spared by the next plan only if its score has risen by more than the band.

        `groups`: the memories that summaries may replace, for the policies that reflect, in order.
        """
        taken, kept = list[Item](), list[Item]()
        made = self._take(tokens, as_of, most, groups, (taken, kept))
        before, self._named = self._named, frozenset(one.memory_id for one in made.goes)
        for item in (*kept, *reversed(taken)):
            self.put(item)
        for memory_id in before - self._named:
            if memory_id in self._items:
                self.put(self._items[memory_id])
        return made

    def evict(self, tokens: int, as_of: int, *, most: int | None = None, groups: Sequence[Group] = ()) -> Plan:
        """Plans, and removes the memories that go; the caller puts the summaries that replaced others."""
        self._named = frozenset()
        kept = list[Item]()
        made = self._take(tokens, as_of, most, groups, ([], kept))
        for item in kept:
            self.put(item)
        return made

    def _take(
        self,
        tokens: int,
        as_of: int,
        most: int | None,
        groups: Iterable[Group],
        aside: tuple[list[Item], list[Item]],
    ) -> Plan:
        """`aside`: receives what goes, and what a floor keeps and was therefore taken for protected."""
        taken, kept = aside
        goes, replaces, reserved = list[Going](), list[Group](), 0
        waiting = iter(groups if self.name in REFLECTS else ())
        if self._lots is not None:
            self._lots.begin()
        while self.tokens + reserved > tokens and (most is None or len(goes) < most):
            found = self._next(tokens, as_of, kept)
            if found is None or found[1] != STALE:
                group = next((one for one in waiting if self.admits(one)), None)
                if group is not None:
                    taken += [item for one in group.memory_ids if (item := self.remove(one)) is not None]
                    replaces.append(group)
                    reserved += group.tokens
                    continue
            if found is None:
                break
            # Members look for it among the least in their own orders, within the excess and the margin. Half of the
            # margin is for the lot; the other half is left for differences in what they have read.
            reach = self.tokens + reserved - tokens + tokens * self.policy.margin_ppm // (2 * PPM)
            memory_id, why, lot = self._drawn(found, as_of, reach)
            item = self._items[memory_id]
            goes.append(Going(memory_id, item.tokens, why, score(item, as_of, self.policy), lot))
            taken.append(item)
            self.remove(memory_id)
        held = self.tokens + reserved
        over = max(0, held - tokens)
        return Plan(tuple(goes), tuple(replaces), held, over, self.excess(reserved) if over else {})

    def _drawn(self, found: tuple[str, str, Rule], as_of: int, reach: int) -> tuple[str, str, Lot | None]:
        """Returns the next one, drawn by lot if others have near scores with at most `reach` tokens before them."""
        memory_id, why, of = found
        near = () if self._lots is None else [one for one in of.near(as_of) if self._spares(one.item)]
        drawn = None if self._lots is None else self._lots.draw(near, as_of, reach)
        if drawn is None:
            return memory_id, why, None
        one, lot = drawn
        return (one.item.memory_id, BY_LOT, lot) if lot.charged else (memory_id, why, lot)

    def _next(self, tokens: int, as_of: int, kept: list[Item]) -> tuple[str, str, Rule] | None:
        """Returns the next one that no floor keeps, why, and its rule. `kept`: receives those that a floor keeps."""
        while (found := self._lowest(tokens, as_of)) is not None:
            item = self._items[found[0]]
            if self._spares(item):
                return found
            kept.append(item)
            self.protect(item.memory_id, FLOOR)
        return None

    def _spares(self, item: Item) -> bool:
        """Whether the type of a memory holds its floor without it."""
        kind = place(item.type)
        return not self._floors or self._of_type[kind] - item.tokens >= self._floors[kind]

    def _lowest(self, tokens: int, as_of: int) -> tuple[str, str, Rule] | None:
        """Returns the next one, why, and its rule: from the types beyond their share, if one of their memories may go;
        else from all."""
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

    def admits(self, group: Group) -> bool:
        """Returns True if a summary may replace the group: fewer tokens, near enough, and not too sensitive."""
        items = [self._items.get(memory_id) for memory_id in group.memory_ids]
        sources = [item for item in items if item is not None and item.protected is None]
        if len(sources) < len(items) or not sources or group.tokens >= sum(one.tokens for one in sources):
            return False
        inner = Counter(parent for one in sources for parent in one.needs)
        if any(self._supports[one.memory_id] > inner[one.memory_id] for one in sources):
            return False
        most = max(one.sensitivity_ppm for one in sources)
        return summary_fits(self.policy, group.distortion_ppm, group.sensitivity_ppm, most)

    def excess(self, reserved: int = 0) -> dict[str, int]:
        """Returns all tokens by the reason why they may not go, `CAPPED` for those that may. `reserved`: those of
        summaries that replace others."""
        told = {why: held for why, held in sorted(self._protected.items()) if held}
        supports = self.tokens - self._free - sum(told.values())
        others = {SUPPORTS: supports, CAPPED: self._free, REPLACED: reserved}
        return told | {why: held for why, held in others.items() if held}

    def _enter(self, item: Item) -> None:
        """Adds a memory that has become a leaf."""
        if item.protected is None:
            self._free += item.tokens
            self._rule(item).add(item, item.memory_id in self._named)

    def _leave(self, item: Item) -> None:
        if item.protected is None:
            self._free -= item.tokens
            self._rule(item).drop(item)

    def _rule(self, item: Item) -> Rule:
        return self._rules[place(item.type) if self.policy.shares_ppm else 0]
