"""Votes on whether something holds and how much: where it does not hold, the score is 0."""

from __future__ import annotations

from typing import Any

from memquorum.core.policy import PPM, Policy
from memquorum.core.vote.kinds.kind import Kind


class Held(Kind):
    """A kind of two terms: whether something holds, a flag, and how much, a share."""

    def score(self, terms: Any, policy: Policy) -> Any:
        """Returns the second term where the first holds, else 0."""
        holds, much = terms
        return much * (holds // PPM)
