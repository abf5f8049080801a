"""The sensitivity that is suggested at the door where an episode says none (SPEC D).

    s = 1 − Π (1 − w(k)) over the kinds k that were found, each once, rounded to a hundredth

A kind counts once, however often it is found: what says the same in other words is as sensitive. Nothing found suggests
nothing. What raises and lowers it:

- what the publisher says itself, in either direction: then nothing is suggested, 0 included;
- the jurisdiction: under a law that knows special categories (GDPR articles 9 and 10, and those that follow it) each of
  `kinds.SPECIAL` weighs `PROTECTED_PPM` at least;
- consent: who names `purposes` was allowed those alone, so what was found weighs a quarter of the way to 1 more;
- preference: the operator's own weights, by kind; 0 leaves one out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct, field

from memquorum.core.policy import PPM
from memquorum.core.privacy.finding import kinds
from memquorum.core.privacy.kinds import SPECIAL, WEIGHTS_PPM

PROTECTED_PPM = 800_000
CONSENT = 4
"""A purpose that is named takes this part of the way to 1."""
_STEP = PPM // 100

# EU and EEA, the United Kingdom, Switzerland, Brazil (LGPD, art. 11) and Japan (APPI, art. 2(3)), as ISO 3166 and
# `core.facets` write them.
_SPECIAL_LAWS = (
    "EU AT BE BG HR CY CZ DE DK EE ES FI FR GR HU IE IT LT LU LV MT NL PL PT RO SE SI SK IS LI NO GB CH BR JP"
)
SPECIAL_LAWS = frozenset(_SPECIAL_LAWS.split())


class BadWeights(ValueError):
    """Weights that cannot be read; the message says what to write."""


class Weights(Struct, frozen=True):
    """How much each kind weighs, in millionths; `on`: whether anything is suggested at all."""

    on: bool = True
    ppm: Mapping[str, int] = field(default_factory=lambda: WEIGHTS_PPM)


def read_weights(written: str) -> Mapping[str, int]:
    """The weights by kind, of KIND=WEIGHT with blanks between them, beside those that are shipped. Raises
    BadWeights."""
    found = dict(WEIGHTS_PPM)
    for one in written.split():
        kind, _, weight = one.partition("=")
        if kind not in WEIGHTS_PPM:
            raise BadWeights(f"{kind!r} is no kind; there are {', '.join(sorted(WEIGHTS_PPM))}")
        try:
            value = float(weight)
        except ValueError:
            value = -1.0
        if not 0 <= value <= 1:
            raise BadWeights(f"{one!r}: write {kind}=WEIGHT, a number from 0 to 1")
        found[kind] = round(value * PPM)
    return found


SHIPPED = Weights()


def suggested_ppm(
    text: str, purposes: Collection[str] = (), jurisdiction: str | None = None, weights: Weights = SHIPPED
) -> int | None:
    """The sensitivity that a text suggests, in millionths; None where nothing is found that weighs.

    `purposes`: those that its publisher named; `jurisdiction`: as of `core.facets`.
    """
    return combined_ppm(kinds(text), purposes, jurisdiction, weights.ppm) if weights.on else None


def combined_ppm(
    found: Iterable[str], purposes: Collection[str], jurisdiction: str | None, weights: Mapping[str, int]
) -> int | None:
    """What kinds come to together by the formula of this module, in millionths; None where none of them weighs."""
    special = jurisdiction is not None and jurisdiction.partition("-")[0] in SPECIAL_LAWS
    left = PPM
    for kind in sorted(set(found)):
        weight = weights.get(kind, 0)
        if special and kind in SPECIAL and weight:
            weight = max(weight, PROTECTED_PPM)
        left = left * (PPM - weight) // PPM
    if left == PPM:
        return None
    if purposes:
        left -= left // CONSENT
    return min(PPM, -(-(PPM - left) // _STEP) * _STEP)
