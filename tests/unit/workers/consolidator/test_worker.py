"""Sessions that have ended for the consolidator: by the fleet's own records, in their own shard."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.identity import stamps
from memquorum.core.policy import PPM, ConsolidatePolicy, Policy
from memquorum.core.records import EpisodeRecorded, SessionClosed
from memquorum.ports import Placed, SessionMemory
from memquorum.schema_files import load_codec
from memquorum.telemetry.bundle import Telemetry
from tests.builders import genesis as cluster
from tests.builders.notes import NOTES
from tests.support.poison import MARK, poison
from workers.consolidator.parked import Session
from workers.consolidator.worker import Consolidator
from workers.kafka.loop import Stop

CODEC = load_codec()
KEY = b"k" * 32
CLOSED = SessionClosed("e", 1, "plant", "anna", "shift-1", 9, "ended", 100)
LOSES = Policy(consolidate=ConsolidatePolicy(lost_rank_ppm=PPM + 1, share_ppm=350_000))
"""Whatever is worth, it may go."""


class Said:
    """Twelve notes of a session, all of them in the store."""

    def applied(self, _: int) -> int:
        return CLOSED.accepted_offset

    def memories(self, *_: object) -> list[SessionMemory]:
        return [
            SessionMemory(f"m{at}", text, at, "anna", "anna", bytes([at]) * 32, accepted=at, rank_ppm=800_000)
            for at, text in enumerate(NOTES)
        ]


class Message:
    """The part of a record that is asked for."""

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

    def timestamp(self) -> tuple[int, int]:
        return 1, 0

    def headers(self) -> list[tuple[str, bytes]]:
        return self._headers


@pytest.fixture
def consolidator() -> Consolidator:
    nothing: Any = None
    return made(nothing, lambda _: LOSES)


def made(sessions: Any, policy: Callable[[int], Policy]) -> Consolidator:
    nothing: Any = None
    return Consolidator(
        "127.0.0.1:1", cluster.make(), CODEC, seed=bytes(32), sessions=sessions, opening=nothing,
        policy=policy, stop=Stop(), stamps=stamps.for_services(KEY),
    )  # fmt: skip


def test_a_session_is_over_by_the_lines_own_word_alone(consolidator: Consolidator) -> None:
    value = CODEC.encode(CLOSED)
    assert consolidator._read(Message(value)) == CLOSED  # type: ignore[arg-type]
    assert consolidator._read(Message(value, stamped=False)) is None  # type: ignore[arg-type]


def test_what_is_no_session_of_its_shard_is_left_out(consolidator: Consolidator) -> None:
    other = replace(CLOSED, shard=2)
    assert consolidator._read(Message(CODEC.encode(other))) is None  # type: ignore[arg-type]
    assert consolidator._read(Message(b"rubbish")) is None  # type: ignore[arg-type]


def test_a_session_is_summed_up_by_the_policy_that_its_shard_has_now(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    share = iter((350_000, 700_000))

    def now(shard: int) -> Policy:
        asked.append(shard)
        return replace(LOSES, consolidate=replace(LOSES.consolidate, share_ppm=next(share)))

    consolidator, published = made(Said(), now), list[EpisodeRecorded]()
    monkeypatch.setattr(consolidator, "_publish", lambda record, _: published.append(record))
    for _ in range(2):
        consolidator._consolidate(Session(CLOSED, ("t", 1), 5, None, 0))
    short, long = (len(one.content) for one in published)
    said = sum(map(len, NOTES))
    assert asked == [CLOSED.shard] * 2 and short < 0.4 * said < long < 0.75 * said


class Poisoned(Said):
    """The same session, with a memory on which rules fail."""

    def memories(self, *_: object) -> list[SessionMemory]:
        found = super().memories()
        return [*found[:3], replace(found[3], text=f"The pump in hall {MARK} was replaced on Monday."), *found[4:]]


def test_a_session_on_which_rules_fail_is_parked_and_left_after_some_tries(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    poison(monkeypatch, ("workers.consolidator.extractive:choose",))
    telemetry = Telemetry()
    nothing: Any = None
    one = Consolidator(
        "127.0.0.1:1", cluster.make(), CODEC, seed=bytes(32), sessions=Poisoned(), opening=nothing,
        policy=lambda _: LOSES, stop=Stop(), stamps=stamps.for_services(KEY), telemetry=telemetry,
    )  # fmt: skip
    done = list[int]()
    monkeypatch.setattr(one, "_commit", lambda _: done.append(len(one._parked)))
    session = Session(CLOSED, ("t", 1), 5, None, 0)
    one._parked.reached(session.place, 6)
    for tries in range(1, 7):
        one._try(session)
        assert (one._parked.next(float("inf")), session.tries) == (session, tries)
        assert "memory m3: ValueError" in session.why
    one._try(session)
    assert done == [1] * 6 + [0]
    alarms = telemetry.health.able()[1]["alarms"]
    assert "memory m3 (summary: ValueError)" in str(alarms)
    assert MARK not in str(alarms)


def test_many_sessions_on_which_rules_fail_do_not_keep_others_from_being_read(monkeypatch: pytest.MonkeyPatch) -> None:
    poison(monkeypatch, ("workers.consolidator.extractive:choose",))
    monkeypatch.setattr("workers.consolidator.worker._PARKED_MAX", 20)
    one = made(Poisoned(), lambda _: LOSES)
    monkeypatch.setattr(one, "_commit", lambda _: None)
    for at in range(30):
        one._parked.reached(("t", 1), at + 1)
        one._try(Session(CLOSED, ("t", 1), at, None, 0))
    assert len(one._parked) == 10
    assert not one._parked.full


def test_a_session_gives_way_to_ingest_and_what_an_erasure_left_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    why = iter(["80 episodes wait for their scores", None])
    nothing: Any = None
    one = Consolidator(
        "127.0.0.1:1", cluster.make(), CODEC, seed=bytes(32), sessions=nothing, opening=nothing,
        policy=lambda _: LOSES, stop=Stop(), stamps=stamps.for_services(KEY), yields=lambda: next(why),
    )  # fmt: skip
    waited, tried = list[str](), list[Session]()
    monkeypatch.setattr(one, "_idle", lambda _: waited.append(str(one._shown.health.brakes)))
    monkeypatch.setattr(one, "_try", tried.append)
    one._take(Message(CODEC.encode(replace(CLOSED, summary="m-9"))))  # type: ignore[arg-type]
    assert (len(tried), waited) == (1, [])
    one._parked.lose({(topics.CLOSED, 1)})
    one._take(Message(CODEC.encode(CLOSED)))  # type: ignore[arg-type]
    assert len(tried) == 2
    assert waited == [str({"ingest": "80 episodes wait for their scores"})]
    assert one._shown.health.brakes == {}


class Crowded(Said):
    """A namespace beyond its budget: the twelve notes, of which the first six lie near each other."""

    def unused(self, shard: int, namespace: str, limit: int) -> list[Placed]:
        assert (shard, namespace) == (1, "plant")
        away = np.eye(16, dtype=np.float32)
        return [Placed(one, "mini", away[max(0, at - 5)]) for at, one in enumerate(self.memories())][:limit]


def test_beyond_a_budget_each_group_of_episodes_is_summarised(monkeypatch: pytest.MonkeyPatch) -> None:
    consolidator, published = made(Crowded(), lambda _: LOSES), list[EpisodeRecorded]()
    monkeypatch.setattr(consolidator, "_publish", lambda record, _: published.append(record))
    closed = replace(CLOSED, agent=None, session="", why="budget")
    consolidator._consolidate(Session(closed, ("t", 1), 5, None, 0))
    (one,) = published
    assert one.derives_from == tuple(f"m{at}" for at in range(6)) and one.summary is not None
    assert one.summary.session == "" and set((one.content or "").split("\n")) & set(NOTES)
