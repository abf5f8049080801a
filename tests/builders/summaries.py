"""The summaries of a session by one summariser, as the consolidator makes them where no model is asked."""

from __future__ import annotations

from collections.abc import Sequence

from memquorum.core.records import EpisodeRecorded, SessionClosed
from memquorum.ports import SessionMemory, Summariser
from workers.consolidator import making


def summaries(
    summariser: Summariser, closed: SessionClosed, memories: Sequence[SessionMemory]
) -> list[EpisodeRecorded]:
    """Those of all parts of which there is something to say. `memories`: the session's, the oldest first."""
    parts = ((part, summariser.summarise(part.sources)) for part in making.parts(closed, memories))
    return [making.summary(closed, part, summariser.name, *said) for part, said in parts if said is not None]
