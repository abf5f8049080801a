"""The sensitivity that intake suggests for an episode that gives none (SPEC D).

    s = 1 − Π (1 − w(k)) over the kinds k that were found, each once, rounded to a hundredth

A kind counts once, however often it is found: a repetition in other words is as sensitive. Without a kind there is no
suggestion. It is raised and lowered by

- the publisher's own value, in either direction, 0 included: then there is no suggestion;
- the jurisdiction: under a law that knows special categories (GDPR articles 9 and 10, and those that follow it) each of
  `kinds.SPECIAL` weighs at least `PROTECTED_PPM`;
- consent: a publisher that names `purposes` was allowed only those, so the suggestion moves a quarter of the way to 1;
- preference: the operator's own weights, by kind; 0 leaves one out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping

from msgspec import Struct, field

from memquorum.core.policy import PPM
from memquorum.core.privacy.finding import RULES, kinds
from memquorum.core.privacy.kinds import RECOGNISED_PPM, SPECIAL, WEIGHTS_PPM

PROTECTED_PPM = 800_000
CONSENT = 4
"""With named purposes the suggestion moves 1/CONSENT of the way to 1."""
_STEP = PPM // 100

# EU and EEA, the United Kingdom, Switzerland, Brazil (LGPD, art. 11) and Japan (APPI, art. 2(3)), as ISO 3166 and
# `core.facets` write them.
_SPECIAL_LAWS = (
    "EU AT BE BG HR CY CZ DE DK EE ES FI FR GR HU IE IT LT LU LV MT NL PL PT RO SE SI SK IS LI NO GB CH BR JP"
)
SPECIAL_LAWS = frozenset(_SPECIAL_LAWS.split())


class BadWeights(ValueError):
    """Raised for weights that cannot be read; the message says what to write."""


class Recogniser(Struct, frozen=True):
    """A model that finds kinds of data in a text, and its version (`memquorum.encoders.recognising`)."""

    rules: str
    kinds: Callable[[str], Collection[str]]


class Weights(Struct, frozen=True):
    """The weight of each kind, in millionths; `on`: whether sensitivity is suggested at all. `recognisers`: find kinds
    beside the rules."""

    on: bool = True
    ppm: Mapping[str, int] = field(default_factory=lambda: {**WEIGHTS_PPM, **RECOGNISED_PPM})
    recognisers: tuple[Recogniser, ...] = ()

    @property
    def rules(self) -> str:
        """The versions of the rules and of the recognisers, as a record names them."""
        return "+".join([RULES, *(one.rules for one in self.recognisers)])


def read_weights(written: str) -> Mapping[str, int]:
    """Reads weights by kind, KIND=WEIGHT separated by blanks; other kinds keep the default weights. Raises
    BadWeights."""
    found = {**WEIGHTS_PPM, **RECOGNISED_PPM}
    for one in written.split():
        kind, _, weight = one.partition("=")
        if kind not in found:
            raise BadWeights(f"{kind!r} is not a kind of personal data; the kinds are {', '.join(sorted(found))}")
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
    """Returns the sensitivity that a text suggests, in millionths; None where it holds no kind with a weight.

    `purposes`: those that its publisher named; `jurisdiction`: as in `core.facets`.
    """
    if not weights.on:
        return None
    found = {*kinds(text)}.union(*(one.kinds(text) for one in weights.recognisers))
    return combined_ppm(found, purposes, jurisdiction, weights.ppm)


def combined_ppm(
    found: Iterable[str], purposes: Collection[str], jurisdiction: str | None, weights: Mapping[str, int]
) -> int | None:
    """Combines the weights of kinds by this module's formula, in millionths; None where none of them has a weight."""
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
