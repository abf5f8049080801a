"""Ranks the hits of a retrieval: relevance × strength × tier (docs/use/reading.md).

It serves `retrieve`, `recall` and `context`. A search starts from the cosines of the store;
`workers.retrieval.pipeline` puts the best hits of either in their last order.

Relevance counts most. Strength, which is high for what was used lately or was salient when it came, moves a score by at
most `strength_share`; it decides between two memories that answer equally well. A memory in long-term memory, which the
members voted for, counts a little more than one in short-term memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from memquorum.core import decay
from memquorum.core.api.answers import Hit
from memquorum.core.late_numpy import np
from memquorum.core.policy import PPM, ExperiencePolicy, Policy
from memquorum.core.retrieval.fusion import Fusion, merged, relevance
from memquorum.core.retrieval.overtaken import Beside, Otherwise
from memquorum.core.retrieval.query import Filters

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TIERS: Mapping[str, float] = MappingProxyType({"short-term": 1.0, "long-term": 1.1})


class Ranking(Struct, frozen=True):
    """The numbers of a retrieval."""

    depth: int = 100
    """So many memories of each ranking are candidates."""
    words: int = 32
    """So many words of the query, the first that mean something, are looked for."""
    strength_share: float = 0.3
    tiers: Mapping[str, float] = field(default_factory=lambda: _TIERS)
    fusion: Fusion = field(default_factory=Fusion)


DEFAULTS = Ranking()


class Question(Struct, frozen=True):
    """A query to a store. `vectors`: the query's by the encoder's name, of shape (d,)."""

    namespace: str
    query: str
    vectors: Mapping[str, NDArray[np.float32]]
    filters: Filters = field(default_factory=Filters)


class Candidate(Struct, frozen=True):
    """A memory that was found. `near`: it is among its encoder's nearest. `words`: the worth of the words that it
    shares with the query, if it is among the best by words. `vector`: its own, shape (d,), by `encoder`."""

    hit: Hit
    encoder: str
    vector: NDArray[np.float32]
    near: bool
    words: float | None
    after: tuple[str, ...]
    """The memories that follow it in its session, nearest first."""
    whole: str | None = None
    """All of a summary, where the hit has some sentences of it; all of a long text, where it has some passages."""
    passages: tuple[tuple[int, int], ...] = ()
    """The passages of a long text that are nearest to the question, the nearest first."""
    denied_lines: Mapping[str, frozenset[int]] = MappingProxyType({})
    """The lines of a summary's whole text that other memories contradict, by the contradicting memory."""
    against: tuple[Otherwise, ...] = ()
    """The newer memories that contradict it, and in which statements."""

    @property
    def text(self) -> str:
        """All that it says."""
        return self.hit.text if self.whole is None else self.whole

    def beside(self, marks: Beside) -> Candidate:
        """The candidate with what contradicts it."""
        hit = replace(self.hit, conflicts_with=marks.conflicts_with, overtakes=marks.overtakes)
        return replace(self, hit=hit, against=marks.against)

    @property
    def marks(self) -> Beside:
        """What contradicts it."""
        return Beside(self.hit.conflicts_with, self.against, self.hit.overtakes)


class Scored(Struct, frozen=True):
    """A candidate with its score and the parts of that."""

    candidate: Candidate
    relevance: float
    strength: float
    score: float
    weight: float | None = None
    """In experience: w(m), where it is asked for experience."""
    through: str | None = None
    """The memory or question by which the second step found it (`hops`)."""
    near_place: int | None = None
    """Its place among the nearest by meaning, 1 for the first; None where it is none of them. So `words_place`."""
    words_place: int | None = None


def rank(
    candidates: Sequence[Candidate],
    encoded: Mapping[str, int],
    as_of: int,
    policy: Policy,
    given: Ranking = DEFAULTS,
) -> list[Scored]:
    """The candidates, best first, of equal ones what was said later, then by id.

    `encoded`: how many memories each encoder has among those asked for; ties between two encoders go to the first.
    `as_of`: the shard's time, in milliseconds.
    """
    near = merged([(_nearest(candidates, encoder), count) for encoder, count in encoded.items()])
    said = _said(candidates)
    relevances = relevance(near, said, {c.hit.memory_id: c.after for c in candidates}, given.fusion)
    places = [{memory_id: place for place, memory_id in enumerate(ids, 1)} for ids in (near, said)]
    scored = []
    for candidate in candidates:
        hit = candidate.hit
        strong = strength(hit.last_access, hit.salience, as_of, decay.of_tier(policy, hit.tier), given.strength_share)
        found = relevances[hit.memory_id]
        score = found * strong * given.tiers.get(hit.tier, 1.0)
        by_meaning, by_words = (one.get(hit.memory_id) for one in places)
        scored.append(Scored(candidate, found, strong, score, near_place=by_meaning, words_place=by_words))
    return sorted(scored, key=lambda s: (-s.score, -s.candidate.hit.occurred_at, s.candidate.hit.memory_id))


def scheduled(ranked: Sequence[Scored], weights_ppm: Mapping[str, int], policy: ExperiencePolicy) -> list[Scored]:
    """Returns the memories of experience for a question, best first, ties by id: s(q, m) = sim(q, m) · w(m), with the
    weight by the policy's root of it, regardless of strength and tier (SPEC E, SEDM 3.3.1; `core.experience.view`).
    `weights_ppm`: of what was admitted; what has none, or less than the floor, is left out, and so is what is farther
    away than what is given may be; and so is the general form of what is given itself, which says all of it."""
    found = list[Scored]()
    for one in ranked:
        hit = one.candidate.hit
        weight_ppm = weights_ppm.get(hit.memory_id, 0)
        if weight_ppm >= policy.floor_ppm and near_enough(hit.score, policy):
            weight = weight_ppm / PPM
            score = max(0.0, hit.score) * weight**0.5**policy.weight_roots
            found.append(replace(one, weight=weight, score=score))
    best = sorted(found, key=lambda one: (-one.score, one.candidate.hit.memory_id))
    idle = idle_forms([one.candidate.hit for one in best])
    return [one for one in best if one.candidate.hit.memory_id not in idle]


def idle_forms(hits: Sequence[Hit]) -> set[str]:
    """Those general forms among hits, best first, that say nothing more: the lesson that one was made of is among them,
    or a better one says the same, of another lesson."""
    ranks, said = competing({hit.memory_id: hit.general_of for hit in hits}), set[str]()
    idle = {hit.memory_id for hit in hits} - ranks
    for hit in hits:
        if hit.general_of is not None and hit.memory_id in ranks:
            idle |= {hit.memory_id} if hit.text in said else set()
            said.add(hit.text)
    return idle


def competing(near: Mapping[str, str | None]) -> frozenset[str]:
    """Returns the ids to rank among those that are near enough, each given with its source memory if it is a general
    form. A general form is left out if its source is near enough, too, since that says all of it (SPEC E, SEDM 3.4)."""
    return frozenset(one for one, of in near.items() if of not in near)


def near_enough(cosine: float, policy: ExperiencePolicy) -> bool:
    """True if a memory of experience with this cosine to a question may be served."""
    return cosine * PPM >= policy.given_ppm


def strength(last_access: int, salience: float, as_of: int, policy: Policy, share: float) -> float:
    """Between 1 − share and 1: how much of the mean of decay and salience, both in [0, 1], is left."""
    left = decay.decay_ppm(last_access, as_of, policy) / PPM
    return 1.0 - share + share * (left + salience) / 2


def _nearest(candidates: Sequence[Candidate], encoder: str) -> list[str]:
    return _best([(c.hit.score, c.hit) for c in candidates if c.encoder == encoder and c.near])


def _said(candidates: Sequence[Candidate]) -> list[str]:
    return _best([(c.words, c.hit) for c in candidates if c.words is not None])


def _best(valued: Sequence[tuple[float, Hit]]) -> list[str]:
    """The ids of (value, hit), best first; of equal ones what was said later comes first, since a fusion goes by the
    rank and would otherwise set two texts apart that no encoder tells apart."""
    of = [(-value, -hit.occurred_at, hit.memory_id) for value, hit in valued]
    return [memory_id for _, _, memory_id in sorted(of)]
