"""A stamp holds for one record in one partition, and nobody makes a tag without its key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.identity import stamps

KEY, MEMBERS = b"s" * 32, 4
WRITER = stamps.Writer(KEY, MEMBERS)
READERS = (WRITER.reader(), *(stamps.for_member(stamps.member_key(KEY, m), m) for m in range(MEMBERS)))
RECORD = ("memory.intake.accepted.v1", 2, b"value")


@pytest.mark.parametrize("reader", READERS)
def test_the_lines_own_is_known(reader: stamps.Reader) -> None:
    assert reader.genuine(*RECORD, WRITER.stamp(*RECORD))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    "other",
    [
        ("memory.intake.accepted.v2", 2, b"value"),
        ("memory.salience.scored.v1", 2, b"value"),
        ("memory.intake.accepted.v1", 3, b"value"),
        ("memory.intake.accepted.v1", 2, b"valuf"),
        ("memory.intake.accepted.v1", 2, b""),
    ],
)
def test_it_holds_for_nothing_else(reader: stamps.Reader, other: tuple[str, int, bytes]) -> None:
    assert not reader.genuine(*RECORD, WRITER.stamp(*other))


@pytest.mark.parametrize("reader", READERS)
@given(st.none() | st.binary(max_size=96))
def test_nobody_guesses_one(reader: stamps.Reader, stamp: bytes | None) -> None:
    assert not reader.genuine(*RECORD, stamp)


def test_a_member_deceives_neither_the_services_nor_another_member() -> None:
    services, *members = READERS
    liar = members[1]
    # All that member 1 can make: its own tag, put in every place; or what else its key may be taken for.
    own = WRITER.stamp("memory.intake.accepted.v1", 2, b"forged")[liar.place * 16 :][:16] * (1 + MEMBERS)
    forged = ("memory.intake.accepted.v1", 2, b"forged")
    assert liar.genuine(*forged, own)
    for stamp in (own, stamps.Writer(liar.key, MEMBERS).stamp(*forged)):
        assert [r.place for r in (services, *members) if r is not liar and r.genuine(*forged, stamp)] == []


def test_a_stamp_for_fewer_members_is_none_for_the_last() -> None:
    stamp = stamps.Writer(KEY, 3).stamp(*RECORD)
    assert [reader.genuine(*RECORD, stamp) for reader in READERS] == [True, True, True, True, False]


def test_keys_are_not_shown() -> None:
    assert "sss" not in repr(WRITER) + repr(READERS)


def test_what_may_be_from_before_a_member_was_added_is_no_proof() -> None:
    later, added = stamps.Writer(KEY, MEMBERS + 1), stamps.for_member(stamps.member_key(KEY, 4), 4, added=True)
    former = WRITER.stamp(*RECORD)
    assert added.genuine(*RECORD, later.stamp(*RECORD)) and not added.may_precede(later.stamp(*RECORD))
    assert not added.genuine(*RECORD, former) and added.may_precede(former)
    assert not added.may_precede(None) and not added.may_precede(b"short")
    assert not stamps.for_member(stamps.member_key(KEY, 4), 4).may_precede(former)
