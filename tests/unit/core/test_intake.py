"""The wall: what it lets in, what it refuses, and that it never breaks."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum import topics
from memquorum.core import ids, intake, jsontext, labelling, letters, linking, sealing
from memquorum.core.avro import Codec
from memquorum.core.contained import Failed, Failures
from memquorum.core.identity import signatures
from memquorum.core.intake import AccessIntent, EndIntent, EpisodeIntent, Origin, Refusal, TickIntent
from memquorum.core.labelling import Labels
from memquorum.core.privacy.sensitivity import SHIPPED
from memquorum.core.reasons import Reason
from memquorum.core.records import AccessAccepted, AccessRecorded, ClockRequested, EpisodeRecorded, Link, SessionEnded
from tests import ROOT
from tests.builders import genesis as cluster

NOW = 1_760_000_000_000
PARENT = ids.memory_id("acme", "e-0")
ORIGIN = Origin(topics.EPISODES, 3, 42, NOW - 5)
SCHEMAS = [json.loads(p.read_text()) for p in (ROOT / "schemas/avro").glob("*.avsc")]
CODEC = Codec(SCHEMAS)


def accept(value, origin=ORIGIN, now_ms=NOW, driven=False):
    data = value if isinstance(value, bytes | None) else json.dumps(value).encode()
    return intake.accept(CODEC, data, origin, now_ms, driven)


def refused(value, **more):
    answer = accept(value, **more)
    assert isinstance(answer, Refusal), answer
    return answer.reason, answer.field


ENDS = Origin(topics.ENDS, 1, 7, NOW - 5)


def test_a_session_ends_by_its_record():
    said = SessionEnded("s1", "planner", "acme", "x1", NOW)
    assert accept(CODEC.encode(said), ENDS) == EndIntent("x1", "acme", "planner", "s1", NOW)
    short = accept({"agent": "planner", "session": "s1"}, ENDS)
    assert short == EndIntent(ids.origin_event_id("planner", topics.ENDS, 1, 7), "default", "planner", "s1", NOW - 5)
    everyones = accept({"session": "s1"}, ENDS)
    assert isinstance(everyones, EndIntent) and everyones.agent is None


def test_where_agents_sign_each_ends_its_own_part():
    data = json.dumps({"session": "s1", "namespace": "acme"}).encode()
    ended = intake.accept(CODEC, data, ENDS, NOW, False, genesis=cluster.make())
    assert isinstance(ended, EndIntent) and ended.agent is None
    signed = cluster.make(agent_keys={"anna": cluster.public_key("anna")}, signed=("acme",))
    answer = intake.accept(CODEC, data, ENDS, NOW, False, genesis=signed)
    assert isinstance(answer, Refusal) and (answer.reason, answer.field) == (Reason.UNSIGNED, "agent")


@pytest.mark.parametrize(
    ("changed", "reason", "field"),
    [
        ({"session": ""}, Reason.BAD_NAME, "session"),
        ({"session": "s" * 129}, Reason.TOO_LONG, "session"),
        ({"session": 7}, Reason.WRONG_TYPE, "session"),
        ({"session": None}, Reason.MISSING_FIELD, "session"),
        ({"agent": " a"}, Reason.BAD_NAME, "agent"),
        ({"namespace": "!asked"}, Reason.BAD_NAME, "namespace"),
        ({"event_id": ""}, Reason.BAD_NAME, "event_id"),
        ({"ended_at": 1}, Reason.OUT_OF_RANGE, "ended_at"),
        ({"ended_at": NOW + 2 * intake.AHEAD_MS}, Reason.OUT_OF_RANGE, "ended_at"),
        ({"content": "c"}, Reason.UNKNOWN_FIELD, "content"),
    ],
)
def test_what_ends_no_session_stays_outside(changed, reason, field):
    assert refused({"agent": "planner", "session": "s1"} | changed, origin=ENDS) == (reason, field)


def test_a_session_without_a_name_is_none():
    assert refused({"agent": "planner"}, origin=ENDS) == (Reason.MISSING_FIELD, "session")


def test_the_framing_of_a_registry_is_refused_and_told_what_is_taken():
    data = b"\0" + (7).to_bytes(4, "big") + CODEC.encode(EpisodeRecorded("planner", "the build is red"))[10:]
    answer = accept(data)
    assert isinstance(answer, Refusal)
    assert answer.reason is Reason.UNKNOWN_FRAMING
    assert answer.detail == (
        "the first byte is 0x00, a schema registry's framing, and no schema registry is named here: its operator can "
        "name one as registry_url; or send a JSON object ('{') or single-object Avro (0xc3 0x01)"
    )


def test_json_and_avro_give_the_same_intent():
    record = EpisodeRecorded(
        "planner", "the build is red", "acme", "e-1", NOW, "bob", 0.87, 1.0, 0.25, (PARENT.upper(), PARENT),
        (PARENT.upper(),), (Link("requires", PARENT.upper()), Link("isA", name="build")), "semantic", 0.7,
        ("support", "billing", "support"), "US-CA", session="s", role="tool", source="handbook.pdf", explicit=True,
    )  # fmt: skip
    fields = msgspec.to_builtins(record)
    single = CODEC.encode(record)
    expected = EpisodeIntent(
        event_id="e-1",
        memory_id=ids.memory_id("acme", "e-1"),
        namespace="acme",
        agent="planner",
        subject="bob",
        occurred_at=NOW,
        content="the build is red",
        session="s",
        role="tool",
        reward_ppm=870_000,
        confidence_ppm=1_000_000,
        uncertainty_ppm=250_000,
        derives_from=(PARENT,),
        supersedes=(PARENT,),
        links=(Link("requires", PARENT), Link("isA")),
        names=("build",),
        explicit=True,
        source="handbook.pdf",
        type="semantic",
        sensitivity_ppm=700_000,
        purposes=("billing", "support"),
        jurisdiction="US-CA",
        accepted_at=NOW,
    )
    assert accept(fields) == accept(single) == expected
    assert accept(b" \n" + json.dumps(fields).encode()) == expected


def test_what_a_record_leaves_out_is_filled_in():
    answer = accept({"agent": "a", "content": "c", "session": None})
    assert isinstance(answer, EpisodeIntent)
    assert (answer.namespace, answer.subject, answer.session) == ("default", "a", None)
    assert answer.event_id == ids.origin_event_id(answer.agent, topics.EPISODES, 3, 42)
    assert answer.occurred_at == ORIGIN.timestamp_ms
    assert accept({"agent": "a", "content": "c"}) == answer


def test_the_time_a_record_gets():
    untimed = {"agent": "a", "content": "c"}
    wild = Origin(topics.EPISODES, 0, 0, NOW + 10 * intake.AHEAD_MS)
    nothing = Origin(topics.EPISODES, 0, 0, -1)
    assert accept(untimed, origin=wild).occurred_at == NOW
    assert accept(untimed, origin=nothing).occurred_at == NOW
    tick = 1_000_000_000_000
    assert accept(untimed, now_ms=tick, driven=True).occurred_at == tick
    assert accept(untimed, now_ms=0, driven=True).occurred_at == ORIGIN.timestamp_ms
    # A driven clock in the past does not make the present a future.
    assert accept(untimed | {"occurred_at": NOW}, now_ms=tick, driven=True).occurred_at == NOW


def test_an_id_that_is_none_takes_nothing_from_the_others():
    named = [ids.memory_id("n", str(at)) for at in range(3)]
    value = {"agent": "a", "memory_ids": [named[0], "x", named[1].upper(), named[0], "y"], "event_id": "e"}
    answer = accept(value, origin=Origin(topics.ACCESSES, 0, 9, NOW))
    assert isinstance(answer, AccessIntent)
    assert answer.accepted == AccessAccepted("e", (named[0], named[1]), "default", "a", NOW)
    assert (answer.refusal.reason, answer.refusal.field) == (Reason.BAD_ID, "memory_ids")
    assert "2, 5" in answer.refusal.detail and "The others count" in answer.refusal.detail


@pytest.mark.parametrize(("count", "reason"), [(0, Reason.MISSING_FIELD), (101, Reason.TOO_MANY)])
def test_a_use_names_one_memory_and_no_more_than_a_record_takes(count: int, reason: Reason) -> None:
    value = {"agent": "a", "memory_ids": [ids.memory_id("n", str(at)) for at in range(count)]}
    assert refused(value, origin=Origin(topics.ACCESSES, 0, 9, NOW)) == (reason, "memory_ids")


def test_accesses_and_ticks():
    memory = ids.memory_id("n", "e")
    accesses, clock = Origin(topics.ACCESSES, 0, 9, NOW), Origin(topics.CLOCK, 0, 1, NOW)
    answer = accept({"agent": "a", "memory_ids": [memory.upper()], "namespace": "n"}, origin=accesses)
    assert answer == AccessAccepted(ids.origin_event_id("a", topics.ACCESSES, 0, 9), (memory,), "n", "a", NOW)
    assert accept(CODEC.encode(AccessRecorded("a", (memory,), "n")), origin=accesses) == answer
    tick = accept({"as_of": NOW}, origin=clock, driven=True)
    assert tick == TickIntent(ids.origin_event_id(None, topics.CLOCK, 0, 1), NOW)
    assert accept({"as_of": NOW}, origin=clock, now_ms=NOW, driven=True) == tick
    assert refused({"as_of": NOW - 1}, origin=clock, driven=True) == (Reason.CLOCK_BACKWARDS, "as_of")
    assert refused({"as_of": 1}, origin=clock, now_ms=0, driven=True) == (Reason.OUT_OF_RANGE, "as_of")
    assert refused({"agent": "a", "memory_ids": ["x"]}, origin=accesses) == (Reason.BAD_ID, "memory_ids")
    assert refused({"agent": "a", "memory_ids": [memory.replace("-", "")]}, origin=accesses) == (
        Reason.BAD_ID,
        "memory_ids",
    )
    assert refused(CODEC.encode(ClockRequested(NOW)), origin=accesses) == (Reason.WRONG_RECORD, None)


GOOD = {"agent": "a", "content": "c"}
NOTHING = {"agent": "a", "explicit": True, "key": "k", "clears": True}


@pytest.mark.parametrize(
    ("value", "reason", "field"),
    [
        (None, Reason.EMPTY_RECORD, None),
        (b"", Reason.EMPTY_RECORD, None),
        (b"x" * 1_000_001, Reason.RECORD_TOO_LARGE, None),
        (b"hello", Reason.UNKNOWN_FRAMING, None),
        (b'["agent"]', Reason.UNKNOWN_FRAMING, None),
        ("\u00e9t\u00e9".encode(), Reason.UNKNOWN_FRAMING, None),
        (b"\xc3\x01" + b"12345678" + b"x", Reason.BAD_AVRO, None),
        (b"\0\0\0\0\x09", Reason.UNKNOWN_FRAMING, None),
        (CODEC.encode(EpisodeRecorded("a", "c")) + b"x", Reason.BAD_AVRO, None),
        (CODEC.encode(EpisodeRecorded("a", "c"))[:-1], Reason.BAD_AVRO, None),
        (b'{"agent": "\xff"}', Reason.BAD_UTF8, None),
        (b'{"agent": "a"', Reason.BAD_JSON, None),
        (b'{"agent": "a"} {}', Reason.BAD_JSON, None),
        (b'{"agent":"a","content":"c","reward":NaN}', Reason.BAD_JSON, "reward"),
        (b'{"agent":"a","content":"c","reward":-Infinity}', Reason.BAD_JSON, "reward"),
        (b'{"agent":"a","content":"c","reward":1e999}', Reason.OUT_OF_RANGE, "reward"),
        (b'{"occurred_at":' + b"9" * 5000 + b"}", Reason.BAD_JSON, None),
        (b'{"agent":"a","content":"c","occurred_at":' + b"9" * 20 + b"}", Reason.OUT_OF_RANGE, "occurred_at"),
        (b'{"agent":' + b"[" * 100_000, Reason.TOO_DEEP, None),
        (b'{"agent":"a","agent":"b","content":"c"}', Reason.DUPLICATE_FIELD, "agent"),
        (GOOD | {"occured_at": 1}, Reason.UNKNOWN_FIELD, "occured_at"),
        (GOOD | {"my secret is\n7": 1}, Reason.UNKNOWN_FIELD, None),
        (GOOD | {"path": "plant//valves"}, Reason.BAD_NAME, "path"),
        (GOOD | {"path": "p" * 513}, Reason.TOO_LONG, "path"),
        (GOOD | {"path": "/".join("p" * 17)}, Reason.TOO_MANY, "path"),
        (GOOD | {"path": ["plant"]}, Reason.WRONG_TYPE, "path"),
        (GOOD | {"attributes": "{}"}, Reason.WRONG_TYPE, "attributes"),
        (GOOD | {"attributes": ["red"]}, Reason.WRONG_TYPE, "attributes"),
        (GOOD | {"attributes": {"text": "x" * 4_096}}, Reason.TOO_LONG, "attributes"),
        (GOOD | {"attributes": {f"a{n}": n for n in range(33)}}, Reason.TOO_MANY, "attributes"),
        (GOOD | {"attributes": {"text": "a\0b"}}, Reason.FORBIDDEN_CHARACTER, "attributes"),
        (GOOD | {"attributes": {"text": "a\ud800b"}}, Reason.FORBIDDEN_CHARACTER, "attributes"),
        (GOOD | {"reward": "a\ud800b"}, Reason.WRONG_TYPE, "reward"),
        (GOOD | {"derives_from": "a\ud800b"}, Reason.WRONG_TYPE, "derives_from"),
        (GOOD | {"attributes": {" ": 1}}, Reason.BAD_NAME, "attributes"),
        (b'{"agent":"a","content":"c","attributes":{"size":1e999}}', Reason.OUT_OF_RANGE, "attributes"),
        (GOOD | {"links": [{"kind": "isA", "name": "pump"}] * 17}, Reason.TOO_MANY, "links"),
        (GOOD | {"links": [{"kind": "owns", "name": "pump"}]}, Reason.OUT_OF_RANGE, "links"),
        (GOOD | {"links": [{"kind": "requires", "name": "pump"}]}, Reason.MISSING_FIELD, "links"),
        (GOOD | {"links": [{"kind": "requires"}]}, Reason.MISSING_FIELD, "links"),
        (GOOD | {"links": [{"kind": "isA", "to": PARENT, "name": "pump"}]}, Reason.MISSING_FIELD, "links"),
        (GOOD | {"links": [{"kind": "isA", "name": " "}]}, Reason.BAD_NAME, "links"),
        (GOOD | {"links": [{"kind": "isA", "to": ""}]}, Reason.BAD_NAME, "links"),
        (GOOD | {"links": [{"kind": "isA", "what": "pump"}]}, Reason.WRONG_TYPE, "links"),
        (GOOD | {"links": [{"name": "pump"}]}, Reason.WRONG_TYPE, "links"),
        (GOOD | {"links": "isA pump"}, Reason.WRONG_TYPE, "links"),
        (GOOD | {"event_id": "e-1", "links": [{"kind": "isA", "to": "e-1"}]}, Reason.BAD_ID, "links"),
        (CODEC.encode(EpisodeRecorded("a", "c", key="valve 3")), Reason.MISSING_FIELD, "explicit"),
        (GOOD | {"explicit": True, "key": " "}, Reason.BAD_NAME, "key"),
        (CODEC.encode(EpisodeRecorded("a", "c", attributes="[]")), Reason.WRONG_TYPE, "attributes"),
        (CODEC.encode(EpisodeRecorded("a", "c", attributes="{")), Reason.BAD_JSON, "attributes"),
        ({"agent": "a"}, Reason.MISSING_FIELD, "content"),
        ({"agent": "a", "explicit": True, "key": "k"}, Reason.MISSING_FIELD, "content"),
        (NOTHING | {"explicit": False}, Reason.MISSING_FIELD, "explicit"),
        (NOTHING | {"key": None}, Reason.MISSING_FIELD, "key"),
        (NOTHING | {"key": None, "supersedes": [PARENT], "content": "c"}, Reason.TOO_MANY, "content"),
        (NOTHING | {"content": "c"}, Reason.TOO_MANY, "content"),
        (NOTHING | {"attributes": {"a": 1}}, Reason.TOO_MANY, "attributes"),
        (NOTHING | {"derives_from": [PARENT]}, Reason.TOO_MANY, "derives_from"),
        (NOTHING | {"supersedes": [PARENT]}, Reason.TOO_MANY, "supersedes"),
        (NOTHING | {"links": [{"kind": "isA", "name": "pump"}]}, Reason.TOO_MANY, "links"),
        (NOTHING | {"clears": "yes"}, Reason.WRONG_TYPE, "clears"),
        ({"content": "c", "agent": None}, Reason.MISSING_FIELD, "agent"),
        (GOOD | {"content": 7}, Reason.WRONG_TYPE, "content"),
        (GOOD | {"content": {"text": "c"}}, Reason.WRONG_TYPE, "content"),
        (GOOD | {"occurred_at": 1.5}, Reason.WRONG_TYPE, "occurred_at"),
        (GOOD | {"occurred_at": True}, Reason.WRONG_TYPE, "occurred_at"),
        (GOOD | {"reward": "0.5"}, Reason.WRONG_TYPE, "reward"),
        (GOOD | {"reward": False}, Reason.WRONG_TYPE, "reward"),
        (GOOD | {"reward": 1.01}, Reason.OUT_OF_RANGE, "reward"),
        (GOOD | {"confidence": -0.1}, Reason.OUT_OF_RANGE, "confidence"),
        (CODEC.encode(EpisodeRecorded("a", "c", uncertainty=float("nan"))), Reason.OUT_OF_RANGE, "uncertainty"),
        (GOOD | {"namespace": ""}, Reason.BAD_NAME, "namespace"),
        (GOOD | {"namespace": "a/b"}, Reason.BAD_NAME, "namespace"),
        (GOOD | {"namespace": ".."}, Reason.BAD_NAME, "namespace"),
        (GOOD | {"namespace": "n\u00e4m"}, Reason.BAD_NAME, "namespace"),
        (GOOD | {"namespace": "a\n"}, Reason.BAD_NAME, "namespace"),
        (GOOD | {"namespace": "n" * 129}, Reason.TOO_LONG, "namespace"),
        (GOOD | {"agent": " a"}, Reason.BAD_NAME, "agent"),
        (GOOD | {"agent": "a\0"}, Reason.BAD_NAME, "agent"),
        (GOOD | {"session": "\ud800"}, Reason.BAD_NAME, "session"),
        (GOOD | {"role": "\u202eevil"}, Reason.BAD_NAME, "role"),
        (GOOD | {"event_id": "e" * 129}, Reason.TOO_LONG, "event_id"),
        (GOOD | {"content": " \n"}, Reason.EMPTY_VALUE, "content"),
        (GOOD | {"content": ""}, Reason.EMPTY_VALUE, "content"),
        (GOOD | {"content": "a\0b"}, Reason.FORBIDDEN_CHARACTER, "content"),
        (GOOD | {"content": "a\ud800b"}, Reason.FORBIDDEN_CHARACTER, "content"),
        (GOOD | {"content": "\u00e9" * 32_769}, Reason.TOO_LONG, "content"),
        (GOOD | {"source": ""}, Reason.BAD_NAME, "source"),
        (GOOD | {"type": "dream"}, Reason.OUT_OF_RANGE, "type"),
        (GOOD | {"sensitivity": 1.1}, Reason.OUT_OF_RANGE, "sensitivity"),
        (GOOD | {"sensitivity": -0.1}, Reason.OUT_OF_RANGE, "sensitivity"),
        (GOOD | {"purposes": ["a,b"]}, Reason.BAD_NAME, "purposes"),
        (GOOD | {"purposes": [""]}, Reason.BAD_NAME, "purposes"),
        (GOOD | {"purposes": [f"p{n}" for n in range(17)]}, Reason.TOO_MANY, "purposes"),
        (GOOD | {"purposes": "billing"}, Reason.WRONG_TYPE, "purposes"),
        (GOOD | {"jurisdiction": "Germany"}, Reason.BAD_NAME, "jurisdiction"),
        (GOOD | {"derives_from": PARENT}, Reason.WRONG_TYPE, "derives_from"),
        (GOOD | {"derives_from": [PARENT, 7]}, Reason.WRONG_TYPE, "derives_from"),
        (GOOD | {"derives_from": [PARENT, "e-0"]}, Reason.BAD_ID, "derives_from"),
        (GOOD | {"derives_from": [PARENT] * 65}, Reason.TOO_MANY, "derives_from"),
        (GOOD | {"supersedes": [PARENT]}, Reason.MISSING_FIELD, "explicit"),
        (GOOD | {"explicit": True, "supersedes": PARENT}, Reason.WRONG_TYPE, "supersedes"),
        (GOOD | {"explicit": True, "supersedes": ["e-0"]}, Reason.BAD_ID, "supersedes"),
        (GOOD | {"explicit": True, "supersedes": [PARENT] * 9}, Reason.TOO_MANY, "supersedes"),
        (
            GOOD | {"explicit": True, "event_id": "e-1", "supersedes": [ids.memory_id("default", "e-1")]},
            Reason.BAD_ID,
            "supersedes",
        ),
        (GOOD | {"occurred_at": 0}, Reason.OUT_OF_RANGE, "occurred_at"),
        (GOOD | {"occurred_at": NOW + intake.AHEAD_MS + 1}, Reason.OUT_OF_RANGE, "occurred_at"),
    ],
)
def test_what_is_refused_names_field_and_reason(value, reason, field):
    assert refused(value) == (reason, field)


def test_the_limits_themselves_are_allowed():
    assert isinstance(accept(GOOD | {"content": "\u00e9" * 32_768}), EpisodeIntent)
    assert isinstance(accept(GOOD | {"namespace": "n" * 128, "occurred_at": NOW + intake.AHEAD_MS}), EpisodeIntent)
    assert accept(GOOD | {"reward": 0, "confidence": 1}).confidence_ppm == 1_000_000
    assert accept(GOOD | {"content": "[" * 500 + ' "{'}).content.startswith("[[")


def test_brackets_within_strings_are_no_nesting():
    text = '{"a\\"[[[[[[[[[[[[[[[[[[[": 1}'
    with pytest.raises(jsontext.JsonRefused) as caught:
        jsontext.parse(text.encode(), EpisodeRecorded)
    assert caught.value.code == "unknown_field"


def test_refusals_repeat_nothing_of_the_content():
    canary = "canary-7391"
    for value in (
        {"agent": canary + "\n", "content": canary},
        {"agent": "a", "content": "c", canary + " x": canary},
        {"agent": "a", "content": [canary]},
        {"agent": "a", "content": canary, "occurred_at": 0},
        f'{{"agent": "{canary}'.encode(),
        f'{{"agent": {canary}}}'.encode(),
        canary.encode(),
    ):
        answer = accept(value)
        assert isinstance(answer, Refusal)
        assert canary not in f"{answer.field}{answer.detail}"


def test_a_sealed_episode_opens_with_its_key_and_shows_nothing():
    intent = accept(GOOD | {"content": "the vault code is 4711"})
    key, nonce = b"k" * 32, b"n" * 12
    record = intake.seal_episode(intent, ORIGIN, key, (nonce, nonce, nonce))
    assert sealing.open_text(key, record.sealed_content, record.memory_id) == "the vault code is 4711"
    assert b"4711" not in CODEC.encode(record)
    assert (record.characters, record.origin_offset) == (22, 42)
    assert record.commitment == sealing.commitment(key, "the vault code is 4711")


def test_dead_letters_have_ids_of_their_own():
    letter = letters.dead_letter_id(ORIGIN)
    assert ids.is_uuid(letter)
    assert letter != ids.place_uuid(ORIGIN.topic, ORIGIN.partition, ORIGIN.offset)
    assert letter == letters.dead_letter_id(Origin(ORIGIN.topic, 3, 42, 0))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
fields = st.dictionaries(st.sampled_from(EpisodeRecorded.__struct_fields__), json_values, max_size=11)
received = st.one_of(
    st.binary(max_size=200),
    st.builds(lambda tail: b"\xc3\x01" + CODEC.encode(EpisodeRecorded("a", "c"))[2:10] + tail, st.binary(max_size=80)),
    st.builds(lambda tail: b"\0\0\0\0\x07" + tail, st.binary(max_size=80)),
    st.builds(lambda value: json.dumps(value).encode(), fields),
    st.builds(lambda value: json.dumps({"agent": "a", "content": "c"} | value).encode(), fields),
    st.builds(lambda text: text.encode("utf-8", "surrogatepass"), st.text().map(lambda t: "{" + t)),
)


@given(received, st.sampled_from(topics.OUTSIDE), st.booleans(), st.integers(-1, 2**62))
def test_any_bytes_are_accepted_or_refused_and_never_raise(data, topic, driven, timestamp):
    answer = accept(data, origin=Origin(topic, 0, 0, timestamp), driven=driven)
    if isinstance(answer, Refusal):
        answer.detail.encode()
        assert isinstance(answer.reason, Reason)
        return
    assert isinstance(answer, EpisodeIntent | AccessAccepted | TickIntent)
    if isinstance(answer, EpisodeIntent):
        # An accepted record can be stored, sealed and encoded.
        assert intake.OLDEST_MS <= answer.occurred_at <= intake.NEWEST_MS
        CODEC.encode(intake.seal_episode(answer, ORIGIN, b"k" * 32, (b"n" * 12, b"o" * 12, b"p" * 12)))


def test_no_name_of_a_link_stands_behind_the_wall_in_the_clear():
    links = [
        {"kind": "friendOf", "name": "marta"}, {"kind": "partOf", "to": "shift 7"}, {"kind": "requires", "to": PARENT},
        {"kind": "requires", "to": PARENT.upper()}, {"kind": "friendOf", "name": "marta"},
    ]  # fmt: skip
    intent = accept(GOOD | {"namespace": "acme", "links": [*links, {"kind": "isA", "name": "pump"}]})
    assert isinstance(intent, EpisodeIntent)
    shift = ids.memory_id("acme", "shift 7")
    assert intent.links == (Link("friendOf"), Link("partOf", shift), Link("requires", PARENT), Link("isA"))
    assert intent.names == ("marta", "pump")
    record = intake.seal_episode(intent, ORIGIN, b"k" * 32, (b"n" * 12, b"o" * 12, b"p" * 12))
    written = CODEC.encode(record)
    assert not any(word in written for word in (b"marta", b"pump", b"shift"))
    assert [one.name for one in linking.published(record, b"k" * 32)] == ["marta", None, None, "pump"]


def test_a_write_of_nothing_names_its_slot_and_says_nothing_of_how_sensitive_it_is():
    intent = accept(NOTHING | {"path": "users/ada", "subject": "ada"})
    assert isinstance(intent, EpisodeIntent)
    assert (intent.clears, intent.content, intent.explicit, intent.subject) == (True, "", True, "ada")
    assert intake.suggesting(intent, SHIPPED) == intent
    unplaced = msgspec.structs.replace(intent, earlier=None)
    assert accept(CODEC.encode(EpisodeRecorded("a", key="k", path="users/ada", subject="ada", event_id=intent.event_id,
                                               explicit=True, clears=True))) == unplaced  # fmt: skip
    record = intake.seal_episode(intent, ORIGIN, b"k" * 32, (b"n" * 12, b"o" * 12, b"p" * 12), b"s" * 32)
    assert (record.clears, record.characters) == (True, 0)
    assert (record.slot, record.label) == tuple(m(b"s" * 32, intent.labels) for m in (labelling.slot, labelling.label))


def test_what_an_episode_is_filed_under_stands_behind_the_wall_as_a_seal_and_two_marks():
    filed = {"explicit": True, "key": "dietary", "path": "users/ada", "attributes": {"b": [1.50], "a": "red"}}
    as_text = filed | {"attributes": '{"a": "red", "b": [1.5]}'}
    for data in (GOOD | filed, CODEC.encode(EpisodeRecorded("a", "c", **as_text))):
        intent = accept(data)
        assert isinstance(intent, EpisodeIntent)
        record = intake.seal_episode(intent, ORIGIN, b"k" * 32, (b"n" * 12, b"o" * 12, b"p" * 12), b"s" * 32)
        written = CODEC.encode(record)
        assert not any(word in written for word in (b"dietary", b"users", b"ada", b"red"))
        assert labelling.of(labelling.opened(record, b"k" * 32)) == intent.labels
        assert intent.labels == Labels("dietary", "users/ada", '{"a":"red","b":[1.5]}')
        assert record.slot == labelling.slot(b"s" * 32, intent.labels)
        assert record.label == labelling.label(b"s" * 32, intent.labels)


def test_attributes_that_are_empty_are_none():
    intent = accept(GOOD | {"attributes": {}})
    assert isinstance(intent, EpisodeIntent) and not intent.labels.filed


OWN_NAMES = (
    "operator",
    "Operator",
    "SYSTEM",
    "ｓｙｓｔｅｍ",
    "service:erasure",
    "Service:x",
    "service:",
    "replica-0",
    "member:2",
)


@pytest.mark.parametrize("name", OWN_NAMES)
def test_no_agent_says_anything_in_a_name_of_the_installations_own(name):
    records = (
        ({"content": "c"}, ORIGIN),
        ({"session": "s1"}, ENDS),
        ({"memory_ids": [PARENT]}, Origin(topics.ACCESSES, 1, 7, NOW - 5)),
        ({"query": "q"}, Origin(topics.QUERIES, 1, 7, NOW - 5)),
        ({"goal": "g", "outcome": "succeeded"}, Origin(topics.TASKS, 1, 7, NOW - 5)),
        ({"task": PARENT, "helped": [PARENT]}, Origin(topics.FEEDBACK, 1, 7, NOW - 5)),
    )
    for said, origin in records:
        assert refused({"agent": name, **said}, origin=origin) == (Reason.NOT_ENTITLED, "agent"), origin.topic
        assert not isinstance(accept({"agent": f"my {name}", **said}, origin=origin), Refusal), origin.topic


def test_no_agent_calls_itself_as_a_member_is_called():
    made = cluster.make()
    name = made.members[1].name
    for said in (name, name.upper()):
        data = json.dumps({"agent": said, "content": "c"}).encode()
        answer = intake.accept(CODEC, data, ORIGIN, NOW, False, genesis=made)
        assert isinstance(answer, Refusal) and (answer.reason, answer.field) == (Reason.NOT_ENTITLED, "agent")


def test_a_reserved_name_and_role_are_those_of_who_signs_with_their_key():
    made = cluster.make(agent_keys={"operator": cluster.public_key("agent:operator")})
    for said in ({"agent": "operator", "content": "c"}, {"agent": "operator", "content": "c", "role": "system"}):
        data = json.dumps(said).encode()
        signature = signatures.sign(made.cluster, topics.EPISODES, cluster.seed_of("agent:operator"), data)
        answer = intake.accept(CODEC, data, ORIGIN, NOW, False, genesis=made, signature=signature)
        assert isinstance(answer, EpisodeIntent), answer
        assert isinstance(intake.accept(CODEC, data, ORIGIN, NOW, False, genesis=made), Refusal)
        # A client that will sign holds a record against the same wall, and leaves the proof to intake.
        assert isinstance(intake.accept(CODEC, data, ORIGIN, NOW, False, signs=True), EpisodeIntent)


@pytest.mark.parametrize("name", ["\u0455ystem", "\u041eperator", "\u039fPERATOR", "m\u0435mber:3", "repli\u0441a-0"])
def test_letters_that_look_alike_make_no_other_name(name):
    assert refused(GOOD | {"agent": name}) == (Reason.NOT_ENTITLED, "agent")
    for own in ("\u0421\u0435\u0440\u0433\u0435\u0439", "\u03a3\u03bf\u03c6\u03af\u03b1"):  # Sergej, Sofia
        assert accept(GOOD | {"agent": own}).agent == own


@pytest.mark.parametrize("role", ["system", "System", "ｓｙｓｔｅｍ", "developer"])
def test_a_role_that_gives_orders_to_models_has_to_be_signed(role):
    assert refused(GOOD | {"role": role}) == (Reason.NOT_ENTITLED, "role")
    for claimed in ("user", "assistant", "tool", "systems engineer"):
        assert accept(GOOD | {"role": claimed}).role == claimed


@pytest.mark.parametrize(
    ("owner", "rule", "value"),
    [
        (intake.framing, "read", {"agent": "a", "content": "boom"}),
        (intake.labelling, "path_fault", {"agent": "a", "content": "c", "path": "boom"}),
        (intake.names, "name_fault", {"agent": "a", "content": "c", "session": "boom"}),
    ],
)
def test_a_record_on_which_a_check_raises_is_refused_and_counted(monkeypatch, owner, rule, value):
    monkeypatch.setattr(owner, rule, raising(getattr(owner, rule)))
    failures, data = Failures(), json.dumps(value).encode()
    answer = intake.accept(CODEC, data, ORIGIN, NOW, False, failures=failures)
    assert isinstance(answer, Refusal) and (answer.reason, answer.field) == (Reason.FAILED, None)
    assert "boom" not in answer.detail
    assert failures.told() == {Failed("intake", (f"{topics.EPISODES}/3/42",), "ZeroDivisionError"): 1}
    assert isinstance(accept({"agent": "a", "content": "the next one"}), EpisodeIntent)


def test_a_clock_and_a_session_on_which_a_check_raises_are_refused(monkeypatch):
    monkeypatch.setattr(intake.framing, "read", raising(intake.framing.read, ""))
    clock = Origin(topics.CLOCK, 0, 1, NOW)
    assert refused(CODEC.encode(ClockRequested(NOW)), origin=clock, driven=True) == (Reason.FAILED, None)
    assert refused({"session": "s"}, origin=ENDS) == (Reason.FAILED, None)
    assert intake.recorded(CODEC, b"{}") is None
    assert intake.signed_ids(CODEC, b"{}") == ()
    assert intake.event_of(CODEC, b"{}", ORIGIN) is None, "its letter is written all the same"


def raising(rule, word="boom"):
    """The rule, which raises on what holds the word."""

    def checked(*given, **named):
        if any(word in str(one) for one in given):
            raise ZeroDivisionError(word)
        return rule(*given, **named)

    return checked
