"""A ranking is packed into a budget of tokens: what fits is taken, best first; what does not is told with the reason.

A memory that says the same as one that is taken already is folded into it. Two say the same where their vectors are as
near as `ALIKE` and their numbers, names and negations agree (`text.agreement`: similarity alone never merges). One that
is too long for the rest of the budget is passed over; shorter ones after it may still be taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from memquorum.core.api.answers import Hit
from memquorum.core.retrieval.ranking import Candidate, Scored
from memquorum.core.text.agreement import Said
from memquorum.core.text.tokens import tokens

# The cosine from which on two vectors may say the same (SPEC B, θ_dedup).
ALIKE = 0.92
# So many ids are told of what was left out for one reason.
TOLD = 5

DUPLICATE, MOST, BUDGET = "duplicate", "k_max", "budget"


class Item(Struct, frozen=True):
    """A memory that was taken, what it costs, and the ids of those that say the same."""

    scored: Scored
    tokens: int
    folded: tuple[str, ...] = ()


class Left(Struct, frozen=True):
    """How many were left out for a reason, and the first few of them, best first."""

    count: int = 0
    memory_ids: tuple[str, ...] = ()


class Packed(Struct, frozen=True):
    """What was taken, best first; how many tokens it costs; what was left out, by reason."""

    items: tuple[Item, ...]
    tokens: int
    left: Mapping[str, Left] = field(default_factory=dict)


def of_text(hit: Hit) -> int:
    """What a memory costs whose text alone is given."""
    return tokens(hit.text)


def pack(ranked: Sequence[Scored], budget: int, k_max: int, cost: Callable[[Hit], int] = of_text) -> Packed:
    """The best that fit, at most `k_max`. `ranked`: best first. `cost`: of a memory, in tokens."""
    chosen: dict[int, Item] = {}  # by the place in the ranking
    left: dict[str, list[str]] = {DUPLICATE: [], MOST: [], BUDGET: []}
    spent = 0
    alike = _alike([scored.candidate for scored in ranked])
    for place, scored in enumerate(ranked):
        hit = scored.candidate.hit
        twin = next((other for other in alike[place] if other in chosen), None)
        if twin is not None:
            chosen[twin] = replace(chosen[twin], folded=(*chosen[twin].folded, hit.memory_id))
            left[DUPLICATE].append(hit.memory_id)
        elif len(chosen) == k_max:
            left[MOST].append(hit.memory_id)
        elif spent + (price := cost(hit)) > budget:
            left[BUDGET].append(hit.memory_id)
        else:
            chosen[place] = Item(scored, price)
            spent += price
    told = {reason: Left(len(ids), tuple(ids[:TOLD])) for reason, ids in left.items() if ids}
    return Packed(tuple(chosen.values()), spent, told)


def _alike(candidates: Sequence[Candidate]) -> list[list[int]]:
    """Finds for each place the better places whose memory says the same, best first."""
    found: list[list[int]] = [[] for _ in candidates]
    # To read a text takes much longer than to compare two that were read.
    read = cache(lambda place: Said(candidates[place].hit.text))
    for encoder in {c.encoder for c in candidates}:
        places = [place for place, c in enumerate(candidates) if c.encoder == encoder]
        vectors = np.stack([candidates[place].vector for place in places])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.where(lengths == 0, 1, lengths)
        # Only below the diagonal: each pair once, the worse one first.
        for worse, better in np.argwhere(np.tril(unit @ unit.T, -1) >= ALIKE).tolist():
            a, b = read(places[worse]), read(places[better])
            one_agent = candidates[places[worse]].hit.agent == candidates[places[better]].hit.agent
            # "I" said by two agents speaks of two.
            if a.agrees(b) and (one_agent or not a.personal):
                found[places[worse]].append(places[better])
    return found
