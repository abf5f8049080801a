"""The claims of a proposal about the policy that led to it, and their check.

The features are the nominator's claims: members know other facts of a memory at other times, so no vote depends on
them. An audit computes again the values that follow from them, from the budget and from the policy in force.

Features, score and sensitivity are withheld where near-ties are drawn (`lots`): exact values would reveal what a draw
has to hide. An audit checks that they are withheld, and that no draw charges a subject beyond its limit.
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
"""The expected value in an audit's finding."""
BUDGET = "budget"
"""The reason of a nomination and of an epoch: the namespace holds more tokens than its budget."""
PRESSURE = "pressure"
"""The reason of a nomination and of an epoch: the shard holds more memories than its capacity."""
AGE = "age"
"""The reason of a nomination: the memory is older than the policy allows for its type."""
UNUSED = "unused"
"""The reason of a nomination: nobody has used the memory for so long as the policy has for its type."""
FINISHED = "finished"
"""The reason of a nomination: the memory is a step of a task that is over."""
OUTLIVED = (AGE, UNUSED, FINISHED)
"""The reasons for which a memory goes whatever else its namespace holds."""


def claim(
    one: Going, type_: str, sensitivity_ppm: int, *, budget: Budget, held: int, version: int, withheld: bool = False
) -> Weighed:
    """Builds the claims about a memory that is to go. `held`: by its namespace, in tokens; `version`: of the policy;
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
    """Returns the costs of draws, in millionths of ε, by namespace and the memory that stands for the charged
    subject."""
    found = Counter[tuple[str, str]]()
    for one in proposals:
        if one.weighed is not None and one.weighed.lot is not None:
            found.update({(one.namespace, memory_id): epsilon_ppm for memory_id in set(one.weighed.lot.charged)})
    return found


def wrongs(proposals: Iterable[Proposal], genesis: Genesis) -> Iterator[str]:
    """Yields what is wrong with the claims of proposals about budgets, by a configuration's policy."""
    for proposal in proposals:
        found = wrong(proposal, genesis.policy.budget, genesis.policy_version)
        if found is not None:
            yield found


def wrong(proposal: Proposal, policy: BudgetPolicy, version: int) -> str | None:
    """Returns what is wrong with a proposal's claims about its budget; None where all of them follow."""
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
    """Returns what should have been withheld; None where all of it is."""
    if told.features or (told.sensitivity_ppm, told.net_ppm, told.score) != (None, None, None):
        return "features, a sensitivity or a score, which are withheld where near-ties are drawn"
    if told.lot is not None:
        among, payers = told.lot.among, len(set(told.lot.charged))
        if among < 1 or payers > among or bool(payers) != (among > 1) or payers < len(told.lot.charged):
            return f"a lot among {among} that {len(told.lot.charged)} subjects pay for"
    return None
