"""The salience stage's worth of a text that has no predecessors."""

from __future__ import annotations

import os
from typing import Any

from memquorum.core import sealing
from memquorum.core.reading.content import content
from memquorum.core.worth import Counts, Ranks, worth_ppm


def sealed_counts(key: bytes, text: str, memory_id: str) -> bytes:
    """Seals word counts in which each of the text's words is new."""
    return sealing.seal_counts(key, os.urandom(12), Counts().tell(content(text)).pack(), memory_id)


def weighed(key: bytes, text: str, memory_id: str) -> dict[str, Any]:
    """Returns the worth fields of a score."""
    said = content(text)
    value = worth_ppm(said, Counts().tell(said))
    return {
        "worth_ppm": value, "rank_ppm": Ranks().rank_ppm(value), "like": "episodic/agent",
        "sealed_counts": sealed_counts(key, text, memory_id),
    }  # fmt: skip
