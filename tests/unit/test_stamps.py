"""A stamp holds for one record in one partition, and nobody makes one without the key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.crypto import stamps

SERVICES, MEMBERS = b"s" * 32, b"m" * 32
WRITER = stamps.Writer(SERVICES, MEMBERS)
READERS = (WRITER.reader(), stamps.for_members(MEMBERS))
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
@given(st.none() | st.binary(max_size=64))
def test_nobody_guesses_one(reader: stamps.Reader, stamp: bytes | None) -> None:
    assert not reader.genuine(*RECORD, stamp)


def test_who_has_the_members_key_deceives_no_service() -> None:
    member = stamps.Writer(MEMBERS, MEMBERS)
    assert not WRITER.reader().genuine(*RECORD, member.stamp(*RECORD))
    assert not WRITER.reader().genuine(*RECORD, member.stamp(*RECORD)[::-1])
    assert stamps.for_members(MEMBERS).genuine(*RECORD, member.stamp(*RECORD))


def test_keys_are_not_shown() -> None:
    shown = repr(WRITER) + repr(READERS)
    assert "sss" not in shown
    assert "mmm" not in shown
