"""Divides the budget of a working memory among its parts by quotas.

A quota is a share of the budget that is reserved for a part, as far as the part has so many tokens to give. The others
get the tokens that it does not need.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from memquorum.core.retrieval.ranking import Scored
from memquorum.core.tiers import LONG_TERM, SHORT_TERM

BUFFER, SHORT, LONG, ROLLUPS = PARTS = ("buffer", "short_term", "long_term", "rollups")
"""The parts of a working memory."""
_PART = {SHORT_TERM: SHORT, LONG_TERM: LONG}


class Quotas(Struct, frozen=True):
    """The shares of the budget that are reserved for what was found in short-term memory and in long-term memory, and
    for roll-ups. A tier has the same share of the number of memories."""

    short_term: float = 0.15
    long_term: float = 0.15
    rollups: float = 0.1


class Kept(Struct, frozen=True):
    """The tokens and the places that are reserved for a part."""

    tokens: int
    places: int


class Room:
    """The tokens and places of a packing, of which some are reserved for parts. While a better memory waits for the
    rest, a part has its reserve alone."""

    def __init__(self, tokens: int, places: int, kept: Mapping[str, Kept]) -> None:
        self._tokens, self._places, self._kept = tokens, places, dict(kept)
        self._waits = False

    def wait(self, part: str) -> bool:
        """Whether a memory that does not fit now may fit once the parts have theirs; it then waits."""
        self._waits = self._waits or any(other != part for other in self._kept)
        return self._waits

    def free(self) -> None:
        """Lets every part have what the others left."""
        self._kept.clear()
        self._waits = False

    def tokens(self, part: str) -> int:
        """The tokens that a part may take now."""
        if self._waits:
            return self._own(part).tokens
        return self._tokens - sum(kept.tokens for other, kept in self._kept.items() if other != part)

    def places(self, part: str) -> int:
        """The number of memories that a part may take now."""
        if self._waits:
            return self._own(part).places
        return self._places - sum(kept.places for other, kept in self._kept.items() if other != part)

    def take(self, part: str, tokens: int, places: int) -> None:
        """Takes tokens and places, first those that the part has for itself."""
        self._tokens -= tokens
        self._places -= places
        if part in self._kept:
            kept = self._own(part)
            self._kept[part] = Kept(max(0, kept.tokens - tokens), max(0, kept.places - places))

    def _own(self, part: str) -> Kept:
        return self._kept.get(part, Kept(0, 0))


def part_of(one: Scored) -> str:
    """The part that a memory belongs to which the query found; "" for one that is in no tier of use."""
    return _PART.get(one.candidate.hit.tier, "")


def kept(quotas: Quotas, budget: int, most: int, asking: Mapping[str, Sequence[int]], left: int) -> dict[str, Kept]:
    """Returns the reserves of the tiers. `budget`, `most`: what the quotas are shares of. `asking`: by part, the tokens
    of each of its memories. `left`: the tokens that there are in all."""
    found = dict[str, Kept]()
    for part, share in ((LONG, quotas.long_term), (SHORT, quotas.short_term)):
        costs = asking.get(part, ())
        tokens = max(0, min(int(budget * share), sum(costs), left))
        if costs and tokens:
            left -= tokens
            found[part] = Kept(tokens, min(int(most * share), len(costs)))
    return found
