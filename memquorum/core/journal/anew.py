"""Whether a summary that an order erases is made anew of what is left, and of which of its memories.

An erasure takes a summary whole and at once, with the sentences of everybody. What others said lies sealed under keys
of its own for as long as its grace time lasts, or is alive where nothing was sealed: of that a summary is made anew by
the same rules, and voted on like any other. Here is said of which it is, for whoever erases, shows beforehand what
would go, and audits; what becomes of it members decide.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from memquorum.core.consolidation.extractive import LEAST
from memquorum.core.tiers import GONE, SEALED, SHORT_TERM

ANEW = "anew"
"""At least three of its memories are left: it is made anew of them."""
NAMED, MODEL, FEW, OVER = "named", "model", "few", "over"
"""Why it is not: the order names the summary itself; a model wrote it; fewer than three of its memories are left; of
those that are left the grace time is over, so nobody can read them any more."""

WORDS: Mapping[str, str] = MappingProxyType(
    {
        ANEW: "a summary, to be made anew of what others said",
        NAMED: "a summary, dropped: the order names it",
        MODEL: "a summary, dropped: a model wrote it",
        FEW: f"a summary, dropped: of what it was made of fewer than {LEAST} memories are left",
        OVER: "a summary, dropped: the grace time of the others that it was made of is over",
    }
)
"""What becomes of a summary, as people read it."""

EXTRACTIVE = "extractive/"
"""How the names of those begin who make summaries of sentences as they are."""


class Row(Protocol):
    """A memory's row, or what is read of one."""

    @property
    def id(self) -> str:
        """Which memory it is."""

    @property
    def tier(self) -> str:
        """Where it stands."""

    @property
    def sealed_until(self) -> int | None:
        """When its key goes."""

    @property
    def made_by(self) -> str | None:
        """Who made it, where it is a summary."""

    @property
    def renews(self) -> str | None:
        """The erased summary in whose place it was made, where it is one."""

    @property
    def told_by(self) -> str | None:
        """The summary that says it, where it rests sealed because of one."""


def fates(
    taken: Collection[str],
    roots: Collection[str],
    memories: Mapping[str, Row],
    made_of: Mapping[str, Sequence[str]],
    erased: Collection[str],
    *,
    as_of: int,
) -> dict[str, str]:
    """What becomes of each summary among what an order takes.

    `roots`: what the order names itself; `memories`: the rows of what is taken and of what that was made of; `made_of`:
    of each summary, what it was made of; `erased`: what an order took before; `as_of`: the shard's time.
    """
    found: dict[str, str] = {}
    for own in taken:
        summary = memories.get(own)
        if summary is None or summary.made_by is None or summary.tier == GONE:
            continue
        others = (memories[i] for i in made_of.get(own, ()) if i not in taken and i not in erased and i in memories)
        # What became one with it is a summary too, and speaks for its own.
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
    """Whether a summary may be made of it: it is alive, or rests sealed because of that very summary."""
    return source.tier == SHORT_TERM or stub(source, (summary.id, summary.renews), as_of)


def stub(source: Row, summaries: Iterable[str | None], as_of: int) -> bool:
    """Whether a memory rests sealed because one of these summaries says it, and its key is there still."""
    if source.tier != SEALED or source.told_by is None or (source.sealed_until or 0) <= as_of:
        return False
    return source.told_by in summaries
