"""The contradiction model as a yes or no: yes from a likelihood on that the policy sets."""

from __future__ import annotations

from memquorum.core.policy import Policy
from memquorum.core.reading.conflict import Doubts
from memquorum.ports import Contradiction


def doubting(model: Contradiction, policy: Policy) -> Doubts:
    """Returns the model with the policy's threshold applied."""
    least = policy.supersede.model_ppm
    return lambda earlier, later: model.contradicts_ppm(earlier, later) >= least


def agreed(model: Contradiction | None, policy: Policy) -> Doubts | None:
    """Returns the model as a member votes by it: only where its digest is the one that the policy names, else None.
    Members agree on a policy, and so on the model that each may ask; a member without the model votes by the rules."""
    if model is None or model.digest != policy.supersede.model:
        return None
    return doubting(model, policy)
