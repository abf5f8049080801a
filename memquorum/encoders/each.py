"""Many texts through an encoder, where one that it cannot take must not keep the others from it."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from itertools import islice

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


def together(found: Iterable[Vector | Exception], counts: Iterable[int]) -> list[list[Vector] | Exception]:
    """The vectors of each memory, or the first failure among them. `counts`: how many of those found are of each, in
    their order."""
    rest = iter(found)
    return [_all_or_why(list(islice(rest, count))) for count in counts]


def _all_or_why(found: Sequence[Vector | Exception]) -> list[Vector] | Exception:
    vectors = [one for one in found if not isinstance(one, Exception)]
    return vectors if len(vectors) == len(found) else next(one for one in found if isinstance(one, Exception))
