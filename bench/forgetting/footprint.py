"""The paper's footprint: 1,000 memories, 10 to 20 more each epoch, 500 epochs, four agents, five seeds (SPEC A).

The figures of the paper are kept: 100 interactions an epoch, so 10 to 20 new memories and 80 to 90 reads; default
weights, scales, δ, θ, ω and α. The rest is chosen here:

- **texts**: acts of five words or more of AMI's meetings, teams in an order drawn by the seed, four speakers as four
  agents: people of four roles at one task. All are stored (the paper has no salience gate);
- **access**: each memory has a rank by lot, and the weight rank^-s: Zipf's law. Reads are drawn by weight among all
  memories made so far, also the forgotten ones: a read of one of these is in vain. s = SKEW, for then a cache of the
  100 last used, as the paper has it, hits about as often as the paper says (82 %);
- **pace**: how long an interaction takes, so how fast decay is in epochs. 1 s; beside it 30 s (SPEC B's for logs
  without times), 10 s and 0.1 s;
- **caps**: off, as in the paper, unless a row says so;
- **history**: the first 1,000 were last read at times uniform over the last hour.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.forgetting import measures
from bench.forgetting.fleet import Fleet, genesis
from bench.forgetting.meetings import BEGAN, Meeting
from bench.forgetting.said import BY_THE_PAPER, RULES, UNCAPPED
from bench.forgetting.vectors import Vectors
from memquorum.core.policy import Policy

EPOCHS, SEEDS, FIRST, INTERACTIONS = 500, 5, 1_000, 100
NEW = (10, 20)
SKEW = 1.3
PACES_S = (1, 30, 10, 0.1)
AT = (100, 200, 500)
PAPER = {100: 0.35, 200: 0.48, 500: 0.52}
_HISTORY_MS, _CACHE, _WORDS = 3_600_000, 100, 5
EARLY, LATE = 20, 100
"""The first and the last epochs that a rate of deletion is the mean of."""
EVERY = 10
"""The course of a run is kept at one epoch of so many."""
_KEPT = slice(EVERY - 1, None, EVERY)

Texts = Sequence[tuple[str, str, NDArray[np.float32]]]
"""(agent, text, vector) of each memory, in the order in which they are made."""


@dataclass(frozen=True)
class Script:
    """The events, independent of what is forgotten: the number of new memories in each epoch, and the
    requested ones.
    """

    new: tuple[int, ...]
    asked: tuple[tuple[int, ...], ...]
    weights: NDArray[np.float64]
    history: NDArray[np.int64]

    @staticmethod
    def of(seed: int, epochs: int = EPOCHS, skew: float = SKEW) -> Script:
        """The same for the same seed."""
        random = np.random.default_rng(seed)
        new = random.integers(NEW[0], NEW[1] + 1, epochs)
        weights = np.asarray((1.0 + random.permutation(FIRST + int(new.sum()))) ** -skew, np.float64)
        sums, there, asked = np.cumsum(weights), FIRST, []
        for count in new.tolist():
            there += count
            drawn = random.random(INTERACTIONS - count) * sums[there - 1]
            asked.append(tuple(np.searchsorted(sums, drawn, side="right").tolist()))
        return Script(tuple(new.tolist()), tuple(asked), weights, random.integers(0, _HISTORY_MS, FIRST))

    @property
    def made(self) -> NDArray[np.int64]:
        """Returns how many memories there would be after each epoch without forgetting."""
        return FIRST + np.cumsum(np.array(self.new))

    def cached(self) -> float:
        """Returns how often the 100 memories asked for last contain the next one, without forgetting."""
        cache: OrderedDict[int, None] = OrderedDict()
        hits = 0
        for at in (at for asked in self.asked for at in asked):
            hits += at in cache
            cache[at] = None
            cache.move_to_end(at)
            if len(cache) > _CACHE:
                cache.popitem(last=False)
        return hits / sum(map(len, self.asked))


def texts(meetings: Sequence[Meeting], vectors: Vectors, seed: int, count: int) -> Texts:
    """So many acts, teams in an order by the seed, each team's meetings as they followed each other."""
    teams = sorted({meeting.series for meeting in meetings})
    np.random.default_rng([seed, 7]).shuffle(teams)
    found: list[tuple[str, str]] = []
    for team in teams:
        for meeting in sorted((m for m in meetings if m.series == team), key=lambda m: m.name):
            found += [
                (f"agent-{meeting.speakers.index(act.speaker) % 4}", act.text)
                for act in meeting.acts
                if act.words >= _WORDS
            ]
    if len(found) < count:
        raise ValueError(f"{len(found)} acts of {_WORDS} words or more, {count} are needed")
    encoded = vectors.of([text for _, text in found[:count]])
    return [(agent, text, vector) for (agent, text), vector in zip(found[:count], encoded, strict=True)]


@dataclass(frozen=True)
class Course:
    """A run, epoch by epoch: memories alive at its end, forgotten in it, reads in vain in it; who is alive at last."""

    alive: NDArray[np.int64]
    forgotten: NDArray[np.int64]
    vain: NDArray[np.int64]
    last: NDArray[np.bool_]


def run(
    script: Script, said: Texts, rule: str, pace_s: float, policy: Policy = UNCAPPED, *, scored: bool = False
) -> Course:
    """The line's votes, by one of the rules. `scored`: each memory has its salience, and triage goes by it."""
    fleet = Fleet(
        genesis([f"agent-{n}" for n in range(4)], policy), len(said[0][2]), gate=False, scored=scored, rule=RULES[rule]
    )
    for at in np.argsort(-script.history, kind="stable").tolist():
        fleet.episode(str(at), *said[at], BEGAN - int(script.history[at]))
    now, made, rows = BEGAN, FIRST, []
    for count, asked in zip(script.new, script.asked, strict=True):
        # Evenly among the reads.
        fresh = {round((n + 0.5) * INTERACTIONS / count) for n in range(count)}
        reads, vain = iter(asked), 0
        for step in range(INTERACTIONS):
            now += round(1_000 * pace_s)
            if step in fresh:
                fleet.episode(str(made), *said[made], now)
                made += 1
                continue
            at = str(next(reads))
            vain += at not in fleet.alive
            fleet.access([at], now)
        epoch = fleet.tick(now)
        rows.append((len(fleet.alive), len(epoch.forgotten) if epoch else 0, vain))
    alive, forgotten, vain_of = np.array(rows, np.int64).T
    return Course(alive, forgotten, vain_of, np.array([str(at) in fleet.alive for at in range(made)]))


def rival(script: Script, sizes: NDArray[np.int64], order: Callable[[NDArray[np.int64]], NDArray[Any]]) -> Course:
    """As small a store after each epoch, what goes chosen by an order: (last use of each) → the lowest go first."""
    total = FIRST + sum(script.new)
    used, alive = np.full(total, -1, np.int64), np.zeros(total, bool)
    alive[:FIRST] = True
    used[:FIRST] = -script.history
    made, clock, rows = FIRST, 0, []
    for count, asked, size in zip(script.new, script.asked, sizes.tolist(), strict=True):
        alive[made : made + count] = True
        used[made : made + count] = clock
        made += count
        vain = sum(not alive[at] for at in asked)
        for at in asked:
            clock += 1
            used[at] = clock
        over = int(alive.sum()) - size
        if over > 0:
            there = np.flatnonzero(alive)
            alive[there[np.argsort(order(used)[there], kind="stable")[:over]]] = False
        rows.append((int(alive.sum()), max(0, over), vain))
    sizes_of, gone_of, vain_of = np.array(rows, np.int64).T
    return Course(sizes_of, gone_of, vain_of, alive)


def measure(
    meetings: Sequence[Meeting], vectors: Vectors, *, epochs: int = EPOCHS, seeds: int = SEEDS
) -> dict[str, Any]:
    """All runs."""
    scripts = [Script.of(seed, epochs) for seed in range(seeds)]
    said = [texts(meetings, vectors, seed, FIRST + sum(s.new)) for seed, s in enumerate(scripts)]
    runs = {
        f"{rule}, {pace} s": [run(s, t, rule, pace) for s, t in zip(scripts, said, strict=True)]
        for rule, paces in (("as it is", PACES_S), *((other, PACES_S[:1]) for other in RULES if other != "as it is"))
        for pace in paces
    }
    for pace in PACES_S[:2]:
        runs[f"as it is, {pace} s, with caps"] = [
            run(s, t, "as it is", pace, BY_THE_PAPER) for s, t in zip(scripts, said, strict=True)
        ]
    random = np.random.default_rng(1)
    rivals: dict[str, Callable[[NDArray[np.int64]], NDArray[Any]]] = {
        "longest unused out (LRU)": lambda used: used,
        "oldest out (FIFO)": lambda used: np.arange(len(used)),
        "random": lambda used: random.random(len(used)),
    }
    for name, order in rivals.items():
        runs[f"{name}, as small as {PACES_S[0]} s"] = [
            rival(s, course.alive, order) for s, course in zip(scripts, runs[f"as it is, {PACES_S[0]} s"], strict=True)
        ]
    return {
        "epochs": epochs, "seeds": seeds, "skew": SKEW,
        "cache": measures.rounded(script.cached() for script in scripts),
        "made": [script.made[_KEPT].tolist() for script in scripts],
        "systems": {name: _told(scripts, courses) for name, courses in runs.items()},
        "rows": [
            {"system": name, "seed": seed, "alive": c.alive[_KEPT].tolist()}
            for name, courses in runs.items() for seed, c in enumerate(courses)
        ],
    }  # fmt: skip


def _told(scripts: Sequence[Script], courses: Sequence[Course]) -> dict[str, Any]:
    """Means over the seeds, and the lowest and highest."""
    found: dict[str, list[float]] = {}
    for script, course in zip(scripts, courses, strict=True):
        epochs = len(script.new)
        before = np.concatenate([[FIRST], course.alive[:-1]])
        rates, reads = (
            course.forgotten / np.maximum(1, before + np.array(script.new)),
            np.array([*map(len, script.asked)]),
        )
        for at in AT:
            if at <= epochs:
                found.setdefault(f"smaller after {at}", []).append(1 - course.alive[at - 1] / script.made[at - 1])
        found.setdefault("alive at last", []).append(float(course.alive[-1]))
        found.setdefault("deleted early", []).append(float(rates[:EARLY].mean()))
        found.setdefault("deleted late", []).append(float(rates[-LATE:].mean()))
        found.setdefault("reads found", []).append(1 - course.vain.sum() / reads.sum())
        found.setdefault("reads found late", []).append(1 - course.vain[-LATE:].sum() / reads[-LATE:].sum())
        asked = np.unique(np.concatenate([np.array(one) for one in script.asked[-LATE:]]))
        found.setdefault("asked for and alive", []).append(float(course.last[asked].mean()))
    return {
        name: measures.rounded((float(np.mean(values)), min(values), max(values))) for name, values in found.items()
    }
