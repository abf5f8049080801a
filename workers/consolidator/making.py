"""Makes the summaries of a session: of what is left of it in short-term memory, each of a part of it."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from memquorum.core import ids
from memquorum.core.consolidation.extractive import LEAST, important
from memquorum.core.consolidation.importance import importance_ppm
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.records import EpisodeRecorded, SessionClosed, Summary
from memquorum.ports import SessionMemory, Source, Summariser

MOST = 16
"""So many memories are summed up in one summary at most: of a long session each part has one of its own."""
ROLE = "summary"

# Fixed for ever: whoever makes the same summary again publishes the same event.
_SUMMARIES = uuid.UUID("3c0b1a52-7d1f-5a6e-9a55-73756d6d6172")


def summaries(
    summariser: Summariser, closed: SessionClosed, memories: Sequence[SessionMemory]
) -> list[EpisodeRecorded]:
    """The summaries of a session, as the consolidator publishes them; none of what would say nothing.

    `memories`: the session's, the oldest first; what was accepted after its end is another one's. Raises
    SummariserUnavailable.
    """
    memories = [one for one in memories if one.accepted < closed.accepted_offset]
    sources = [_source(one, closed.closed_at) for one in memories]
    whole = important(sources)
    sources = [replace(one, whole=one.memory_id in whole) for one in sources]
    made = (_summary(summariser, closed, memories[part], sources[part]) for part in _parts(len(memories)))
    return [one for one in made if one is not None]


def _parts(count: int) -> Iterator[slice]:
    """A session in parts of about the same length, in the order in which it was lived."""
    parts = -(-count // MOST)
    for at in range(parts):
        part = slice(at * count // parts, (at + 1) * count // parts)
        if part.stop - part.start >= LEAST:
            yield part


def _summary(
    summariser: Summariser, closed: SessionClosed, part: Sequence[SessionMemory], sources: Sequence[Source]
) -> EpisodeRecorded | None:
    made = summariser.summarise(sources)
    if made is None:
        return None
    text, quotes = made
    by_id = sorted(part, key=lambda one: one.memory_id)
    subjects = {one.subject for one in part}
    return EpisodeRecorded(
        agent=CONSOLIDATOR,
        content=text,
        namespace=closed.namespace,
        event_id=_event_id(closed, summariser.name, [one.memory_id for one in by_id]),
        # As old as what it says: one that is dated later would make old news of it.
        occurred_at=max(one.created for one in part),
        subject=subjects.pop() if len(subjects) == 1 else None,
        derives_from=tuple(one.memory_id for one in by_id),
        role=ROLE,
        summary=Summary(
            by=summariser.name,
            session=closed.session,
            importance_ppm=max(one.importance_ppm for one in sources),
            commitment=ids.sha256(*(one.commitment for one in by_id)),
            quotes=quotes,
            renews=closed.summary,
        ),
    )


def _source(one: SessionMemory, as_of: int) -> Source:
    weight = importance_ppm(
        one.text, age_ms=max(0, as_of - one.created), references=one.references, positive=one.positive
    )
    return Source(one.memory_id, one.text, one.created, weight, one.agent)


def _event_id(closed: SessionClosed, by: str, memory_ids: Sequence[str]) -> str:
    named = "\0".join((closed.namespace, closed.agent, closed.session, by, *memory_ids))
    return str(uuid.uuid5(_SUMMARIES, named))
