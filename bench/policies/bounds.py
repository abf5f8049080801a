"""A row of budgets: what an eviction by `worth` loses, beside the best that any could keep (MaRS 3.1 and 3.4.3).

The namespaces are small and random, so that the best set is found by looking at all of them. Utility is the policy's
own: the sum of what each kept memory is worth (Û − λ_priv·s). A set keeps what its memories were made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

from msgspec.structs import replace

from bench.kept import Row
from bench.right.frame import Material
from memquorum.core.budgets.items import Item, score
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.facets import TYPES
from memquorum.core.policy import PPM, BudgetPolicy

_NOW = 1_790_000_000_000
_MEMORIES = 12
_INSTANCES, _QUICK = 1_000, 40
_SHARES = (25, 50, 75)
"""Budgets, in % of the tokens held."""
_HALF = 0.5


def bounds(material: Material) -> Row:
    """Evictions of random namespaces beside the best kept set, and what they lose by the token that went."""
    row = Row("bounds", "what eviction by `worth` keeps of the best, and loses by the token, in small namespaces")
    instances = _QUICK if material.quick else _INSTANCES
    apart, linked = _tried(instances, links=False), _tried(instances, links=True)
    for name, found in (("each by itself", apart), ("a third made of others", linked)):
        few = sum(one < _HALF for one in found.shares)
        row.figure(f"{name}: least share of the best", min(found.shares), "")
        row.figure(f"{name}: mean share of the best", sum(found.shares) / len(found.shares), "")
        row.figure(f"{name}: evictions that keep less than half of the best", 100 * few / len(found.shares), "%")
        row.figure(f"{name}: least share, of the better of it and the best memory alone", min(found.joined), "")
        row.figure(f"{name}: loss ÷ (L · tokens that went), most", max(found.lost), "")
        row.figure(f"{name}: change between budgets ÷ (L · tokens between them), most", max(found.steps), "")
        row.figure(f"{name}: change between budgets ÷ (L · tokens between them), least", min(found.steps), "")
        row.at_least(f"{name}: least share of the best", _HALF)
        row.at_least(f"{name}: least share, of the better of it and the best memory alone", _HALF)
        row.at_most(f"{name}: loss ÷ (L · tokens that went), most", 1)
        row.at_least(f"{name}: change between budgets ÷ (L · tokens between them), least", 0)
    row.figure("memories worth more than `budget.lipschitz_ppm` a token", 100 * apart.dearer / apart.memories, "%")
    row.note(
        f"{instances:,} namespaces of {_MEMORIES} memories each; budgets of {', '.join(map(str, _SHARES))} % of the "
        "tokens held. L is the most that a memory of the namespace is worth by the token"
    )
    return row


@dataclass
class _Tried:
    """The worth that evictions kept, as a share of the best, alone and as the better of it and of the best memory
    alone; and by the token what they lost, and what a larger budget keeps more."""

    shares: list[float] = field(default_factory=list)
    joined: list[float] = field(default_factory=list)
    lost: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    memories: int = 0
    dearer: int = 0


def _tried(instances: int, *, links: bool) -> _Tried:
    policy, draw, found = BudgetPolicy(), Random(30), _Tried()
    for _ in range(instances):
        items = _namespace(draw)
        if not links:
            items = [replace(one, needs=()) for one in items]
        value = {one.memory_id: score(one, _NOW, policy).net_ppm for one in items}
        densest = max(value[one.memory_id] / one.tokens for one in items)
        found.memories += len(items)
        found.dearer += sum(value[one.memory_id] > policy.lipschitz_ppm * one.tokens for one in items)
        sets, whole, kept = _closed(items, value), sum(one.tokens for one in items), list[tuple[int, int]]()
        for share in _SHARES:
            budget = whole * share // 100
            tokens, mine = _evicted(items, value, policy, budget)
            best, alone = _best(sets, budget)
            if best:
                found.shares.append(mine / best)
                found.joined.append(max(mine, alone) / best)
            found.lost.append((sum(value.values()) - mine) / (densest * (whole - tokens)))
            kept.append((tokens, mine))
        found.steps += [
            (greater - less) / (densest * (more - fewer))
            for (fewer, less), (more, greater) in pairwise(kept)
            if more > fewer
        ]
    return found


def _namespace(draw: Random) -> list[Item]:
    """Memories of random weight, worth and age; some were made of earlier ones."""
    made = list[Item]()
    for at in range(_MEMORIES):
        age, tokens = draw.randrange(20 * 24 * 3600 * 1000), draw.randrange(5, 80)
        of = (made[draw.randrange(at)].memory_id,) if at and draw.random() < 1 / 3 else ()
        made.append(
            Item(
                f"{at:02}", draw.choice(TYPES), tokens, _NOW - age, _NOW - draw.randrange(age + 1),
                uses=draw.randrange(6), worth=draw.randrange(PPM, 4 * PPM) * tokens, novelty_ppm=draw.randrange(PPM),
                sensitivity_ppm=draw.choice((0, 0, 0, 300_000)), needs=of,
            )
        )  # fmt: skip
    return made


def _closed(items: Sequence[Item], value: Mapping[str, int]) -> list[tuple[int, int, int]]:
    """Returns all sets that keep what their memories were made of: tokens, utility, and how many memories."""
    at = {one.memory_id: place for place, one in enumerate(items)}
    needs = [sum(1 << at[parent] for parent in one.needs) for one in items]
    found, sums = [(0, 0, 0)], {0: (0, 0, 0)}
    for chosen in range(1, 1 << len(items)):
        last = chosen.bit_length() - 1
        before = sums.get(chosen ^ (1 << last))
        if before is None or needs[last] & ~chosen:
            continue
        one = items[last]
        told = before[0] + one.tokens, before[1] + value[one.memory_id], before[2] + 1
        sums[chosen] = told
        found.append(told)
    return found


def _best(sets: Sequence[tuple[int, int, int]], budget: int) -> tuple[int, int]:
    """Returns the utility of the best set within a budget, and of the best one of a single memory."""
    fits = [(value, count) for tokens, value, count in sets if tokens <= budget]
    return max(value for value, _ in fits), max((value for value, count in fits if count == 1), default=0)


def _evicted(items: Sequence[Item], value: Mapping[str, int], policy: BudgetPolicy, budget: int) -> tuple[int, int]:
    """Returns the tokens and the utility of what an eviction leaves."""
    ledger = Ledger("worth", policy)
    for one in items:
        ledger.put(replace(one))
    gone = {going.memory_id for going in ledger.evict(budget, _NOW).goes}
    return ledger.tokens, sum(worth for memory_id, worth in value.items() if memory_id not in gone)


ROWS = {"bounds": bounds}
