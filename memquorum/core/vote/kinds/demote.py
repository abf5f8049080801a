"""The vote to demote a long-term memory that has decayed by its own, longer scales (SPEC B) to short-term memory.

A member judges it as in a vote to forget, by the scales of long-term memory. A demotion loses nothing, and a memory
that is used again may be promoted again. So the fewest members that include an honest one decide.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from fractions import Fraction

from memquorum.core.decay import crossed, of_tier
from memquorum.core.policy import Policy
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.core.vote.kinds import forget
from memquorum.core.vote.kinds.families import LetGo
from memquorum.core.vote.kinds.forget import Forget
from memquorum.core.vote.kinds.kind import Fate, Fates, MemoryState, Plain
from memquorum.ports import Candidate

_DEMOTED = "demoted already"


def _in_words(terms: Mapping[str, int], yes: bool, score_ppm: int, policy: Policy) -> str:
    return f"{forget.compared(terms, yes, score_ppm, policy)}: {'demote' if yes else 'keep'}"


class _Demote(Forget):
    name = "demote"
    outcome = "demoted"
    words = dataclasses.replace(
        Forget.words,
        aim="demote to short-term memory",
        why={**forget.SPARED, _DEMOTED: "it was in short-term memory already"},
        opinion=_in_words,
        plain=Plain(
            asked="moving it back to short-term memory",
            agreed="it need not stay in long-term memory",
            proposed={
                forget.DECAYED: "nobody had used it for {unused}",
                "asked": "forgetting it was asked for by {somebody}, which begins with that",
            },
            because=forget.reason_in_words,
        ),
    )
    tiers = frozenset({LONG_TERM})
    # A reserved share, or a long queue of memories to forget would starve demotions.
    share = Fraction(1, 8)
    seals = False
    capped = False

    def scaled(self, policy: Policy) -> Policy:
        return of_tier(policy, LONG_TERM)

    def due(self, candidate: Candidate, as_of: int, policy: Policy) -> str | None:
        return forget.DECAYED if crossed(candidate.last_access, as_of, self.scaled(policy)) else None

    def needed(self, policy: Policy, namespace: str = "") -> Fraction:
        return Fraction(1, 3)

    def votes(self, quorum: int, faulty: int) -> int:
        return faulty + 1

    def void(self, found: MemoryState, nominated_at: int) -> str | None:
        return _DEMOTED if found.tier != LONG_TERM else LetGo.void(self, found, nominated_at)

    def effect(self, found: Sequence[MemoryState], confidence_ppm: int | None, as_of: int, policy: Policy) -> Fates:
        return [Fate(SHORT_TERM) for _ in found]


DEMOTE = _Demote()
