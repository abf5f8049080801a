"""What an order to erase by age names: memories of some types that are older than a moment.

The moment is absolute, so an order names the same whenever somebody reads it. It stands in the order's `value` in one
writing, which people can read too: `episodic,task before 2026-08-27T00:00:00.000Z`. Whoever wants to say 'older than 90
days' says so to a command, which counts from the time there is.

A standing rule (`policy.erase`) says so for good. The service orders by it, one order for each namespace and age,
and names the configuration that holds the rule (`ErasureOrdered.rule`): what that order may say follows from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from memquorum.core.access import covers
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import TYPES, ErasePolicy, Policy, Retention, retention

# The last moment that is written with four digits of a year.
_LATEST = 253_402_300_799_999
_BETWEEN = " before "
_MOMENT = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z")
_DAY_MS = 24 * 3600 * 1000
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
    if not 0 <= before <= _LATEST:
        raise BadAge("before", "no moment between 1970 and 9999; send milliseconds since the epoch")
    said = ",".join(one for one in TYPES if one in named)
    return f"{said}{_BETWEEN}{moment(before)}"


def read(value: str) -> Aged:
    """What a value names. Raises BadAge for any that `written` does not give: one order has one writing."""
    said, _, told = value.partition(_BETWEEN)
    before = _read(told)
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


# The calendar's own module reaches for a clock, and numpy is more than a client should wait for.


def moment(ms: int) -> str:
    """Milliseconds since the epoch in ISO 8601, in UTC."""
    days, rest = divmod(ms, _DAY_MS)
    seconds, millis = divmod(rest, 1000)
    # Counted from 1 March of the year 0, so that a leap day is the last of its year.
    era, day = divmod(days + 719_468, 146_097)
    years = (day - day // 1_460 + day // 36_524 - day // 146_096) // 365
    of_year = day - (365 * years + years // 4 - years // 100)
    month = (5 * of_year + 2) // 153
    date = f"{era * 400 + years + (month >= 10):04}-{(month + 2) % 12 + 1:02}-{of_year - (153 * month + 2) // 5 + 1:02}"
    return f"{date}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{millis:03}Z"


def _read(told: str) -> int | None:
    """The milliseconds of what `moment` gave; None for what it gives of none."""
    said = _MOMENT.fullmatch(told)
    if said is None:
        return None
    year, month, day, hour, minute, second, millis = map(int, said.groups())
    year -= month <= 2
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    days = year // 400 * 146_097 + year % 400 * 365 + year % 400 // 4 - year % 400 // 100 + of_year - 719_468
    ms = days * _DAY_MS + (hour * 3600 + minute * 60 + second) * 1000 + millis
    return ms if 0 <= ms <= _LATEST and moment(ms) == told else None
