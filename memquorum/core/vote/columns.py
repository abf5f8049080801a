"""A ballot as it travels: the terms of its opinions side by side, column by column, instead of a record for each.

An opinion is free in its terms alone, the score follows from them and the vote from the score, so a ballot says only
the terms: for each kind that the nomination has, in the order of `KINDS`, and for each of its terms in their order, one
number for each proposal of the kind in the nomination's order; little-endian, of as many bytes as the kind gives that
term. So there is one encoding of what a member thinks, and 256 opinions are read in a few steps.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memquorum.core.policy import Policy
from memquorum.core.records import BallotCast, NominationProposed
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import Columns, Kind, Opinion, Terms

Places = tuple[tuple[Kind, tuple[int, ...]], ...]
"""The kinds that a nomination has, in the order of `KINDS`, and where the proposals of each stand in it."""

Column = tuple[tuple[int, ...], NDArray[np.bool_], NDArray[np.int64], Columns]
"""Opinions side by side: their places, votes, scores and terms."""

_LETTERS = {4: "i", 8: "q"}


class BadBallot(ValueError):
    """A ballot that no honest member casts; the text says what is wrong with it."""


class Ballot:
    """One member's opinions on the proposals of one nomination.

    `yes`: a byte for each proposal, 1 where the member is for it. `nomination`: the digest that the ballot names.
    `columns`: the opinions of each kind, side by side.
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
        """One by one, in the order of the proposals; made when first asked for."""
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
    """Where the proposals of each kind stand. Of kinds that nobody knows there are none."""
    found: dict[str, list[int]] = {name: [] for name in KINDS}
    for at, proposal in enumerate(nomination.proposals):
        if proposal.kind in found:
            found[proposal.kind].append(at)
    return tuple((KINDS[name], tuple(places)) for name, places in found.items() if places)


def packed(terms: Mapping[int, Terms] | Sequence[Terms], places: Places) -> bytes:
    """What a ballot says, of the terms by the places of their proposals."""
    parts = []
    for kind, where in places:
        columns = zip(*(terms[at] for at in where), strict=True)
        for column, width in zip(columns, kind.widths, strict=True):
            parts.append(struct.pack(f"<{len(where)}{_LETTERS[width]}", *column))
    return b"".join(parts)


def packed_columns(kind: Kind, terms: Columns) -> bytes:
    """What a ballot says on the proposals of one kind, of their terms in columns."""
    return b"".join(column.astype(f"<i{width}").tobytes() for column, width in zip(terms, kind.widths, strict=True))


def read(cast: BallotCast, nomination: NominationProposed, places: Places, policy: Policy) -> Ballot:
    """What a ballot on this nomination says, every opinion checked by its kind. Raises BadBallot."""
    awaited, said = sum(len(where) * sum(kind.widths) for kind, where in places), cast.terms
    if len(said) != awaited:
        raise BadBallot(f"{len(said)} bytes of terms where {awaited} belong to {len(nomination.proposals)} proposals")
    columns, at = [], 0
    for kind, where in places:
        terms = np.empty((len(kind.terms), len(where)), np.int64)
        for row, width in enumerate(kind.widths):
            terms[row] = np.frombuffer(said, f"<i{width}", len(where), at)
            at += width * len(where)
        if not kind.sound(terms, nomination.as_of, policy):
            _complain(kind, where, terms, nomination.as_of, policy)
        scores = kind.score(terms, policy)
        columns.append((where, kind.yes(scores, policy), scores, terms))
    return Ballot(cast.member, cast.nomination, columns)


def _complain(kind: Kind, where: Sequence[int], terms: Columns, as_of: int, policy: Policy) -> None:
    """Raises BadBallot for the first opinion of a kind that does not hold."""
    for at, of_it in zip(where, zip(*terms.tolist(), strict=True), strict=True):
        wrong = kind.check(of_it, as_of, policy)
        if wrong is not None:
            raise BadBallot(f"opinion {at}: {wrong}")
