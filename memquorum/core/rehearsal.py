"""Chooses the memories of a rehearsal and concludes what changes for each (SPEC B, Alg. 15).

A rehearsal draws short-term memories by salience and long-term ones that nobody used for long, and mixes them, so that
what is new never crowds out what is old: two of every seven are long-term (P42). Its conclusions are signed, journalled
and applied by the rule (`core.journal.rehearsals`); members vote on the memories it nominates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import StrEnum
from hashlib import blake2b
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.policy import PPM, Policy
from memquorum.core.tiers import SHORT_TERM
from memquorum.core.triage import decay_score_ppm
from memquorum.core.vote.kinds import LETS_GO, RAISES
from memquorum.ports import Candidate, Drawable, Seen

RECENT_MOST = 50
OLD_MOST = 20
# A rehearsal takes `_OLD` old memories of every `_OF`.
_OLD, _OF = 2, 7


class Verdict(StrEnum):
    """The verdict of a rehearsal on a memory."""

    HELD = "held"
    UNUSED = "unused"
    CONTESTED = "contested"
    GROUNDLESS = "groundless"

    @property
    def doubts(self) -> bool:
        """Whether it speaks against the memory."""
        return self in _DOUBTS


_DOUBTS = frozenset({Verdict.CONTESTED, Verdict.GROUNDLESS})
FACTORS_PPM: Mapping[Verdict, int] = MappingProxyType(
    {Verdict.HELD: 1_100_000, Verdict.UNUSED: PPM, Verdict.CONTESTED: 850_000, Verdict.GROUNDLESS: 850_000}
)
"""By verdict, the salience afterwards in millionths of the salience before; it is never above 1."""
WHY: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.HELD: "holds, and was used since",
        Verdict.UNUSED: "holds, and nobody used it since",
        Verdict.CONTESTED: "another memory says otherwise",
        Verdict.GROUNDLESS: "nothing that it was made of is left",
    }
)
"""In words, what a verdict means."""


class Conclusion(Struct, frozen=True):
    """The conclusion for a memory: its verdict, its new salience, and the kind of vote that it can be put to, if any.
    `changes`: whether there is a change to record."""

    memory_id: str
    namespace: str
    tier: str
    verdict: Verdict
    before_ppm: int
    after_ppm: int
    nominated: str | None
    changes: bool


def drawn(
    recent: Sequence[Drawable], old: Sequence[Drawable], seed: int, most: int = RECENT_MOST, old_most: int = OLD_MOST
) -> list[str]:
    """Returns the ids of the memories to look at, in their order. `recent`: short-term ones, drawn by salience, so many
    at `most`; `old`: long-term ones, drawn alike, `old_most`. The same seed draws the same.

    If there are fewer long-term memories than a rehearsal takes, it takes fewer short-term ones and keeps the share. If
    there are none, it takes all the short-term ones that it may.
    """
    some = _first(old, seed, old_most, by_salience=False)
    bound = len(some) * (_OF - _OLD) // _OLD if some else most
    return _mixed(_first(recent, seed, min(most, bound), by_salience=True), some)


def after_ppm(salience_ppm: int, verdict: Verdict) -> int:
    """The salience after a verdict: × 1.10 and at most 1 for what held and was used, × 0.85 for what did not hold."""
    return min(PPM, salience_ppm * FACTORS_PPM[verdict] // PPM)


def concluded(seen: Seen, as_of: int, policy: Policy) -> Conclusion:
    """Draws the conclusion from a memory's state at this time of its shard."""
    verdict = _verdict(seen, policy)
    after = after_ppm(seen.salience_ppm, verdict)
    return Conclusion(
        seen.memory_id, seen.namespace, seen.tier, verdict, seen.salience_ppm, after,
        _nominated(seen, verdict, after, as_of, policy), verdict is not Verdict.UNUSED or seen.doubts > 0,
    )  # fmt: skip


def doubted(one: Candidate | Seen, as_of: int, policy: Policy) -> bool:
    """Whether what the last rehearsal found not to hold is to be nominated to be forgotten: its decay score is under
    θ_decay."""
    score = decay_score_ppm(one.salience_ppm, one.replays, as_of - one.last_access, policy)
    return score < policy.rehearse.expire_ppm


def _verdict(seen: Seen, policy: Policy) -> Verdict:
    if seen.against(policy):
        return Verdict.CONTESTED
    if seen.sources and not seen.sources_left:
        return Verdict.GROUNDLESS
    return Verdict.HELD if seen.uses and seen.last_access > seen.rehearsed else Verdict.UNUSED


def _nominated(seen: Seen, verdict: Verdict, after: int, as_of: int, policy: Policy) -> str | None:
    if verdict is Verdict.HELD and seen.tier == SHORT_TERM:
        ready = after >= policy.promote.salience_ppm and as_of - seen.created >= policy.promote.age_ms
        return RAISES[seen.tier] if ready else None
    if not verdict.doubts or seen.protected:
        return None
    return LETS_GO[seen.tier] if doubted(replace(seen, salience_ppm=after), as_of, policy) else None


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
