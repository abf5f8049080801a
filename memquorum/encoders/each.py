"""Encodes many texts so that one that fails does not affect the others."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from itertools import islice

from memquorum.ports import Encoder, Vector

log = logging.getLogger(__name__)


def each(encoder: Encoder, texts: Sequence[str]) -> list[Vector | Exception]:
    """Returns each text's vector, or the exception that it caused: all at once, or one by one to find those that
    fail."""
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
    """Returns the vectors of each memory, or the first exception among them. `counts`: the number of vectors of each,
    in their order."""
    rest = iter(found)
    return [_all_or_why(list(islice(rest, count))) for count in counts]


def _all_or_why(found: Sequence[Vector | Exception]) -> list[Vector] | Exception:
    vectors = [one for one in found if not isinstance(one, Exception)]
    return vectors if len(vectors) == len(found) else next(one for one in found if isinstance(one, Exception))
