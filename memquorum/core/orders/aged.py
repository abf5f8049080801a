"""The selection of an order to erase by age: memories of some types that are older than a moment.

The moment is absolute, so an order selects the same memories at any time. It stands in the order's `value` in one form,
which people can read too: `episodic,task before 2026-08-27T00:00:00.000Z`. To erase memories 'older than 90 days', give
that to a command, which counts from the present time.

A standing rule (`policy.erase`) repeats this. The service gives orders by it, one for each namespace and age, and names
the configuration that holds the rule (`ErasureOrdered.rule`): the permitted value follows from it.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from memquorum.core import moments
from memquorum.core.access import covers
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import TYPES, ErasePolicy, Policy, Retention, retention

# The last moment that is written with four digits of a year.
_BETWEEN = " before "
CLOCKS_MS = 60_000
"""The tolerated difference between clocks: an order of a rule may come this much before its time."""


class Aged(Struct, frozen=True):
    """Memories of these types that occurred before a moment, in milliseconds since the epoch."""

    types: tuple[str, ...]
    before: int

    def covers(self, agent: str, type: str | None, at: int | None) -> bool:
        """True if an episode is selected by its type and the time when it occurred; without both it is not.

        A summary is not selected: it has no type and no age of its own, and is erased with its sources.
        """
        return agent != CONSOLIDATOR and type in self.types and at is not None and at < self.before


class BadAge(ValueError):
    """Raised for a value that names no age: the field at fault, as a request has it, and what to do."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.field, self.detail = field, detail


def written(types: Iterable[str], before: int) -> str:
    """Returns the value of an order by age: each type once, in the order of `facets.TYPES`; all types if none is given.
    `before`: in milliseconds since the epoch. Raises BadAge."""
    named = tuple(types) or TYPES
    for one in named:
        if one not in TYPES:
            raise BadAge("types", f"{one[:40]!r} is not a type of memories; the types are {', '.join(TYPES)}")
    if not 0 <= before <= moments.LATEST:
        raise BadAge("before", "no moment between 1970 and 9999; send milliseconds since the epoch")
    said = ",".join(one for one in TYPES if one in named)
    return f"{said}{_BETWEEN}{moments.moment(before)}"


def read(value: str) -> Aged:
    """Reads a value. Raises BadAge for any that `written` does not return: each order has exactly one form."""
    said, _, told = value.partition(_BETWEEN)
    before = moments.read(told)
    if before is None:
        raise BadAge("before", f"no moment in {value[:80]!r}; as in {written((), 0)!r}")
    found = Aged(tuple(said.split(",")), before)
    if written(found.types, found.before) != value:
        raise BadAge("types", f"{value[:80]!r} is not how an age is written; as in {written((), 0)!r}")
    return found


def rule_of(policy: ErasePolicy, namespace: str) -> Retention | None:
    """Returns the first rule whose pattern covers the namespace; None where it has none."""
    return next((one for one in retention(policy) if covers((one.pattern,), namespace)), None)


def due(policy: Policy, namespace: str, as_of: int) -> list[Aged]:
    """Returns the selections of a namespace's rule at a time of its shard: for each age its types, before the last
    whole `erase.every_ms` at which this age was reached. Empty without a rule."""
    rule = rule_of(policy.erase, namespace)
    if rule is None:
        return []
    ages, at = sorted(set(rule.ages.values())), turn(policy.erase, as_of)
    found = (Aged(tuple(t for t in TYPES if rule.ages.get(t) == age), at - age) for age in ages)
    return [one for one in found if one.before > 0]


def comes(policy: ErasePolicy, namespace: str, type: str, occurred_at: int) -> int | None:
    """Returns the first time at which a rule selects a memory that occurred then; None without a rule for its type."""
    rule = rule_of(policy, namespace)
    age = None if rule is None else rule.ages.get(type)
    return None if age is None else turn(policy, occurred_at + age) + policy.every_ms


def turn(policy: ErasePolicy, as_of: int) -> int:
    """Returns the last time at which a rule was applied, at a time of a shard."""
    return as_of // policy.every_ms * policy.every_ms


def erasable_selections(policy: Policy, namespaces: Iterable[str], as_of: int) -> list[tuple[str, str, int]]:
    """Returns the selections in these namespaces at a time of the shard, for a store: namespace, type, before when."""
    return [(name, type, one.before) for name in namespaces for one in due(policy, name, as_of) for type in one.types]


def borne_out(policy: Policy, namespace: str, aged: Aged, at: int) -> bool:
    """True if the rule of a policy selects all of this in the namespace at a time."""
    rule = rule_of(policy.erase, namespace)
    if rule is None or not set(aged.types) <= rule.ages.keys():
        return False
    return aged.before <= at + CLOCKS_MS - max(rule.ages[one] for one in aged.types)
