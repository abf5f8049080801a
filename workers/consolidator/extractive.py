"""The default summariser: verbatim sentences, chosen by rules, the same on every machine."""

from __future__ import annotations

from collections.abc import Sequence

from memquorum.core.consolidation.extractive import choose
from memquorum.core.consolidation.rendering import render
from memquorum.core.records import Quote
from memquorum.ports import Source
from workers.consolidator.making import EXTRACTIVE


class Extractive:
    """Makes summaries of sentences as they were said; asks nobody."""

    name = EXTRACTIVE

    def summarise(self, sources: Sequence[Source], share_ppm: int) -> tuple[str, tuple[Quote, ...]] | None:
        """The most important sentences, and where each is from; None where there is nothing to say."""
        quotes = choose(sources, share_ppm=share_ppm)
        if not quotes:
            return None
        return render(quotes, {one.memory_id: one.text for one in sources}), tuple(quotes)
