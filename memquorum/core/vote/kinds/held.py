"""Votes on whether something holds and how much: of what a member finds not to hold, nothing counts."""

from __future__ import annotations

from typing import Any

from memquorum.core.policy import PPM, Policy
from memquorum.core.vote.kinds.kind import Kind, checks


def _score(terms: Any, _: Policy) -> Any:
    holds, much = terms
    return much * (holds // PPM)


def held(name: str, holds: str, much: str, **given: Any) -> Kind:
    """A kind of two terms: whether something holds, all or nothing, and how much, a share; its score is the second
    where the first holds. No memory is due for such a vote by its age or use. `given`: the rest of the kind."""
    terms = holds, much
    check, sound = checks(terms, flags=1)
    return Kind(
        name=name,
        terms=terms,
        widths=(4, 4),
        due=lambda candidate, as_of, policy: None,
        fade=None,
        abstain=lambda as_of: (0, 0),
        check=check,
        sound=sound,
        score=_score,
        gate=None,
        reads=True,
        **given,
    )
