"""Makes the summaries of a session's texts by rules, and names the memory that a rule fails on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NoReturn, TypeVar

from memquorum.core.consolidation.parting import Divided, Part
from memquorum.core.contained import Failed, Failures, attempt
from memquorum.core.policy import ConsolidatePolicy, Policy
from memquorum.core.records import Quote, SessionClosed
from memquorum.ports import Placed, SessionMemory, SummariserUnavailable
from workers.consolidator import making
from workers.consolidator.extractive import Extractive

_T = TypeVar("_T")
_ALL_PPM = 1_000_000
_NAMED_MOST = 3


class RulesFailed(Exception):
    """A rule failed on a text of the session; the message names the memories, and no words of theirs."""


class Rules:
    """The rules, each method raising RulesFailed. The failures are in `failures`."""

    def __init__(self) -> None:
        self.failures, self._extractive = Failures(), Extractive()
        self.name = self._extractive.name

    def divided(self, closed: SessionClosed, memories: Sequence[SessionMemory], policy: ConsolidatePolicy) -> Divided:
        """The parts of which summaries are made."""
        names = [one.memory_id for one in memories]
        return self._read("parting", names, partial(making.divided, closed, memories, policy))

    def condensed(self, episodes: Sequence[Placed], policy: Policy) -> Divided:
        """The parts of which summaries are made for want of room."""
        names = [one.memory.memory_id for one in episodes]
        return self._read("condensing", names, partial(making.condensed, episodes, policy))

    def summarise(self, part: Part, share_ppm: int) -> tuple[str, tuple[Quote, ...]] | None:
        """The summary of a part; None where there is nothing to say."""
        names = [one.memory_id for one in part.sources]
        found = attempt("summary", names, self._extractive.summarise, part.sources, share_ppm)
        if not isinstance(found, Failed):
            return found
        # Each memory is tried by itself, to find the one that fails. If none does, all are named.
        for one in part.sources:
            self._read("summary", [one.memory_id], partial(self._extractive.summarise, [one], _ALL_PPM))
        return self._read("summary", names, partial(self._extractive.summarise, part.sources, share_ppm))

    def failed(self, part: Part, error: Exception) -> NoReturn:
        """Raises what a model's summary failed by: the error itself where the model did, else RulesFailed."""
        if isinstance(error, SummariserUnavailable):
            raise error
        self._read("composing", [one.memory_id for one in part.sources], partial(_raise, error))
        raise AssertionError("unreachable")

    def _read(self, rule: str, names: Sequence[str], call: Callable[[], _T]) -> _T:
        found = attempt(rule, names, call)
        if not isinstance(found, Failed):
            return found
        self.failures.note(found)
        told = ", ".join(f"memory {one}" for one in names[:_NAMED_MOST])
        raise RulesFailed(f"rule {rule} failed on {told}: {found.error}")


def _raise(error: Exception) -> NoReturn:
    raise error
