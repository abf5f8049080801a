"""Divides what is left of a session into the parts of which summaries are made (SPEC C).

A part is of one agent and bound alike, has at most `MOST` memories, and holds what a summary of it may take the place
of (`core.consolidation.losing`). Of fewer than `LEAST` none is made, nor of small talk alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.consolidation.extractive import LEAST
from memquorum.core.consolidation.importance import importance_ppm
from memquorum.core.consolidation.losing import replaceable
from memquorum.core.consolidation.weighing import important
from memquorum.core.policy import PPM, ConsolidatePolicy
from memquorum.ports import SessionMemory, Source

MOST = 16
"""So many memories are summed up in one summary at most: of a long session each part has one of its own."""
FEW = "few"
"""Why a memory is in no summary: fewer than `LEAST` are of its agent and bound as it is."""
WORTH = "worth"
"""Why a memory is in no summary: one would leave it out though it is worth keeping, would save nothing, or would say
nothing."""
_EDGE_PPM = 50_000
_TENTH_PPM = PPM // 10


class Part(Struct, frozen=True):
    """A part of a session: its memories, and the same as a summariser is given them."""

    memories: tuple[SessionMemory, ...]
    sources: tuple[Source, ...]

    @property
    def rests(self) -> bool:
        """Whether its memories rest sealed, so that what a summary leaves out is nowhere."""
        return any(one.lies is not None for one in self.memories)

    def keeping(self) -> Part:
        """The same, its own most important memories to be kept whole: beside what a model writes, each summary has
        them."""
        most = important(self.sources)
        return replace(self, sources=tuple(replace(one, whole=one.memory_id in most) for one in self.sources))


def parts(memories: Sequence[SessionMemory], policy: ConsolidatePolicy, *, as_of: int) -> list[Part]:
    """The parts of a session, each agent's for itself and in the order in which it was lived.

    `memories`: the session's, the oldest first. `as_of`: when it was over, in milliseconds.
    """
    found: list[Part] = []
    for agent in dict.fromkeys(one.agent for one in memories):
        given = (part for alike in bound_alike(_whole(memories, agent, as_of)) for part in _cut(alike))
        made = (one if one.rests else _replaceable(one, policy) for one in given)
        found += [one for one in made if len(one.memories) >= LEAST]
    return found


def bound_alike(whole: Part) -> list[Part]:
    """Those that are for the same purposes, under the same laws and in the same tenth of sensitivity together.

    A summary is bound by what binds any of its sources: otherwise who may read some of these would find less than
    before. What rests sealed stays together, since what is in no summary of it is nowhere.
    """
    if whole.rests:
        return [whole]
    found: dict[tuple[object, ...], list[int]] = {}
    for at, one in enumerate(whole.memories):
        tenth = -(-one.sensitivity_ppm // _TENTH_PPM)
        found.setdefault((tenth, one.purposes, one.jurisdictions), []).append(at)
    return [Part(tuple(whole.memories[i] for i in at), tuple(whole.sources[i] for i in at)) for at in found.values()]


def staying(memories: Sequence[SessionMemory], made: Sequence[Part]) -> dict[str, int]:
    """How many of a session's memories no summary takes the place of, by the reason. `made`: its parts."""
    gone = {one.memory_id for part in made for one in part.memories}
    found = Counter[str]()
    for agent in dict.fromkeys(one.agent for one in memories):
        for alike in bound_alike(_whole(memories, agent, 0)):
            left = sum(one.memory_id not in gone for one in alike.memories)
            found[FEW if len(alike.memories) < LEAST else WORTH] += left
    return {why: count for why, count in found.items() if count}


def _whole(memories: Sequence[SessionMemory], agent: str, as_of: int) -> Part:
    """What an agent said of the session, the most important of it to be kept word for word."""
    mine = tuple(one for one in memories if one.agent == agent)
    sources = [_source(one, as_of) for one in mine]
    whole = important(sources)
    return Part(mine, tuple(replace(one, whole=one.memory_id in whole) for one in sources))


def _cut(part: Part) -> list[Part]:
    """A part in such as are not too long for one summary."""
    count, found = len(part.memories), -(-len(part.memories) // MOST)
    places = (slice(at * count // found, (at + 1) * count // found) for at in range(found))
    return [Part(part.memories[at], part.sources[at]) for at in places]


def _replaceable(part: Part, policy: ConsolidatePolicy) -> Part:
    """The part without what a summary of it would have to leave a memory of its own."""
    # Members rank a memory's worth among what they have heard by then: at the edge they may see it otherwise.
    lost_rank_ppm = policy.lost_rank_ppm - (_EDGE_PPM if policy.lost_rank_ppm <= PPM else 0)
    kept = replaceable(part.sources, share_ppm=policy.share_ppm, lost_rank_ppm=lost_rank_ppm)
    ids = {one.memory_id for one in kept}
    return Part(tuple(one for one in part.memories if one.memory_id in ids), kept)


def _source(one: SessionMemory, as_of: int) -> Source:
    weight = importance_ppm(
        one.text, age_ms=max(0, as_of - one.created), references=one.references, positive=one.positive
    )
    return Source(
        one.memory_id, one.text, one.created, weight, one.agent, sensitivity_ppm=one.sensitivity_ppm,
        purposes=one.purposes, jurisdictions=one.jurisdictions, rank_ppm=one.rank_ppm,
    )  # fmt: skip
