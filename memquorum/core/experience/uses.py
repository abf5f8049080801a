"""Computes the gains of memories of experience that were given to tasks, from the accepted stream (SPEC E; SEDM 3.3.2).

No text is read here: weights move by ids alone, so they can be computed again after an erasure. For a decision, every
record before the accepted offset of its nomination counts (decision 127).

A gain U lies in [−1, 1]. An agent's feedback that a memory helped in a task, or did not, is believed: 1 and −1, the
mean of what each agent said last. If there is feedback only on other memories of the task, this one gained nothing. In
a task without feedback, all the memories that it was given share its success; if it failed they gained nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from memquorum.core.experience.texts import FAILED, SUCCEEDED
from memquorum.core.experience.weights import Use, Weight, moved
from memquorum.core.policy import PPM, ExperiencePolicy


class UseFeedback(Struct, frozen=True):
    """An agent says at a place of the accepted stream whether a memory helped in a task."""

    offset: int
    agent: str
    helped: bool


class UseOfMemory(Struct, frozen=True):
    """A memory was given to a task.

    - `offset`: where the finished task stands in the accepted stream
    - `among`: how many memories the task was given
    - `said`: of this memory in this task, in the order of the stream
    - `spoken`: where somebody first said of any memory of the task whether it helped; None: nobody did
    """

    memory_id: str
    task: str
    offset: int
    outcome: str
    among: int
    said: tuple[UseFeedback, ...] = ()
    spoken: int | None = None


def gain_ppm(given: UseOfMemory, before: int) -> int | None:
    """Returns U in millionths by the records before an accepted offset; None if they do not determine it."""
    if given.offset >= before:
        return None
    if (told := _told_ppm(given.said, before)) is not None:
        return told
    if given.spoken is not None and given.spoken < before:
        return 0
    if given.outcome == SUCCEEDED:
        return PPM // max(1, given.among)
    return 0 if given.outcome == FAILED else None


def told_ppm(said: Mapping[str, Sequence[UseFeedback]], before: int) -> dict[str, int]:
    """U in millionths of those of a task's memories of which somebody spoke before an accepted offset, by their ids.

    `said`: of each memory, in the order of the stream.
    """
    found = {memory_id: _told_ppm(some, before) for memory_id, some in said.items()}
    return {memory_id: told for memory_id, told in found.items() if told is not None}


def _told_ppm(said: Iterable[UseFeedback], before: int) -> int | None:
    """The mean of what each agent said last before an accepted offset; None where nobody had spoken."""
    last = {one.agent: one.helped for one in said if one.offset < before}
    return PPM * (2 * sum(last.values()) - len(last)) // len(last) if last else None


def further(given: Iterable[UseOfMemory], *, since: int, counted: int, before: int) -> list[Use]:
    """The uses of one memory that are new, or came out otherwise, between two places of the accepted stream.

    `since`: tasks before this offset do not count, since the memory was not in experience, or its weight was rolled
    back there; `counted`: up to where all was counted, `before`: up to where it is to be counted now.
    """
    found = list[Use]()
    for one in given:
        now = gain_ppm(one, before) if one.offset >= since else None
        earlier = gain_ppm(one, counted)
        if now is not None and now != earlier:
            found.append(Use(one.task, now, earlier))
    return found


def evolved(
    standing: Mapping[str, tuple[Weight, int]], given: Iterable[UseOfMemory], policy: ExperiencePolicy, *, counted: int,
    before: int,
) -> list[Weight]:  # fmt: skip
    """The weights that move by a decision, each at its next version, in the order of their ids.

    `standing`: by id, what memories of experience weigh, and since which accepted offset tasks count for them.
    """
    of: dict[str, list[UseOfMemory]] = {}
    for one in given:
        of.setdefault(one.memory_id, []).append(one)
    found = list[Weight]()
    for memory_id in sorted(of.keys() & standing.keys()):
        weight, since = standing[memory_id]
        later = moved(weight, further(of[memory_id], since=since, counted=counted, before=before), policy)
        if later is not weight:
            found.append(later)
    return found
