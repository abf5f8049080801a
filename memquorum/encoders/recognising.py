"""Recognisers of sensitive data that take a model, for intake to judge by beside the rules (docs/use/privacy.md).

`names`: persons and places, by the model of the extra `ner`; `meaning`: kinds of data that a sentence tells of, by the
encoder: those of listed sentences whose vectors are near. The list and `NEAR` were chosen on one set of sentences and
measured on others (tests/unit/encoders/test_recognising.py); they are of English and of the default encoder.

Their verdict travels in the record of the episode as one label with its version, and nobody computes it again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memquorum.core.privacy.masking import Second
from memquorum.core.privacy.sensitivity import Recogniser
from memquorum.core.reading import sentences
from memquorum.core.reading.lists import sections
from memquorum.ports import Encoder

NAMES, MEANING = "names", "meaning"
RECOGNISERS = (NAMES, MEANING)
NEAR = 0.45
"""From this cosine on a sentence tells of the same kind of data as a listed one."""
SENTENCES_MOST = 32
"""So many sentences of a text are read, its first ones."""
_LISTED = [(kind, told) for kind, every in sections("privacy/meant-en").items() for told in every]
KINDS, TOLD = (tuple(one) for one in zip(*_LISTED, strict=True))
"""The kinds and the listed sentences, in one order."""


def by_names(model: Second) -> Recogniser:
    """Returns the recogniser of persons and places. `model`: as `memquorum.encoders.names` loads it."""
    return Recogniser(f"{NAMES}-1", lambda text: {one.kind for one in model(text)})


def by_meaning(encoder: Encoder) -> Recogniser:
    """Returns the recogniser of what sentences tell of."""
    listed = encoder.encode(TOLD)

    def kinds(text: str) -> set[str]:
        told = read(text)
        return kinds_near(encoder.encode(told), listed) if told else set()

    return Recogniser(f"{MEANING}-1", kinds)


def read(text: str) -> tuple[str, ...]:
    """Returns the sentences of a text whose meaning is compared."""
    return sentences.sentences(text)[:SENTENCES_MOST]


def kinds_near(vectors: NDArray[np.float32], listed: NDArray[np.float32]) -> set[str]:
    """Returns the kinds of the listed sentences that one of the vectors is near to. Rows of unit length; `listed`: of
    `TOLD`."""
    if not len(vectors):
        return set()
    near = (vectors @ listed.T).max(axis=0) >= NEAR
    return {kind for kind, is_near in zip(KINDS, near, strict=True) if is_near}
