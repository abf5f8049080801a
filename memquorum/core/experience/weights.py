"""How the weight of an admitted memory moves with what came of its use (SEDM 3.3.2; SPEC E).

w ← w + α·U − β for a use without gain, for every task in which the memory was given: the source's w ← w + α·Ū − β·f_use
with one task as its step, f_use being the share of uses without gain (research: what the source calls use would punish
use). An epoch takes all its steps at once, so how long it is, and in which order its uses came, changes nothing; and a
task counts once, by the mean of what was said of it, however often that was said. U ∈ [−1, 1]: 1 is a task that went
well by it, −1 one that it led astray. What was not used keeps its weight here; idle decay is a matter of its own.

Every change has a version and can be taken back: `taken_back` makes a new version that weighs what an older one did.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from memquorum.core.experience.trial import Statistics
from memquorum.core.policy import PPM, ExperiencePolicy

SERVED: Final = "served"
PROMOTED: Final = "promoted"
DEMOTED: Final = "demoted"
REMOVED: Final = "removed"


class Use(Struct, frozen=True):
    """What came of giving a memory to a task. `id`: of the record that says so; one that is said again counts once.
    `context`: the id of the task; `gain_ppm`: U, in millionths."""

    id: str
    context: str
    gain_ppm: int


class Evidence(Struct, frozen=True, order=True):
    """What was seen of a memory in one context, all in all: a sum of gains in millionths, and how many they are."""

    context: str
    sum_ppm: int
    count: int

    @property
    def mean_ppm(self) -> int:
        """The mean, rounded down."""
        return self.sum_ppm // self.count


class Weight(Struct, frozen=True):
    """A memory's weight at one version, and all that speaks for or against it, by context."""

    memory_id: str
    weight_ppm: int
    version: int
    evidence: tuple[Evidence, ...] = ()

    @property
    def gains(self) -> int:
        """The number of contexts in which it helped, on the whole."""
        return sum(one.mean_ppm > 0 for one in self.evidence)

    @property
    def losses(self) -> int:
        """The number of those in which it did harm, on the whole: its conflicts."""
        return sum(one.mean_ppm < 0 for one in self.evidence)


def written(evidence: Iterable[Evidence]) -> str:
    """Evidence as it is stored: JSON, always the same for the same."""
    return json.dumps([[one.context, one.sum_ppm, one.count] for one in sorted(evidence)], separators=(",", ":"))


def read_evidence(told: str) -> tuple[Evidence, ...]:
    """Evidence as it was stored."""
    return tuple(Evidence(*one) for one in json.loads(told))


def bounded(weight_ppm: int, policy: ExperiencePolicy) -> int:
    """A weight within the bounds of all of them."""
    return min(policy.weight_most_ppm, max(policy.weight_least_ppm, weight_ppm))


def admitted(told: Statistics, weight_ppm: int) -> Weight:
    """The first version of what was admitted, with what its judges said as evidence."""
    runs = max(1, told.runs)
    seen = (Evidence(one.context, one.reward_with - one.reward_without, runs) for one in told.judged)
    return Weight(told.candidate, weight_ppm, 1, tuple(sorted(seen)))


def moved(now: Weight, uses: Iterable[Use], policy: ExperiencePolicy) -> Weight:
    """The weight after an epoch with these uses: the next version, or the same where there were none."""
    by_context: dict[str, dict[str, int]] = {}
    for use in uses:
        by_context.setdefault(use.context, {}).setdefault(use.id, min(PPM, max(-PPM, use.gain_ppm)))
    if not by_context:
        return now
    steps = 0
    for gains in by_context.values():
        mean = sum(gains.values()) // len(gains)
        steps += policy.alpha_ppm * mean // PPM - (policy.beta_ppm if mean <= 0 else 0)
    seen = [Evidence(context, sum(gains.values()), len(gains)) for context, gains in by_context.items()]
    weight = bounded(now.weight_ppm + steps, policy)
    return Weight(now.memory_id, weight, now.version + 1, united((now.evidence, seen)))


def standing(now: Weight, policy: ExperiencePolicy) -> str:
    """What is to become of it: REMOVED at the least weight there is, DEMOTED below the floor (kept, not given),
    PROMOTED for steady gains, which calls for a general form; SERVED otherwise.

    Gains are steady where it helped in `promote_contexts` contexts and did harm in none.
    """
    if now.weight_ppm <= policy.weight_least_ppm:
        return REMOVED
    if now.weight_ppm < policy.floor_ppm:
        return DEMOTED
    steady = now.gains >= policy.promote_contexts and not now.losses
    return PROMOTED if steady and now.weight_ppm >= policy.promote_ppm else SERVED


def united(parts: Iterable[Iterable[Evidence]]) -> tuple[Evidence, ...]:
    """All evidence by context, each context once: sums and counts are added, so that the mean of a context is that of
    all that was seen there, whatever is united first."""
    found: dict[str, tuple[int, int]] = {}
    for part in parts:
        for one in part:
            total, count = found.get(one.context, (0, 0))
            found[one.context] = total + one.sum_ppm, count + one.count
    return tuple(Evidence(context, *found[context]) for context in sorted(found))


def merged(memory_id: str, parts: Iterable[Weight], policy: ExperiencePolicy) -> Weight:
    """The weight of what takes the place of near-duplicates: the mean over the contexts of all of them, each counted
    once (SEDM 3.3.2, without double counting; research/judgement d). Without any evidence: the least of their weights.

    Its version is above all of theirs, so that one line of versions remains. Raises ValueError for none.
    """
    some = sorted(parts, key=lambda one: one.memory_id)
    if not some:
        raise ValueError("nothing merges into something")
    evidence = united(one.evidence for one in some)
    means = [one.mean_ppm for one in evidence]
    weight = sum(means) // len(means) if means else min(one.weight_ppm for one in some)
    return Weight(memory_id, bounded(weight, policy), 1 + max(one.version for one in some), evidence)


def general(memory_id: str, specific: Weight, policy: ExperiencePolicy) -> Weight:
    """The first version of a general form: w = `general_ppm` · w of what it was made of, and no evidence of its own.
    Where it is used it gathers that, and its weight becomes its own (SEDM 3.4)."""
    return Weight(memory_id, bounded(specific.weight_ppm * policy.general_ppm // PPM, policy), 1)


def taken_back(now: Weight, versions: Mapping[int, Weight], to: int) -> Weight:
    """A new version that weighs what an older one did, by its evidence. Raises KeyError where there is no such
    version, and ValueError for one that is not older."""
    if to >= now.version:
        raise ValueError(f"version {to} is not older than {now.version}")
    older = versions[to]
    return Weight(now.memory_id, older.weight_ppm, now.version + 1, older.evidence)
