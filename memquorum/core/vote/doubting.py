"""A model of contradictions, as whoever judges texts asks it: from a likelihood of the policy on it says yes."""

from __future__ import annotations

from memquorum.core.policy import Policy
from memquorum.core.text.conflict import Doubts
from memquorum.ports import Contradiction


def doubting(model: Contradiction, policy: Policy) -> Doubts:
    """The model with the policy's threshold."""
    least = policy.supersede.model_ppm
    return lambda earlier, later: model.contradicts_ppm(earlier, later) >= least


def agreed(model: Contradiction | None, policy: Policy) -> Doubts | None:
    """The model as a member votes by it: where it has the one that the policy names, and none else. Members agree on a
    policy, and so on what each of them may ask; who lacks the model votes by the rules."""
    if model is None or model.digest != policy.supersede.model:
        return None
    return doubting(model, policy)
