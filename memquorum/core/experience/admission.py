"""Decides whether a candidate is admitted, by the statistics of its verifiers (SPEC E; infra/decisions/0125).

S ≥ η admits, with a weight of 1: S is the share of judges that a memory helped, which says how many tasks need it and
not what it is worth to the one that does (decision 126). Verifiers that compute by rules find the same bytes. f + 1 are
asked, two at least; where they differ, further ones are, 2f + 1 at most: with f liars among them the honest are f + 1,
and who told otherwise is shown. If a model rewards, two may differ in good faith: the median of S counts, and no
verifier is reported for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from memquorum.core.experience.trial import Statistics, score_ppm
from memquorum.core.experience.weights import bounded
from memquorum.core.policy import ExperiencePolicy

ADMITTED: Final = "admitted"
REJECTED: Final = "rejected"
PROVISIONAL: Final = "provisional"


class Agreed(Struct, frozen=True):
    """The state of agreement over the statistics received so far. `told`: the statistics that count, None if not agreed
    yet. `asks`: the verifiers to ask next. `differ`: the verifiers whose statistics differ from the others', by a rule
    that every machine computes alike."""

    told: Statistics | None
    asks: tuple[str, ...] = ()
    differ: tuple[str, ...] = ()


def needed(faults: int) -> int:
    """So many verifiers have to tell the same: one more than may lie, and two in any case."""
    return max(2, faults + 1)


def most_asked(faults: int) -> int:
    """So many may be asked, so that those who are honest suffice: 2f + 1, and three in any case."""
    return max(3, 2 * faults + 1)


def alike(verifiers: int, faults: int) -> int:
    """So many have to tell the same where there are so many verifiers: all of them, where they are fewer."""
    return min(needed(faults), verifiers, most_asked(faults))


def agreed(
    drawn: Sequence[str], told: Mapping[str, Statistics], faults: int, policy: ExperiencePolicy, *, reproducible: bool
) -> Agreed:
    """Finds the statistics that the verifiers agree on. `drawn`: in the order of the draw; the statistics of other
    verifiers do not count.

    If there are fewer verifiers than have to agree, all of them have to.
    """
    order = tuple(drawn[: most_asked(faults)])
    least = alike(len(order), faults)
    heard = {who: told[who] for who in order if who in told}
    if not reproducible:
        return _median(order[:least], heard, policy)
    votes = Counter(one.digest for one in heard.values())
    best, count = votes.most_common(1)[0] if votes else (b"", 0)
    if not count or count < least:
        wanted = order if len(votes) > 1 else order[:least]
        return Agreed(None, tuple(who for who in wanted if who not in told))
    counts = next(one for one in heard.values() if one.digest == best)
    return Agreed(counts, differ=tuple(who for who, one in heard.items() if one.digest != best))


def _median(order: tuple[str, ...], heard: Mapping[str, Statistics], policy: ExperiencePolicy) -> Agreed:
    if any(who not in heard for who in order):
        return Agreed(None, tuple(who for who in order if who not in heard))
    scores = sorted((score_ppm(one, policy), one.digest, who) for who, one in heard.items())
    return Agreed(heard[scores[(len(scores) - 1) // 2][2]])


class Before(NamedTuple):
    """The earlier trials in which a candidate was rejected: the number of judges in all, and the sum of each judge's S
    in millionths."""

    judges: int = 0
    gained_ppm: int = 0

    def plus(self, told: Statistics, policy: ExperiencePolicy) -> Before:
        """The same with one trial more."""
        count = len(told.judged)
        return Before(self.judges + count, self.gained_ppm + count * score_ppm(told, policy))

    @property
    def score_ppm(self) -> int:
        """S over all of them, in millionths, rounded down; 0 without one."""
        return self.gained_ppm // max(1, self.judges)


_NEVER = Before()


def verdict(told: Statistics | None, policy: ExperiencePolicy, before: Before = _NEVER) -> str:
    """Returns the verdict on a candidate: ADMITTED, REJECTED, or PROVISIONAL if too few contexts could judge it. A
    candidate rejected `before` is judged by all tasks that were asked: otherwise a wrong one would be admitted by
    retries."""
    if told is None or len(told.judged) < policy.contexts_least:
        return PROVISIONAL
    return ADMITTED if before.plus(told, policy).score_ppm >= policy.eta_ppm else REJECTED


def first_weight_ppm(told: Statistics, policy: ExperiencePolicy) -> int:
    """w₀ of what was admitted: the policy's, or S where it names none, within the bounds of every weight."""
    return bounded(policy.first_ppm or score_ppm(told, policy), policy)
