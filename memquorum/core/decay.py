"""Multi-scale decay: how much of a memory is left, and when it falls under the threshold (SPEC A, Alg. 2; DESIGN 7).

`D_i = exp(-(t - t_last) / S_i)`, `D = Σ γ_i·D_i`, `σ² = (1/n) Σ (D_i - D)²`; D < δ nominates the memory.

The arithmetic is decimal with 28 digits, not binary floating point. `decimal` rounds exp correctly, so D is the same
number on every machine (the C library's exp is not), and members can compare each other's D for equality. D never rises
with age, so "has crossed" is the same as "is at least `span_ms` old". Scales and weights count as the decimal numbers
that they are written as.

Binary floating point is right to far more than nine digits on every machine, so it answers where the ninth digit cannot
change the answer, forty times as fast; decimals do the rest.

Ages are whole milliseconds, counted from the last access; a last access in the future counts as age 0. Results are
decimals in [0, 1] or, with `_ppm`, millionths rounded down: D < δ and `decay_ppm` < δ in millionths then say the same
for every δ of at most six decimals.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Context, Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.late_numpy import np
from memquorum.core.policy import MAX_SPAN_MS, PPM, DecayPolicy, Policy, PolicyError
from memquorum.core.records import Crossing
from memquorum.core.tiers import ALIVE, LONG_TERM
from memquorum.ports import DueMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

_EXACT = Context(prec=28, rounding=ROUND_HALF_EVEN)
_ZERO, _ONE, _PPM = Decimal(0), Decimal(1), Decimal(PPM)
# Far more than binary arithmetic and any C library's exp can be wrong by, in D and σ² (both in [0, 1]).
_SLACK = 1e-9


class Profile(Struct, frozen=True):
    """The parts of a decay, for reports: millionths, the scales in the policy's order."""

    age_ms: int
    scales_ppm: tuple[int, ...]
    decay_ppm: int
    variance_ppm: int
    ambiguous: bool
    """σ² above `decay.variance_warning`: the scales disagree about the memory (SPEC A asks for a warning)."""


def of_tier(policy: Policy, tier: str) -> Policy:
    """The policy as it holds for memories of a tier: what was promoted decays by scales that are longer."""
    return _long_term(policy) if tier == LONG_TERM else policy


@lru_cache(maxsize=64)
def _long_term(policy: Policy) -> Policy:
    scales = tuple(scale * policy.decay.long_term for scale in policy.decay.scales_s)
    return replace(policy, decay=replace(policy.decay, scales_s=scales, long_term=1.0))


def decay(last_access: int, as_of: int, policy: Policy) -> Decimal:
    """D at `as_of`, in [0, 1]."""
    return _combined(age_ms(last_access, as_of), policy.decay)


def decay_ppm(last_access: int, as_of: int, policy: Policy) -> int:
    """D in millionths, rounded down."""
    sure = _sure_ppm(_roughly(age_ms(last_access, as_of), policy.decay)[0])
    return _floor_ppm(decay(last_access, as_of, policy)) if sure is None else sure


def decays_ppm(last_accesses: NDArray[np.int64], as_of: int, policy: Policy) -> NDArray[np.int64]:
    """`decay_ppm` of many last accesses at once, shape (n,). Neither they nor `as_of` are negative.

    Members who read the same say the same, so the last answers are kept; they are not to be written into.
    """
    return _decays_ppm(last_accesses.astype(np.int64, copy=False).tobytes(), as_of, policy.decay)


@lru_cache(maxsize=16)
def _decays_ppm(last_accesses: bytes, as_of: int, policy: DecayPolicy) -> NDArray[np.int64]:
    read = np.frombuffer(last_accesses, np.int64)
    ages = np.maximum(0, as_of - read) / 1000.0
    terms = zip(policy.weights, policy.scales_s, strict=True)
    rough = np.sum([weight * np.exp(-ages / scale) for weight, scale in terms], axis=0)
    found: NDArray[np.int64] = (np.maximum(0.0, rough - _SLACK) * PPM).astype(np.int64)
    # As in `_sure_ppm`: what an error of the slack would change is computed exactly.
    for at in np.flatnonzero(found != ((rough + _SLACK) * PPM).astype(np.int64)).tolist():
        found[at] = _floor_ppm(_combined(age_ms(int(read[at]), as_of), policy))
    found.flags.writeable = False
    return found


def variance(last_access: int, as_of: int, policy: Policy) -> Decimal:
    """σ²: the mean squared distance of the scales' D_i from the weighted D, in [0, 1]."""
    age = age_ms(last_access, as_of)
    combined = _combined(age, policy.decay)
    squares = _ZERO
    for scale in policy.decay.scales_s:
        distance = _EXACT.subtract(_single(age, scale), combined)
        squares = _EXACT.add(squares, _EXACT.multiply(distance, distance))
    return _EXACT.divide(squares, Decimal(len(policy.decay.scales_s)))


def ambiguous(last_access: int, as_of: int, policy: Policy) -> bool:
    """Whether σ² is above `decay.variance_warning`: short scales call the memory old and long ones young, so that a
    vote about it deserves a look (Alg. 2, line 9)."""
    rough, scales = _roughly(age_ms(last_access, as_of), policy.decay)
    spread, limit = sum((scale - rough) ** 2 for scale in scales) / len(scales), policy.decay.variance_warning
    if abs(spread - limit) > _SLACK:
        return spread > limit
    return variance(last_access, as_of, policy) > _written(limit)


def profile(last_access: int, as_of: int, policy: Policy) -> Profile:
    """D, every D_i and σ² at `as_of`."""
    age = age_ms(last_access, as_of)
    spread = variance(last_access, as_of, policy)
    return Profile(
        age_ms=age,
        scales_ppm=tuple(_floor_ppm(_single(age, scale)) for scale in policy.decay.scales_s),
        decay_ppm=_floor_ppm(_combined(age, policy.decay)),
        variance_ppm=_floor_ppm(spread),
        ambiguous=ambiguous(last_access, as_of, policy),
    )


def crossed(last_access: int, as_of: int, policy: Policy) -> bool:
    """Whether D < δ: the predicate of a nomination to forget (Alg. 2, line 11)."""
    return _under(age_ms(last_access, as_of), policy.decay)


def span_ms(policy: Policy) -> int:
    """The smallest age in whole milliseconds at which `crossed` holds.

    Raises PolicyError where D stays at or above δ for a thousand years.
    """
    return _span(policy.decay)


def due_at(last_access: int, policy: Policy) -> int:
    """The first millisecond at which a memory that nobody touches again has crossed."""
    return last_access + span_ms(policy)


def unused_since(as_of: int, policy: Policy) -> dict[str, int]:
    """The last access, by tier, of what crosses just at `as_of`: what nobody used after it has crossed by then."""
    return {tier: as_of - span_ms(of_tier(policy, tier)) for tier in ALIVE}


def scan(memories: Iterable[tuple[str, int]], as_of: int, policy: Policy) -> list[str]:
    """The paper's way, kept as the reference: D of every memory, those under δ (Alg. 2 within Alg. 4, phase 1).

    `memories`: (id, last access). The answer keeps their order.
    """
    return [memory_id for memory_id, last_access in memories if crossed(last_access, as_of, policy)]


def crossings(due: Iterable[DueMemory], as_of: int, policy: Policy) -> tuple[Crossing, ...]:
    """Returns the due memories that have crossed at `as_of`, in their order; each is judged here again.

    The schedule may have run ahead of the tick that is being answered.
    """
    return tuple(
        Crossing(
            memory_id=memory.memory_id,
            last_access=memory.last_access,
            decay_ppm=decay_ppm(memory.last_access, as_of, of_tier(policy, memory.tier)),
        )
        for memory in due
        if crossed(memory.last_access, as_of, of_tier(policy, memory.tier))
    )


def age_ms(last_access: int, as_of: int) -> int:
    """Milliseconds since the last access, 0 where it lies in the future."""
    return max(0, as_of - last_access)


def _roughly(age: int, policy: DecayPolicy) -> tuple[float, list[float]]:
    """D and every D_i in binary floating point: right within `_SLACK`."""
    scales = [math.exp(-age / 1000.0 / scale) for scale in policy.scales_s]
    return sum(weight * single for weight, single in zip(policy.weights, scales, strict=True)), scales


def _sure_ppm(rough: float) -> int | None:
    """Millionths rounded down, where an error of `_SLACK` cannot change them."""
    low, high = max(0.0, (rough - _SLACK) * PPM), (rough + _SLACK) * PPM
    return int(low) if int(low) == int(high) else None


def _written(value: float) -> Decimal:
    """The decimal number that a setting shows: 0.2 is two tenths, not its nearest binary fraction."""
    return Decimal(repr(value))


@lru_cache(maxsize=8192)
def _single(age: int, scale_s: float) -> Decimal:
    seconds = _EXACT.divide(Decimal(-age), Decimal(1000))
    return _EXACT.exp(_EXACT.divide(seconds, _written(scale_s)))


@lru_cache(maxsize=8192)
def _combined(age: int, policy: DecayPolicy) -> Decimal:
    total = _ZERO
    for scale, weight in zip(policy.scales_s, policy.weights, strict=True):
        total = _EXACT.add(total, _EXACT.multiply(_written(weight), _single(age, scale)))
    return min(total, _ONE)  # weights that sum to 1 only within rounding could exceed it


def _under(age: int, policy: DecayPolicy) -> bool:
    distance = policy.delta - _roughly(age, policy)[0]
    if abs(distance) > _SLACK:
        return distance > 0
    return _combined(age, policy) < _written(policy.delta)


@lru_cache(maxsize=64)
def _span(policy: DecayPolicy) -> int:
    """Bisection: every step of the arithmetic rounds correctly, so D never rises and "under δ" flips once."""
    low, high = -1, 1
    while not _under(high, policy):
        if high >= MAX_SPAN_MS:
            raise PolicyError(
                f"policy: decay.delta = {policy.delta} is not crossed within {MAX_SPAN_MS} ms: shorten the scales"
            )
        low, high = high, min(high * 2, MAX_SPAN_MS)
    while high - low > 1:
        middle = (low + high) // 2
        if _under(middle, policy):
            high = middle
        else:
            low = middle
    return high


def _floor_ppm(value: Decimal) -> int:
    return int(_EXACT.multiply(value, _PPM))
