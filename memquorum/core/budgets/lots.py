"""Draws which of several memories goes that score alike, by the exponential mechanism (SPEC D; MaRS 3.1, C).

Of n candidates the i-th is drawn with P ∝ e^(ε·q/2Δq), where q = −(Û − λ_priv·s) of it: what is kept if it goes, but
for what is the same whichever goes. q is held within [−L·w_max, λ_priv], all by configuration, so that
Δq = L·w_max + λ_priv bounds what any change of any memory can do to it. **Proven** is this alone: *for the same
candidates*, whatever becomes of their features, no draw gets likelier or less likely by more than e^ε. Which memories
are candidates follows from the features and is not covered; what else tells of them stands in docs/privacy.md. So this
is a randomised tie-break, and no promise of differential privacy.

All is exact and the same on every machine: weights are whole numbers of 10^-20, from `decimal`'s correctly rounded e^x,
and the lot is an HMAC-SHA-256 of the candidates' ids under a seed, taken modulo their sum. The same candidates draw the
same, so looking twice tells nothing more; whoever does not know the seed knows nothing before.

**An accountant** has what each subject has spent, ε a draw that a memory of it took part in (basic composition, for how
many of them ever: one draw is bounded for all of its candidates at once). Who cannot pay takes part in none.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any

from msgspec import Struct

from memquorum.core.budgets.items import Item, score
from memquorum.core.policy import PPM, BudgetPolicy
from memquorum.core.records import Lot

AMONG = 16
"""A draw has so many candidates at most."""
_EXACT = Context(prec=28, rounding=ROUND_HALF_EVEN)
_UNIT = Decimal(10) ** 20


class Near(Struct, frozen=True):
    """A memory that scores within the band of the lowest: its rank, and why it would be the next one."""

    rank: Any
    item: Item
    why: str


def sensitivity_ppm(policy: BudgetPolicy) -> int:
    """Δq = L·w_max + λ_priv, in millionths."""
    return policy.lipschitz_ppm * policy.w_max + policy.lambda_priv_ppm


def quality_ppm(net_ppm: int, policy: BudgetPolicy) -> int:
    """q of letting a memory go, by its Û − λ_priv·s, within what the configuration allows; the least worth the most."""
    return -max(-policy.lambda_priv_ppm, min(policy.lipschitz_ppm * policy.w_max, net_ppm))


def weights(qualities: Sequence[int], policy: BudgetPolicy) -> list[int]:
    """e^(ε·(q − max q)/2Δq) of each, in whole numbers of 10^-20."""
    most, delta = max(qualities), 2 * sensitivity_ppm(policy) * PPM
    return [
        int(_EXACT.multiply(_EXACT.exp(_EXACT.divide(Decimal(policy.epsilon_ppm * (q - most)), Decimal(delta))), _UNIT))
        for q in qualities
    ]


def draw(weighs: Sequence[int], seed: bytes, label: bytes) -> int:
    """Which one is drawn: the place where the lot falls among the weights, laid end to end."""
    lot = int.from_bytes(hmac.digest(seed, label, "sha256")) % sum(weighs)
    for at, weight in enumerate(weighs):
        lot -= weight
        if lot < 0:
            return at
    raise AssertionError("a lot lies within the sum of the weights")


class Lots:
    """The draws of a plan, and what each subject may still spend on them. Not safe to share between threads."""

    def __init__(
        self, policy: BudgetPolicy, seed: bytes, subjects: Mapping[str, str], spent: Mapping[str, int]
    ) -> None:
        """`seed`: a secret, of this namespace and epoch; `subjects`: by memory; `spent`: by subject, in millionths."""
        self._policy, self._seed, self._subjects, self._before = policy, seed, subjects, spent
        self._spent = dict(spent)

    def begin(self) -> None:
        """Another plan begins: what the last one would have spent, it has not."""
        self._spent = dict(self._before)

    def draw(self, near: Sequence[Near], as_of: int, reach: int) -> tuple[Near, Lot] | None:
        """Draws one, and lets the subjects pay for it. None where there is nothing to draw; with a lot among one, where
        there would be but that subjects cannot pay: then the next one goes as its policy has it.

        `near`: in their order, first the lowest. `reach`: no more tokens stand before a candidate.
        """
        candidates, before = list[Near](), 0
        for one in near[:AMONG]:
            if before > reach:
                break
            candidates.append(one)
            before += one.item.tokens
        paying = [one for one in candidates if self._can_pay(one)]
        refused = len(candidates) - len(paying)
        if len(candidates) < 2:
            return None
        # If the lowest cannot pay it goes, as it would without lots: nobody is kept for having spent.
        if len(paying) < 2 or paying[0] is not candidates[0]:
            return candidates[0], Lot(1, (), refused)
        drawn = self._drawn(sorted(paying, key=lambda one: one.item.memory_id), as_of)
        payers: dict[str, str] = {}
        for one in paying:
            payers.setdefault(self._subject(one), one.item.memory_id)
        for subject in payers:
            self._spent[subject] = self._spent.get(subject, 0) + self._policy.epsilon_ppm
        return drawn, Lot(len(paying), tuple(sorted(payers.values())), refused)

    def _drawn(self, candidates: Sequence[Near], as_of: int) -> Near:
        nets = [score(one.item, as_of, self._policy).net_ppm for one in candidates]
        weighs = weights([quality_ppm(net, self._policy) for net in nets], self._policy)
        return candidates[draw(weighs, self._seed, "/".join(one.item.memory_id for one in candidates).encode())]

    def _subject(self, one: Near) -> str:
        return self._subjects.get(one.item.memory_id, "")

    def _can_pay(self, one: Near) -> bool:
        spent = self._spent.get(self._subject(one), 0)
        return spent + self._policy.epsilon_ppm <= self._policy.subject_epsilon_ppm
