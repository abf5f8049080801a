"""Decides whether a summary that an order erases is written again from its remaining memories, and from which ones.

An erasure takes a summary whole and at once, with the sentences of everybody. What others said lies sealed under keys
of its own until its grace time ends, or is alive where nothing was sealed: a new summary is written from that by the
same rules, and voted on like any other. These rules serve the worker that erases, the preview of an erasure, and the
audit; the members decide on the new summary.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from memquorum.core.consolidation.extractive import LEAST
from memquorum.core.tiers import GONE, SEALED, SHORT_TERM

ANEW = "anew"
"""The fate of a summary with at least three readable memories left: a new one is written from them."""
NAMED, MODEL, FEW, OVER = "named", "model", "few", "over"
"""The reasons why no new summary is written: the order names the summary itself; a model wrote it; fewer than three of
its memories are left; the grace time of too many of those is over, so nobody can read them any more."""

WORDS: Mapping[str, str] = MappingProxyType(
    {
        ANEW: "a summary, to be made anew of what others said",
        NAMED: "a summary, dropped: the order names it",
        MODEL: "a summary, dropped: a model wrote it",
        FEW: f"a summary, dropped: of what it was made of fewer than {LEAST} memories are left",
        OVER: "a summary, dropped: the grace time of the others that it was made of is over",
    }
)
"""The fate of a summary in words, by its code."""

EXTRACTIVE = "extractive/"
"""The prefix of `made_by` for summaries whose sentences are verbatim."""


class Row(Protocol):
    """A memory's row, or the columns of it that were read."""

    @property
    def id(self) -> str:
        """The memory's id."""

    @property
    def tier(self) -> str:
        """The memory's tier."""

    @property
    def sealed_until(self) -> int | None:
        """The time at which its key is destroyed; None if it is not sealed."""

    @property
    def made_by(self) -> str | None:
        """The maker of a summary; None for any other memory."""

    @property
    def renews(self) -> str | None:
        """The erased summary that this summary replaces, if any."""

    @property
    def told_by(self) -> str | None:
        """The summary because of which it rests sealed, if any."""


def fates(
    taken: Collection[str],
    roots: Collection[str],
    memories: Mapping[str, Row],
    made_of: Mapping[str, Sequence[str]],
    erased: Collection[str],
    *,
    as_of: int,
) -> dict[str, str]:
    """Returns the fate of each summary that an order erases, by its id.

    `roots`: the ids that the order names itself; `memories`: the rows of the memories that it takes and of their
    sources; `made_of`: by summary, its sources; `erased`: ids that an order took before; `as_of`: the shard's time.
    """
    found: dict[str, str] = {}
    for own in taken:
        summary = memories.get(own)
        if summary is None or summary.made_by is None or summary.tier == GONE:
            continue
        others = (memories[i] for i in made_of.get(own, ()) if i not in taken and i not in erased and i in memories)
        # A summary that was merged into this one is no source: it has a fate of its own.
        left = [one for one in others if one.made_by is None]
        found[own] = NAMED if own in roots else _fate(summary, left, as_of)
    return found


def _fate(summary: Row, left: Sequence[Row], as_of: int) -> str:
    if not (summary.made_by or "").startswith(EXTRACTIVE):
        return MODEL
    if len(left) < LEAST:
        return FEW
    return ANEW if sum(_can_be_read(one, summary, as_of) for one in left) >= LEAST else OVER


def _can_be_read(source: Row, summary: Row, as_of: int) -> bool:
    """True if a new summary may use this memory: it is alive, or rests sealed because of that very summary."""
    return source.tier == SHORT_TERM or stub(source, (summary.id, summary.renews), as_of)


def stub(source: Row, summaries: Iterable[str | None], as_of: int) -> bool:
    """True if a memory rests sealed because of one of these summaries and its key still exists."""
    if source.tier != SEALED or source.told_by is None or (source.sealed_until or 0) <= as_of:
        return False
    return source.told_by in summaries
