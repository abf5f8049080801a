"""Many texts through an encoder, where one that it cannot take must not keep the others from it."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from memquorum.ports import Encoder, Vector

log = logging.getLogger(__name__)


def each(encoder: Encoder, texts: Sequence[str]) -> list[Vector | Exception]:
    """Each text's vector, or why there is none: all at once, or one by one to find those that cannot be encoded."""
    if not texts:
        return []
    try:
        return list(encoder.encode(texts))
    except Exception as error:
        if len(texts) == 1:
            return [error]
        # The error's words may hold content.
        log.warning("%s, so %d texts one by one now", type(error).__name__, len(texts))
        return [found for text in texts for found in each(encoder, [text])]
