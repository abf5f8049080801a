"""Recognizes the contents of alive memories byte for byte by keyed digests, with a counting filter in front (SPEC C).

A digest is an HMAC under a key of the namespace: a bare hash of text that can be guessed would tell that it was said,
and where two namespaces say the same, nothing here is equal. Most texts are new, and the filter says so from a few
cells; what passes it is looked up by its whole digest among those of the rows, so that no outcome rests on the filter.
It counts, so what leaves the rows leaves the filter too (Fan et al., Summary cache, 2000).
"""

from __future__ import annotations

import hmac
import struct
from array import array
from typing import TYPE_CHECKING

from msgspec import Struct

from memquorum.core.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

CELLS = 10
"""Cells of the filter for each row: with seven places each, 0.8 % of what is new passes a full one."""
_CUT = struct.Struct("<7I")  # the places of a digest
_WORDS = 4  # a digest in unsigned 64-bit numbers
ROWS_MAX = 65_535
"""So many rows at most: no cell can count further."""


class Digesting(Struct, frozen=True):
    """The parameters by which a namespace's texts are digested: a 32-byte key, and the number of cells of the filter
    per row."""

    key: bytes
    cells: int = CELLS


def digest(key: bytes, text: str) -> bytes:
    """HMAC-SHA-256 of a text as it is, 32 bytes. `key`: of the namespace."""
    return hmac.digest(key, text.encode("utf-8", "surrogatepass"), "sha256")


class CountingFilter:
    """A counting Bloom filter over digests of 32 bytes: one that it was given, it never denies.

    The bytes of a digest say which cells are its own.
    """

    def __init__(self, cells: int) -> None:
        """Raises ValueError without a cell."""
        if cells < 1:
            raise ValueError("a filter has at least one cell")
        self._cells = array("H", bytes(2 * cells))

    def take(self, one: bytes) -> None:
        """Counts a digest."""
        for place in self._places(one):
            self._cells[place] += 1

    def leave(self, one: bytes) -> None:
        """Counts a digest no more that was taken and has not left yet."""
        for place in self._places(one):
            self._cells[place] -= 1

    def may_hold(self, one: bytes) -> bool:
        """False: it was not taken, or has left. True: it is there, or others have the same cells."""
        return all(map(self._cells.__getitem__, self._places(one)))

    @property
    def empty(self) -> bool:
        """Whether no cell counts anything."""
        return not any(self._cells)

    def _places(self, one: bytes) -> set[int]:
        # Each cell once, so that no cell counts beyond the digests that are there.
        cells = len(self._cells)
        return {word % cells for word in _CUT.unpack_from(one)}


class Exact:
    """The digests of what stands in rows, each in its row, and the filter in front of them."""

    def __init__(self, cells: int = CELLS) -> None:
        """`cells`: of the filter, for each row."""
        self._each = cells
        self._digests: NDArray[np.uint64] = np.zeros((0, _WORDS), np.uint64)
        self._filter = CountingFilter(1)
        self._count = 0
        self._astray = 0

    def __len__(self) -> int:
        return self._count

    def grow(self, rows: int) -> None:
        """Makes room for so many rows; the filter is made anew. Raises ValueError beyond ROWS_MAX."""
        if rows > ROWS_MAX:
            raise ValueError(f"at most {ROWS_MAX} rows, not {rows}")
        grown = np.zeros((rows, _WORDS), np.uint64)
        grown[: self._count] = self._digests[: self._count]
        self._digests, self._filter = grown, CountingFilter(max(1, rows * self._each))
        for row in range(self._count):
            self._filter.take(self._digests[row].tobytes())

    def append(self, one: bytes) -> None:
        """Puts a digest into the next row, for which there is room."""
        self._digests[self._count] = np.frombuffer(one, np.uint64)
        self._filter.take(one)
        self._count += 1

    def remove(self, row: int) -> None:
        """Lets the digest of a row go, in both; the last row takes its place."""
        self._filter.leave(self._digests[row].tobytes())
        self._count -= 1
        self._digests[row] = self._digests[self._count]
        self._digests[self._count] = 0

    def find(self, one: bytes) -> int | None:
        """A row with this very digest; None without one."""
        if not self._filter.may_hold(one):
            return None
        (first, *_) = np.frombuffer(one, np.uint64)
        for row in np.flatnonzero(self._digests[: self._count, 0] == first).tolist():
            if self._digests[row].tobytes() == one:
                return int(row)
        self._astray += 1
        return None

    def astray(self) -> int:
        """Returns how many digests since the last call passed the filter and were in no row."""
        told, self._astray = self._astray, 0
        return told
