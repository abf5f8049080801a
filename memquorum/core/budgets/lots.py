"""Draws which of several memories with near scores goes, by the exponential mechanism (SPEC D; MaRS 3.1, C).

Candidate i of n is drawn with P ∝ e^(ε·q/2Δq), where q = −(Û − λ_priv·s) of it: the worth that is kept if it goes,
without the part that is the same for all. q is limited to [−L·w_max, λ_priv], all by configuration, so that Δq =
L·w_max + λ_priv bounds the effect of any change of a memory. **Proven** is only this: *for the same candidates*,
whatever their features, no draw gets likelier or less likely by more than e^ε. The choice of candidates follows from
the features and is not covered; docs/use/privacy.md names other ways in which features show. So this is a randomised
tie-break, and no promise of differential privacy.

All is exact and the same on every machine: weights are multiples of 10^-20, from `decimal`'s correctly rounded e^x, and
the lot is an HMAC-SHA-256 of the candidates' ids under a seed, taken modulo their sum. The same candidates give the
same draw, so a second look reveals nothing more; without the seed the draw is unpredictable.

**An accountant** records the spending of each subject, ε for a draw that one of its memories took part in (basic
composition, with any number of its memories, as a draw is bounded for all candidates at once). A subject that cannot
pay takes part in no draw.
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
"""The maximum number of candidates of a draw."""
_EXACT = Context(prec=28, rounding=ROUND_HALF_EVEN)
_UNIT = Decimal(10) ** 20


class Near(Struct, frozen=True):
    """A memory whose score is within the band of the lowest: its rank, and why it would be the next one."""

    rank: Any
    item: Item
    why: str


def sensitivity_ppm(policy: BudgetPolicy) -> int:
    """Returns Δq = L·w_max + λ_priv, in millionths."""
    return policy.lipschitz_ppm * policy.w_max + policy.lambda_priv_ppm


def quality_ppm(net_ppm: int, policy: BudgetPolicy) -> int:
    """Returns q of forgetting a memory with this Û − λ_priv·s, within the configured limits; the least worth has the
    highest q."""
    return -max(-policy.lambda_priv_ppm, min(policy.lipschitz_ppm * policy.w_max, net_ppm))


def weights(qualities: Sequence[int], policy: BudgetPolicy) -> list[int]:
    """Returns e^(ε·(q − max q)/2Δq) of each, as multiples of 10^-20."""
    most, delta = max(qualities), 2 * sensitivity_ppm(policy) * PPM
    return [
        int(_EXACT.multiply(_EXACT.exp(_EXACT.divide(Decimal(policy.epsilon_ppm * (q - most)), Decimal(delta))), _UNIT))
        for q in qualities
    ]


def draw(weighs: Sequence[int], seed: bytes, label: bytes) -> int:
    """Returns the index of the weight in which the lot falls, with the weights laid end to end."""
    lot = int.from_bytes(hmac.digest(seed, label, "sha256")) % sum(weighs)
    for at, weight in enumerate(weighs):
        lot -= weight
        if lot < 0:
            return at
    raise AssertionError("a lot lies within the sum of the weights")


class Lots:
    """The draws of a plan, and the budget of each subject for them. Not safe to share between threads."""

    def __init__(
        self, policy: BudgetPolicy, seed: bytes, subjects: Mapping[str, str], spent: Mapping[str, int]
    ) -> None:
        """`seed`: a secret of this namespace and epoch; `subjects`: by memory; `spent`: by subject, in millionths."""
        self._policy, self._seed, self._subjects, self._before = policy, seed, subjects, spent
        self._spent = dict(spent)

    def begin(self) -> None:
        """Begins another plan: resets the spending to that before the last plan."""
        self._spent = dict(self._before)

    def draw(self, near: Sequence[Near], as_of: int, reach: int) -> tuple[Near, Lot] | None:
        """Draws one, and charges the subjects. Returns None without a second candidate; a lot among one where subjects
        cannot pay, and then the next one goes in the policy's order.

        `near`: in order, the lowest first. `reach`: the most tokens that may stand before a candidate.
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
        # If the lowest cannot pay it goes, as it would without lots: a memory is not kept because its subject has spent
        # its budget.
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
