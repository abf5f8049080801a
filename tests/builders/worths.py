"""What the salience stage says of a text's worth where nothing went before it."""

from __future__ import annotations

import os
from typing import Any

from memquorum.core import sealing
from memquorum.core.text.content import content
from memquorum.core.worth import Counts, Ranks, worth_ppm


def sealed_counts(key: bytes, text: str, memory_id: str) -> bytes:
    """That none of its words was said."""
    return sealing.seal_counts(key, os.urandom(12), Counts().tell(content(text)).pack(), memory_id)


def weighed(key: bytes, text: str, memory_id: str) -> dict[str, Any]:
    """The fields of a score that tell of its worth."""
    said = content(text)
    value = worth_ppm(said, Counts().tell(said))
    return {
        "worth_ppm": value, "rank_ppm": Ranks().rank_ppm(value), "like": "episodic/agent",
        "sealed_counts": sealed_counts(key, text, memory_id),
    }  # fmt: skip
