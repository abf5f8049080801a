"""What an order to erase by age names: memories of some types that are older than a moment.

The moment is absolute, so an order names the same whenever somebody reads it. It stands in the order's `value` in one
writing, which people can read too: `episodic,task before 2026-08-27T00:00:00.000Z`. Whoever wants to say 'older than 90
days' says so to a command, which counts from the time there is.

A standing rule (`policy.erase`) says so for good. The service orders by it, one order for each namespace and age,
and names the configuration that holds the rule (`ErasureOrdered.rule`): what that order may say follows from it.
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
"""So much may the clocks of those who let orders in differ: an order of a rule may come in so much before its time."""


class Aged(Struct, frozen=True):
    """Memories of these types that occurred before a moment, in milliseconds since the epoch."""

    types: tuple[str, ...]
    before: int

    def covers(self, agent: str, type: str | None, at: int | None) -> bool:
        """Whether what an agent said is one of them, by its type and when it occurred; what says neither is none.

        A summary is none: it is of no type and no age of its own, and goes with what it was made of."""
        return agent != CONSOLIDATOR and type in self.types and at is not None and at < self.before


class BadAge(ValueError):
    """What names no age: the field at fault, as a request has it, and what to do."""

    def __init__(self, field: str, detail: str) -> None:
        super().__init__(f"{field}: {detail}")
        self.field, self.detail = field, detail


def written(types: Iterable[str], before: int) -> str:
    """The value of an order by age: each type once, in the order of `facets.TYPES`; of all types where none is named.
    `before`: in milliseconds since the epoch. Raises BadAge."""
    named = tuple(types) or TYPES
    for one in named:
        if one not in TYPES:
            raise BadAge("types", f"{one[:40]!r} is no type of memories: {', '.join(TYPES)}")
    if not 0 <= before <= moments.LATEST:
        raise BadAge("before", "no moment between 1970 and 9999; send milliseconds since the epoch")
    said = ",".join(one for one in TYPES if one in named)
    return f"{said}{_BETWEEN}{moments.moment(before)}"


def read(value: str) -> Aged:
    """What a value names. Raises BadAge for any that `written` does not give: one order has one writing."""
    said, _, told = value.partition(_BETWEEN)
    before = moments.read(told)
    if before is None:
        raise BadAge("before", f"no moment in {value[:80]!r}; as in {written((), 0)!r}")
    found = Aged(tuple(said.split(",")), before)
    if written(found.types, found.before) != value:
        raise BadAge("types", f"{value[:80]!r} is not how an age is written; as in {written((), 0)!r}")
    return found


def rule_of(policy: ErasePolicy, namespace: str) -> Retention | None:
    """The first rule whose pattern fits the namespace; None where it has none."""
    return next((one for one in retention(policy) if covers((one.pattern,), namespace)), None)


def due(policy: Policy, namespace: str, as_of: int) -> list[Aged]:
    """What a namespace's rule erases at a time of its shard: for each age the types that it is for, before the last
    whole `erase.every_ms` that this age was over. None where no rule fits."""
    rule = rule_of(policy.erase, namespace)
    if rule is None:
        return []
    ages, at = sorted(set(rule.ages.values())), turn(policy.erase, as_of)
    found = (Aged(tuple(t for t in TYPES if rule.ages.get(t) == age), at - age) for age in ages)
    return [one for one in found if one.before > 0]


def comes(policy: ErasePolicy, namespace: str, type: str, occurred_at: int) -> int | None:
    """The first time at which a rule looks and finds what occurred then too old; None where no rule is for its type."""
    rule = rule_of(policy, namespace)
    age = None if rule is None else rule.ages.get(type)
    return None if age is None else turn(policy, occurred_at + age) + policy.every_ms


def turn(policy: ErasePolicy, as_of: int) -> int:
    """The last time at which it was looked for what is too old, at a time of a shard."""
    return as_of // policy.every_ms * policy.every_ms


def asked(policy: Policy, namespaces: Iterable[str], as_of: int) -> list[tuple[str, str, int]]:
    """What is too old at a time of the shard of these namespaces, as a store is asked: namespace, type, before when."""
    return [(name, type, one.before) for name in namespaces for one in due(policy, name, as_of) for type in one.types]


def borne_out(policy: Policy, namespace: str, aged: Aged, at: int) -> bool:
    """Whether the rule of a policy says at a time that all of this is to be erased in the namespace."""
    rule = rule_of(policy.erase, namespace)
    if rule is None or not set(aged.types) <= rule.ages.keys():
        return False
    return aged.before <= at + CLOCKS_MS - max(rule.ages[one] for one in aged.types)
