"""Divides what is left of a session into the parts of which summaries are made (SPEC C).

A part is of one agent and bound alike, has at most `MOST` memories, and holds what a summary of it may take the place
of (`core.consolidation.losing`). No part has fewer than `LEAST` memories, or only small talk. The rest is divided again
until it gives no more parts, each set of equally bound memories by itself. So nothing that is left over, at any time,
could still be summarized.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.consolidation.extractive import LEAST
from memquorum.core.consolidation.importance import importance_ppm
from memquorum.core.consolidation.losing import replaceable, says_all, worthless
from memquorum.core.consolidation.weighing import important
from memquorum.core.facets import Kept
from memquorum.core.policy import PPM, ConsolidatePolicy
from memquorum.core.reading.assertion import unreal
from memquorum.ports import SessionMemory, Source

MOST = 16
"""So many memories are summed up in one summary at most: of a long session each part has one of its own."""
FEW = "few"
"""The reason if fewer than `LEAST` memories are of its agent and bound as it is."""
TALK = "talk"
"""The reason if its text has too little content, and so have those that it would be summarized with."""
WORTH = "worth"
"""The reason if a summary would leave it out though it is worth keeping."""
SAVES = "saves"
"""The reason if a summary would have to repeat all of it and of the memories beside it, and would save nothing."""
UNREAL = "unreal"
"""The reason if its text says that it is a joke, a draft, a tale, a simulation or a rumour."""
OFF = "off"
"""The reason if consolidation is switched off in its namespace."""
_EDGE_PPM = 50_000
_TENTH_PPM = PPM // 10

Memories = tuple[SessionMemory, ...]


class Part(Struct, frozen=True):
    """A part of a session: its memories, and the same as a summariser is given them. `distortion_ppm`: of a part of
    what a namespace holds beyond its budget, the predicted distortion of its summary."""

    memories: Memories
    sources: tuple[Source, ...]
    distortion_ppm: int | None = None

    @property
    def rests(self) -> bool:
        """Whether its memories rest sealed, so that what a summary leaves out is nowhere."""
        return any(one.lies is not None for one in self.memories)

    def keeping(self) -> Part:
        """The same, its own most important memories to be kept whole: beside what a model writes, each summary has
        them."""
        most = important(self.sources)
        return replace(self, sources=tuple(replace(one, whole=one.memory_id in most) for one in self.sources))


class Divided(Struct, frozen=True):
    """A session in parts, and why each of the other memories is in none."""

    parts: tuple[Part, ...]
    staying: Mapping[str, str]

    def reasons(self) -> dict[str, int]:
        """Counts the memories that are in no part, by the reason."""
        return dict(Counter(self.staying.values()))


def divide(memories: Sequence[SessionMemory], policy: ConsolidatePolicy, beside: Collection[str] = ()) -> Divided:
    """Divides a session, each agent's for itself and in the order in which it was lived.

    `memories`: the session's, the oldest first. `beside`: those that were left over when a summary was made of what is
    bound as they are, so that there were not too few of them.
    """
    parts: list[Part] = []
    # A sealed memory is in the summary that is made again, or nowhere.
    unreal_ids = {one.memory_id for one in memories if one.lies is None and unreal(one.text)}
    staying = dict.fromkeys(unreal_ids, UNREAL)
    for alike in _bound_alike([one for one in memories if one.memory_id not in unreal_ids]):
        made, left = _divided(alike, policy)
        parts += made
        few = len(alike) < LEAST and not any(one.memory_id in beside for one in alike)
        staying |= dict.fromkeys((one.memory_id for one in left), FEW) if few else _why(left, policy)
    return Divided(tuple(parts), staying)


def undivided(memories: Sequence[SessionMemory]) -> Divided:
    """A session of a namespace in which consolidation is switched off: nothing of it is summed up."""
    return Divided((), {one.memory_id: OFF for one in memories})


def bound(memory: Kept) -> tuple[object, ...]:
    """Returns the key that memories summarized together must share: the tenth in which their sensitivity lies, their
    purposes and their jurisdictions.

    A summary is bound by the gates of all its sources: otherwise a reader of some of these would find less than before.
    """
    return -(-memory.sensitivity_ppm // _TENTH_PPM), memory.purposes, memory.jurisdictions


def _bound_alike(memories: Sequence[SessionMemory]) -> list[Memories]:
    """Groups each agent's memories by their gates. Sealed memories stay together, since one that is in no summary is
    nowhere."""
    found: dict[tuple[object, ...], list[SessionMemory]] = {}
    resting = {one.agent for one in memories if one.lies is not None}
    for agent in dict.fromkeys(one.agent for one in memories):
        for one in memories:
            if one.agent == agent:
                found.setdefault((agent, *(() if agent in resting else bound(one))), []).append(one)
    return [tuple(some) for some in found.values()]


def _divided(alike: Memories, policy: ConsolidatePolicy) -> tuple[list[Part], Memories]:
    """Divides memories that are bound alike into parts; returns the parts and the rest, which gives no further part."""
    found: list[Part] = []
    left = alike
    while len(left) >= LEAST:
        given = (one if one.rests else _replaceable(one, policy) for one in _cut(_weighed(left)))
        made = [one for one in given if len(one.memories) >= LEAST]
        if not made:
            break
        found += made
        gone = {one.memory_id for part in made for one in part.memories}
        left = tuple(one for one in left if one.memory_id not in gone)
    return found, left


def _why(left: Memories, policy: ConsolidatePolicy) -> dict[str, str]:
    """Returns why each left-over memory is in no part; these are bound alike, and together with those beside them there
    are enough."""
    found: dict[str, str] = {}
    for part in _cut(_weighed(left)):
        talk = worthless(part.sources)
        everything = len(left) >= LEAST and says_all(part.sources, lost_rank_ppm=_lost(policy))
        why = SAVES if everything else WORTH
        found |= {one.memory_id: TALK if one.memory_id in talk else why for one in part.sources}
    return found


def _weighed(memories: Memories) -> Part:
    """Memories that are bound alike, as when the last of them was said, the most important to be kept word for word."""
    as_of = max((one.created for one in memories), default=0)
    sources = [_source(one, as_of) for one in memories]
    whole = important(sources)
    return Part(memories, tuple(replace(one, whole=one.memory_id in whole) for one in sources))


def _cut(part: Part) -> list[Part]:
    """A part in such as are not too long for one summary."""
    count, found = len(part.memories), -(-len(part.memories) // MOST)
    places = (slice(at * count // found, (at + 1) * count // found) for at in range(found))
    return [Part(part.memories[at], part.sources[at]) for at in places]


def _replaceable(part: Part, policy: ConsolidatePolicy) -> Part:
    """The part without what a summary of it would have to leave a memory of its own."""
    kept = replaceable(part.sources, share_ppm=policy.share_ppm, lost_rank_ppm=_lost(policy))
    ids = {one.memory_id for one in kept}
    return Part(tuple(one for one in part.memories if one.memory_id in ids), kept)


def _lost(policy: ConsolidatePolicy) -> int:
    """Members rank a memory's worth among what they have heard by then: at the edge they may see it otherwise."""
    return policy.lost_rank_ppm - (_EDGE_PPM if policy.lost_rank_ppm <= PPM else 0)


def _source(one: SessionMemory, as_of: int) -> Source:
    weight = importance_ppm(
        one.text,
        age_ms=max(0, as_of - one.created),
        references=one.references,
        positive=one.positive,
        confidence_ppm=one.confidence_ppm,
    )
    return Source(
        one.memory_id, one.text, one.at, weight, one.agent, sensitivity_ppm=one.sensitivity_ppm,
        purposes=one.purposes, jurisdictions=one.jurisdictions, rank_ppm=one.rank_ppm,
    )  # fmt: skip
