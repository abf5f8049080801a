"""Computes the similarity of two vectors in whole numbers, so that it is the same on every machine.

A float16 is a whole number of 2⁻²⁴. A vector is brought to a length of 2²⁰ by whole-number division. Products of two
such vectors stay below 2⁵³, so that a sum of them is exact in float64 in whatever order it is taken, and BLAS may take
it. Similarity is max(0, cosine) in millionths (research: SEDM leaves open what becomes of a negative one).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from memquorum.core.late_numpy import np
from memquorum.core.policy import PPM

if TYPE_CHECKING:
    from numpy.typing import NDArray

HALF_BYTES = 2
"""The bytes of a number of a vector."""

Units: TypeAlias = "NDArray[np.float64]"
"""Whole numbers, shape (d,) or (n, d)."""

_LENGTH_BITS = 20
_STEP = 2.0**24
# So many squares of numbers up to 1, in steps of 2⁻²⁴, add up to less than 2⁶³.
_FITS = 2**14
# The same contexts judge many candidates: some 3 KiB each.
_KEPT = 8_192


@lru_cache(_KEPT)
def units(vector: bytes) -> Units:
    """A vector of little-endian float16 as whole numbers of the length 2²⁰, but for what division leaves.

    Raises ValueError for what has no direction.
    """
    found = whole(vector)
    found.setflags(write=False)
    return found


def whole(vector: bytes) -> Units:
    """The same as `units`, of which nothing is kept: for who goes through many once."""
    numbers = (np.frombuffer(vector, "<f2").astype(np.float64) * _STEP).astype(np.int64)
    if len(numbers) <= _FITS and len(numbers) and int(np.abs(numbers).max()) <= _STEP:
        squared = int(numbers @ numbers)
    else:
        squared = sum(one * one for one in numbers.tolist())
    length = math.isqrt(squared)
    if length == 0:
        raise ValueError("a vector without a direction is near to nothing")
    return ((numbers << _LENGTH_BITS) // length).astype(np.float64)


def stacked(vectors: Sequence[bytes], dimensions: int) -> Units:
    """The units of many, a row each; shape (0, dimensions) of none."""
    return np.stack([units(one) for one in vectors]) if vectors else np.zeros((0, dimensions))


def similarities_ppm(rows: Units, to: Units) -> NDArray[np.int64]:
    """Returns the similarity of each row to a vector, or to each column of several, in [0, 1] in millionths. Raises
    ValueError where dimensions differ."""
    if rows.shape[1] != len(to):
        raise ValueError(f"{len(to)} dimensions beside {rows.shape[1]}: another encoder made them")
    products = (rows @ to).astype(np.int64)
    found: NDArray[np.int64] = np.clip(products * PPM >> 2 * _LENGTH_BITS, 0, PPM)
    return found
