"""The information of a text, by its words alone: a yardstick without a model."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

_WORD = re.compile(r"\w+")


def words(text: str) -> frozenset[str]:
    """Its words, each once."""
    return frozenset(_WORD.findall(text.lower()))


def rarities(texts: Sequence[frozenset[str]]) -> NDArray[np.float64]:
    """Returns each text's sum of ln(N / n) over its words, where n of these N texts have the word."""
    counts = Counter(word for text in texts for word in text)
    return np.array([sum(math.log(len(texts) / counts[word]) for word in sorted(text)) for text in texts])
