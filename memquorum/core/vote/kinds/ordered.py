"""The votes on whether an order holds. What everybody can check of an order is asked of its nomination: one that breaks
a rule is voted on by nobody. The vote is about what a member has to know itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from memquorum.core.policy import PPM, Policy
from memquorum.core.vote.kinds.kind import Kind, Terms, Words


def whole_or_nothing(terms: Terms, _: int, __: Policy) -> str | None:
    """What is wrong with terms whose first says whether something holds."""
    return None if terms[0] in (0, PPM) else f"holds {terms[0]} is neither 0 nor {PPM}"


def ordered(
    name: str, outcome: str, *, aim: str = "", proposed: Mapping[str, str] = MappingProxyType({}),
    why: Mapping[str, str] = MappingProxyType({}),
    opinion: Callable[[Mapping[str, int], bool, int, Policy], str] | None = None, **given: Any,
) -> Kind:  # fmt: skip
    """A kind whose one term says whether the order holds. `aim` and the following: its words (`kind.Words`)."""
    return Kind(
        name=name,
        terms=("holds",),
        widths=(4,),
        due=lambda candidate, as_of, policy: None,
        judge=lambda facts, context, as_of, policy, grounds: [None] * len(facts),
        fade=None,
        abstain=lambda as_of: (0,),
        check=whole_or_nothing,
        sound=lambda terms, as_of, policy: bool(((terms == 0) | (terms == PPM)).all()),
        score=lambda terms, policy: terms[0],
        yes=lambda score, policy: score >= PPM,
        needed=lambda policy: policy.forget.alpha,
        gate=None,
        outcome=outcome,
        words=Words(aim=aim or name, proposed=proposed, why=why, opinion=opinion),
        reads=False,
        ordered=True,
        **given,
    )


CONFIGURE = ordered("configure", "configured", configures=True)
"""The operator's order of another membership (core/orders/configuration)."""

ERASE = ordered("erase", "attested", attests=True)
"""That an order to erase is genuine, and where it stands. What it names is erased by then."""
