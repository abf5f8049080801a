"""Ballots in columns: what was packed is read again, there is one encoding, and a broken rule is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.policy import Policy
from memquorum.core.records import BallotCast, NominationProposed
from memquorum.core.vote.columns import BadBallot, Ballot, places_of, read
from memquorum.core.vote.kinds import KINDS
from memquorum.core.vote.kinds.kind import Opinion
from tests.builders import votes

AS_OF = 1_000_000_000
POLICY = Policy()
asked_and_said = st.lists(st.tuples(st.sampled_from(sorted(KINDS)), st.booleans()), min_size=1, max_size=20)


def nomination_of(*kinds: str) -> NominationProposed:
    proposals = tuple(votes.proposal(f"m{at}", kind) for at, kind in enumerate(kinds))
    return NominationProposed(b"c" * 32, 0, 0, 1, AS_OF, 0, "interval", proposals)


def opinions(nomination: NominationProposed, *yes: bool) -> tuple[Opinion, ...]:
    return tuple(votes.opinion(p, vote, AS_OF, POLICY) for p, vote in zip(nomination.proposals, yes, strict=True))


def cast(nomination: NominationProposed, said: tuple[Opinion, ...]) -> BallotCast:
    return BallotCast(b"c" * 32, 0, 0, 1, 2, b"n" * 32, votes.terms(nomination.proposals, said))


def ballot_of(nomination: NominationProposed, ballot: BallotCast) -> Ballot:
    return read(ballot, nomination, places_of(nomination), POLICY)


@given(asked_and_said)
def test_a_ballot_says_what_was_packed(wanted: list[tuple[str, bool]]) -> None:
    nomination = nomination_of(*(kind for kind, _ in wanted))
    said = opinions(nomination, *(yes for _, yes in wanted))
    ballot = ballot_of(nomination, cast(nomination, said))
    assert ballot.opinions == said
    assert ballot.yes == bytes(yes for _, yes in wanted)
    again, other = ballot_of(nomination, cast(nomination, said)), replace(cast(nomination, said), member=3)
    assert (again, hash(again)) == (ballot, hash(ballot))
    assert ballot_of(nomination, other) != ballot


def test_a_ballot_of_an_earlier_version_states_no_distance() -> None:
    nomination = nomination_of("consolidate", "evict", "consolidate")
    said, places = opinions(nomination, True, True, False), places_of(nomination)
    now = cast(nomination, said)
    assert [kind.name for kind, _ in places] == ["evict", "consolidate"] and len(now.terms) == 4 * (2 + 2 * 4)
    before = ballot_of(nomination, replace(now, terms=now.terms[: -2 * 4]))
    assert [one.terms for one in before.opinions] == [said[0].terms[:3], said[1].terms, said[2].terms[:3]]
    assert [(one.yes, one.score_ppm) for one in before.opinions] == [(one.yes, one.score_ppm) for one in said]
    with pytest.raises(BadBallot, match="36 bytes of terms where 40 belong"):
        ballot_of(nomination, replace(now, terms=now.terms[:-4]))


NOMINATION = nomination_of("promote", "forget", "forget")
SAID = opinions(NOMINATION, True, False, True)
CAST = cast(NOMINATION, SAID)


def test_numbers_stand_kind_by_kind_and_term_by_term() -> None:
    forget, promote = CAST.terms[: 2 * 20], CAST.terms[2 * 20 :]
    last_accesses = np.frombuffer(forget, "<i8", 2, 2 * 12).tolist()
    assert last_accesses == [SAID[1].terms[3], SAID[2].terms[3]]
    assert np.frombuffer(promote, "<i4").tolist() == list(SAID[0].terms)


def changed(at: int, value: int, width: int = 4) -> bytes:
    return CAST.terms[:at] + value.to_bytes(width, "little", signed=True) + CAST.terms[at + width :]


BAD = {
    "no number": (replace(CAST, terms=b""), "0 bytes of terms"),
    "a number too few": (replace(CAST, terms=CAST.terms[:-4]), "52 bytes of terms where 56 belong"),
    "a number too many": (replace(CAST, terms=CAST.terms + bytes(4)), "60 bytes of terms where 56 belong"),
    "a decay against its time": (replace(CAST, terms=changed(4, 77)), "opinion 2: decay 77 does not follow"),
    "a rank beyond all": (replace(CAST, terms=changed(8, 1_000_001)), "opinion 1: rank 1000001 lies outside"),
    "a share beyond all": (replace(CAST, terms=changed(16, 1_000_001)), "opinion 1: share 1000001 lies outside"),
    "a time to come": (replace(CAST, terms=changed(24, AS_OF + 1, 8)), "opinion 1: last_access 1000000001 lies"),
    "a time before all": (replace(CAST, terms=changed(24, -1, 8)), "opinion 1: last_access -1 lies"),
    "a negative term": (replace(CAST, terms=changed(40, -1)), "opinion 0: bfs -1 lies outside"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_ballot_is_refused_by_name(what: str) -> None:
    bad, complaint = BAD[what]
    assert ballot_of(NOMINATION, CAST).opinions == SAID
    with pytest.raises(BadBallot, match=complaint):
        ballot_of(NOMINATION, bad)
