"""Moves the weight of an admitted memory by the gains of its uses (SEDM 3.3.2; SPEC E).

w ← w + α·U − β for a use without gain, for every task in which the memory was given. This is the source's w ← w + α·Ū −
β·f_use with one task as its step, f_use being the share of uses without gain (research: what the source calls use would
punish use). An epoch takes all its steps at once, so the order in which its uses came changes nothing; and a task
counts once: what is said of it later takes the place of what was counted. U ∈ [−1, 1]: 1 is a task that went well by
it, −1 one that it led astray (`uses`). An unused memory keeps its weight here, and counts less in reads (`faded_ppm`).

Every change has a version and can be rolled back: `rolled_back` makes a new version that weighs what an older one did.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.experience.trial import Statistics
from memquorum.core.policy import PPM, ExperiencePolicy

SERVED: Final = "served"
PROMOTED: Final = "promoted"
DEMOTED: Final = "demoted"
REMOVED: Final = "removed"
LEFT: Final = "left"
"""The state of a memory that was erased or forgotten, whatever its weight."""

BY_ADMISSION: Final = "admitted"
BY_USE: Final = "used"
BY_ROLLBACK: Final = "rolled back"
BY_MERGING: Final = "merged"
BY_GENERALISING: Final = "general"
_HALVINGS_MOST = 64
"""No weight is more than 0 after as many."""
CAUSES: Final = (BY_ADMISSION, BY_USE, BY_ROLLBACK, BY_MERGING, BY_GENERALISING)
"""The causes of a version of a weight."""


class Use(Struct, frozen=True):
    """The gain U of giving a memory to a task, in millionths. `context`: the id of the task; `before_ppm`: the gain
    counted for it before, None if nothing was."""

    context: str
    gain_ppm: int
    before_ppm: int | None = None


class Evidence(Struct, frozen=True, order=True):
    """The evidence on a memory in one context: the sum of its gains in millionths, and their number."""

    context: str
    sum_ppm: int
    count: int

    @property
    def mean_ppm(self) -> int:
        """The mean, rounded down."""
        return self.sum_ppm // self.count


class Weight(Struct, frozen=True):
    """A memory's weight at one version. `gains`, `losses`: in how many contexts it helped on the whole, and in how many
    it did harm; `evidence`: what came with this version, by context. The evidence on a memory is that of all its
    versions: the later one on a context counts."""

    memory_id: str
    weight_ppm: int
    version: int
    gains: int = 0
    losses: int = 0
    evidence: tuple[Evidence, ...] = ()


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
    return _weighing(told.candidate, weight_ppm, 1, seen)


def moved(now: Weight, uses: Iterable[Use], policy: ExperiencePolicy) -> Weight:
    """The weight after an epoch with these uses, of which a context has one: the next version, or `now` itself where
    there were none. The gain counted for a use before is taken back first."""
    steps, gains, losses, seen = 0, now.gains, now.losses, list[Evidence]()
    for use in uses:
        steps += _step(use.gain_ppm, policy) - _step(use.before_ppm, policy)
        before = use.before_ppm or 0
        gains += (use.gain_ppm > 0) - (before > 0)
        losses += (use.gain_ppm < 0) - (before < 0)
        seen.append(Evidence(use.context, use.gain_ppm, 1))
    if not seen:
        return now
    weight = bounded(now.weight_ppm + steps, policy)
    return Weight(now.memory_id, weight, now.version + 1, gains, losses, tuple(sorted(seen)))


def _step(gain_ppm: int | None, policy: ExperiencePolicy) -> int:
    if gain_ppm is None:
        return 0
    within = min(PPM, max(-PPM, gain_ppm))
    return policy.alpha_ppm * within // PPM - (policy.beta_ppm if within <= 0 else 0)


def _weighing(memory_id: str, weight_ppm: int, version: int, evidence: Iterable[Evidence]) -> Weight:
    seen = tuple(sorted(evidence))
    gains, losses = sum(one.mean_ppm > 0 for one in seen), sum(one.mean_ppm < 0 for one in seen)
    return Weight(memory_id, weight_ppm, version, gains, losses, seen)


def standing(now: Weight, policy: ExperiencePolicy) -> str:
    """Returns the standing by weight: REMOVED at the least weight there is, DEMOTED below the floor (kept, not given),
    PROMOTED for steady gains, which calls for a general form; SERVED otherwise.

    Gains are steady where it helped in `promote_contexts` contexts and did harm in none.
    """
    if now.weight_ppm <= policy.weight_least_ppm:
        return REMOVED
    if now.weight_ppm < policy.floor_ppm:
        return DEMOTED
    steady = now.gains >= policy.promote_contexts and not now.losses
    return PROMOTED if steady and now.weight_ppm >= policy.promote_ppm else SERVED


def faded_ppm(weight_ppm: int, idle_ms: int, policy: ExperiencePolicy) -> int:
    """Returns what a weight counts in reads after so long without a use: half of it after each `idle_half_ms`, and on a
    straight line between (SEDM 3.3.2: what is rarely retrieved loses influence; decision 234).

    Silence is no evidence of harm, so it takes no weight below the floor: what was given is given, further down. It is
    computed at each read from times of the journal: all who read the same journal compute the same.
    """
    if policy.idle_half_ms <= 0 or idle_ms <= 0 or weight_ppm <= policy.floor_ppm:
        return weight_ppm
    halvings, rest = divmod(idle_ms, policy.idle_half_ms)
    left = weight_ppm >> min(halvings, _HALVINGS_MOST)
    return max(policy.floor_ppm, left - left * rest // (2 * policy.idle_half_ms))


def united(parts: Iterable[Iterable[Evidence]]) -> tuple[Evidence, ...]:
    """All evidence by context, each context once: sums and counts are added, so that the mean of a context is that of
    all that was seen there, whatever is united first."""
    found: dict[str, tuple[int, int]] = {}
    for part in parts:
        for one in part:
            total, count = found.get(one.context, (0, 0))
            found[one.context] = total + one.sum_ppm, count + one.count
    return tuple(Evidence(context, *found[context]) for context in sorted(found))


def merged(
    kept: Weight, seen: Iterable[Evidence], others: Iterable[Iterable[Evidence]], policy: ExperiencePolicy
) -> Weight:
    """The next version of what stays of near-duplicates: it moves as if what came of using the others had come of its
    own use (SEDM 3.3.2; decision 129). `seen`: what came of its own use, `others`: of each of the others.

    No task counts twice: of one that it was given itself what came of it there counts, which is also what a later word
    takes the place of.
    """
    own = {one.context for one in seen}
    uses = (Use(one.context, one.mean_ppm) for one in united(others) if one.context not in own)
    later = moved(kept, uses, policy)
    return later if later is not kept else replace(kept, version=kept.version + 1, evidence=())


def general(memory_id: str, specific: Weight, policy: ExperiencePolicy) -> Weight:
    """The first version of a general form: w = `general_ppm` · w of what it was made of, and no evidence of its own.
    With its uses it gathers evidence, and its weight becomes its own (SEDM 3.4)."""
    return Weight(memory_id, bounded(specific.weight_ppm * policy.general_ppm // PPM, policy), 1)


def rolled_back(now: Weight, versions: Mapping[int, Weight], to: int) -> Weight:
    """A new version that weighs what an older one did, and has its gains and losses. Raises KeyError where there is no
    such version, and ValueError for one that is not older."""
    if to >= now.version:
        raise ValueError(f"version {to} is not older than {now.version}")
    older = versions[to]
    return Weight(now.memory_id, older.weight_ppm, now.version + 1, older.gains, older.losses)
