"""Learns from an installation's own memories which signals at intake foretell that a memory is used later.

A memory was *used* if within a time after it was stored somebody read it, or a later episode said it again. Logistic
regression over the signals, with whole-number coefficients, is fitted on the earlier part of the time axis and tested
on the later one, beside the rank of the worth alone and the length alone. It is not known which of the episodes that
were not stored would have been used.

In force (policy section `learned`), the score of an episode stands in salience for the rank of its worth, with the same
weight. It lies in [0, 1], and half of what the fit saw lies below a half.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import asdict, replace
from numpy.typing import NDArray

from memquorum.core.policy import PPM, LearnedPolicy
from memquorum.core.records import Accessed, Stored
from memquorum.core.records.episodes import Said
from memquorum.core.worth import author_kind

SIGNALS = tuple(name for name in LearnedPolicy.__struct_fields__ if name != "middle_ppm")
"""Names of the signals, in order."""
LEAST = 30
"""So many memories that were used, and so many that were not, a part has to have."""
# The earlier part of what is told, in hundredths.
_EARLIER = 70
# The share of a standard normal within so many deviations is 95 %.
_NORMAL_95 = 1.959964
_RIDGE = 1.0
_ROUNDS = 50
# Content has 64 KiB at most.
_LOG_LENGTH_MOST = 16.0

Numbers = NDArray[np.float64]


class NotEnough(ValueError):
    """There is too little to learn from; the message says what there is."""


class Example(Struct, frozen=True):
    """A stored memory: when, by the shard's time; its signals in millionths, in the order of `SIGNALS`; whether it was
    used within the time."""

    stored_at: int
    signals: tuple[int, ...]
    used: bool


def signals(said: Said, characters: int, novelty_ppm: int | None, rank_ppm: int | None) -> tuple[int, ...]:
    """An episode's signals, in millionths, in the order of `SIGNALS`. One that is absent is 0, and so is the one beside
    it that says whether it is there."""
    kind = author_kind(said.role)
    told = LearnedPolicy(
        rank_ppm=rank_ppm or 0,
        novelty_ppm=novelty_ppm or 0,
        reward_ppm=said.reward_ppm or 0,
        rewarded_ppm=PPM * (said.reward_ppm is not None),
        confidence_ppm=said.confidence_ppm or 0,
        sure_ppm=PPM * (said.confidence_ppm is not None),
        semantic_ppm=PPM * (said.type == "semantic"),
        social_ppm=PPM * (said.type == "social"),
        task_ppm=PPM * (said.type == "task"),
        person_ppm=PPM * (kind == "person"),
        tool_ppm=PPM * (kind == "tool"),
        length_ppm=round(math.log2(characters + 1) / _LOG_LENGTH_MOST * PPM),
    )
    return _each(told)


def _each(of: LearnedPolicy) -> tuple[int, ...]:
    """Returns the coefficients of the signals, in the order of `SIGNALS`."""
    return (
        *(of.rank_ppm, of.novelty_ppm, of.reward_ppm, of.rewarded_ppm, of.confidence_ppm, of.sure_ppm),
        *(of.semantic_ppm, of.social_ppm, of.task_ppm, of.person_ppm, of.tool_ppm, of.length_ppm),
    )


def _sum(learned: LearnedPolicy, values: Sequence[int]) -> int:
    """The coefficients times the signals, in millionths."""
    return sum(weight * value for weight, value in zip(_each(learned), values, strict=True)) // PPM


def score_ppm(learned: LearnedPolicy, values: Sequence[int]) -> int:
    """Returns how likely an episode with these signals is to be used: a number in [0, 1], a half for the median of the
    episodes it was learned from."""
    logit = (_sum(learned, values) - learned.middle_ppm) / PPM
    return round(PPM / (1.0 + math.exp(-max(-30.0, min(30.0, logit)))))


def in_force(learned: LearnedPolicy) -> bool:
    """Whether there are coefficients at all; none are shipped."""
    return learned != LearnedPolicy()


def text(learned: LearnedPolicy) -> str:
    """The one text of coefficients, as a part of a policy: what lies in the file."""
    return json.dumps({"learned": asdict(learned)}, sort_keys=True, indent=1) + "\n"


def digest(learned: LearnedPolicy) -> str:
    """The SHA-256 of that text, in hexadecimal digits."""
    return hashlib.sha256(text(learned).encode()).hexdigest()


class Gathered:
    """Gathers from one shard's journal, entry by entry, which memories were stored and used."""

    def __init__(self, within_ms: int) -> None:
        """`within_ms`: within which time after it was stored a memory counts as used."""
        self._within_ms = within_ms
        self._stored: dict[str, tuple[int, tuple[int, ...]]] = {}
        self._used: set[str] = set()
        self._as_of = 0

    def take(self, effect: str, memory_id: str | None, as_of: int, detail: object) -> None:
        """Takes an entry. A use by the memory's own author counts as well: it needed the memory."""
        self._as_of = max(self._as_of, as_of)
        if isinstance(detail, Stored) and effect == "stored" and memory_id is not None:
            told = signals(detail, detail.characters, detail.novelty_ppm, detail.rank_ppm)
            self._stored.setdefault(memory_id, (as_of, told))
        used: tuple[str, ...] = ()
        if isinstance(detail, Stored) and effect == "reinforced" and detail.reinforces is not None:
            used = (detail.reinforces,)
        if isinstance(detail, Accessed):
            used = tuple(one.memory_id for one in detail.used)
        for one in used:
            if one in self._stored and as_of <= self._stored[one][0] + self._within_ms:
                self._used.add(one)

    def examples(self) -> list[Example]:
        """The memories whose time to be used is over, in the order in which they were stored."""
        return [
            Example(at, told, memory_id in self._used)
            for memory_id, (at, told) in self._stored.items()
            if at + self._within_ms <= self._as_of
        ]


class Measured(Struct, frozen=True):
    """The area under the curve of a score on the later part, with its interval of 95 % (DeLong): how often it puts one
    that was used above one that was not. `ahead`: of learned, how far it is ahead of this one, with its interval."""

    name: str
    auc: tuple[float, float, float]
    ahead: tuple[float, float, float] | None = None


class LearningReport(Struct, frozen=True):
    """The learned coefficients, and how well they hold. `earlier` and `later`: how many memories, and how many of them
    were used."""

    learned: LearnedPolicy
    earlier: tuple[int, int]
    later: tuple[int, int]
    measured: tuple[Measured, ...]

    @property
    def better(self) -> bool:
        """Whether on the later part it is ahead of worth alone and of length alone, beyond chance."""
        return all(one.ahead is not None and one.ahead[1] > 0 for one in self.measured[1:])


def learn(examples: Sequence[Example], within_ms: int) -> LearningReport:
    """Fits on the earlier part and tests on the later one. No memory of the earlier part has its time to be used in the
    later one. Raises NotEnough."""
    ordered = sorted(examples, key=lambda one: (one.stored_at, one.signals))
    if not ordered:
        raise NotEnough("no memory is old enough to say whether it was used")
    begins = ordered[len(ordered) * _EARLIER // 100].stored_at
    earlier = [one for one in ordered if one.stored_at + within_ms <= begins]
    later = [one for one in ordered if one.stored_at >= begins]
    for name, part in (("earlier", earlier), ("later", later)):
        used = sum(one.used for one in part)
        if min(used, len(part) - used) < LEAST:
            told = f"of the {len(part)} memories of the {name} part {used} were used"
            raise NotEnough(f"{told}; at least {LEAST} have to be, and {LEAST} not")
    learned = _fitted(earlier)
    used_later = np.array([one.used for one in later])
    scores = {
        "learned": [float(score_ppm(learned, one.signals)) for one in later],
        "worth alone": [float(one.signals[SIGNALS.index("rank_ppm")]) for one in later],
        "length alone": [float(one.signals[SIGNALS.index("length_ppm")]) for one in later],
    }
    parts = {name: _parts(np.array(values), used_later) for name, values in scores.items()}
    first = parts["learned"]
    return LearningReport(
        learned=learned,
        earlier=(len(earlier), sum(one.used for one in earlier)),
        later=(len(later), sum(one.used for one in later)),
        measured=tuple(
            Measured(
                name, _interval(*part), None if name == "learned" else _interval(first[0] - part[0], first[1] - part[1])
            )
            for name, part in parts.items()
        ),
    )


def _fitted(examples: Sequence[Example]) -> LearnedPolicy:
    """Ridge-penalised logistic regression by Newton's method; each class has half of the weight."""
    values = np.array([one.signals for one in examples], np.float64) / PPM
    used = np.array([one.used for one in examples], np.float64)
    table = np.column_stack([np.ones(len(values)), values])
    weights = np.where(used > 0, 0.5 / used.mean(), 0.5 / (1 - used.mean()))
    penalty = np.diag([0.0, *[_RIDGE] * values.shape[1]])
    found = np.zeros(table.shape[1])
    for _ in range(_ROUNDS):
        chance = 1.0 / (1.0 + np.exp(-table @ found))
        slope = table.T @ (weights * (used - chance)) - penalty @ found
        curve = (table * (weights * chance * (1 - chance))[:, None]).T @ table + penalty
        step = np.linalg.solve(curve + 1e-9 * np.eye(len(curve)), slope)
        found += step
        if np.abs(step).max() < 1e-9:
            break
    made = LearnedPolicy(**{name: round(float(one) * PPM) for name, one in zip(SIGNALS, found[1:], strict=True)})
    return replace(made, middle_ppm=round(float(np.median([_sum(made, one.signals) for one in examples]))))


def _parts(scores: Numbers, used: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Tells for each that was used the share of those not used that it stands above, and for each not used the share of
    those used that it stands below; ties count half. The mean of either is the area under the curve."""
    above, below = scores[used], scores[~used]
    both = _places(np.concatenate([above, below]))
    mine = (both[: len(above)] - _places(above)) / len(below)
    others = 1.0 - (both[len(above) :] - _places(below)) / len(above)
    return mine, others


def _places(values: Numbers) -> Numbers:
    """The place of each among all, from 1 on; those that are equal share the mean of theirs."""
    _, at, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    places: Numbers = (last - (counts - 1) / 2.0)[at]
    return places


def _interval(mine: Numbers, others: Numbers) -> tuple[float, float, float]:
    """The mean and its interval of 95 %, by DeLong's variance."""
    value = float(mine.mean())
    spread = _NORMAL_95 * math.sqrt(float(mine.var(ddof=1)) / len(mine) + float(others.var(ddof=1)) / len(others))
    return value, value - spread, value + spread
