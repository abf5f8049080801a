"""The memories of a namespace as salience compares an episode with them: their vectors, texts and claims, in memory.

`Neighbourhood` holds them; `Look` is one vector's view of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, msgpack

from memquorum.core.exact import Exact
from memquorum.core.kept import Kept
from memquorum.core.late_numpy import np
from memquorum.core.merging import Marks
from memquorum.core.reading.conflict import Claims, read

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"

# float32 sums of unit vectors differ by less than this from the exact ones.
_SLACK = 1e-5
# So many characters of text a memory, on the mean: of 10,000 memories 40 MB of text are kept at most.
_EACH = 4_000


def as_kept(vector: Vector) -> Vector:
    """A vector as the store will give it back (float16), at unit length, so that a restart changes no novelty.

    Raises ValueError for a vector without a direction.
    """
    return halved(vector)[0]


def halved(vector: Vector) -> tuple[Vector, float]:
    """A vector as `as_kept` answers it, and how long it was."""
    kept = vector.astype(np.float16).astype(np.float32)
    length = np.float32(np.linalg.norm(kept))
    if not np.isfinite(length) or length == 0:
        raise ValueError("a vector without a direction cannot be compared")
    unit: Vector = kept / length
    return unit, float(length)


class ClaimCache:
    """A cache of the claims of the texts that were asked for last. Encoded, a text's claims take a tenth of what they
    take otherwise, and less than its vector; to decode them takes a tenth of reading the text."""

    def __init__(self) -> None:
        self._known = Kept[str, bytes](len, _CLAIMED_BYTES, _CLAIMED_MOST)

    def __len__(self) -> int:
        return len(self._known)

    def of(self, memory_id: str, text: str) -> Claims:
        """Returns the claims of a memory, or of an episode that is no memory yet. `text`: its gist."""
        known = self._known.get(memory_id)
        if known is not None:
            return _CLAIMS.decode(known)
        claims = read(text)
        self._known[memory_id] = msgpack.encode(claims)
        return claims

    def drop(self, memory_id: str) -> None:
        """Forgets what a memory claims."""
        self._known.pop(memory_id, None)


_CLAIMS = msgpack.Decoder(Claims)
# A namespace keeps what so many texts claim, some 0.8 KB each: as many as it has memories in a tier here. The same near
# memories are asked for again and again.
_CLAIMED_MOST, _CLAIMED_BYTES = 10_000, 16_000_000


class Seen(Struct, frozen=True):
    """The facts that a neighbourhood knows of a memory beside its vector: its author, the gist of its text, and its
    marks. `fingerprint`: of its text (`core.reading.sameness`)."""

    agent: str
    gist: str
    marks: Marks
    fingerprint: bytes = b""


class Neighbourhood:
    """Vectors by id in one growable float32 matrix, at most `limit` of them, with 4,000 characters of text for each:
    beyond either, the oldest is dropped.

    The first vector of an id stays, as the commit worker keeps the first outcome of an event.
    """

    def __init__(self, dimensions: int, limit: int, exact: Exact | None = None) -> None:
        """`exact`: takes the digests of what the memories say, by row; None: nobody asks for them."""
        self._limit, self.exact = limit, exact
        self._matrix: Vector = np.zeros((0, dimensions), np.float32)
        self._lengths: Vector = np.zeros(0, np.float32)
        self._row: dict[str, int] = {}  # in the order of arrival
        self._id: list[str] = []  # by row
        self._seen: list[Seen] = []
        self._saying: dict[bytes, tuple[str, ...]] = {}  # the memories of each fingerprint
        self._characters = 0

    def rest(self) -> None:
        """Keeps the vectors as the store holds them (float16), in half the memory, until `wake`. Do not use it
        meanwhile."""
        count = len(self._id)
        self._matrix = (self._matrix[:count] * self._lengths[:count, None]).astype(np.float16)

    def wake(self) -> None:
        """Is again as before `rest`, to the last bit: dividing by the length and multiplying gives the same float16."""
        count = len(self._id)
        # With the rows that it had: to grow makes the filter of `exact` anew.
        whole = np.zeros((len(self._lengths), self._matrix.shape[1]), np.float32)
        whole[:count] = self._matrix.astype(np.float32) / self._lengths[:count, None]
        self._matrix = whole

    def __len__(self) -> int:
        return len(self._id)

    def __contains__(self, memory_id: object) -> bool:
        return memory_id in self._row

    def add(self, memory_id: str, vector: Vector, seen: Seen, digest: bytes = b"", length: float = 1.0) -> None:
        """Takes a memory in, unless it is there. `vector`: shape (d,), unit length (`as_kept`); `length`: what it was
        before. `digest`: of its text, where there is an `exact`.

        Raises ValueError for a vector of other dimensions: another encoder made it.
        """
        if len(vector) != self._matrix.shape[1]:
            raise ValueError(f"a vector of {len(vector)} dimensions among vectors of {self._matrix.shape[1]}")
        if memory_id in self._row:
            return
        while self._row and (len(self._id) >= self._limit or self._characters > self._limit * _EACH):
            self.remove(next(iter(self._row)))
        row = len(self._id)
        if row == len(self._matrix):
            self._grow()
        self._matrix[row], self._lengths[row] = vector, length
        if self.exact is not None:
            self.exact.append(digest)
        self._row[memory_id] = row
        self._id.append(memory_id)
        self._seen.append(seen)
        if seen.fingerprint:
            self._saying[seen.fingerprint] = (*self._saying.get(seen.fingerprint, ()), memory_id)
        self._characters += len(seen.gist)

    def remove(self, memory_id: str) -> None:
        """Lets a memory go; nothing happens if it is not there."""
        row = self._row.pop(memory_id, None)
        if row is None:
            return
        self._characters -= len(self._seen[row].gist)
        self._unsay(memory_id, self._seen[row].fingerprint)
        if self.exact is not None:
            self.exact.remove(row)
        # The last row takes its place.
        last_id, last_seen = self._id.pop(), self._seen.pop()
        self._matrix[row], self._lengths[row] = self._matrix[len(self._id)], self._lengths[len(self._id)]
        if row < len(self._id):
            self._id[row], self._seen[row], self._row[last_id] = last_id, last_seen, row

    @property
    def size(self) -> int:
        """Its memories, and its texts in vectors of the same size."""
        dimensions: int = self._matrix.shape[1]
        return len(self._id) + self._characters // (4 * max(1, dimensions))

    def look(self, vector: Vector, without: str) -> Look:
        """Compares all memories with a vector, `without` left out. Valid until a memory is added or removed."""
        cosines: Vector = self._matrix[: len(self._id)] @ vector if self._id else np.zeros(0, np.float32)
        row = self._row.get(without)
        if row is not None:
            cosines[row] = -np.inf
        return Look(self, vector, cosines)

    def at(self, row: int) -> tuple[str, Seen]:
        """The memory in a row."""
        return self._id[row], self._seen[row]

    def seen(self, memory_id: str) -> Seen | None:
        """Returns the facts known of a memory; None if it is not here."""
        row = self._row.get(memory_id)
        return None if row is None else self._seen[row]

    def latest(self) -> Iterator[tuple[str, Seen]]:
        """The memories, the one that came last first."""
        return ((memory_id, self._seen[row]) for memory_id, row in reversed(self._row.items()))

    def cosine(self, row: int, vector: Vector) -> float:
        """A cosine that does not depend on how many rows the matrix has, as BLAS's float32 results may."""
        return float(self._matrix[row].astype(np.float64) @ vector.astype(np.float64))

    def saying(self, digest: bytes) -> Vector | None:
        """The vector, as it was before it had unit length, of a memory whose text has this digest."""
        row = None if self.exact is None else self.exact.find(digest)
        if row is None:
            return None
        # Dividing by the length and multiplying again gives the same float16.
        vector: Vector = (self._matrix[row] * self._lengths[row]).astype(np.float16).astype(np.float32)
        return vector

    def same(self, fingerprint: bytes) -> list[int]:
        """The rows of the memories whose text has this fingerprint."""
        return [self._row[memory_id] for memory_id in self._saying.get(fingerprint, ())]

    def cosines(self, rows: Sequence[int], vector: Vector) -> list[float]:
        """Answers as `cosine` does, for each of some rows."""
        chosen = self._matrix[rows].astype(np.float64)
        found: list[float] = np.einsum("ij,j->i", chosen, vector.astype(np.float64)).tolist()
        return found

    def _unsay(self, memory_id: str, fingerprint: bytes) -> None:
        left = tuple(one for one in self._saying.get(fingerprint, ()) if one != memory_id)
        if left:
            self._saying[fingerprint] = left
        else:
            self._saying.pop(fingerprint, None)

    def _grow(self) -> None:
        before = len(self._matrix)
        rows = min(max(64, 2 * before), self._limit)
        if self.exact is not None:
            self.exact.grow(rows)
        grown, lengths = np.zeros((rows, self._matrix.shape[1]), np.float32), np.zeros(rows, np.float32)
        grown[:before], lengths[:before] = self._matrix, self._lengths
        self._matrix, self._lengths = grown, lengths


class Look(Struct, frozen=True):
    """A neighbourhood as one vector sees it: the cosines to all its rows, taken once."""

    _around: Neighbourhood
    _vector: Vector
    _cosines: Vector

    def alike(self, above: float) -> Iterator[tuple[float, str, Seen]]:
        """Yields each memory whose cosine is above `above`, with its cosine: the nearest first, ties by id."""
        # Most who ask want a few of thousands: a cosine is computed exactly only when its memory may come next.
        exact = list[tuple[float, str, int]]()
        for row, about in self._nearly(above):
            while exact and -exact[0][0] > about + _SLACK:
                yield self._told(heappop(exact))
            cosine = self._around.cosine(row, self._vector)
            if cosine > above:
                heappush(exact, (-cosine, self._around.at(row)[0], row))
        while exact:
            yield self._told(heappop(exact))

    def same(self, fingerprint: bytes, above: float) -> list[tuple[float, str, Seen]]:
        """The memories whose text has this fingerprint and whose cosine is > `above`, the nearest first, ties by id."""
        rows = [row for row in self._around.same(fingerprint) if self._cosines[row] > above - _SLACK]
        if not rows:
            return []
        cosines = self._around.cosines(rows, self._vector)
        near = [(-cosine, self._around.at(row)[0], row) for cosine, row in zip(cosines, rows, strict=True)]
        return [self._told(one) for one in sorted(near) if -one[0] > above]

    def _told(self, one: tuple[float, str, int]) -> tuple[float, str, Seen]:
        return (-one[0], *self._around.at(one[2]))

    def _nearly(self, above: float) -> Iterator[tuple[int, float]]:
        """Finds the rows whose cosine may lie above a bound, each with its approximate cosine, the highest first."""
        rows = np.flatnonzero(self._cosines >= above - _SLACK)
        order = rows[np.argsort(-self._cosines[rows])]
        return zip(order.tolist(), self._cosines[order].tolist(), strict=True)
