"""Bytes that are no record are refused."""

from __future__ import annotations

import contextlib

import pytest
from fastavro.schema import fingerprint, to_parsing_canonical_form
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.avro import Codec, DecodeError
from memquorum.core.records import ClockTicked, Commit
from tests.schema.samples import CURRENT, RECORDS

CODEC = Codec(CURRENT.values())
TICK = ClockTicked("c1", 5)


def test_single_object_encoding_begins_as_the_specification_says() -> None:
    assert CODEC.encode(TICK)[:2] == b"\xc3\x01"


def test_a_schema_is_known_by_the_fingerprint_of_the_specification() -> None:
    """As another implementation computes it."""
    for name, schema in CURRENT.items():
        mark = fingerprint(to_parsing_canonical_form(schema), "CRC-64-AVRO")
        assert CODEC._prefix[name].hex() == "c301" + mark


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"", "none"),
        (b"{}", "7b7d"),
        (b"\xc3\x01" + bytes(8), "unknown schema fingerprint"),
        (b"\x00\x00\x00\x00\x07" + CODEC.encode(TICK)[10:], "00000000"),
        (CODEC.encode(TICK)[:-1], "not a ClockTicked"),
        (CODEC.encode(TICK) + b"x", "1 bytes after"),
    ],
)
def test_what_is_no_record_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(DecodeError, match=complaint):
        CODEC.decode(data)


def test_another_record_is_refused() -> None:
    with pytest.raises(DecodeError, match="ClockTicked where a Commit"):
        CODEC.decode_as(Commit, CODEC.encode(TICK))


@given(st.sampled_from(RECORDS), st.data())
def test_damaged_bytes_never_raise_anything_else(record: object, data: st.DataObject) -> None:
    whole = bytearray(CODEC.encode(record))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(DecodeError):
        CODEC.decode(bytes(whole[: data.draw(st.integers(0, len(whole)))]))


def test_what_is_decoded_is_of_its_class_and_as_frozen() -> None:
    found = CODEC.decode(CODEC.encode(TICK))
    assert type(found) is ClockTicked and found == TICK and hash(found) == hash(TICK)
    with pytest.raises(AttributeError):
        found.as_of = 6
