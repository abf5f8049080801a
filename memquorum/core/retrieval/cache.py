"""The rapid retrieval cache of one namespace: vectors of its most used memories in one matrix (SPEC B, Alg. 16).

A search compares the query with every row, exactly, and orders as `SEARCHED` does. The cache holds no text: the store
is asked for the text of each id that was found, so a memory that was forgotten or erased meanwhile is never returned.

If the cache holds the whole namespace (`whole`), its nearest are the namespace's nearest. If it holds only the most
used, the store may hold a nearer one. Then it answers only if its best is near enough to be most likely what was meant
(`NEAR_ENOUGH`), and the answer says that not all were compared. The store confirms each answer in the snapshot from
which the texts are read (`confirmed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

SEARCHED: tuple[str, ...] = ("cache", "store")
"""The places that a search reads, in this order, until it has its answer. SPEC B reads cache, short-term, long-term and
then all; here one table holds both tiers and is searched at once, exactly, which costs no more than either: short-term,
long-term and all are one step."""

CAPACITY = 10_000
NEAR_ENOUGH = 0.85
# More candidates than wanted: so many may have gone from the store before more have to be looked for.
SPARE = 16
# The greatest difference between two sums of 384 products, in float32 and in any order: the matrix's and the store's.
ROUNDING = 1e-4
# More candidates than this are as good as alike: the store has to say which come first.
CANDIDATES_MAX = 1_000

Compared = Literal["all", "most used", "by index"]
"""With what a query was compared. An index of the store's finds nearly all of the nearest (infra/decisions/0031)."""


class Rows(Struct, frozen=True):
    """Memories as the store has them: ids, vectors of shape (n, d), and how often each was used."""

    memory_ids: Sequence[str]
    vectors: NDArray[np.float32]
    uses: Sequence[int]


class Nearest(Struct, frozen=True):
    """Those that may be the k nearest, to be confirmed by the store.

    `needed`: how many of them must still be there, so that none that is not among them can be nearer than the k-th.
    `best`: the highest cosine. `seq`: the journal sequence up to which the cache knows the namespace. `compared`: with
    what.
    """

    memory_ids: tuple[str, ...]
    needed: int
    best: float
    seq: int
    compared: Compared


class Cache:
    """The vectors of one namespace, by one encoder. `seq` is a journal sequence of its shard: what changed up to it is
    known here.

    `whole`: it holds every memory of the namespace; `crowded`: it would hold more if it had room. It is not safe
    between threads: one holder at a time.
    """

    def __init__(self, seq: int, rows: Rows, *, whole: bool, capacity: int = CAPACITY) -> None:
        """`rows`: the most used as of `seq`, all of the namespace's where `whole`."""
        self.seq, self.whole, self.crowded, self._capacity = seq, whole, not whole, capacity
        self._matrix = np.zeros((0, rows.vectors.shape[1]), np.float32)
        self._uses = np.zeros(0, np.int64)
        self._ids: list[str] = []
        self._place: dict[str, int] = {}
        self.put(rows)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, memory_id: object) -> bool:
        return memory_id in self._place

    @property
    def size(self) -> int:
        """The number of rows for which memory is allocated."""
        return len(self._matrix)

    def nearest(self, query: NDArray[np.float32], k: int) -> Nearest | None:
        """Candidates for the k nearest by cosine. None where that cannot be said here: ask the store.

        `query`: shape (d,), rounded as the store rounds it.
        """
        count, wanted = len(self._ids), k + SPARE
        length = float(np.linalg.norm(query))
        if length == 0 or count == 0 or query.shape != self._matrix.shape[1:]:
            return None
        scores = self._matrix[:count] @ (query / np.float32(length))
        if count > wanted:
            least = np.partition(scores, count - wanted)[count - wanted]
            # A row within the rounding error is a candidate, too: the store's sums decide.
            found = np.flatnonzero(scores >= least - ROUNDING)
            if len(found) > CANDIDATES_MAX:
                return None
            needed = k + len(found) - wanted
        else:
            found, needed = np.arange(count), 0
        ids = tuple(self._ids[at] for at in found)
        return Nearest(ids, needed, float(scores.max()), self.seq, "all" if self.whole else "most used")

    def put(self, rows: Rows) -> None:
        """Takes memories in, as they are now; the least used make room. One that is used less than all is not taken."""
        lengths = np.linalg.norm(rows.vectors, axis=1)
        for at, memory_id in enumerate(rows.memory_ids):
            if lengths[at] == 0:
                # It is at no angle to anything. The store puts it last; here it cannot be placed.
                self.remove([memory_id])
                self.whole = False
                continue
            place = self._place.get(memory_id)
            if place is None:
                place = self._room(rows.uses[at])
                if place is None:
                    continue
                self._ids.append(memory_id)
                self._place[memory_id] = place
            self._matrix[place] = rows.vectors[at] / lengths[at]
            self._uses[place] = rows.uses[at]

    def use(self, memory_ids: Sequence[str]) -> None:
        """Counts a use of each that is here."""
        for memory_id in memory_ids:
            if memory_id in self._place:
                self._uses[self._place[memory_id]] += 1

    def remove(self, memory_ids: Sequence[str]) -> int:
        """Removes memories and overwrites their vectors; answers how many were here."""
        removed = 0
        for memory_id in memory_ids:
            place = self._place.pop(memory_id, None)
            if place is None:
                continue
            last = len(self._ids) - 1
            if place != last:
                moved = self._ids[place] = self._ids[last]
                self._matrix[place], self._uses[place] = self._matrix[last], self._uses[last]
                self._place[moved] = place
            self._ids.pop()
            self._matrix[last] = 0
            removed += 1
        return removed

    def clear(self) -> None:
        """Removes everything, overwriting it before the room is given back."""
        self._matrix[:] = 0
        self._matrix, self._uses = self._matrix[:0].copy(), self._uses[:0].copy()
        self._ids.clear()
        self._place.clear()
        self.whole = False

    def _room(self, uses: int) -> int | None:
        """The place for one more memory; None if that would be the least used of all."""
        count = len(self._ids)
        if count >= self._capacity:
            self.whole, self.crowded = False, True
            least = int(np.argmin(self._uses[:count]))
            if self._uses[least] > uses or not count:
                return None
            self.remove([self._ids[least]])
            return count - 1
        if count == len(self._matrix):
            self._grow(min(self._capacity, max(64, 2 * count)))
        return count

    def _grow(self, size: int) -> None:
        count, old = len(self._ids), self._matrix
        self._matrix = np.zeros((size, old.shape[1]), np.float32)
        self._matrix[:count] = old[:count]
        # The old room is given back without what was in it.
        old[:] = 0
        self._uses = np.concatenate([self._uses, np.zeros(size - len(self._uses), np.int64)])


def answers(found: Nearest | None, *, exact: bool) -> bool:
    """Whether a search may be answered from the cache alone, once the store has confirmed it.

    Always where it holds the whole namespace. Else where its best is near enough, unless the asker wants all memories
    compared (`exact`).
    """
    if found is None:
        return False
    return found.compared == "all" or (not exact and found.best >= NEAR_ENOUGH)


def confirmed(found: Nearest, there: int, changed: int, changed_max: int, best: float | None) -> bool:
    """Whether the store's own nearest, of the candidates and of what changed since `seq`, are the answer.

    `there`: how many candidates are alive in the store's snapshot; `changed`: how many of the namespace's memories
    came, went or were encoded anew between `seq` and the snapshot, counted up to one more than `changed_max`; `best`:
    the first one's cosine, None if there is none.

    Among the rows that the cache held at `seq`, the candidates are nearer than all others, so the first k that still
    exist are the k nearest of them, if there are k; the store compared the newer rows. So the answer has no memory that
    is gone, since none is in the snapshot, and lacks no memory that exists.
    """
    if there < found.needed or changed > changed_max:
        return False
    # The candidate that was near enough may be gone by now.
    return found.compared == "all" or (best is not None and best >= NEAR_ENOUGH)
