"""The decay score of a short-term memory, and when it has expired (SPEC B, section 8.1 and Alg. 17).

`DecayScore = salience · e^(−λ · age in hours) · (1 + log₁₀(1 + replays))`. λ is `triage.rate_ppm`, and
`triage.slow_rate_ppm` of what is at least as salient as `triage.slow_ppm`. The age counts from the last use: reading a
memory makes it young again here, as it does for D (`core.decay`); SPEC B counts from when it was made. With replays the
score may exceed 1.

The schedule knows memories by grades (`ports.Grade`), of which there are some hundreds at most whatever is stored. The
score of a grade is that of the highest salience in it, so a memory is never found before it has expired. It may be
found late by the hundredth of a salience that a grade spans: 17 minutes at a salience of 0.35.

The arithmetic is decimal, for the reason of `core.decay`: the same on every machine, and it never rises with age. So
"has expired" is the same as "is at least `span_ms` old", which for a salience and a number of replays is a constant.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache

from memquorum.core.policy import PPM, Policy, TriagePolicy
from memquorum.ports import Fading, Grade

HOUR_MS = 3600 * 1000
HUNDREDTH_PPM = 10_000
"""So wide is a grade's salience; `db/queries.sql` has the same number."""
_LATEST = 2**62

_EXACT = Context(prec=28, rounding=ROUND_HALF_EVEN)
_DOWN = Context(prec=28, rounding=ROUND_FLOOR)
_ONE, _PPM = Decimal(1), Decimal(PPM)


def decay_score(salience_ppm: int, replays: int, age_ms: int, policy: Policy) -> Decimal:
    """DecayScore of a memory that nobody used for `age_ms` milliseconds; a negative age counts as 0.

    `replays`: how often a rehearsal found that it holds; not negative.
    """
    return _score(salience_ppm, replays, max(0, age_ms), rate_ppm(salience_ppm, policy))


def decay_score_ppm(salience_ppm: int, replays: int, age_ms: int, policy: Policy) -> int:
    """DecayScore in millionths, rounded down: it is below a threshold of whole millionths where the score is."""
    return int(_DOWN.multiply(decay_score(salience_ppm, replays, age_ms, policy), _PPM))


def expired(salience_ppm: int, replays: int, age_ms: int, policy: Policy) -> bool:
    """Whether DecayScore < θ_expire: the predicate of triage."""
    return decay_score_ppm(salience_ppm, replays, age_ms, policy) < policy.triage.expire_ppm


def span_ms(salience_ppm: int, replays: int, policy: Policy) -> int | None:
    """The smallest age in whole milliseconds at which `expired` holds; None where it never does."""
    return _span(salience_ppm, replays, policy.triage)


def grade(salience_ppm: int, replays: int) -> Grade:
    """The grade of a memory."""
    return Grade(salience_ppm // HUNDREDTH_PPM, replays)


def expiring(grades: Iterable[Grade], as_of: int, policy: Policy) -> list[Fading]:
    """Returns the questions to a schedule that find the memories which have expired by `as_of`."""
    spans = ((one, span_ms(_highest(one), one.replays, policy)) for one in grades)
    return [_asked(one, as_of - span, policy) for one, span in spans if span is not None]


def falling(grades: Iterable[Grade], policy: Policy) -> list[Fading]:
    """Returns the questions to a schedule that find the memories with the lowest scores, expired or not."""
    return [_asked(one, _LATEST, policy) for one in grades]


def fallen_ppm(salience_ppm: int, replays: int, age_ms: int, policy: Policy) -> int:
    """ln DecayScore in millionths: the order of scores, of those too that are too low to be told apart."""
    salience = max(1, salience_ppm)
    return _head(salience, replays) - max(0, age_ms) * rate_ppm(salience, policy) // HOUR_MS


def rate_ppm(salience_ppm: int, policy: Policy) -> int:
    """λ in millionths per hour."""
    return _rate(salience_ppm, policy.triage)


def _highest(one: Grade) -> int:
    return min(PPM, (one.hundredths + 1) * HUNDREDTH_PPM - 1)


def _asked(one: Grade, unused_since: int, policy: Policy) -> Fading:
    return Fading(one, unused_since, _head(_highest(one), one.replays), rate_ppm(_highest(one), policy))


@lru_cache(maxsize=8192)
def _head(salience_ppm: int, replays: int) -> int:
    """ln(salience · (1 + log₁₀(1 + replays))) in millionths, rounded down."""
    start = _EXACT.multiply(_EXACT.divide(Decimal(salience_ppm), _PPM), _reinforced(replays))
    return int(_DOWN.multiply(_EXACT.ln(start), _PPM).to_integral_value(ROUND_FLOOR))


def _rate(salience_ppm: int, triage: TriagePolicy) -> int:
    return triage.slow_rate_ppm if salience_ppm >= triage.slow_ppm else triage.rate_ppm


@lru_cache(maxsize=8192)
def _reinforced(replays: int) -> Decimal:
    """1 + log₁₀(1 + replays)."""
    return _EXACT.add(_ONE, _EXACT.log10(Decimal(1 + replays)))


def _score(salience_ppm: int, replays: int, age_ms: int, rate: int) -> Decimal:
    recency = _EXACT.exp(_EXACT.divide(Decimal(-age_ms * rate), Decimal(HOUR_MS * PPM)))
    salience = _EXACT.divide(Decimal(salience_ppm), _PPM)
    return _EXACT.multiply(_EXACT.multiply(salience, _reinforced(replays)), recency)


@lru_cache(maxsize=8192)
def _span(salience_ppm: int, replays: int, triage: TriagePolicy) -> int | None:
    """Solves salience · f · e^(−λ·age) = θ for the age, then asks the predicate about the milliseconds around it."""
    rate = _rate(salience_ppm, triage)

    def under(age: int) -> bool:
        return int(_DOWN.multiply(_score(salience_ppm, replays, age, rate), _PPM)) < triage.expire_ppm

    if under(0):
        return 0
    if not (rate and triage.expire_ppm):
        return None
    above = _EXACT.divide(_EXACT.multiply(Decimal(salience_ppm), _reinforced(replays)), Decimal(triage.expire_ppm))
    hours = _EXACT.divide(_EXACT.ln(above), Decimal(rate))
    age = max(1, int(_EXACT.multiply(hours, Decimal(HOUR_MS * PPM))) - 1)
    while not under(age):
        age += 1
    return age
