"""The event of a refused record, as far as its bytes can be read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum import topics
from memquorum.core import ids, intake
from memquorum.core.avro import Codec
from memquorum.core.intake import Event, Origin, Refusal
from memquorum.core.records import EpisodeRecorded
from memquorum.schema_files import load_codec

SAID: dict[str, Any] = {"namespace": "n", "event_id": "e1", "agent": "planner", "content": "Valve 3 opens."}
AT = Origin(topics.EPISODES, 2, 17)


def event(codec: Codec, value: object, origin: Origin = AT) -> Event | None:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    assert isinstance(intake.accept(codec, data, origin, 1_750_000_000_000, driven=False), Refusal)
    return intake.event_of(codec, data, origin)


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": ""}, {"content": 7}, {"content": None}, {"occured_at": 1}, {"occurred_at": 5}, {"reward": 2.0},
        {"role": "system"}, {"links": 3},
    ],
    ids=str,
)  # fmt: skip
def test_a_record_that_is_wrong_elsewhere_names_its_event(codec: Codec, wrong: dict[str, Any]) -> None:
    assert event(codec, SAID | wrong) == Event("n", "e1", "planner")


def test_without_a_namespace_it_is_of_the_default_one(codec: Codec) -> None:
    assert event(codec, {"event_id": "e1", "content": "x"}) == Event(ids.DEFAULT_NAMESPACE, "e1", None)
    assert event(codec, {"event_id": "e1", "agent": "a", "content": ""}) == Event(ids.DEFAULT_NAMESPACE, "e1", "a")


def test_avro_and_envelopes_name_it_too(codec: Codec) -> None:
    assert event(codec, codec.encode(EpisodeRecorded("planner", "", "n", "e1"))) == Event("n", "e1", "planner")
    envelope = {"specversion": "1.0", "type": "EpisodeRecorded", "source": "/plants/7", "id": "A-1"}
    assert event(codec, envelope | {"data": SAID | {"content": ""}}) == Event("n", "e1", "planner")
    assert event(codec, envelope | {"data": SAID | {"strange": 1}}) == Event("n", "e1", "planner")
    unnamed = {"namespace": "n", "agent": "planner", "content": ""}
    made = ids.cloud_event_id("planner", "/plants/7", "A-1")
    assert event(codec, envelope | {"data": unnamed}) == Event("n", made, "planner")


@pytest.mark.parametrize(
    "value",
    [
        b"", b"{", b"\xc3\x01nothing", b'{"event_id": "a", "event_id": "b"}', [SAID], SAID | {"event_id": 7},
        SAID | {"namespace": 7}, {"agent": "planner", "strange": 1}, b" " * (intake.RECORD_BYTES_MAX + 1),
    ],
    ids=lambda value: repr(value)[:30],
)  # fmt: skip
def test_what_does_not_say_it_names_none(codec: Codec, value: object) -> None:
    assert event(codec, value) is None


def test_orders_and_clocks_are_nobodys_events(codec: Codec) -> None:
    for topic in (topics.CLOCK, topics.ERASURES):
        assert event(codec, {"namespace": "n", "event_id": "e1", "strange": 1}, Origin(topic, 0, 0)) is None


_CODEC = load_codec()


@given(st.one_of(st.binary(max_size=200), st.recursive(
    st.one_of(st.none(), st.booleans(), st.text(), st.floats()),
    lambda inner: st.dictionaries(st.sampled_from([*SAID, "data", "specversion", "x"]), inner),
).map(lambda value: json.dumps(value).encode())))  # fmt: skip
def test_no_bytes_make_it_raise(data: bytes) -> None:
    for topic in (topics.EPISODES, topics.TASKS, topics.ENDS, topics.CLOCK, topics.ERASURES):
        found = intake.event_of(_CODEC, data, Origin(topic, 0, 0))
        assert found is None or (isinstance(found.event_id, str) and isinstance(found.namespace, str))


def test_a_digest_is_of_one_event_alone() -> None:
    named = [("n", "e"), ("n", "e", "a"), ("ne", ""), ("", "ne"), ("n", "ea"), ("na", "e"), ("n", "e", "")]
    assert len({ids.event_digest(*one) for one in named}) == len(named)
    assert all(len(ids.event_digest(*one)) == 32 for one in named)
