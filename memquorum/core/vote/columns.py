"""A ballot as it travels: its opinions' terms side by side, column by column, instead of a record for each.

An opinion is free in its terms alone, the score follows from them and the vote from the score, so a ballot says only
the terms: for each kind that the nomination has, in the order of `KINDS`, and for each of its terms in their order, one
number for each proposal of the kind in the nomination's order; little-endian, of as many bytes as the kind gives that
term. So there is one encoding of what a member thinks, and 256 opinions are read in a few steps.

Releases before this one wrote a record for each opinion, which says its score and vote as well. Both are read.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from memquorum.core.policy import Policy
from memquorum.core.records import BallotCast, NominationProposed, Opinion
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import Columns, Kind, Terms, all_sound, check_opinion

Places = tuple[tuple[Kind, tuple[int, ...]], ...]
"""The kinds that a nomination has, in the order of `KINDS`, and where the proposals of each stand in it."""

Column = tuple[tuple[int, ...], NDArray[np.bool_], NDArray[np.int64], Columns]
"""Opinions side by side: their places, votes, scores and terms."""

# Up to so many opinions are read and checked faster one by one.
_FEW = 12
_LETTERS = {4: "i", 8: "q"}


class BadBallot(ValueError):
    """A ballot that no honest member casts; the text says what is wrong with it."""


class Ballot:
    """One member's opinions on the proposals of one nomination, whatever way they were written.

    `yes`: a byte for each proposal, 1 where the member is for it. `nomination`: the digest that the ballot names.
    """

    __slots__ = ("_columns", "_opinions", "member", "nomination", "yes")

    def __init__(
        self,
        member: int,
        nomination: bytes,
        opinions: tuple[Opinion, ...] | None,
        columns: Sequence[Column] = (),
    ) -> None:
        """Makes it of opinions, or of their columns, those of each kind."""
        self.member, self.nomination, self._opinions, self._columns = member, nomination, opinions, columns
        if opinions is not None:
            self.yes = bytes(opinion.yes for opinion in opinions)
        elif len(columns) == 1:
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
            for places, votes, scores, terms in self._columns:
                said = zip(places, votes.tolist(), scores.tolist(), zip(*terms.tolist(), strict=True), strict=True)
                found.update((at, Opinion(yes, score, of_it)) for at, yes, score, of_it in said)
            self._opinions = tuple(found[at] for at in range(len(found)))
        return self._opinions

    @property
    def columns(self) -> Sequence[Column]:
        """The same side by side: those with as many terms together, in the order of the proposals."""
        if self._columns or not self._opinions:
            return self._columns
        alike: dict[int, list[int]] = {}
        for at, opinion in enumerate(self._opinions):
            alike.setdefault(len(opinion.terms), []).append(at)
        found = []
        for places in alike.values():
            said = [self._opinions[at] for at in places]
            votes, scores = np.array([o.yes for o in said], np.bool_), np.array([o.score_ppm for o in said], np.int64)
            found.append((tuple(places), votes, scores, np.array([o.terms for o in said], np.int64).T))
        return found

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
            parts.append(struct.pack(_format(len(where), width), *column))
    return b"".join(parts)


def packed_columns(kind: Kind, terms: Columns) -> bytes:
    """What a ballot says on the proposals of one kind, of their terms in columns."""
    return b"".join(column.astype(f"<i{width}").tobytes() for column, width in zip(terms, kind.widths, strict=True))


def read(cast: BallotCast, nomination: NominationProposed, places: Places, policy: Policy) -> Ballot:
    """What a ballot on this nomination says, every opinion checked by its kind. Raises BadBallot."""
    if cast.terms is not None:
        if cast.opinions:
            raise BadBallot("opinions in columns and one by one")
        return _of_columns(cast, cast.terms, nomination, places, policy)
    if len(cast.opinions) != len(nomination.proposals):
        raise BadBallot(f"{len(cast.opinions)} opinions on {len(nomination.proposals)} proposals")
    ballot = Ballot(cast.member, cast.nomination, cast.opinions)
    by_kind = ((kind, [cast.opinions[at] for at in where]) for kind, where in places)
    if len(cast.opinions) <= _FEW or not all(
        all_sound(kind, opinions, nomination.as_of, policy) for kind, opinions in by_kind
    ):
        _complain(ballot, nomination, policy)
    return ballot


def _of_columns(
    cast: BallotCast, said: bytes, nomination: NominationProposed, places: Places, policy: Policy
) -> Ballot:
    awaited = sum(len(where) * sum(kind.widths) for kind, where in places)
    if len(said) != awaited:
        raise BadBallot(f"{len(said)} bytes of terms where {awaited} belong to {len(nomination.proposals)} proposals")
    if len(nomination.proposals) <= _FEW:
        ballot = Ballot(cast.member, cast.nomination, _one_by_one(said, places, policy))
        _complain(ballot, nomination, policy)
        return ballot
    columns, sound, at = [], True, 0
    for kind, where in places:
        terms = np.empty((len(kind.terms), len(where)), np.int64)
        for row, width in enumerate(kind.widths):
            terms[row] = np.frombuffer(said, f"<i{width}", len(where), at)
            at += width * len(where)
        sound = sound and kind.sound(terms, nomination.as_of, policy)
        scores = kind.score(terms, policy)
        columns.append((where, kind.yes(scores, policy), scores, terms))
    ballot = Ballot(cast.member, cast.nomination, None, columns)
    if not sound:
        _complain(ballot, nomination, policy)
    return ballot


def _one_by_one(said: bytes, places: Places, policy: Policy) -> tuple[Opinion, ...]:
    """The same without the cost of beginning with columns."""
    found: dict[int, Opinion] = {}
    begin = 0
    for kind, where in places:
        columns = []
        for width in kind.widths:
            columns.append(struct.unpack_from(_format(len(where), width), said, begin))
            begin += width * len(where)
        for at, terms in zip(where, zip(*columns, strict=True), strict=True):
            score = kind.score(terms, policy)
            found[at] = Opinion(kind.yes(score, policy), score, terms)
    return tuple(found[at] for at in range(len(found)))


def _format(count: int, width: int) -> str:
    return f"<{count}{_LETTERS[width]}"


def _complain(ballot: Ballot, nomination: NominationProposed, policy: Policy) -> None:
    """Raises BadBallot for the first opinion that does not hold."""
    for at, (proposal, opinion) in enumerate(zip(nomination.proposals, ballot.opinions, strict=True)):
        wrong = check_opinion(KINDS[proposal.kind], opinion, proposal, nomination.as_of, policy)
        if wrong is not None:
            raise BadBallot(f"opinion {at}: {wrong}")
