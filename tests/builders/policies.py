"""A policy with the paper's time scales: an unused memory is due after half an hour, not after a week as in the shipped
policy.
"""

from __future__ import annotations

from typing import Any

from memquorum.core.policy import PAPER_SCALES_S, DecayPolicy, Policy


def by_the_paper(**sections: Any) -> Policy:
    """Builds the shipped policy with these sections and the paper's time scales of decay."""
    return Policy(**{"decay": DecayPolicy(scales_s=PAPER_SCALES_S), **sections})
