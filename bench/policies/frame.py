"""The material of every row of this page."""

from __future__ import annotations

from functools import cache, cached_property
from pathlib import Path

from bench.policies.streams import ReplayCourse, replayed, streams
from bench.right import frame
from memquorum.core.policy import Policy

_QUICK = 2


class Material(frame.Material):
    """`courses(set, when)`, made once. A quick run has two conversations of each set."""

    def __init__(self, data: Path, cache_: Path, *, quick: bool = False) -> None:
        super().__init__(data, cache_, quick=quick)
        self.courses = cache(self._courses)

    @cached_property
    def policy(self) -> Policy:
        """The one that is shipped."""
        return Policy()

    def _courses(self, name: str, when: str) -> list[ReplayCourse]:
        found = self.some(list(streams(self.data, name, when)), _QUICK)
        self.vectors.of([text for one in found for text in one.talk.texts])  # all at once
        return [replayed(one, self.vectors.of(one.talk.texts), self.policy) for one in found]
