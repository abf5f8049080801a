"""Tells whether a memory has outlived its use, whatever else its namespace holds.

It has if it is older than its type may become, if nobody has used it for as long as its namespace allows for its type,
or if it is a step of a task that is over. A member asks this of its own reading. Protected, promoted and resting
memories stay, and so does a step that was stored on purpose.
"""

from __future__ import annotations

from collections.abc import Collection

from memquorum.core.access import covers
from memquorum.core.budgets.claims import AGE, FINISHED, UNUSED
from memquorum.core.budgets.least import NOWHERE, BudgetPlace, free, older
from memquorum.core.policy import PPM, ForgetPolicy, Policy, unused
from memquorum.ports import Weighted

_GOES = BudgetPlace(0, PPM)


def place(told: Weighted, reason: str, policy: Policy, as_of: int, steps: Collection[str] = ()) -> BudgetPlace:
    """Returns the place of a memory by such a reason: first if it has outlived its use, else nowhere. `steps`: the
    steps of tasks that are over."""
    one = told.candidate
    over = {
        AGE: lambda: older(told.type, one.created, policy.budget, as_of),
        UNUSED: lambda: idle(told.type, one.namespace, max(one.last_access, told.deadline or 0), policy.forget, as_of),
        FINISHED: lambda: one.fades and one.memory_id in steps,
    }
    return _GOES if free(told) and over[reason]() else NOWHERE


def idle(type_: str, namespace: str, last_access: int, policy: ForgetPolicy, as_of: int) -> bool:
    """Whether nobody has used a memory for as long as its namespace allows for its type. A task counts as used at its
    deadline."""
    at = idle_at(type_, namespace, last_access, policy)
    return at is not None and at <= as_of


def idle_at(type_: str, namespace: str, last_access: int, policy: ForgetPolicy) -> int | None:
    """Returns the first millisecond at which that is so; None without such a limit."""
    rule = next((one for one in unused(policy) if covers((one.pattern,), namespace)), None)
    most = None if rule is None else rule.ages.get(type_)
    return None if most is None else last_access + most + 1
