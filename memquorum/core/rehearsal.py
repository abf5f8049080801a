"""What a rehearsal goes through and what it concludes (SPEC B, Alg. 15).

A rehearsal draws short-term memories by salience and long-term ones that nobody used for long, and mixes them, so that
what is new never crowds out what is old: two of every seven are long-term (P42). It is a forecast: nothing is changed
here, and what it would nominate is for members to vote on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from hashlib import blake2b

from msgspec import Struct

from memquorum.core.policy import PPM, Policy
from memquorum.core.tiers import SHORT_TERM
from memquorum.core.vote.kinds import LETS_GO, RAISES

RECENT_MOST = 50
OLD_MOST = 20
# Of so many memories of a rehearsal, so many are old ones.
_OLD, _OF = 2, 7

# Millionths of the salience before.
_BETTER, _WORSE = 1_100_000, 850_000
_LET_GO_BELOW_PPM = 100_000


class Drawable(Struct, frozen=True):
    """A memory that may be drawn."""

    memory_id: str
    salience_ppm: int


class Seen(Struct, frozen=True):
    """A memory as a rehearsal finds it. `uses`: how often it was read or said again. `contested`: how many memories
    that are alive say otherwise. `sources`: of how many memories it was made, of which `sources_left` are alive.
    `protected`: it is not to be let go."""

    memory_id: str
    namespace: str
    tier: str
    salience_ppm: int
    created: int
    uses: int
    contested: int
    sources: int
    sources_left: int
    protected: bool


class Verdict(StrEnum):
    """What a rehearsal says of a memory, and why."""

    GOOD = "holds, and was used"
    UNUSED = "holds, and nobody used it yet"
    CONTESTED = "another memory says otherwise"
    GROUNDLESS = "nothing that it was made of is left"


class Conclusion(Struct, frozen=True):
    """What follows for a memory: its verdict, the salience that it would have, and the kind of vote that it would be
    put to, if any."""

    memory_id: str
    namespace: str
    tier: str
    verdict: Verdict
    before_ppm: int
    after_ppm: int
    nominated: str | None


def drawn(recent: Sequence[Drawable], old: Sequence[Drawable], seed: int) -> list[str]:
    """The memories to look at, in their order. `recent`: short-term ones, drawn by salience; `old`: long-term ones,
    drawn alike. The same seed draws the same.

    Where there are fewer long-term memories than a rehearsal takes, it takes fewer short-term ones and keeps the share;
    where there is none at all, there is nothing old to crowd out, and it takes all the short-term ones that it may.
    """
    some = _first(old, seed, OLD_MOST, by_salience=False)
    most = len(some) * (_OF - _OLD) // _OLD if some else RECENT_MOST
    return _mixed(_first(recent, seed, min(RECENT_MOST, most), by_salience=True), some)


def concluded(seen: Seen, as_of: int, policy: Policy) -> Conclusion:
    """What follows from what was seen at this time of its shard."""
    verdict = _verdict(seen)
    after = seen.salience_ppm
    if verdict is Verdict.GOOD:
        after = min(PPM, after * _BETTER // PPM)
    elif verdict is not Verdict.UNUSED:
        after = after * _WORSE // PPM
    return Conclusion(
        seen.memory_id, seen.namespace, seen.tier, verdict, seen.salience_ppm, after,
        _nominated(seen, verdict, after, as_of, policy),
    )  # fmt: skip


def _verdict(seen: Seen) -> Verdict:
    if seen.contested:
        return Verdict.CONTESTED
    if seen.sources and not seen.sources_left:
        return Verdict.GROUNDLESS
    return Verdict.GOOD if seen.uses else Verdict.UNUSED


def _nominated(seen: Seen, verdict: Verdict, after_ppm: int, as_of: int, policy: Policy) -> str | None:
    if verdict is Verdict.GOOD and seen.tier == SHORT_TERM:
        ready = after_ppm >= policy.promote.salience_ppm and as_of - seen.created >= policy.promote.age_ms
        return RAISES[seen.tier] if ready else None
    bad = verdict in {Verdict.CONTESTED, Verdict.GROUNDLESS}
    return LETS_GO[seen.tier] if bad and after_ppm < _LET_GO_BELOW_PPM and not seen.protected else None


def _first(pool: Sequence[Drawable], seed: int, most: int, *, by_salience: bool) -> list[str]:
    """So many of the pool without putting any back, by salience or all alike (Efraimidis and Spirakis 2006)."""

    def waits(one: Drawable) -> tuple[float, str]:
        weight = max(one.salience_ppm, 1) if by_salience else 1
        return -math.log(_chance(seed, one.memory_id)) / weight, one.memory_id

    return [one.memory_id for one in sorted(pool, key=waits)[:most]]


def _chance(seed: int, memory_id: str) -> float:
    """A number above 0 and at most 1 that follows from both."""
    made = blake2b(f"{seed}/{memory_id}".encode(), digest_size=6).digest()
    return (int.from_bytes(made) + 1) / 2**48


def _mixed(recent: Sequence[str], old: Sequence[str]) -> list[str]:
    """Both, each spread evenly over the whole, so that a rehearsal that is cut short has kept the share."""
    placed = [((at + 0.5) / len(old), 0, one) for at, one in enumerate(old)]
    placed += [((at + 0.5) / len(recent), 1, one) for at, one in enumerate(recent)]
    return [one for *_, one in sorted(placed)]
