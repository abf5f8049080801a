"""A living memory as a policy sees it, its features ψ, and its score (SPEC D; MaRS eq. 5).

`score = (Û − λ_priv·s) / w`, `Û = θ^(type)·ψ`, w in tokens. A negative one is not divided: else the heaviest memories
that are too sensitive to keep would go last.

Features are millionths. **Worth** is a sum over words, and `WORTH_UNIT` counts as 1, so that a long text may be worth
as much per token as a short one. **The others are multiplied by it**: recency, accesses, nearness to goals, centrality,
novelty and urgency raise a memory's worth, and s lowers it. A plain share in [0, 1], divided by tokens, would keep
short texts whatever they say (infra/decisions/0107).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from operator import mul

from msgspec import Struct

from memquorum.core.facets import TYPES
from memquorum.core.policy import FEATURES, PPM, BudgetPolicy, share

PINNED, HELD, NEEDED, LONG_TERM = "pinned", "held", "needed", "long-term"
"""The reasons why a memory may not go: an order pins or holds it, an active goal needs it, or it was promoted."""
RESTING = "resting"
"""A vote has kept or restored it, and it is not voted on again before its rest is over."""
VOTED_ON = "voted on"
"""The same epoch votes on it for another reason, and it counts until the decision."""
SUPPORTS = "supports"
"""A living memory was made from it: leaves go first."""
DUE = "due"
"""Its deadline is near."""
FLOOR = "floor"
"""Without it, its type would hold less than the floor of its namespace's budget."""
CAPPED = "capped"
"""It could go, but its namespace may lose no more memories now."""

WORTH_UNIT = 50 * PPM
"""The value of `core.worth` that counts as a feature of 1."""
OFTEN = 4
"""The number of uses that makes the feature `accesses` one half."""
LN2_PPM = 693_147
_WORTH = FEATURES.index("worth")
_PLACES = {name: at for at, name in enumerate(TYPES)}

_EXACT = Context(prec=28, rounding=ROUND_HALF_EVEN)
_PPM = Decimal(PPM)


class Item(Struct, frozen=True, gc=False):
    """A living memory. Times in milliseconds, shares in millionths.

    `type`: one of `facets.TYPES`; `tokens`: its weight, at least 1; `uses`: how often it was read or repeated; `worth`:
    as in `core.worth`; `needs`: the memories that may not go before it; `protected`: why it may not go.
    """

    memory_id: str
    type: str
    tokens: int
    created: int
    last_access: int
    uses: int = 0
    sensitivity_ppm: int = 0
    goals_ppm: int = 0
    centrality_ppm: int = 0
    worth: int = 0
    novelty_ppm: int = 0
    urgency_ppm: int = 0
    needs: tuple[str, ...] = ()
    protected: str | None = None


class Score(Struct, frozen=True):
    """ψ in the order of `policy.FEATURES`, each multiplied by worth; Û − λ_priv·s in millionths; and the score: this
    per million tokens, or undivided where it is negative."""

    features: tuple[int, ...]
    net_ppm: int
    score: int


def accesses_ppm(uses: int) -> int:
    """Returns the feature of a number of uses: 0 for none, and nearer to 1 with each."""
    return PPM * uses // (uses + OFTEN)


def recency_ppm(age_ms: int, half_life_ms: int) -> int:
    """Returns e^(−λ·age), rounded down; a negative age counts as 0."""
    power = _EXACT.divide(Decimal(-max(0, age_ms) * LN2_PPM), _EXACT.multiply(Decimal(half_life_ms), _PPM))
    return int(_EXACT.multiply(_EXACT.exp(power), _PPM).to_integral_value(ROUND_FLOOR))


def theta(type_: str, policy: BudgetPolicy) -> tuple[int, ...]:
    """Returns θ of a type; the episodic one for an unknown type."""
    of = (policy.theta_episodic_ppm, policy.theta_semantic_ppm, policy.theta_social_ppm, policy.theta_task_ppm)
    return of[place(type_)]


def place(type_: str) -> int:
    """Returns the index of a type in all settings by type."""
    return _PLACES.get(type_, 0)


def features(item: Item, as_of: int, policy: BudgetPolicy) -> tuple[int, ...]:
    """Returns ψ, in the order of `policy.FEATURES`."""
    recency = recency_ppm(as_of - item.last_access, policy.half_life_ms)
    return (recency * worth_of(item) // PPM, *lasting(item))


def worth_of(item: Item) -> int:
    """Returns the feature by which the others are multiplied."""
    return item.worth * PPM // WORTH_UNIT


def lasting(item: Item) -> tuple[int, ...]:
    """Returns the features that time does not change: all but the recency."""
    worth = worth_of(item)
    urgency = item.urgency_ppm if item.type == "task" else 0
    return (
        accesses_ppm(item.uses) * worth // PPM,
        item.goals_ppm * worth // PPM,
        item.centrality_ppm * worth // PPM,
        worth,
        item.novelty_ppm * worth // PPM,
        urgency * worth // PPM,
    )


def score(item: Item, as_of: int, policy: BudgetPolicy) -> Score:
    """Returns the score of a memory at a time."""
    psi = features(item, as_of, policy)
    return weighed(psi, item.type, item.sensitivity_ppm, item.tokens, policy)


def weighed(psi: Sequence[int], type_: str, sensitivity_ppm: int, tokens: int, policy: BudgetPolicy) -> Score:
    """Returns the score that follows from features."""
    net = (dot(theta(type_, policy), psi) - withheld(psi[_WORTH], sensitivity_ppm, policy)) // PPM
    return Score(tuple(psi), net, net if net < 0 else net * PPM // tokens)


def withheld(worth: int, sensitivity_ppm: int, policy: BudgetPolicy) -> int:
    """Returns λ_priv·s of a memory with this worth, in millionths of a millionth."""
    return policy.lambda_priv_ppm * sensitivity_ppm * worth // PPM


def in_words(features: Sequence[int], net_ppm: int, score: int) -> tuple[str, str]:
    """Returns features and a score in words. All features but worth are shown as multiplied by it."""
    named = dict(zip(FEATURES, map(share, features), strict=False))
    worth = named.pop(FEATURES[_WORTH], "")
    told = f"worth {worth}; each times worth: {', '.join(f'{name} {value}' for name, value in named.items())}"
    return told, share(net_ppm) + ", negative" if net_ppm < 0 else share(score // 1000) + " per 1,000 tokens"


def dot(weights: Sequence[int], values: Sequence[int]) -> int:
    """Returns Σ weights·values."""
    return sum(map(mul, weights, values))


def importance_ppm(item: Item, recency: int, policy: BudgetPolicy) -> int:
    """Returns the importance by `priority`, in [0, 1]: α·type + β·recency + γ·accesses (MaRS 3.3.2)."""
    told = policy.types_ppm[place(item.type)], recency, accesses_ppm(item.uses)
    return dot(policy.priority_ppm, told) // PPM


def exposure_ppm(item: Item, as_of: int, policy: BudgetPolicy) -> int:
    """Returns the exposure, the privacy reason to forget a memory: s·age·(1 − imp), with age := 1 − e^(−λ·age) (MaRS
    3.3.3)."""
    age = PPM - recency_ppm(as_of - item.created, policy.half_life_ms)
    unimportant = PPM - importance_ppm(item, recency_ppm(as_of - item.last_access, policy.half_life_ms), policy)
    return item.sensitivity_ppm * age // PPM * unimportant // PPM
