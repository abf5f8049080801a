"""Intake's reading of headers that anyone may have written."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from memquorum import topics
from memquorum.core import ids, intake
from memquorum.core.avro import Codec
from memquorum.core.intake import EpisodeIntent, Refusal
from memquorum.core.reasons import Reason
from memquorum.core.records import IntakeRefused
from memquorum.telemetry.tracing import NOTHING
from tests.builders import genesis
from tests.inmemory.store import InMemoryVault
from workers.intake import arrivals
from workers.intake.worker import Intake
from workers.kafka import loop

PLACE = f"{topics.EPISODES}/3/41".encode()


@dataclass
class Message:
    """Stands for confluent-kafka's."""

    sent: list[tuple[str, Any]] | None
    data: bytes = b""

    def value(self) -> bytes:
        return self.data

    def topic(self) -> str:
        return topics.EPISODES

    def partition(self) -> int:
        return 1

    def offset(self) -> int:
        return 7

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_750_000_000_000

    def headers(self) -> list[tuple[str, Any]] | None:
        return self.sent


def event_id(*headers: tuple[str, Any]) -> str:
    origin = arrivals.origin_of(Message(list(headers)))  # type: ignore[arg-type]
    assert (origin.topic, origin.partition, origin.offset) == (topics.EPISODES, 1, 7)
    found = intake.accept(Codec([]), b'{"agent": "a", "content": "c"}', origin, 1_750_000_000_000, False)
    assert isinstance(found, EpisodeIntent)
    return found.event_id


def test_a_replayed_record_keeps_the_id_of_its_first_place() -> None:
    assert event_id() == ids.origin_event_id("a", topics.EPISODES, 1, 7)
    assert event_id((arrivals.FIRST_AT, PLACE)) == ids.origin_event_id("a", topics.EPISODES, 3, 41)


@pytest.mark.parametrize(
    "value",
    [
        None, b"", b"3/41", PLACE + b"/1", PLACE + b"\n", PLACE.replace(b"41", b"-1"), PLACE.replace(b"41", b"9" * 19),
        PLACE.replace(b"episode", b"access"), b"\xff" + PLACE, PLACE.replace(b"41", "\u0664\u0661".encode()),
    ],
)  # fmt: skip
def test_a_place_that_is_none_says_nothing(value: bytes | None) -> None:
    assert event_id((arrivals.FIRST_AT, value)) == ids.origin_event_id("a", topics.EPISODES, 1, 7)


@pytest.mark.parametrize(
    ("headers", "signature"),
    [
        (None, None),
        ([("other", b"x")], None),
        ([("signature", b"x" * 64)], b"x" * 64),
        # None that could hold: refused as bad, and not taken for missing.
        ([("signature", None)], b""),
        ([("signature", b"x" * 64)] * 2, b""),
    ],
)
def test_the_signature_header(headers: list[tuple[str, Any]] | None, signature: bytes | None) -> None:
    assert arrivals.proof(Message(headers)) == signature  # type: ignore[arg-type]


def test_what_waits_unread_at_intake_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """With records of the largest size, librdkafka would hold four times as much."""
    given: dict[str, object] = {}
    monkeypatch.setattr(loop, "consumer", lambda *_, **settings: given.update(settings))
    monkeypatch.setattr(loop, "producer", lambda *_, **__: None)
    Intake("broker", genesis.make(), Codec([]), InMemoryVault(), stop=loop.Stop())
    assert given["queued.max.messages.kbytes"] == 16_384


@pytest.mark.parametrize("agent", ["planner", None])
def test_a_letter_bears_digests_of_its_event_and_nothing_of_the_record(
    agent: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"namespace": "greenhouse", "event_id": "e1", "content": "Valve 3 opens.", "strange": 1}
    message = Message(None, json.dumps(said if agent is None else said | {"agent": agent}).encode())
    client = Intake("broker", genesis.make(), Codec([]), InMemoryVault(), stop=loop.Stop())
    written = list[IntakeRefused]()
    monkeypatch.setattr(client._writing, "produce", lambda *record, **_: written.append(record[3]))
    refusal = Refusal(Reason.UNKNOWN_FIELD, "strange", "no field of EpisodeRecorded")
    client._refuse(message, arrivals.origin_of(message), refusal, {}, NOTHING)  # type: ignore[arg-type]
    (letter,) = written
    assert letter.event == ids.event_digest("greenhouse", "e1")
    assert letter.publisher == (agent and ids.event_digest("greenhouse", "e1", agent))
    assert "Valve" not in repr(letter) and "greenhouse" not in repr(letter)
