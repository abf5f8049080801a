"""An encoder without a model: feature hashing of words and of the character n-grams inside them.

For tests and for machines that cannot hold the model. Texts that share words are near each other; texts that only mean
the same are not.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_GRAMS = (3, 4)
# A shared word counts more than the few letters that two words have in common.
_WORD_WEIGHT, _GRAM_WEIGHT = 1.0, 0.3


class HashingEncoder:
    """Adapter of `memquorum.ports.Encoder`: pure, deterministic everywhere, some 5,000 short texts/s."""

    def __init__(self, dimensions: int = 384) -> None:
        if dimensions < 8:
            raise ValueError(f"a hashing encoder needs at least 8 dimensions, not {dimensions}")
        self._dimensions = dimensions

    @property
    def name(self) -> str:
        """Method and version, as provenance records it."""
        return f"hashing-{self._dimensions}/1"

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        return self._dimensions

    @property
    def batch(self) -> int:
        """256: more at once go no faster."""
        return 256

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dimensions), rows of unit length; a text without a word has the first unit vector."""
        vectors = np.zeros((len(texts), self._dimensions), np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
        return vectors

    def _vector(self, text: str) -> NDArray[np.float32]:
        sums = np.zeros(self._dimensions)
        for (feature, weight), count in Counter(_features(text)).items():
            digest = hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest()
            place = int.from_bytes(digest[:4], "big") % self._dimensions
            # A random sign lets collisions cancel on average instead of adding up (Weinberger et al. 2009).
            sums[place] += (1 if digest[4] & 1 else -1) * weight * (1 + np.log(count))
        length = float(np.linalg.norm(sums))
        if length == 0:
            sums[0] = length = 1.0
        unit: NDArray[np.float32] = (sums / length).astype(np.float32)
        return unit


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in _WORD.findall(text.lower()):
        yield f"w:{word}", _WORD_WEIGHT
        marked = f"<{word}>"
        for n in _GRAMS:
            for start in range(len(marked) - n + 1):
                yield f"g:{marked[start : start + n]}", _GRAM_WEIGHT
