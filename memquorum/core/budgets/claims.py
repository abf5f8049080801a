"""What a proposal says of the policy by which it came, and whether that follows.

The features are the nominator's word: members know other things of a memory at other times, so no vote depends on them.
What follows from them, from the budget and from the policy in force, an audit computes again.

Where near-ties are drawn (`lots`) features, score and sensitivity are withheld: told exactly they would tell what a
draw is to hide. An audit checks that they are, and that no draw charges a subject that has spent what it may.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from memquorum.core.budgets.items import weighed
from memquorum.core.budgets.ledger import Going
from memquorum.core.budgets.limits import budget_of
from memquorum.core.facets import TYPES
from memquorum.core.identity.membership import Genesis
from memquorum.core.policy import FEATURES, Budget, BudgetPolicy
from memquorum.core.records import Proposal, Weighed

EXPECTED = "a budget and a score that follow from what is said"
"""What an audit expects of a proposal."""
BUDGET = "budget"
"""Why a memory is nominated, and an epoch opened: its namespace holds more tokens than its budget."""
PRESSURE = "pressure"
"""Why a memory is nominated, and an epoch opened: its shard holds more memories than its capacity."""
AGE = "age"
"""Why a memory is nominated: it is older than the policy lets its type become."""


def claim(
    one: Going, type_: str, sensitivity_ppm: int, *, budget: Budget, held: int, version: int, withheld: bool = False
) -> Weighed:
    """What is said of a memory that is to go. `held`: by its namespace, in tokens; `version`: of the policy;
    `withheld`: whether near-ties are drawn."""
    if withheld:
        return Weighed(
            budget.policy, version, budget.tokens, held, one.tokens, type_, None, (), None, None, one.why, one.lot,
        )  # fmt: skip
    told = one.score
    return Weighed(
        budget.policy, version, budget.tokens, held, one.tokens, type_, sensitivity_ppm, told.features, told.net_ppm,
        told.score, one.why,
    )  # fmt: skip


def charges(proposals: Iterable[Proposal], epsilon_ppm: int) -> Mapping[tuple[str, str], int]:
    """What draws cost, in millionths of ε, by namespace and the memory that stands for the subject that pays."""
    found = Counter[tuple[str, str]]()
    for one in proposals:
        if one.weighed is not None and one.weighed.lot is not None:
            found.update({(one.namespace, memory_id): epsilon_ppm for memory_id in set(one.weighed.lot.charged)})
    return found


def wrongs(proposals: Iterable[Proposal], genesis: Genesis) -> Iterator[str]:
    """What cannot be of what proposals say of budgets, by a configuration's policy."""
    for proposal in proposals:
        found = wrong(proposal, genesis.policy.budget, genesis.policy_version)
        if found is not None:
            yield found


def wrong(proposal: Proposal, policy: BudgetPolicy, version: int) -> str | None:
    """What cannot be of what a proposal says of its budget; None where all of it follows."""
    told = proposal.weighed
    if (proposal.reason == BUDGET) != (told is not None):
        return f"reason {proposal.reason!r} {'without' if told is None else 'with'} a score"
    if told is None:
        return None
    budget = budget_of(policy, proposal.namespace)
    if budget is None or (told.policy, told.budget) != (budget.policy, budget.tokens):
        return f"policy {told.policy!r} with {told.budget} tokens is not that of namespace {proposal.namespace!r}"
    if told.version != version:
        return f"policy {told.version} is not in force, {version} is"
    if told.held <= told.budget:
        return f"{told.held} tokens are within the budget of {told.budget}"
    if policy.epsilon_ppm:
        return _told(told)
    if told.lot is not None or told.net_ppm is None or told.score is None or told.sensitivity_ppm is None:
        return "a lot, or no score, where near-ties stand in their order"
    if len(told.features) != len(FEATURES) or told.type not in TYPES or told.tokens < 1:
        return "no such features, type or weight"
    follows = weighed(told.features, told.type, told.sensitivity_ppm, told.tokens, policy)
    if (told.net_ppm, told.score) != (follows.net_ppm, follows.score):
        return f"score {told.score} of {told.net_ppm} does not follow: {follows.score} of {follows.net_ppm} does"
    return None


def _told(told: Weighed) -> str | None:
    """What is told of a score that is to be withheld; None where nothing is."""
    if told.features or (told.sensitivity_ppm, told.net_ppm, told.score) != (None, None, None):
        return "features, a sensitivity or a score, which are withheld where near-ties are drawn"
    if told.lot is not None:
        among, payers = told.lot.among, len(set(told.lot.charged))
        if among < 1 or payers > among or bool(payers) != (among > 1) or payers < len(told.lot.charged):
            return f"a lot among {among} that {len(told.lot.charged)} subjects pay for"
    return None
