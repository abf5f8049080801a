"""The budget of a namespace (SPEC D, MaRS 3.2.7)."""

from __future__ import annotations

from memquorum.core.access import covers
from memquorum.core.policy import Budget, BudgetPolicy, budgets


def budget_of(policy: BudgetPolicy, namespace: str) -> Budget | None:
    """Returns the first budget whose pattern covers the namespace; None where it has none."""
    return next((one for one in budgets(policy) if covers((one.pattern,), namespace)), None)
