"""An added member's trust in records: those from before, and from the first tag for it on only its own."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from db.view import View
from memquorum import topics
from memquorum.core.identity import stamps
from memquorum.telemetry.leftout import ALTERED, NO_STAMP
from workers.kafka.loop import LaterRecord
from workers.kafka.strangers import Strangers

KEY = b"k" * 32
FORMER, LATER = stamps.Writer(KEY, 4), stamps.Writer(KEY, 5)
ADDED = stamps.for_member(stamps.member_key(KEY, 4), 4, added=True)
LOG = logging.getLogger("test")


class Message:
    """The parts of a record that `wrote` asks for."""

    def __init__(
        self,
        offset: int,
        stamp: bytes | None,
        topic: str = topics.ACCEPTED,
        shard: int = 0,
        value: bytes = b"value",
    ) -> None:
        self._offset, self._topic, self._shard, self._value = offset, topic, shard, value
        self._headers = [] if stamp is None else [(stamps.HEADER, stamp)]

    def topic(self) -> str:
        return self._topic

    def partition(self) -> int:
        return self._shard

    def offset(self) -> int:
        return self._offset

    def value(self) -> bytes:
        return self._value

    def headers(self) -> list[tuple[str, bytes]]:
        return self._headers


def before(offset: int, **place: Any) -> Any:
    """A record from before the member was added; a stranger's looks the same to it."""
    found = Message(offset, None, **place)
    return Message(offset, FORMER.stamp(found.topic(), found.partition(), b"value"), **place)


def since(offset: int) -> Any:
    return Message(offset, LATER.stamp(topics.ACCEPTED, 0, b"value"))


def forged(offset: int, **place: Any) -> Any:
    return Message(offset, bytes(16), **place)


def test_from_the_first_record_with_its_tag_on_every_one_needs_it() -> None:
    strangers = Strangers(LOG, ADDED)
    assert not strangers.wrote(before(0)) and not strangers.wrote(since(1))
    assert strangers.wrote(forged(2)) and strangers.wrote(before(3)) and not strangers.wrote(since(4))
    # A second reading is judged like the first, and each partition and topic by itself.
    assert not strangers.wrote(before(0))
    assert not strangers.wrote(before(5, shard=1)) and not strangers.wrote(before(5, topic=topics.SCORED))


def test_a_tag_for_another_record_is_none() -> None:
    strangers = Strangers(LOG, ADDED)
    assert strangers.wrote(Message(0, LATER.stamp(topics.ACCEPTED, 0, b"other")))  # type: ignore[arg-type]
    assert not strangers.wrote(before(1))


def test_an_altered_record_is_told_from_one_without_a_stamp(caplog: pytest.LogCaptureFixture) -> None:
    strangers = Strangers(LOG, stamps.for_services(KEY))
    assert strangers.wrote(Message(0, None)) and strangers.altered == []  # type: ignore[arg-type]
    altered: Any = Message(3, FORMER.stamp(topics.ACCEPTED, 0, b"another value"))
    assert strangers.wrote(altered) and strangers.wrote(altered)
    assert strangers.altered == [f"{topics.ACCEPTED}, partition 0, offset 3"]
    assert [record.args[3] for record in caplog.records] == [NO_STAMP, ALTERED, ALTERED]  # type: ignore[index]


def test_a_restart_has_not_forgotten_it(tmp_path: Path) -> None:
    with closing(View(tmp_path / "view.db", b"c" * 32, 4)) as view:
        assert not Strangers(LOG, ADDED, view).wrote(since(7))
    with closing(View(tmp_path / "view.db", b"c" * 32, 4)) as view:
        strangers = Strangers(LOG, ADDED, view)
        assert strangers.wrote(forged(8)) and not strangers.wrote(before(6))
        assert not strangers.wrote(since(3)) and strangers.wrote(before(6))


def test_who_was_a_member_from_the_beginning_needs_its_tag_always() -> None:
    strangers = Strangers(LOG, stamps.for_member(stamps.member_key(KEY, 4), 4))
    assert strangers.wrote(before(0)) and not strangers.wrote(since(1)) and strangers.wrote(before(2))


def test_a_record_of_a_later_version_is_not_passed_over() -> None:
    later = b"\xc3\x01" + bytes(range(8)) + b"a body"
    reader = Strangers(LOG, stamps.for_services(KEY))
    with pytest.raises(LaterRecord, match=f"{topics.ACCEPTED}, partition 0, offset 7: a later version of this"):
        reader.wrote(Message(7, FORMER.stamp(topics.ACCEPTED, 0, later), value=later))  # type: ignore[arg-type]
    # One of a stranger's is left out, whatever it looks like.
    assert reader.wrote(Message(8, bytes(16), value=later))  # type: ignore[arg-type]
