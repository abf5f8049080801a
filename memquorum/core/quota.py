"""Limits how much a namespace may bring in: episodes and bytes within a minute, counted here, and memories in all
(docs/operate/tenants.md), counted in `core.stock`.

Each namespace that has a limit has a bucket: it fills by the minute's amount a minute, holds that much at most, and an
episode takes one, and its bytes. So within any minute at most twice the amount comes in, and in the long run the amount
a minute. All is counted in whole units times milliseconds; the time is an argument.

An episode that was let in before, as its id says, takes nothing of what new ones need: repetitions have a bucket of the
same size. They are not free, for each is written and scored like any other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import names
from memquorum.core.intake import RECORD_BYTES_MAX

MINUTE_MS = 60_000
HELD_MOST = 10_000
"""Buckets that are held at once."""
STOOD_MOST_MS = 24 * 3600 * 1000
"""So much of a standstill counts at most."""
REMEMBERED_MOST = 10_000
"""Episodes whose repetitions are known."""
# A bucket that nothing is known of begins with what comes in this time.
_BEGINNING_MS = 6_000

What = Literal["episodes", "bytes"]


class LimitsError(ValueError):
    """A limit that cannot be; the message names it, and says what can."""


class Limits(Struct, frozen=True):
    """The limits of a namespace: episodes and bytes within a minute, and memories in all; 0: unlimited. Raises
    LimitsError."""

    episodes_per_minute: int = 0
    bytes_per_minute: int = 0
    memories: int = 0

    def __post_init__(self) -> None:
        for name in self.__struct_fields__:
            if getattr(self, name) < 0:
                raise LimitsError(f"{name} = {getattr(self, name)}; 0, no limit, is the least")
        # One that a full bucket cannot hold would never come in.
        if 0 < self.bytes_per_minute < RECORD_BYTES_MAX:
            raise LimitsError(
                f"bytes_per_minute = {self.bytes_per_minute}; {RECORD_BYTES_MAX}, the largest record, is the least, or "
                "0, no limit"
            )


_NO_LIMITS = Limits()


class Plan(Struct, frozen=True):
    """The limits of every namespace. `named`: of one by its name, or of each that begins so, where it ends in `*`."""

    others: Limits = Limits()
    named: tuple[tuple[str, Limits], ...] = ()

    @property
    def counts_memories(self) -> bool:
        """Whether any namespace has a limit of memories in all."""
        return any(limits.memories for limits in (self.others, *(limits for _, limits in self.named)))

    def of(self, namespace: str) -> Limits:
        """Its own by name; else by the longest beginning that is its; else what all others have."""
        found = [
            (name, limits)
            for name, limits in self.named
            if name == namespace or (name.endswith("*") and namespace.startswith(name[:-1]))
        ]
        # A name as long as a beginning with its asterisk is the more exact one.
        return max(found, key=lambda one: (one[0] == namespace, len(one[0])))[1] if found else self.others


_BETWEEN = re.compile(r"[\s,]+")
_LIMIT = re.compile(r"([^=]+)=([0-9]{1,15})/([0-9]{1,15})/([0-9]{1,15})")


def plan(text: str, others: Limits) -> Plan:
    """The plan that a setting says: `NAME=EPISODES/BYTES/MEMORIES`, by blanks or commas; a name that ends in `*` is a
    beginning.

    Raises LimitsError, which names the part at fault.
    """
    found: dict[str, Limits] = {}
    for part in _BETWEEN.split(text.strip()) if text.strip() else ():
        match = _LIMIT.fullmatch(part)
        if match is None:
            raise LimitsError(f"{part!r} is no NAMESPACE=EPISODES/BYTES/MEMORIES, as in greenhouse=600/4000000/0")
        name = match[1]
        fault = names.namespace_fault(name.removesuffix("*"))
        if fault is not None:
            raise LimitsError(f"{name!r} is no namespace and no beginning of one: {fault.detail}")
        if name in found:
            raise LimitsError(f"{name!r} is there twice")
        try:
            found[name] = Limits(int(match[2]), int(match[3]), int(match[4]))
        except LimitsError as error:
            raise LimitsError(f"{part!r}: {error}") from None
    return Plan(others, tuple(found.items()))


class Over(Struct, frozen=True):
    """The limit that an episode exceeds: the amount per minute, how much of it is used, how much the episode needs, and
    in how many milliseconds that will be available if nothing else takes it. `again`: the episode was accepted before,
    and the limit is that of repetitions."""

    what: What
    per_minute: int
    used: int
    needed: int
    wait_ms: int
    again: bool = False


@dataclass(slots=True)
class _Bucket:
    at_ms: int
    episodes: int
    bytes: int


class Quota:
    """The amounts that the namespaces have used, in one process. Times are milliseconds of a clock that only runs
    forward.

    An unknown bucket holds a tenth of a minute's amount, at least one record, and the inflow since `since_ms`, the time
    of the last count; so a process that starts again does not give out a whole minute again.
    """

    def __init__(self, plan: Plan, since_ms: int, held_most: int = HELD_MOST) -> None:
        self._plan, self._since, self._held_most = plan, since_ms, held_most
        # By namespace and whether it is that of repetitions; by when they were used last, the latest at the end.
        self._buckets: dict[tuple[str, bool], _Bucket] = {}
        # Episodes that were let in, the latest at the end.
        self._let_in: dict[str, None] = {}
        self._stood_ms, self._wide_until = 0, since_ms

    def __len__(self) -> int:
        """The number of buckets."""
        return len(self._buckets)

    def stood(self, for_ms: int, now_ms: int) -> None:
        """Notes that nothing was accepted for so long, until now, so that records published meanwhile are not refused
        for it.

        For as long again, and at least a minute, a bucket may hold more by its inflow of that time.
        """
        before = self._stood_ms if now_ms < self._wide_until else 0
        self._stood_ms = min(before + for_ms, STOOD_MOST_MS)
        self._wide_until = now_ms + max(self._stood_ms, MINUTE_MS)

    def repeats(self, episode: str) -> bool:
        """Whether an episode was let in before, as far as that is remembered. `episode`: its memory's id."""
        return episode in self._let_in

    def take(self, namespace: str, episode: str, size: int, now_ms: int) -> Over | None:
        """Takes an episode of so many bytes out of the namespace's bucket, or out of that for repetitions; of one that
        does not fit, nothing is taken.

        `episode`: its memory's id. `size`: at most RECORD_BYTES_MAX.
        """
        limits, again = self._plan.of(namespace), self.repeats(episode)
        if limits == _NO_LIMITS:
            return None
        if limits.episodes_per_minute or limits.bytes_per_minute:
            bucket = self._filled((namespace, again), limits, now_ms)
            over = _over("episodes", limits.episodes_per_minute, bucket.episodes, 1) or _over(
                "bytes", limits.bytes_per_minute, bucket.bytes, size
            )
            if over is not None:
                return replace(over, again=again)
            bucket.episodes -= MINUTE_MS if limits.episodes_per_minute else 0
            bucket.bytes -= size * MINUTE_MS if limits.bytes_per_minute else 0
        self._let_in[episode] = None
        if len(self._let_in) > REMEMBERED_MOST:
            self._let_in.pop(next(iter(self._let_in)))
        return None

    def _filled(self, whose: tuple[str, bool], limits: Limits, now_ms: int) -> _Bucket:
        """The bucket with what has come until now."""
        bucket = self._buckets.pop(whose, None)
        if bucket is None:
            bucket = _Bucket(
                min(self._since, now_ms),
                _beginning(limits.episodes_per_minute, 1),
                _beginning(limits.bytes_per_minute, RECORD_BYTES_MAX),
            )
        passed = max(0, now_ms - bucket.at_ms)
        window = MINUTE_MS + (self._stood_ms if now_ms < self._wide_until else 0)
        bucket.episodes = _more(bucket.episodes, limits.episodes_per_minute, passed, window)
        bucket.bytes = _more(bucket.bytes, limits.bytes_per_minute, passed, window)
        bucket.at_ms += passed
        self._buckets[whose] = bucket
        if len(self._buckets) > self._held_most:
            dropped = self._buckets.pop(next(iter(self._buckets)))
            # Nothing older is known of a dropped namespace, so it does not get its amount twice.
            self._since = max(self._since, dropped.at_ms)
        return bucket


def _beginning(per_minute: int, largest: int) -> int:
    return max(per_minute * _BEGINNING_MS, largest * MINUTE_MS)


def _more(level: int, per_minute: int, passed_ms: int, window_ms: int) -> int:
    return min(level + per_minute * passed_ms, per_minute * window_ms)


def _over(what: What, per_minute: int, level: int, needed: int) -> Over | None:
    missing = needed * MINUTE_MS - level
    if not per_minute or missing <= 0:
        return None
    return Over(what, per_minute, per_minute - level // MINUTE_MS, needed, -(-missing // per_minute))
