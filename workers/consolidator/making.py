"""The summaries of a session: of what is left of it in short-term memory, each of a part of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.access import covers
from memquorum.core.consolidation import condensing, parting
from memquorum.core.consolidation.parting import Divided, Part
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.policy import ConsolidatePolicy, Policy
from memquorum.core.records import EpisodeRecorded, Quote, SessionClosed, Summary
from memquorum.ports import Placed, SessionMemory

ROLE = "summary"
EXTRACTIVE = "extractive/1"
"""The maker, in provenance, of a summary of sentences as they were said."""


def divided(closed: SessionClosed, memories: Sequence[SessionMemory], policy: ConsolidatePolicy) -> Divided:
    """A session that is over in the parts of which summaries are made, and what is in none
    (`core.consolidation.parting`).

    `memories`: the session's, the oldest first; what was accepted after its end is another one's.
    """
    mine = [one for one in memories if one.accepted < closed.accepted_offset]
    # A summary in the place of an erased one is made all the same: the sources rest sealed until it comes.
    if closed.summary is None and covers(policy.off.split(), closed.namespace):
        return parting.undivided(mine)
    return parting.divide(mine, policy)


def condensed(episodes: Sequence[Placed], policy: Policy) -> Divided:
    """Returns the groups of a namespace's episodes in the parts of which summaries are made for want of room, and what
    is in none (`core.consolidation.condensing`)."""
    vectors = {one.memory.memory_id: one.vector for one in episodes}
    divided = [
        parting.divide([one.memory for one in group], policy.consolidate)
        for group in condensing.groups(episodes, policy.budget.distortion_ppm)
    ]
    staying = {memory_id: why for one in divided for memory_id, why in one.staying.items()}
    parts = (
        replace(part, distortion_ppm=condensing.predicted_ppm([vectors[one.memory_id] for one in part.memories]))
        for one in divided
        for part in one.parts
    )
    return Divided(tuple(parts), staying)


def resting(memories: Sequence[SessionMemory]) -> list[SessionMemory]:
    """Returns the sources for a new summary: those that rest sealed because of the erased one, or if none do, as with a
    draft or an overlay, the living ones. A living source beside sealed ones was brought back by a vote, and stays
    so."""
    return [one for one in memories if one.lies is not None] or list(memories)


def summary(
    closed: SessionClosed, part: Part, summariser: str, text: str, quotes: tuple[Quote, ...]
) -> EpisodeRecorded:
    """A summary, as the consolidator publishes it. `summariser`: who was asked.

    If nothing is left of its text, the rules for sentences as they were said have made the summary.
    """
    by_id = sorted(part.memories, key=lambda one: one.memory_id)
    subjects = {one.subject for one in part.memories}
    return EpisodeRecorded(
        agent=CONSOLIDATOR,
        content=text,
        namespace=closed.namespace,
        event_id=_event_id(closed, by_id[0].agent, summariser, [one.memory_id for one in by_id]),
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
            distortion_ppm=part.distortion_ppm,
        ),
    )


def _event_id(closed: SessionClosed, agent: str, by: str, memory_ids: Sequence[str]) -> str:
    # A summary made again may have the same sources as the erased one, so its id also depends on that one.
    anew = () if closed.summary is None else (closed.summary,)
    # The same summary made twice is the same event. Intake takes this id from the consolidator alone.
    named = (closed.namespace, agent, closed.session, by, *memory_ids, *anew)
    return ids.made_event_id(ids.SUMMARY, CONSOLIDATOR, *named)
