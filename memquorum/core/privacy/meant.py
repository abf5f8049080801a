"""Kinds of sensitive data by the meaning of a text: those of listed sentences whose vectors are near (SPEC D).

The list and `NEAR` were chosen on one set of sentences and measured on others (tests/unit/core/privacy/test_meant.py).
They are of English and of the default encoder.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memquorum.core.reading import sentences
from memquorum.core.reading.lists import sections

NEAR = 0.45
"""From this cosine on a sentence tells of the same kind of data as a listed one."""
SENTENCES_MOST = 32
"""So many sentences of a text are read, its first ones."""
_LISTED = [(kind, told) for kind, every in sections("privacy/meant-en").items() for told in every]
KINDS, TOLD = (tuple(one) for one in zip(*_LISTED, strict=True))
"""The kinds and the listed sentences, in one order."""


def read(text: str) -> tuple[str, ...]:
    """Returns the sentences of a text whose meaning is compared."""
    return sentences.sentences(text)[:SENTENCES_MOST]


def kinds_near(vectors: NDArray[np.float32], listed: NDArray[np.float32]) -> set[str]:
    """Returns the kinds of the listed sentences that one of the vectors is near to. Rows of unit length; `listed`: of
    `TOLD`."""
    near = (vectors @ listed.T).max(axis=0) >= NEAR if len(vectors) else []
    return {kind for kind, is_near in zip(KINDS, near, strict=False) if is_near}
