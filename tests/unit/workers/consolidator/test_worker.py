"""Which sessions the consolidator takes to be over: those that the line itself says are, in their own shard."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.identity import stamps
from memquorum.core.policy import PPM
from memquorum.core.records import SessionClosed
from memquorum.schema_files import load_codec
from tests.builders import genesis as cluster
from workers.consolidator.extractive import Extractive
from workers.consolidator.worker import Consolidator
from workers.kafka.loop import Stop

CODEC = load_codec()
KEY = b"k" * 32
CLOSED = SessionClosed("e", 1, "plant", "anna", "shift-1", 9, "ended", 100)


class Message:
    """What is asked of a record."""

    def __init__(self, value: bytes, *, stamped: bool = True) -> None:
        self._value = value
        stamp = stamps.Writer(KEY, 4).stamp(topics.CLOSED, 1, value)
        self._headers = [(stamps.HEADER, stamp)] if stamped else []

    def topic(self) -> str:
        return topics.CLOSED

    def partition(self) -> int:
        return 1

    def offset(self) -> int:
        return 5

    def value(self) -> bytes:
        return self._value

    def headers(self) -> list[tuple[str, bytes]]:
        return self._headers


@pytest.fixture
def consolidator() -> Consolidator:
    nothing: Any = None
    return Consolidator(
        "127.0.0.1:1", cluster.make(), CODEC, seed=bytes(32), sessions=nothing, opening=nothing,
        summariser=Extractive(PPM), stop=Stop(), stamps=stamps.for_services(KEY),
    )  # fmt: skip


def test_a_session_is_over_by_the_lines_own_word_alone(consolidator: Consolidator) -> None:
    value = CODEC.encode(CLOSED)
    assert consolidator._read(Message(value)) == CLOSED  # type: ignore[arg-type]
    assert consolidator._read(Message(value, stamped=False)) is None  # type: ignore[arg-type]


def test_what_is_no_session_of_its_shard_is_left_out(consolidator: Consolidator) -> None:
    other = replace(CLOSED, shard=2)
    assert consolidator._read(Message(CODEC.encode(other))) is None  # type: ignore[arg-type]
    assert consolidator._read(Message(b"rubbish")) is None  # type: ignore[arg-type]
