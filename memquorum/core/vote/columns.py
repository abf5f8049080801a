"""The encoding of a ballot: the terms of its opinions, column by column, instead of one record for each opinion.

Only the terms of an opinion are free: the score follows from them, and the vote from the score. So a ballot holds the
terms alone. For each kind in the nomination, in the order of `KINDS`, and for each of its terms, in their order, it has
one number for each proposal of that kind, in the nomination's order; little-endian, with as many bytes as the kind
gives that term. So 256 opinions are read in a few steps. An opinion has one encoding, but for the terms that ballots of
earlier versions lack (`Term.DISTANCE`): a ballot states those of all its proposals, or of none.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from memquorum.core.late_numpy import np
from memquorum.core.policy import Policy
from memquorum.core.records import BallotCast, NominationProposed
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import Columns, Kind, Opinion, Term, Terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

Places = tuple[tuple[Kind, tuple[int, ...]], ...]
"""The kinds in a nomination, in the order of `KINDS`, each with the indices of its proposals."""

Column: TypeAlias = "tuple[tuple[int, ...], NDArray[np.bool_], NDArray[np.int64], Columns]"
"""The opinions on one kind's proposals, as columns: their indices, votes, scores and terms."""

_LETTERS = {4: "i", 8: "q"}


class BadBallot(ValueError):
    """Raised for a ballot that no honest member casts; the text says what is wrong with it."""


class Ballot:
    """One member's opinions on the proposals of one nomination.

    `yes`: a byte for each proposal, 1 where the member is for it. `nomination`: the digest that the ballot names.
    `columns`: the opinions, by kind.
    """

    __slots__ = ("_opinions", "columns", "member", "nomination", "yes")

    def __init__(self, member: int, nomination: bytes, columns: Sequence[Column]) -> None:
        self.member, self.nomination, self.columns = member, nomination, columns
        self._opinions: tuple[Opinion, ...] | None = None
        if len(columns) == 1:
            self.yes = columns[0][1].tobytes()
        else:
            votes = np.zeros(sum(len(places) for places, *_ in columns), np.bool_)
            for places, of_kind, *_ in columns:
                votes[list(places)] = of_kind
            self.yes = votes.tobytes()

    @property
    def opinions(self) -> tuple[Opinion, ...]:
        """The opinions one by one, in the order of the proposals; computed on first use."""
        if self._opinions is None:
            found: dict[int, Opinion] = {}
            for places, votes, scores, terms in self.columns:
                said = zip(places, votes.tolist(), scores.tolist(), zip(*terms.tolist(), strict=True), strict=True)
                found.update((at, Opinion(yes, score, of_it)) for at, yes, score, of_it in said)
            self._opinions = tuple(found[at] for at in range(len(found)))
        return self._opinions

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ballot) and self._told() == other._told()

    def __hash__(self) -> int:
        return hash((self.member, self.nomination))

    def _told(self) -> tuple[int, bytes, tuple[Opinion, ...]]:
        return self.member, self.nomination, self.opinions


def places_of(nomination: NominationProposed) -> Places:
    """Returns the kinds in a nomination with the indices of their proposals. Unknown kinds are left out."""
    found: dict[str, list[int]] = {name: [] for name in KINDS}
    for at, proposal in enumerate(nomination.proposals):
        if proposal.kind in found:
            found[proposal.kind].append(at)
    return tuple((KINDS[name], tuple(places)) for name, places in found.items() if places)


def packed(terms: Mapping[int, Terms] | Sequence[Terms], places: Places) -> bytes:
    """Encodes a ballot. `terms`: by the index of their proposal."""
    parts = []
    for kind, where in places:
        columns = zip(*(terms[at] for at in where), strict=True)
        for column, term in zip(columns, kind.terms.values(), strict=True):
            parts.append(struct.pack(f"<{len(where)}{_LETTERS[term.width]}", *column))
    return b"".join(parts)


def packed_columns(kind: Kind, terms: Columns) -> bytes:
    """Encodes the part of a ballot on one kind's proposals. `terms`: as columns."""
    pairs = zip(terms, kind.terms.values(), strict=True)
    return b"".join(column.astype(f"<i{term.width}").tobytes() for column, term in pairs)


def read(cast: BallotCast, nomination: NominationProposed, places: Places, policy: Policy) -> Ballot:
    """Decodes a ballot on this nomination; its kind checks every opinion. Raises BadBallot."""
    said, awaited = cast.terms, _length(places)
    earlier = len(said) == _length(places, earlier=True) != awaited
    if len(said) != awaited and not earlier:
        raise BadBallot(f"{len(said)} bytes of terms where {awaited} belong to {len(nomination.proposals)} proposals")
    columns, at = [], 0
    for kind, where in places:
        stated = _stated(kind, earlier=earlier)
        terms = np.empty((len(stated), len(where)), np.int64)
        for row, term in enumerate(stated):
            terms[row] = np.frombuffer(said, f"<i{term.width}", len(where), at)
            at += term.width * len(where)
        if not kind.sound(terms, nomination.as_of, policy):
            _complain(kind, where, terms, nomination.as_of, policy)
        scores = kind.score(terms, policy)
        columns.append((where, kind.yes(scores, policy), scores, terms))
    return Ballot(cast.member, cast.nomination, columns)


def _stated(kind: Kind, *, earlier: bool) -> list[Term]:
    """Returns the terms that a ballot states; `earlier`: a ballot of an earlier version."""
    return [term for term in kind.terms.values() if not earlier or term is not Term.DISTANCE]


def _length(places: Places, *, earlier: bool = False) -> int:
    return sum(len(where) * term.width for kind, where in places for term in _stated(kind, earlier=earlier))


def _complain(kind: Kind, where: Sequence[int], terms: Columns, as_of: int, policy: Policy) -> None:
    """Raises BadBallot for the first opinion that the kind's check rejects."""
    for at, of_it in zip(where, zip(*terms.tolist(), strict=True), strict=True):
        wrong = kind.check(of_it, as_of, policy)
        if wrong is not None:
            raise BadBallot(f"opinion {at}: {wrong}")
