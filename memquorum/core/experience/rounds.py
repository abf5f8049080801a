"""Finds the verifiers of a candidate and the decision as of which they try it (SPEC E): the same from the same records.

A round is a decision of the candidate's shard. A candidate is tried as of the *first* decision whose nomination had
read the accepted stream beyond the candidate and beyond the tasks needed to judge it, and which is later than the vote
that last did not admit it. A publisher cannot know that nomination yet, and cannot choose another: records accepted
later move no round, as long as no task that it was computed from is erased.

All of it is in epochs and accepted offsets, since members know these and know no sequence of the journal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping

from msgspec import Struct

from memquorum.core.experience.admission import agreed, most_asked
from memquorum.core.experience.draw import drawn
from memquorum.core.experience.trial import Statistics
from memquorum.core.policy import ExperiencePolicy

PATIENCE = 2
"""The number of decisions after which a silent verifier is waited for no more: the next ones in the draw are asked."""

RESTS_MOST = 10
"""From so many refusals on a memory rests for as many decisions each time: 1,023."""


class Round(Struct, frozen=True):
    """A decision by which verifiers are drawn: its epoch, the digest of its nomination, and the accepted offset of
    which that speaks. Records before the offset were there; those at it or behind came later."""

    epoch: int
    nomination: bytes
    accepted_offset: int


def behind(candidate: int, judges: Iterable[int], least: int) -> int | None:
    """The accepted offset behind which the nomination has to speak; None where there are too few judges.

    `candidate`: where it stands in the accepted stream; `judges`: where the tasks stand that are near enough to it, in
    any order; `least`: how many of them it takes.
    """
    if least < 1:
        return candidate
    places = sorted(set(judges))
    return max(candidate, places[least - 1]) if len(places) >= least else None


def least_of(least: int, rejections: int) -> int:
    """Returns how many tasks are needed to judge a candidate that was rejected so often: twice as many each time, so
    that a memory is tried again whenever the number of tasks doubles. `least`: how many are needed the first time."""
    return least << max(0, rejections - 1)


def rests(refusals: int) -> int:
    """Returns how many decisions a memory that members refused so often waits before it may be tried again: 1, 3, 7, so
    that the 2ⁿ-th is the first."""
    return (1 << min(refusals, RESTS_MOST)) - 1


def first(rounds: Iterable[Round], offset: int, after: int = 0) -> Round | None:
    """The round as of which something is tried that waits for an accepted offset: the first whose nomination speaks of
    later than that; None: not yet. `after`: the last epoch in which it rests."""
    able = (one for one in rounds if one.accepted_offset > offset and one.epoch > after)
    return min(able, key=lambda one: one.epoch, default=None)


class Ledger:
    """A shard's rounds, by their epochs; it answers as `first` does, and looks at few of them."""

    def __init__(self) -> None:
        self._rounds, self._read = list[Round](), list[int]()

    @property
    def epoch(self) -> int:
        """The last known epoch; 0 without one."""
        return self._rounds[-1].epoch if self._rounds else 0

    def add(self, further: Iterable[Round]) -> None:
        """Takes in later rounds, in the order of their epochs."""
        for one in further:
            self._rounds.append(one)
            self._read.append(max(one.accepted_offset, self._read[-1] if self._read else -1))

    def read(self, epoch: int) -> int:
        """The accepted offset of which the decision of an epoch speaks: what stands at it or behind came later. 0 where
        no such decision is known."""
        at = bisect_right(self._rounds, epoch, key=lambda one: one.epoch) - 1
        return self._rounds[at].accepted_offset if at >= 0 and self._rounds[at].epoch == epoch else 0

    def until(self, offset: int) -> int:
        """The last epoch whose decision speaks of no later offset; 0 without one."""
        at = bisect_right(self._read, offset)
        return self._rounds[at - 1].epoch if at else 0

    def first(self, offset: int, after: int = 0) -> Round | None:
        """The round as of which something is tried that waits for an accepted offset; see `first` of this module."""
        at = bisect_right(self._read, offset)
        if at < len(self._rounds) and self._rounds[at].epoch > after:
            return self._rounds[at]
        return first(self._rounds[bisect_right(self._rounds, after, key=lambda one: one.epoch) :], offset)


def verifiers_to_try(
    memory_id: str,
    at: Round,
    told: Mapping[str, Statistics],
    verifiers: Iterable[str],
    policy: ExperiencePolicy,
    *,
    faults: int,
    epoch: int,
    reproducible: bool = True,
) -> tuple[str, ...]:
    """Returns the verifiers that are to try a candidate now. `told`: the statistics of verifiers as of that round;
    `epoch`: the shard's last one.

    A verifier that is silent for `PATIENCE` decisions is passed over: then all who are drawn may speak, until enough
    agree.
    """
    order = drawn(memory_id, at.nomination, verifiers, most_asked(faults))
    found = agreed(order, told, faults, policy, reproducible=reproducible)
    if found.told is not None or epoch < at.epoch + PATIENCE:
        return found.asks
    return tuple(one for one in order if one not in told)


def made_of(parents: Iterable[str], tasks: Iterable[str]) -> tuple[str, ...]:
    """The finished tasks that a memory says it was made of (`Held.sources`): of what it derives from those that are
    tasks, in the order of their ids."""
    return tuple(sorted(set(parents) & set(tasks)))
