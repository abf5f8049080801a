"""Finds memories of experience that say the same and may be merged there (SEDM 3.3.2; infra/decisions/0129).

Unlike summaries, they are not merged for ever: each stays a memory, with its own subject, and returns when the one that
stands for it goes. So less has to be equal than there. Their words agree by the same rules and as much binds their use;
they have one source, since two say more than one. Besides,

- who names no subject speaks of itself: two such say the same where neither says "I", "we" or "you", which would be
  somebody else;
- what has a key, or a path or attributes, stands for what has none; never for what has another, which is of another
  matter however it reads. A memory with labels is the one that stays, so that it is found by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace

from memquorum.core.consolidation import alike
from memquorum.core.contained import Failures
from memquorum.core.merging import Marks, interchangeable
from memquorum.core.policy import Policy
from memquorum.core.reading.agreement import ComparedText
from memquorum.ports import Peer


class Voiced(alike.Telling, Protocol):
    """A memory of experience, as a member has read it or the schedule knows it."""

    @property
    def agent(self) -> str:
        """Who said it."""


FAMILY_LEAST = 3
"""So many lessons have to have the same general form before that stands for them: two may be alike by chance."""


def stands_for(one: Voiced, mine: ComparedText, other: Voiced, theirs: ComparedText) -> bool:
    """Whether the one may be given for the other, however near they lie. `mine`, `theirs`: their texts, as read."""
    return difference(one, mine, other, theirs) is None


def difference(one: Voiced, mine: ComparedText, other: Voiced, theirs: ComparedText) -> str | None:
    """Returns, in words, why one may not be given for the other; None if only their distance could speak against it."""
    if (why := _bound_otherwise(one, mine, other, theirs)) is not None:
        return why
    return None if mine.agrees(theirs) else "their words do not say the same for sure"


def family(lessons: Sequence[Voiced]) -> bool:
    """Whether so many lessons are bound alike that one general form may be given for all, if it is the form of each.
    A lesson with a key, or a path or attributes, is in no family: nobody would find it by them."""
    said = [ComparedText(one.text or "") for one in lessons]
    if len(lessons) < FAMILY_LEAST or any(one.marks is None or one.marks.slot or one.marks.label for one in lessons):
        return False
    first, mine = lessons[0], said[0]
    return all(
        _bound_otherwise(first, mine, other, theirs) is None
        for other, theirs in zip(lessons[1:], said[1:], strict=True)
    )


def _bound_otherwise(one: Voiced, mine: ComparedText, other: Voiced, theirs: ComparedText) -> str | None:
    """Returns what binds two memories otherwise, whatever they say, in words; None where nothing does."""
    if one.marks is None or other.marks is None:
        return "what binds them is not known"
    about, beside = _about(one, one.marks), _about(other, other.marks)
    if about != beside:
        return "they are about different subjects"
    if about is None and one.agent != other.agent and (mine.personal or theirs.personal):
        return 'two agents say "I", "we" or "you", of themselves'
    if one.marks.source != other.marks.source:
        return "they are from different sources"
    if other.marks.slot not in (None, one.marks.slot):
        return "each has a key of its own"
    if other.marks.label not in (None, one.marks.label):
        return "each has a path or attributes of its own"
    if not interchangeable(one.marks, _filed(other.marks, one.marks)):
        return "their use is not bound alike"
    return None


def same(memories: Sequence[Voiced]) -> bool:
    """Whether the first may be given for all, and every one for those after it."""
    return alike.same(memories, stands_for)


def groups(
    peers: Sequence[Peer], policy: Policy, most: int, as_of: int, failures: Failures | None = None
) -> list[tuple[Peer, ...]]:
    """The groups that may become one in experience, each of `most` at most: first the one that stays. `failures`: takes
    what a rule fails on."""
    least = policy.experience.merge_ppm
    return alike.cliques(peers, least, most, as_of, by=place, fits=stands_for, failures=failures)


def place(peer: Peer, _: int) -> tuple[bool, bool, int, str]:
    """Its place among those that say the same: what has a key, or a path or attributes, first; then the higher weight,
    then the lower id."""
    return peer.marks.slot is None, peer.marks.label is None, -peer.weight_ppm, peer.candidate.memory_id


def _about(one: Voiced, marks: Marks) -> str | None:
    """Returns its subject; None if that is its own agent."""
    return None if marks.subject == one.agent else marks.subject


def _filed(marks: Marks, like: Marks) -> Marks:
    """The marks, with the subject and the place of another."""
    return replace(marks, subject=like.subject, slot=like.slot, label=like.label)
