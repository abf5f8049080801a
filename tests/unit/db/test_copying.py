"""Ballots as COPY reads them: the rows that a decision has, whatever way they were written."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any

import pytest

from db import copying
from memquorum.core.journal.rows import DecisionRow, OutcomeRow
from memquorum.core.policy import Policy
from memquorum.core.records import BallotCast, NominationProposed
from memquorum.core.vote.columns import Ballot, places_of, read
from tests.builders import votes

AS_OF, POLICY = 1_000_000_000, Policy()
COLUMNS = (">i", ">q", ">i", ">i", ">?", ">i")


def read_back(data: bytes) -> Iterator[tuple[Any, ...]]:
    """Rows of seven columns in COPY's binary format, the last an array of int8: what Postgres' manual says of it."""
    at = 0

    def take(kind: str) -> tuple[Any, ...]:
        nonlocal at
        found = struct.unpack_from(kind, data, at)
        at += struct.calcsize(kind)
        return found

    while at < len(data):
        assert take(">h") == (7,)
        row: list[Any] = []
        for kind in COLUMNS:
            assert take(">i") == (struct.calcsize(kind),)
            row += take(kind)
        (size,) = take(">i")
        end = at + size
        dimensions, nulls, oid, count, lower = take(">5i")
        assert (dimensions, nulls, oid, lower) == (1, 0, 20, 1)
        terms = []
        for _ in range(count):
            length, value = take(">iq")
            assert length == 8
            terms.append(value)
        assert at == end
        yield (*row, terms)


def decided(*kinds: str, without: tuple[int, ...] = ()) -> DecisionRow:
    proposals = tuple(votes.proposal(f"m{at}", kind) for at, kind in enumerate(kinds))
    nomination = NominationProposed(b"c" * 32, 0, 0, 1, AS_OF, 0, "interval", proposals)
    ballots: list[Ballot] = []
    for member in (0, 2, 3):
        said = tuple(votes.opinion(p, (at + member) % 3 > 0, AS_OF, POLICY) for at, p in enumerate(proposals))
        cast = BallotCast(b"c" * 32, 0, 0, 1, member, b"n" * 32, terms=votes.terms(proposals, said))
        ballots.append(read(cast, nomination, places_of(nomination), POLICY))
    kept = [at for at in range(len(kinds)) if at not in without]
    outcomes = tuple(OutcomeRow(3, 7, at, f"m{at}", kinds[at], "kept", "quorum", 3, 1, 1, AS_OF) for at in kept)
    return DecisionRow(3, 7, 6, 0, 0, AS_OF, "interval", b"d", b"p", (), 9, b"n", 5, outcomes, tuple(ballots))


@pytest.mark.parametrize("count", [1, 12, 40])
@pytest.mark.parametrize("kinds", [("forget",), ("promote", "forget"), ("forget", "promote", "promote")])
def test_every_ballot_is_a_row(kinds: tuple[str, ...], count: int) -> None:
    row = decided(*(kinds * count)[:count])
    found = list(read_back(copying.ballots(row)))
    expected = [
        (3, 7, o.position, b.member, b.yes, b.score_ppm, list(b.terms))
        for o in row.outcomes
        for b in row.ballots_on(o.position)
    ]
    # Rows with as many terms stand together, and in the order of the table's index.
    assert found == sorted(expected, key=lambda r: ([len(e[-1]) for e in found].index(len(r[-1])), r[2:4]))


def test_what_has_no_outcome_row_has_no_ballots() -> None:
    row = decided("forget", "forget", "promote", without=(1, 2))
    assert {found[2] for found in read_back(copying.ballots(row))} == {0}
