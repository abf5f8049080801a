"""Suggests a policy for a namespace, and shares by type, from its own history (SPEC D; MaRS 3.4, 3.2.7).

**Policy.** The policy that served most reads of the history is suggested, if its lead over random and over the present
policy is beyond chance (`leads`); else none. The source puts a contextual bandit over the policies. A bandit sees only
the result of its choice; a replay sees that of every policy, so no exploration is needed: exponential weights, one set
for each context (Cesa-Bianchi and Lugosi 2006, theorem 2.3: with η_t = √(8 ln K / t) the regret is at most 2√(T/2 · ln
K) + √(ln K / 8) of the largest loss). A round is a window of the history, its loss the reads that a policy missed in
it, its context the workload of the window before: whether more came, and whether more was read, than in most windows so
far. The weights show the result of following the workload; if another policy serves the last context better, beyond
chance, that is reported too.

**Shares** move by the dual update: a type gains if its tokens would serve more reads (its misses per token of its
share), until all types serve alike. They are moved on the first half of the reads and evaluated on the second.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.budgets.items import place
from memquorum.core.budgets.limits import budget_of
from memquorum.core.facets import TYPES
from memquorum.core.policy import PPM
from memquorum.core.whatif.events import Asked, Came, Course, SummedUp, Used
from memquorum.core.whatif.leads import Lead, lead
from memquorum.core.whatif.replaying import Demand, Result, Trial, replay
from memquorum.core.whatif.vectors import Asking

ARMS = ("worth", "hybrid", "priority", "lru", "fifo")
"""The policies to choose from; at equal results the first wins. `random` is the baseline, and `reflection` is `worth`
where a replay makes no summaries of its own."""
RANDOM = "random"
READS_LEAST = 20
"""The minimum number of reads for a suggestion."""
MOVES = 10
"""The number of times that shares are moved."""
_STEP = 1.0
_SMALLEST = 0.02

Context = tuple[bool, bool]


class Lately(Struct, frozen=True):
    """A policy that serves windows like the last one better than the overall best does: its `hits` there, of so many
    `reads`, and its lead. `more_came`, `more_read`: the context of such windows."""

    policy: str
    hits: int
    reads: int
    lead: Lead
    more_came: bool
    more_read: bool


class Suggestion(Struct, frozen=True):
    """The suggestion for a namespace by its history; counts are reads.

    `policy`: the suggestion, the `best` of `ARMS` or none; `standing`: the policy of the namespace's budget, or its
    default; `hits`: of each of `ARMS`; `chance`: of `random`, the mean of its runs; `over_chance`, `over_standing`: the
    best one's leads, the second None where it is the standing one; `followed`: the expected hits of draws by the
    weights, window by window; `regret`: the best one's hits beyond that, and `bound` its maximum; `shares_ppm`: for
    that policy or the standing one; empty where no shares lead, beyond chance, on the `later` half of the reads, with
    (`shared`) and without (`unshared`).
    """

    namespace: str
    policy: str | None
    standing: str
    reads: int
    hits: dict[str, int]
    chance: float
    best: str
    over_chance: Lead
    over_standing: Lead | None
    followed: float
    regret: float
    bound: float
    lately: Lately | None = None
    shares_ppm: tuple[int, ...] = ()
    shared: int = 0
    unshared: int = 0
    later: int = 0


class _Round(Struct, frozen=True):
    """A window: its context, the misses of each arm among the known reads, and the reads that chance served."""

    context: Context
    missed: tuple[int, ...]
    reads: int
    chance: float = 0.0

    def hits(self, name: str) -> float:
        """Returns the reads served by an arm, or by chance."""
        return self.chance if name == RANDOM else self.reads - self.missed[ARMS.index(name)]


def suggest(
    course: Course, results: Sequence[Result], demand: Demand, trial: Trial, asking: Asking | None = None
) -> Suggestion | None:
    """Returns the suggestion by the history of a namespace; None with fewer than `READS_LEAST` reads. `results`: of all
    `ARMS` and of `random`, all with the same budget; `asking`: see `replay`."""
    of = {one.setting.policy: one for one in results}
    rounds, following = _rounds(course, [of[arm] for arm in ARMS], [one for one in results if _by_chance(one)])
    reads = sum(one.reads for one in rounds)
    if reads < READS_LEAST:
        return None
    hits = {arm: of[arm].counts.hits for arm in ARMS}
    standing = _standing(trial, course.namespace)
    best = max(ARMS, key=lambda name: (hits[name], name == standing))
    over_chance = _lead(rounds, best, RANDOM)
    over_standing = None if best == standing else _lead(rounds, best, _tried(standing))
    weights = _Weights(max(one.reads for one in rounds))
    followed = reads - sum(weights.take(one) for one in rounds)
    told = Suggestion(
        course.namespace,
        best if over_chance.certain and (over_standing is None or over_standing.certain) else None,
        standing, reads, hits, sum(one.chance for one in rounds), best, over_chance, over_standing,
        followed, hits[best] - followed, weights.bound(), _lately(rounds, following, weights, best),
    )  # fmt: skip
    kept = of.get(told.policy or _tried(standing))
    return told if kept is None else _with_shares(told, course, kept, demand, trial, asking=asking)


def _standing(trial: Trial, namespace: str) -> str:
    """Returns the policy of the namespace's budget, or the default policy without one."""
    budget = budget_of(trial.budget, namespace)
    return trial.budget.policy if budget is None else budget.policy


def _tried(name: str) -> str:
    """Returns the equivalent of a policy in a replay, which makes no summaries of its own."""
    return "worth" if name == "reflection" else name


def _by_chance(one: Result) -> bool:
    return one.setting.policy == RANDOM


def _lead(rounds: Sequence[_Round], better: str, other: str) -> Lead:
    """Returns the lead over another policy of one that was chosen among `ARMS`."""
    reads = sum(one.reads for one in rounds)
    return lead([one.hits(better) - one.hits(other) for one in rounds], reads, choices=len(ARMS))


def _lately(rounds: Sequence[_Round], following: Context, weights: _Weights, best: str) -> Lately | None:
    """Returns the policy that the weights of the last context prefer, if it leads the overall best there; else None."""
    drawn = weights.of(following)
    policy = ARMS[drawn.index(max(drawn))]
    alike = [one for one in rounds if one.context == following]
    ahead = _lead(alike, policy, best)
    if policy == best or not ahead.certain:
        return None
    hits = round(sum(one.hits(policy) for one in alike))
    return Lately(policy, hits, sum(one.reads for one in alike), ahead, *following)


class _Weights:
    """Exponential weights over the arms, separate for each context."""

    def __init__(self, most: int) -> None:
        """`most`: the most reads of a window, the largest loss."""
        self._most = max(1, most)
        self._missed: dict[Context, list[int]] = {}
        self._times: dict[Context, int] = {}

    def of(self, context: Context) -> list[float]:
        """Returns the share of each arm in the next window of a context."""
        missed, time = self._missed.get(context, [0] * len(ARMS)), self._times.get(context, 0) + 1
        eta = math.sqrt(8 * math.log(len(ARMS)) / time) / self._most
        least = min(missed)
        raw = [math.exp(-eta * (one - least)) for one in missed]
        return [one / sum(raw) for one in raw]

    def take(self, seen: _Round) -> float:
        """Returns the expected misses of a window, then learns from it."""
        expected = sum(share * one for share, one in zip(self.of(seen.context), seen.missed, strict=True))
        before = self._missed.get(seen.context, [0] * len(ARMS))
        self._missed[seen.context] = [a + b for a, b in zip(before, seen.missed, strict=True)]
        self._times[seen.context] = self._times.get(seen.context, 0) + 1
        return expected

    def bound(self) -> float:
        """Returns the most that all windows together can have cost beyond the best arm of each context."""
        log = math.log(len(ARMS))
        return self._most * sum(2 * math.sqrt(n / 2 * log) + math.sqrt(log / 8) for n in self._times.values())


def _rounds(course: Course, arms: Sequence[Result], lots: Sequence[Result]) -> tuple[list[_Round], Context]:
    """Returns the windows with reads, and the context of the next one. `lots`: the runs of `random`."""
    ends = [point.at for point in arms[0].points]
    came, asked = [0] * len(ends), [0] * len(ends)
    for event in course.events:
        at = min(bisect_left(ends, event.at), len(ends) - 1)
        if isinstance(event, Came | SummedUp):
            came[at] += event.item.tokens
        elif isinstance(event, Asked) or (isinstance(event, Used) and event.read):
            asked[at] += 1
    found, context = list[_Round](), (False, False)
    for at in range(len(ends)):
        known = [_since(one, at) for one in arms]
        reads = sum(known[0])
        if reads:
            chance = sum(_since(one, at)[0] for one in lots) / len(lots)
            found.append(_Round(context, tuple(misses for _, misses in known), reads, chance))
        context = (_many(came, at), _many(asked, at))
    return found, context


def _since(one: Result, at: int) -> tuple[int, int]:
    """Returns hits and misses in a window."""
    end, begin = one.points[at], one.points[at - 1] if at else None
    return end.hits - (begin.hits if begin else 0), end.misses - (begin.misses if begin else 0)


def _many(counts: Sequence[int], at: int) -> bool:
    """True if the count is above that of most windows so far."""
    before = sorted(counts[: at + 1])
    return counts[at] > before[len(before) // 2]


def _with_shares(
    told: Suggestion, course: Course, first: Result, demand: Demand, trial: Trial, *, asking: Asking | None
) -> Suggestion:
    """Moves the shares by the misses of each type in the first half, beginning with what the policy holds without
    shares."""
    there = {item.type for item in demand.items.values()}
    if len(there) < 2:
        return told
    middle = _middle(first)
    shares, tried, run = _held(demand, there), list[tuple[int, tuple[int, ...], Result]](), first
    for _ in range(MOVES):
        shares = _moved(shares, run, demand, first.points[middle].at)
        ppm = _ppm(shares)
        budget = replace(trial.budget, shares_ppm=ppm)
        (run,), _ = replay(course, [first.setting], replace(trial, budget=budget), asking=asking)
        tried.append((run.points[middle].hits, ppm, run))
    early, ppm, run = max(tried, key=lambda one: one[0])
    shared, unshared = _later(run, middle), _later(first, middle)
    later = unshared + first.points[-1].misses - first.points[middle].misses
    gained = [_since(run, at)[0] - _since(first, at)[0] for at in range(middle + 1, len(first.points))]
    if early <= first.points[middle].hits or not lead(gained, later).certain:
        return told
    return replace(told, shares_ppm=ppm, shared=shared, unshared=unshared, later=later)


def _middle(one: Result) -> int:
    """Returns the index of the point by which half of all reads were made."""
    reads = [point.hits + point.misses for point in one.points]
    return min(bisect_left(reads, reads[-1] / 2), len(reads) - 1)


def _later(one: Result, middle: int) -> int:
    return one.points[-1].hits - one.points[middle].hits


def _held(demand: Demand, there: set[str]) -> list[float]:
    """Returns the share of each type in the memories that came; 0 for a type that never came."""
    tokens = [0] * len(TYPES)
    for item in demand.items.values():
        tokens[place(item.type)] += item.tokens
    return [
        max(_SMALLEST, one / sum(tokens)) if name in there else 0.0 for name, one in zip(TYPES, tokens, strict=True)
    ]


def _moved(shares: Sequence[float], run: Result, demand: Demand, until: int) -> list[float]:
    """Takes one step of the dual update: by the misses of each type, per token of its share."""
    missed = [0] * len(TYPES)
    for one in run.regrets:
        if one.wanted_at <= until:
            missed[place(demand.items[one.memory_id].type)] += 1
    gains = [count / share if share else 0.0 for count, share in zip(missed, shares, strict=True)]
    most = max(gains)
    if not most:
        return list(shares)
    moved = [share * math.exp(_STEP * gain / most) for share, gain in zip(shares, gains, strict=True)]
    whole = sum(moved)
    return [max(_SMALLEST, one / whole) if one else 0.0 for one in moved]


def _ppm(shares: Sequence[float]) -> tuple[int, ...]:
    """Converts shares to integer millionths that sum to 1,000,000."""
    whole = sum(shares)
    found = [int(one / whole * PPM) for one in shares]
    largest = max(range(len(found)), key=lambda at: found[at])
    found[largest] += PPM - sum(found)
    return tuple(found)
