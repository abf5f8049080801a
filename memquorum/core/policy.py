"""Every number that decides a memory's fate, with its default and its source.

The policy is part of the genesis file, so all members and every auditor judge by the same numbers. Scores are
integers in millionths (`ppm`), times are milliseconds; only the decay's scales and weights are real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field
from msgspec.structs import asdict, fields

from memquorum.core.rules import hold

PPM = 1_000_000


def share(ppm: int) -> str:
    """Millionths as people read them: a decimal with up to four digits."""
    return number(ppm / PPM)


def number(value: float) -> str:
    """A number with up to four decimals and no idle zeros."""
    return f"{value:.4f}".rstrip("0").rstrip(".")


UNCAPPED: Mapping[str, str] = MappingProxyType({"epoch_share": "1", "day_share": "1"})
"""The section `caps` of a policy that caps nothing, as JSON has it."""

# A decay that takes longer than a thousand years to cross δ is refused: nothing would ever be nominated.
MAX_SPAN_MS = 1000 * 365 * 24 * 3600 * 1000


class PolicyError(ValueError):
    """A policy that contradicts itself; the message names the setting."""


class DecayPolicy(Struct, frozen=True):
    """Multi-scale decay (SPEC A, Alg. 2)."""

    scales_s: tuple[float, ...] = (10.0, 60.0, 3600.0)
    weights: tuple[float, ...] = (0.2, 0.3, 0.5)
    delta: float = 0.3
    variance_warning: float = 0.1
    # The scales of long-term memory are so many times longer (SPEC B).
    long_term: float = 10.0


class SaliencePolicy(Struct, frozen=True):
    """Encoding and salience (SPEC B, Alg. 10 and section 4.2)."""

    novelty: float = 0.30
    reward: float = 0.35
    confidence: float = 0.10
    encode_threshold: float = 0.35
    early_threshold: float = 0.70
    confidence_threshold: float = 0.5
    uncertainty_threshold: float = 0.5
    duplicate_threshold: float = 0.92
    buffer_size: int = 64


class ForgetPolicy(Struct, frozen=True):
    """The vote to forget (SPEC A, Alg. 3 and the weighted quorum)."""

    omega_decay_ppm: int = 400_000
    omega_relevance_ppm: int = 600_000
    theta_ppm: int = 400_000
    alpha: Fraction = Fraction(2, 3)
    grace_ms: int = 7 * 24 * 3600 * 1000


class PromotePolicy(Struct, frozen=True):
    """The vote to promote (SPEC B, CDCP, Alg. 12 to 14)."""

    salience_ppm: int = 550_000
    age_ms: int = 60_000
    bfs_ppm: int = 400_000
    grounded_ppm: int = 350_000
    consistency_ppm: int = 150_000
    certainty_ppm: int = 100_000
    yes_ppm: int = 600_000
    tau: Fraction = Fraction(67, 100)
    validity_ppm: int = 600_000


class EpochPolicy(Struct, frozen=True):
    """When a shard votes, and on how much (SPEC A, Alg. 4; DESIGN 19)."""

    interactions: int = 100
    interval_ms: int = 3_600_000
    capacity: int = 10_000
    proposals_max: int = 256
    retry_ms: int = 10_000
    # A kept memory is nominated again after this many epochs, doubling each time up to the cap (SPEC A, decision 0).
    rest_epochs: int = 1
    rest_epochs_max: int = 64


class CapsPolicy(Struct, frozen=True):
    """How much of a namespace is forgotten at most, whatever was voted (core/caps; SPEC A: 10 to 15 % an epoch early).

    `epoch_share`, `day_share`: shares of its living memories, in one epoch and within `day_ms` of the shard's time; a
    share of 1 caps nothing. `floor`: so many may go in any case.
    """

    epoch_share: Fraction = Fraction(1, 10)
    day_share: Fraction = Fraction(1, 4)
    floor: int = 3
    day_ms: int = 24 * 3600 * 1000


class ProtectionPolicy(Struct, frozen=True):
    """How much of a namespace may be protected from being forgotten by those who are not the operator.

    `pins_max`: pins that stand; `needs_max`: memories that goals need, counted for each goal.
    `lapse_ms`: a goal that nobody ended lapses so long after it was last said to need anything, by the stream's clock.
    """

    pins_max: int = 1_000
    needs_max: int = 10_000
    lapse_ms: int = 90 * 24 * 3600 * 1000


NO_CAPS = CapsPolicy(Fraction(1), Fraction(1))


class Policy(Struct, frozen=True):
    """All of it."""

    decay: DecayPolicy = field(default_factory=DecayPolicy)
    salience: SaliencePolicy = field(default_factory=SaliencePolicy)
    forget: ForgetPolicy = field(default_factory=ForgetPolicy)
    promote: PromotePolicy = field(default_factory=PromotePolicy)
    epoch: EpochPolicy = field(default_factory=EpochPolicy)
    caps: CapsPolicy = field(default_factory=CapsPolicy)
    protection: ProtectionPolicy = field(default_factory=ProtectionPolicy)

    def __post_init__(self) -> None:
        _check(self)


def to_json(policy: Policy) -> dict[str, Any]:
    """The policy as plain JSON values; fractions become 'n/d' strings."""

    def plain(value: Any) -> Any:
        if isinstance(value, Fraction):
            return f"{value.numerator}/{value.denominator}"
        return list(value) if isinstance(value, tuple) else value

    return {name: {k: plain(v) for k, v in asdict(section).items()} for name, section in asdict(policy).items()}


def from_json(data: dict[str, Any]) -> Policy:
    """A policy from what `to_json` gave, or from a part of it: what is absent has its default.

    Raises PolicyError for an unknown or contradictory setting and names it.
    """
    parts: dict[str, Any] = {}
    known = {f.name: f.default_factory for f in fields(Policy)}
    for name, values in data.items():
        if name not in known:
            raise PolicyError(f"policy: unknown section {name!r}; known: {', '.join(known)}")
        parts[name] = _section(name, known[name], values)
    return Policy(**parts)


def of_genesis(data: dict[str, Any]) -> Policy:
    """The policy of a genesis file. One of before the caps says nothing of them: there nothing is capped, as nothing
    was when its journal began. Raises PolicyError."""
    return from_json({"caps": UNCAPPED} | data)


def _section(name: str, kind: Any, values: Any) -> Any:
    default = kind()
    if not isinstance(values, Mapping):
        raise PolicyError(f"policy: section {name} is {values!r}, and not an object with settings")
    known, changed = default.__struct_fields__, {}
    for key, value in values.items():
        if key not in known:
            raise PolicyError(f"policy: unknown setting {name}.{key}")
        changed[key] = _like(getattr(default, key), value, f"{name}.{key}")
    return kind(**changed)


def _like(default: Any, value: Any, where: str) -> Any:
    try:
        if isinstance(default, Fraction):
            return Fraction(value)
        if isinstance(default, tuple):
            return tuple(float(v) for v in value)
        if isinstance(default, int):
            if isinstance(value, bool) or int(value) != value:
                raise ValueError
            return int(value)
        return float(value)
    except (TypeError, ValueError, ZeroDivisionError):
        raise PolicyError(f"policy: {where} = {value!r} is not a {type(default).__name__}") from None


def _check(policy: Policy) -> None:
    decay, salience, forget, promote = policy.decay, policy.salience, policy.forget, policy.promote
    rules = (
        (len(decay.scales_s) == len(decay.weights) > 0, "decay.scales_s and decay.weights differ in length"),
        (all(s > 0 for s in decay.scales_s), "decay.scales_s must be positive"),
        (all(w >= 0 for w in decay.weights), "decay.weights must not be negative"),
        (abs(sum(decay.weights) - 1) < 1e-9, "decay.weights must sum to 1"),
        (0 < decay.delta < 1, "decay.delta must lie between 0 and 1"),
        (decay.long_term >= 1, "decay.long_term must be at least 1"),
        (0 <= salience.encode_threshold <= 1, "salience.encode_threshold must lie in [0, 1]"),
        (salience.buffer_size > 0, "salience.buffer_size must be positive"),
        (forget.omega_decay_ppm + forget.omega_relevance_ppm == PPM, "forget.omega_* must sum to 1,000,000"),
        (Fraction(1, 2) < forget.alpha <= 1, "forget.alpha must lie in (1/2, 1]"),
        (forget.grace_ms >= 0, "forget.grace_ms must not be negative"),
        (
            promote.bfs_ppm + promote.grounded_ppm + promote.consistency_ppm + promote.certainty_ppm == PPM,
            "promote.*_ppm weights must sum to 1,000,000",
        ),
        (Fraction(1, 2) < promote.tau <= 1, "promote.tau must lie in (1/2, 1]"),
        (0 < policy.caps.epoch_share <= 1, "caps.epoch_share must lie in (0, 1]"),
        (0 < policy.caps.day_share <= 1, "caps.day_share must lie in (0, 1]"),
        (policy.caps.floor >= 1, "caps.floor must be at least 1, or a small namespace forgets nothing"),
        (policy.caps.day_ms > 0, "caps.day_ms must be positive"),
        (policy.protection.pins_max >= 0, "protection.pins_max must not be negative"),
        (policy.protection.needs_max >= 0, "protection.needs_max must not be negative"),
        (policy.protection.lapse_ms > 0, "protection.lapse_ms must be positive"),
        (policy.epoch.proposals_max > 0, "epoch.proposals_max must be positive"),
        (1 <= policy.epoch.rest_epochs <= policy.epoch.rest_epochs_max, "epoch.rest_epochs must be ≥ 1, ≤ its cap"),
    )
    hold(rules, _error)
    slowest = zip([scale * decay.long_term for scale in decay.scales_s], decay.weights, strict=True)
    left = sum(weight * math.exp(-MAX_SPAN_MS / 1000 / scale) for scale, weight in slowest)
    if left >= decay.delta:
        raise _error(
            f"decay.delta = {decay.delta} is never crossed: after a thousand years D still is {left:.3f} in "
            "long-term memory; shorten decay.scales_s, or raise decay.delta"
        )


def _error(complaint: str) -> PolicyError:
    return PolicyError(f"policy: {complaint}")
