"""Divides the shards among the processes of one role: each range of shards has exactly one process.

A division is written as ranges separated by blanks, `0-3 4-7`; a range of one shard is its number. No division means
that one process has all shards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?")

ALL = ""
"""The name of the range of a process that has all shards."""


class RangesError(ValueError):
    """Ranges that are no division of the shards; the message says which shard has none, or more than one."""


def one(text: str) -> range:
    """Returns the shards of one range. Raises RangesError."""
    found = _RANGE.fullmatch(text)
    if found is None:
        raise RangesError(f"{text!r} is no range of shards: write 0-3, or 4 for a single shard")
    first, last = int(found[1]), int(found[2] or found[1])
    if last < first:
        raise RangesError(f"{text!r} ends before it begins: write {last}-{first}")
    return range(first, last + 1)


def read(text: str) -> list[range]:
    """Returns the ranges of a division in their order; none if the text is empty. Raises RangesError where two of them
    have a shard in common."""
    ranges = sorted((one(part) for part in text.split()), key=lambda part: part.start)
    for before, after in pairwise(ranges):
        if after.start < before.stop:
            raise RangesError(
                f"{name(before)} and {name(after)} both have shard {after.start}: a shard has exactly one process"
            )
    return ranges


def name(shards: range) -> str:
    """Returns the text of a range."""
    return f"{shards.start}-{shards.stop - 1}" if len(shards) > 1 else str(shards.start)


def whole(text: str, shards: int) -> list[range]:
    """Returns the ranges of a division of so many shards; one of all if the text is empty.

    Raises RangesError where a shard is in no range or in two, or a range has shards that there are not."""
    ranges = read(text) or [range(shards)]
    if ranges[-1].stop > shards:
        raise RangesError(f"{name(ranges[-1])} goes beyond the last shard: there are {shards}, 0 to {shards - 1}")
    missing = sorted(set(range(shards)).difference(*ranges))
    if missing:
        raise RangesError(f"no range has shard {_listed(missing)}: nothing would be decided or stored there")
    return ranges


def of_process(division: str, asked: str, shards: int) -> range:
    """Returns the shards of a process that was asked to take a range; see `whole`.

    Raises RangesError unless the division has that very range: with another one, two processes would share a shard."""
    ranges = whole(division, shards)
    if asked == ALL and len(ranges) == 1:
        return ranges[0]
    named = " ".join(map(name, ranges))
    if asked == ALL:
        raise RangesError(f"the shards are divided into {named}: say which range this process has")
    if one(asked) not in ranges:
        raise RangesError(f"the shards are divided into {named}, and {asked} is none of these ranges")
    return one(asked)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers[:-1])) + (" and " if numbers[:-1] else "") + str(numbers[-1])
