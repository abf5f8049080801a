"""The embeddings of a namespace as integers, and the nearest to a query.

A component is a multiple of 1/2048. For vectors of unit length no sum of products then exceeds 2²², so 24-bit binary
floating point adds them without rounding, in any order: the nearest are the same on every machine, at the speed of a
matrix product. A cosine is accurate to about a thousandth.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

SCALE = 2_048
# The number of rows that are converted to floating point at once.
_PART = 16_384
# The number of queries multiplied at once, and the maximum number of products held.
_AT_ONCE = 128
_CELLS = 16_000_000
# The number of nearest rows that is kept for a query; mostly the rest need not be computed.
_NEAR = 512
_NEVER = np.float32(-np.inf)

Numbers = NDArray[np.int16]
Flags = NDArray[np.bool_]
Rows = NDArray[np.int32]


def whole(vector: NDArray[np.floating]) -> Numbers:
    """Converts a vector of unit length, or a matrix of them as rows, to integers."""
    found: Numbers = np.rint(np.clip(np.asarray(vector, np.float64), -1, 1) * SCALE).astype(np.int16)
    return found


class Vectors:
    """The vectors of memories, in the order of their ids: at equal distance the lower id is nearer."""

    def __init__(self, vectors: Mapping[str, Numbers]) -> None:
        """`vectors`: all of the same length, from `whole`."""
        self.ids = tuple(sorted(vectors))
        self.row = {memory_id: at for at, memory_id in enumerate(self.ids)}
        self._rows: Numbers = np.stack([vectors[one] for one in self.ids]) if self.ids else np.zeros((0, 0), np.int16)

    def __len__(self) -> int:
        return len(self.ids)

    def products(self, queries: Sequence[Numbers]) -> NDArray[np.float32]:
        """Returns the products of all rows with each of some queries, one result row for each query."""
        wide = np.stack(queries).astype(np.float32)
        found = np.empty((len(queries), len(self.ids)), np.float32)
        for at in range(0, len(self.ids), _PART):
            found[:, at : at + _PART] = wide @ self._rows[at : at + _PART].astype(np.float32).T
        return found

    def of(self, query: Numbers, rows: Rows) -> NDArray[np.float32]:
        """Returns the products of some rows with one query."""
        found = np.empty(len(rows), np.float32)
        for at in range(0, len(rows), _PART):
            found[at : at + _PART] = self._rows[rows[at : at + _PART]].astype(np.float32) @ query.astype(np.float32)
        return found

    def fits(self, query: Numbers) -> bool:
        """True if a query can be asked: there are vectors, of as many dimensions."""
        return len(self.ids) > 0 and query.shape == self._rows.shape[1:]

    def digest_bytes(self) -> bytes:
        """Returns the bytes of the vectors for the hash of a replay."""
        return self._rows.tobytes()


class Asking:
    """Asks a namespace its queries, in order, once for each replay.

    Several queries are multiplied with all rows at once: the conversion of the rows to floating point takes longer than
    the product. The nearest rows are kept, so that the next replay multiplies little: the memories that a query can
    find are the same in each. If a setting holds few of the nearest rows, only the rows that it holds are computed.
    """

    def __init__(self, vectors: Vectors, queries: Mapping[int, Numbers]) -> None:
        """`queries`: by their numbers, which give their order."""
        self._vectors = vectors
        self._queries = {at: query for at, query in sorted(queries.items()) if vectors.fits(query)}
        self._order = list(self._queries)
        self._place = {number: at for at, number in enumerate(self._order)}
        self._at_once = max(1, min(_AT_ONCE, _CELLS // max(1, len(vectors))))
        self._begin, self._block = 0, np.empty((0, 0), np.float32)
        self._first: dict[int, Rows] = {}

    def near(self, number: int | None, among: Flags) -> Near | None:
        """Returns the nearness of the flagged rows to a query; None where it cannot be asked."""
        if number is None or number not in self._queries:
            return None
        if number not in self._first:
            self._first[number] = _highest(np.where(among, self._products(number), _NEVER), _NEAR)
        return Near(self._first[number], lambda rows: self._of(number, rows))

    def _products(self, number: int) -> NDArray[np.float32]:
        at = self._place[number]
        if not self._begin <= at < self._begin + len(self._block):
            some = self._order[at : at + self._at_once]
            self._begin, self._block = at, self._vectors.products([self._queries[one] for one in some])
        found: NDArray[np.float32] = self._block[at - self._begin]
        return found

    def _of(self, number: int, rows: Rows) -> NDArray[np.float32]:
        at = self._place[number] - self._begin
        if 0 <= at < len(self._block):
            found: NDArray[np.float32] = self._block[at][rows]
            return found
        return self._vectors.of(self._queries[number], rows)


class Near:
    """The nearness of memories to one query."""

    def __init__(self, first: Rows, products: Callable[[Rows], NDArray[np.float32]]) -> None:
        """`first`: the nearest rows, nearest first; `products`: computes the products of some rows."""
        self._first, self._products = first, products

    def nearest(self, count: int, kept: Flags) -> list[int]:
        """Returns the nearest of the kept rows, at most `count`; `kept` has to be a subset of the flagged rows."""
        found = self._first[kept[self._first]][:count]
        if len(found) < count and len(self._first) == _NEAR:
            rows = np.flatnonzero(kept).astype(np.int32)
            found = rows[_highest(self._products(rows), count)]
        return [int(row) for row in found]


def _highest(products: NDArray[np.float32], count: int) -> Rows:
    """Returns the rows with the highest products; among equals the lower row comes first, on every machine."""
    least = _NEVER
    if count < len(products):
        least = np.partition(products, len(products) - count)[len(products) - count]
    some = np.flatnonzero((products >= least) & (products > _NEVER))
    return some[np.lexsort((some, -products[some]))][:count].astype(np.int32)
