"""Settings beside each other over all namespaces: ratios with both bounds, oracle shares, regrets, and the hash.

**Oracle share** = (policy − random) / (oracle − random) of the reads that were served: 0 is random, 1 the best that was
found. Random is the mean of `SEEDS` runs; the oracle is, in each namespace, the best of its densities and the settings
compared, as the optimum is unknown (`keepers`). `ceiling` is the upper bound (`bounds`).

The hash covers the settings, the events, the ids of memories with a key, and the result. The same topics and keys give
the same hash, in any order of their partitions.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.budgets.rules import UnknownPolicy
from memquorum.core.policy import FORGETTING, TOKENS_LEAST
from memquorum.core.whatif.bounds import most_hits
from memquorum.core.whatif.choosing import ARMS, RANDOM, Suggestion, suggest
from memquorum.core.whatif.events import Came, Course, SummedUp
from memquorum.core.whatif.keepers import DENSITIES, ORACLE, VOTED, Setting
from memquorum.core.whatif.replaying import Counts, Demand, Point, Regret, Result, Trial, replay
from memquorum.core.whatif.vectors import Asking

SEEDS = 10
"""The number of runs of `random` that are averaged."""
NAMED_MOST = 100
"""The maximum number of regrets of a policy that are named, the heaviest first."""
_VERSION = 2

Spread = Callable[[Callable[[Course], Any], Iterable[Course]], Iterable[Any]]


class CannotTry(ValueError):
    """Raised for a request that cannot be replayed; the message says why."""


class PolicyResult(Struct, frozen=True):
    """A policy's result. Counts are means of several runs. `share_ppm`: the oracle share in millionths; None where the
    oracle serves no more than random."""

    policy: str
    counts: dict[str, float]
    share_ppm: int | None
    regrets: tuple[Regret, ...]
    points: tuple[Point, ...]

    def hit(self, tokens: bool = False) -> tuple[float, float] | None:
        """Returns the bounds of the read hit ratio, or the token hit ratio: the lower one, then the upper one; None
        without reads."""
        hits, misses, unknown = (
            self.counts[name]
            for name in (("hit_tokens", "missed_tokens", "unknown_tokens") if tokens else ("hits", "misses", "unknown"))
        )
        wanted = hits + misses + unknown
        return (hits / wanted, (hits + unknown) / wanted) if wanted else None


class TrialReport(Struct, frozen=True):
    """A trial of several policies. `tokens`: the budget of each namespace; `again`: reads by queries that were asked
    again, `logged`: reads as they were logged; `keyless`: memories without a key; `suggestions`: for each namespace
    with enough reads, where requested; the hash does not cover them, as they follow from the rest."""

    tokens: int
    namespaces: int
    memories: int
    keyless: int
    again: int
    logged: int
    since: int
    until: int
    ceiling: float
    lines: tuple[PolicyResult, ...]
    hash: bytes
    suggestions: tuple[Suggestion, ...] = ()

    def line(self, policy: str) -> PolicyResult:
        """Returns the line of a policy."""
        return next(one for one in self.lines if one.policy == policy)


def settings(policies: Sequence[str], tokens: int) -> list[Setting]:
    """Returns the settings to run for policies: each once, random with every seed, and the fleet's own votes.

    Raises CannotTry for an unknown policy, or a budget that is too low.
    """
    if tokens < TOKENS_LEAST:
        raise CannotTry(f"--budget {tokens}: {TOKENS_LEAST} tokens are the least")
    unknown = [one for one in policies if one not in FORGETTING]
    if unknown:
        raise CannotTry(f"policy {unknown[0]!r} is unknown; known: {', '.join(FORGETTING)}")
    found = [Setting(one, tokens) for one in dict.fromkeys(policies) if one != RANDOM]
    return [*found, *(Setting(RANDOM, tokens, seed) for seed in range(SEEDS)), Setting(VOTED, tokens)]


class Tried(Struct):
    """A replayed namespace: the results of the settings, the demand, and the upper bound; `best`: the result with most
    served reads, of the oracle's densities and the settings; an oracle wins a tie."""

    results: list[Result]
    demand: Demand
    ceiling: float
    best: Result
    asking: Asking


def attempt(course: Course, tried: Sequence[Setting], trial: Trial) -> Tried:
    """Replays a namespace under the settings, all with the same budget, and then the oracle. Raises CannotTry."""
    asking = Asking(course.vectors, course.queries)
    try:
        results, demand = replay(course, tried, trial, asking=asking)
    except UnknownPolicy as error:
        raise CannotTry(str(error)) from None
    tokens = max(one.tokens or 0 for one in tried)
    oracles, _ = replay(course, [Setting(ORACLE, tokens, density=one) for one in DENSITIES], trial, demand, asking)
    came = (one for one in course.events if isinstance(one, Came | SummedUp))
    arrivals = {one.item.memory_id: max(one.at, trial.begins) for one in came}
    under = [one for one in results if one.setting.policy != VOTED]
    best = max([*oracles, *under], key=lambda one: one.counts.hits)
    return Tried(results, demand, most_hits(demand, arrivals, tokens), best, asking)


def compare(
    courses: Sequence[Course],
    policies: Sequence[str],
    tokens: int,
    trial: Trial,
    tell: Callable[[int, int], None] = lambda done, total: None,
    *,
    suggesting: bool = False,
    spread: Spread = map,
) -> TrialReport:
    """Compares the policies over all namespaces, each with so many tokens. `tell`: called with the namespaces done, and
    their number; `suggesting`: also tries all of `choosing.ARMS` and adds suggestions; `spread`: maps as `map` does,
    maybe in other processes, as namespaces are independent.

    Raises CannotTry for an unknown policy, a budget that is too low, and where there are no events.
    """
    tried = settings([*policies, *(ARMS if suggesting else ())], tokens)
    ordered = sorted(courses, key=lambda course: course.namespace)
    times = [one.events[at].at for one in ordered if one.events for at in (0, -1)]
    if not times:
        raise CannotTry("there is nothing to replay: no memory was ever stored here")
    begins, ends = max(trial.begins, min(times)), max(times)
    if begins > ends:
        raise CannotTry("--from is later than the last event: there is nothing to replay")
    trial = replace(trial, begins=begins, ends=ends)
    spoken, found = hashlib.sha256(_encoded((_VERSION, tried, trial))), list[_Kept]()
    suggestions = list[Suggestion]()
    for one, suggested, said in spread(partial(_replayed, tried=tried, trial=trial, suggesting=suggesting), ordered):
        spoken.update(said)
        suggestions += [] if suggested is None else [suggested]
        found.append(one)
        tell(len(found), len(ordered))
    return replace(_report(found, tried, trial, told=spoken.digest()), suggestions=tuple(suggestions))


def _replayed(
    course: Course, *, tried: Sequence[Setting], trial: Trial, suggesting: bool
) -> tuple[_Kept, Suggestion | None, bytes]:
    """Returns the kept results of a namespace, its suggestion, and the digest of its events."""
    said = _digest(course)
    one = attempt(course, tried, trial)
    suggested = suggest(course, one.results, one.demand, trial, one.asking) if suggesting else None
    return _kept(course, one), suggested, said


class _Kept(Struct, frozen=True):
    """The kept results of a replayed namespace: of its regrets only those that may be named."""

    results: list[Result]
    best: Result
    ceiling: float
    memories: int
    keyless: int
    again: int
    logged: int


def _kept(course: Course, one: Tried) -> _Kept:
    for result in (*one.results, one.best):
        result.regrets = list(_worst([result]))
    came = one.demand.items.keys()
    keyless = len(came - course.vectors.row.keys())
    return _Kept(one.results, one.best, one.ceiling, len(came), keyless, one.demand.again, one.demand.logged)


def _report(found: Sequence[_Kept], tried: Sequence[Setting], trial: Trial, *, told: bytes) -> TrialReport:
    results = [one for each in found for one in each.results]
    summed = totals(results)
    lines = list[PolicyResult]()
    for policy in dict.fromkeys(one.policy for one in tried):
        runs = [one for one in tried if one.policy == policy]
        own = [one for one in results if one.setting in runs]
        first = [one for one in own if one.setting == runs[0]]
        lines.append(
            PolicyResult(
                policy, mean([summed[one] for one in runs]), None, _worst(first), tuple(_points(own, len(runs)))
            )
        )
    best = [each.best for each in found]
    counts = mean([sum((one.counts for one in best), Counts())])
    lines.append(PolicyResult(ORACLE, counts, None, (), tuple(_points(best, 1))))
    chance = next(one.counts["hits"] for one in lines if one.policy == RANDOM)
    lines = [
        one if one.policy == VOTED else replace(one, share_ppm=share_ppm(one.counts["hits"], chance, counts["hits"]))
        for one in lines
    ]
    made = TrialReport(
        max(one.tokens or 0 for one in tried),
        len(found),
        sum(each.memories for each in found),
        sum(each.keyless for each in found),
        sum(each.again for each in found),
        sum(each.logged for each in found),
        trial.begins,
        trial.ends,
        sum(each.ceiling for each in found),
        tuple(lines),
        b"",
    )
    return replace(made, hash=hashlib.sha256(told + _encoded(made)).digest())


def totals(results: Iterable[Result]) -> dict[Setting, Counts]:
    """Returns the sum of each setting's counts over all namespaces."""
    found: dict[Setting, Counts] = {}
    for one in results:
        found[one.setting] = found.get(one.setting, Counts()) + one.counts
    return found


def mean(counts: Sequence[Counts]) -> dict[str, float]:
    """Returns the mean of each count, by name."""
    names = Counts.__struct_fields__
    return {name: sum(getattr(one, name) for one in counts) / len(counts) for name in names}


def share_ppm(hits: float, chance: float, best: float) -> int | None:
    """Returns the oracle share in millionths, rounded down; negative for a result below random."""
    return None if best <= chance else int((hits - chance) * 1_000_000 // (best - chance))


def _worst(results: Iterable[Result]) -> tuple[Regret, ...]:
    regrets = [one for result in results for one in result.regrets]
    return tuple(sorted(regrets, key=lambda one: (-one.tokens, one.memory_id, one.wanted_at))[:NAMED_MOST])


def _points(results: Sequence[Result], runs: int) -> Iterable[Point]:
    """Yields the sums of the namespaces by time; for several runs the mean, rounded down."""
    for some in zip(*(one.points for one in results), strict=True):
        yield Point(
            some[0].at, *(sum(getattr(one, name) for one in some) // runs for name in ("tokens", "hits", "misses"))
        )


def _digest(course: Course) -> bytes:
    spoken = hashlib.sha256()
    spoken.update(_encoded((course.namespace, len(course.events), course.vectors.ids)))
    spoken.update(hashlib.sha256(course.vectors.digest_bytes()).digest())
    for at in sorted(course.queries):
        spoken.update(_encoded((at, course.queries[at].tobytes())))
    for event in course.events:
        spoken.update(_encoded(event))
    return spoken.digest()


def _encoded(value: object) -> bytes:
    return msgspec.msgpack.encode(value, enc_hook=str, order="sorted")


def plain(report: TrialReport) -> dict[str, Any]:
    """Returns the report as plain values, by name."""
    told: dict[str, Any] = {
        name: getattr(report, name) for name in report.__struct_fields__ if name not in ("lines", "hash", "suggestions")
    }
    told["hash"] = report.hash.hex()
    told["suggestions"] = msgspec.to_builtins(report.suggestions)
    for line in report.lines:
        low_high = {"read_hit": line.hit(), "token_hit": line.hit(tokens=True)}
        told[line.policy] = {
            **line.counts,
            **{
                f"{name}_{end}": None if at is None else at[n]
                for name, at in low_high.items()
                for n, end in enumerate(("low", "high"))
            },
            "oracle_share": None if line.share_ppm is None else line.share_ppm / 1_000_000,
            "churn": line.counts["gone_tokens"] / max(1.0, line.counts["came_tokens"]),
            "regrets": msgspec.to_builtins(line.regrets),
            "points": msgspec.to_builtins(line.points),
        }
    return told
