"""A fleet's experience at one time, and the choice of memories for a question (SEDM 3.3.1).

s(q, m) = sim(q, m) · w(m)^¼, both in millionths, ties by id: the source has sim · w, by which what helps many tasks
comes before what is nearer (decision 126). Memories are taken in this order while they fit into the budget of tokens;
one that is too long for the rest is passed over. A memory whose weight is below the floor is there and is not given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from memquorum.core.experience.similarity import HALF_BYTES, Units, similarities_ppm, stacked
from memquorum.core.ids import sha256
from memquorum.core.late_numpy import np
from memquorum.core.policy import PPM, ExperiencePolicy
from memquorum.core.reading.tokens import tokens

if TYPE_CHECKING:
    from numpy.typing import NDArray

_AHEAD = 4
"""So many times as many as may be taken are looked at: what comes later is too far away to be worth a place."""


class Held(Struct, frozen=True, dict=True):
    """A memory as experience holds it.

    - `vector`: of its text by `encoder`, little-endian float16
    - `weight_ppm`: w(m), in millionths; of a candidate what it is tried with
    - `sources`: the ids of the contexts that it was made of; those are no judges of it
    """

    id: str
    text: str
    encoder: str
    vector: bytes
    weight_ppm: int = PPM
    sources: tuple[str, ...] = ()

    @property
    def dimensions(self) -> int:
        """The number of dimensions of its vector."""
        return len(self.vector) // HALF_BYTES

    @cached_property
    def tokens(self) -> int:
        """What it costs."""
        return tokens(self.text)

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of what names all that a trial uses of it but its weight: text and vector never change under an id
        and an encoder."""
        return sha256(*(one.encode("utf-8", "surrogatepass") for one in (self.id, self.encoder, *self.sources)))


class Experience:
    """Memories of one encoder, in the order of their ids."""

    def __init__(self, encoder: str, dimensions: int, memories: Sequence[Held] = ()) -> None:
        """Leaves out what another encoder made, and what is there already by its id."""
        self.encoder, self._dimensions = encoder, dimensions
        found = {one.id: one for one in memories if one.encoder == encoder}
        self.memories = tuple(found[one] for one in sorted(found))
        self._rows = stacked([one.vector for one in self.memories], dimensions)
        self._weights = np.array([one.weight_ppm for one in self.memories], np.int64)

    def __len__(self) -> int:
        return len(self.memories)

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of all that a trial uses of it: two that are equal give the same to every question."""
        return sha256(self.encoder.encode(), *(
            part for one in self.memories for part in (one.digest, one.weight_ppm.to_bytes(8, "big"))
        ))  # fmt: skip

    def without(self, memory_id: str) -> Experience:
        """The same without a memory; itself where it is not there."""
        if all(one.id != memory_id for one in self.memories):
            return self
        left = [one for one in self.memories if one.id != memory_id]
        return Experience(self.encoder, self._dimensions, left)

    def ranked(self, to: Units, policy: ExperiencePolicy) -> list[tuple[int, int]]:
        """Returns the memories with a similarity to a question, as (score, place in `memories`), best first; see
        `scored`."""
        scores = scored(similarities_ppm(self._rows, to), self._weights, policy)
        # Stable, and memories stand in the order of their ids.
        order = np.argsort(-scores, kind="stable")
        return [(int(scores[at]), int(at)) for at in order.tolist() if scores[at] > 0]

    def given(self, to: Units, policy: ExperiencePolicy) -> list[Held]:
        """Returns the memories that a question is given, best first."""
        return packed([self.memories[at] for _, at in self.ranked(to, policy)], policy)


def scored(near_ppm: NDArray[np.int64], weights_ppm: NDArray[np.int64], policy: ExperiencePolicy) -> NDArray[np.int64]:
    """s of each, in 10⁻¹²; 0 for what weighs less than the floor."""
    counts = weights_ppm
    for _ in range(policy.weight_roots):
        # Exact: below 2⁵³ a root is rounded alike everywhere, and never up to a whole number that it is not.
        counts = np.sqrt(counts * PPM).astype(np.int64)
    found: NDArray[np.int64] = np.where(weights_ppm < policy.floor_ppm, 0, near_ppm * counts)
    return found


def packed(
    ranked: Sequence[Held], policy: ExperiencePolicy, keeps: Callable[[Held], bool] = lambda _: True
) -> list[Held]:
    """The best that fit into the budget of tokens and the number of memories, of those that `keeps` lets pass."""
    taken, left, looked = list[Held](), policy.budget_tokens, 0
    for one in ranked:
        if len(taken) == policy.memories_most or looked == _AHEAD * policy.memories_most:
            break
        if not keeps(one):
            continue
        looked += 1
        if one.tokens <= left:
            taken.append(one)
            left -= one.tokens
    return taken
