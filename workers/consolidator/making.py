"""The summaries of a session: of what is left of it in short-term memory, each of a part of it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.consolidation.extractive import LEAST
from memquorum.core.consolidation.importance import importance_ppm
from memquorum.core.consolidation.losing import replaceable
from memquorum.core.consolidation.weighing import important
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import PPM, ConsolidatePolicy
from memquorum.core.records import EpisodeRecorded, Quote, SessionClosed, Summary
from memquorum.ports import SessionMemory, Source

MOST = 16
"""So many memories are summed up in one summary at most: of a long session each part has one of its own."""
ROLE = "summary"
_EDGE_PPM = 50_000
_TENTH_PPM = PPM // 10
EXTRACTIVE = "extractive/1"
"""Who makes a summary of sentences as they were said, as provenance has it."""

# Fixed for ever: whoever makes the same summary again publishes the same event.
_SUMMARIES = uuid.UUID("3c0b1a52-7d1f-5a6e-9a55-73756d6d6172")


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


def parts(closed: SessionClosed, memories: Sequence[SessionMemory], policy: ConsolidatePolicy) -> list[Part]:
    """A session in parts of what is bound alike, each of about the same length and in the order in which it was lived:
    of each what a summary may take the place of (`core.consolidation.losing`), none of too few memories, nor of small
    talk alone.

    `memories`: the session's, the oldest first; what was accepted after its end is another one's.
    """
    memories = [one for one in memories if one.accepted < closed.accepted_offset]
    sources = [_source(one, closed.closed_at) for one in memories]
    whole = important(sources)
    sources = [replace(one, whole=one.memory_id in whole) for one in sources]
    given = (part for alike in _bound_alike(memories, sources) for part in _cut(alike))
    made = (one if one.rests else _replaceable(one, policy) for one in given)
    return [one for one in made if len(one.memories) >= LEAST]


def _bound_alike(memories: Sequence[SessionMemory], sources: Sequence[Source]) -> list[Part]:
    """Those that are for the same purposes, under the same laws and in the same tenth of sensitivity together.

    A summary is bound by what binds any of its sources: otherwise who may read some of these would find less than
    before. What rests sealed stays together, since what is in no summary of it is nowhere.
    """
    whole = Part(tuple(memories), tuple(sources))
    if whole.rests:
        return [whole]
    found: dict[tuple[object, ...], list[int]] = {}
    for at, one in enumerate(memories):
        tenth = -(-one.sensitivity_ppm // _TENTH_PPM)
        found.setdefault((tenth, one.purposes, one.jurisdictions), []).append(at)
    return [Part(tuple(memories[i] for i in at), tuple(sources[i] for i in at)) for at in found.values()]


def _cut(part: Part) -> list[Part]:
    """A part in such as are not too long for one summary."""
    count, found = len(part.memories), -(-len(part.memories) // MOST)
    places = (slice(at * count // found, (at + 1) * count // found) for at in range(found))
    return [Part(part.memories[at], part.sources[at]) for at in places]


def resting(memories: Sequence[SessionMemory]) -> list[SessionMemory]:
    """What a summary is made anew of: what rests sealed because of the erased one, and where nothing does, as with a
    draft or an overlay, what is alive. What is alive beside what rests a vote has brought back, and it stays so."""
    return [one for one in memories if one.lies is not None] or list(memories)


def _replaceable(part: Part, policy: ConsolidatePolicy) -> Part:
    """The part without what a summary of it would have to leave a memory of its own."""
    # Members rank a memory's worth among what they have heard by then: at the edge they may see it otherwise.
    lost_rank_ppm = policy.lost_rank_ppm - (_EDGE_PPM if policy.lost_rank_ppm <= PPM else 0)
    kept = replaceable(part.sources, share_ppm=policy.share_ppm, lost_rank_ppm=lost_rank_ppm)
    ids = {one.memory_id for one in kept}
    return Part(tuple(one for one in part.memories if one.memory_id in ids), kept)


def summary(
    closed: SessionClosed, part: Part, summariser: str, text: str, quotes: tuple[Quote, ...]
) -> EpisodeRecorded:
    """A summary, as the consolidator publishes it. `summariser`: who was asked.

    Of what it wrote nothing may be left: then the rules for sentences as they were said have made it.
    """
    by_id = sorted(part.memories, key=lambda one: one.memory_id)
    subjects = {one.subject for one in part.memories}
    return EpisodeRecorded(
        agent=CONSOLIDATOR,
        content=text,
        namespace=closed.namespace,
        event_id=_event_id(closed, summariser, [one.memory_id for one in by_id]),
        # As old as what it says: one that is dated later would make old news of it.
        occurred_at=max(one.created for one in part.memories),
        subject=subjects.pop() if len(subjects) == 1 else None,
        derives_from=tuple(one.memory_id for one in by_id),
        role=ROLE,
        summary=Summary(
            by=summariser if any(one.sentence is not None for one in quotes) else EXTRACTIVE,
            session=closed.session,
            importance_ppm=max(one.importance_ppm for one in part.sources),
            commitment=ids.sha256(*(one.commitment for one in by_id)),
            quotes=quotes,
            renews=closed.summary,
        ),
    )


def _source(one: SessionMemory, as_of: int) -> Source:
    weight = importance_ppm(
        one.text, age_ms=max(0, as_of - one.created), references=one.references, positive=one.positive
    )
    return Source(
        one.memory_id, one.text, one.created, weight, one.agent, sensitivity_ppm=one.sensitivity_ppm,
        purposes=one.purposes, jurisdictions=one.jurisdictions, rank_ppm=one.rank_ppm,
    )  # fmt: skip


def _event_id(closed: SessionClosed, by: str, memory_ids: Sequence[str]) -> str:
    # What is made anew may be made of all that the erased one was made of, where that went for what was merged into it.
    anew = () if closed.summary is None else (closed.summary,)
    named = "\0".join((closed.namespace, closed.agent, closed.session, by, *memory_ids, *anew))
    return str(uuid.uuid5(_SUMMARIES, named))
