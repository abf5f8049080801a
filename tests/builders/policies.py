"""A policy by the paper's scales: what nobody uses is due after half an hour, and not after a week as it is shipped."""

from __future__ import annotations

from typing import Any

from memquorum.core.policy import PAPER_SCALES_S, DecayPolicy, Policy


def by_the_paper(**sections: Any) -> Policy:
    """The shipped policy with these sections and the paper's scales of decay."""
    return Policy(**{"decay": DecayPolicy(scales_s=PAPER_SCALES_S), **sections})
