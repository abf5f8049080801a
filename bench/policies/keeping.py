"""Rows of budgets: that no rule is broken whatever happens, and what a plan costs by what is stored."""

from __future__ import annotations

import time
from random import Random

from bench.kept import Row
from bench.right.frame import Material
from memquorum.core.budgets.items import Item
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.facets import TYPES
from memquorum.core.policy import FORGETTING, PPM, BudgetPolicy
from tests.builders.churn import Churn

_OPERATIONS = 1_000_000
_GOES = 1_000
_SIZES = (1_000, 10_000, 100_000, 1_000_000)
_QUICK_SIZES = (1_000, 4_000)
_SPAN_MS = 20 * 24 * 3600 * 1000
_NOW = 1_790_000_000_000


def invariants(material: Material) -> Row:
    """Random operations by all policies, with shares by type and without, each checked against a model."""
    row = Row("invariants", "budgets held under ten times their size, and rules broken by random operations")
    each = (20_000 if material.quick else _OPERATIONS) // (2 * len(FORGETTING))
    broken = went = plans = 0
    for name in FORGETTING:
        for shares in ((), (400_000, 300_000, 200_000, 100_000)):
            churn = Churn(name, 19, BudgetPolicy(shares_ppm=shares))
            churn.run(each)
            broken += sum(churn.broken.values())
            went, plans = went + churn.went, plans + churn.plans
    row.figure("operations", each * 2 * len(FORGETTING), "")
    row.figure("plans carried out", plans, "")
    row.figure("memories that went", went, "")
    row.figure("rules broken", broken, "")
    row.at_most("rules broken", 0)
    row.note(
        "the rules: what lives weighs no more than the budget and what may not go; nothing protected goes; leaves go "
        "first; what is beyond the budget is told by its reasons; a look changes nothing. One plan in fifty is for a "
        "tenth of the budget"
    )
    return row


def cost(material: Material) -> Row:
    """One plan that takes a thousand memories, by how many are stored."""
    row = Row("cost", "the cost of forgetting one memory, by the number stored")
    for name in FORGETTING:
        seconds = [_each(name, size) for size in (_QUICK_SIZES if material.quick else _SIZES)]
        for size, spent in zip(_QUICK_SIZES if material.quick else _SIZES, seconds, strict=True):
            row.figure(f"{name}, of {size:,}", spent * 1e6, "µs")
        row.figure(f"{name}, most ÷ least", max(seconds) / min(seconds), "times")
        row.at_most(f"{name}, most ÷ least", 2)
    row.note(
        "by the processor's time, the median of three plans, each of a tenth and of a thousand at most; nothing is "
        "stale or too sensitive, so hybrid is measured where it costs most, among equals"
    )
    return row


def _each(name: str, size: int) -> float:
    """Seconds of the processor for each memory that goes."""
    draw, ledger = Random(size), Ledger(name, BudgetPolicy(lambda_priv_ppm=0), b"bench")
    for at in range(size):
        made = _NOW - _SPAN_MS + _SPAN_MS * at // size
        ledger.put(
            Item(
                str(at), draw.choice(TYPES), draw.randrange(5, 80), made, made, uses=draw.randrange(6),
                sensitivity_ppm=draw.choice((0, 0, 0, 500_000)), worth=draw.randrange(200 * PPM),
            )
        )  # fmt: skip
    spent, most = list[float](), min(_GOES, size // 10)
    for later in range(3):
        began = time.process_time()
        plan = ledger.evict(0, _NOW + later, most=most)
        spent.append((time.process_time() - began) / len(plan.goes))
    return sorted(spent)[1]


ROWS = {"invariants": invariants, "cost": cost}
