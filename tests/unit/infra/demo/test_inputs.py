"""The demo's reader: every message of a log is accounted for, whatever form the log has."""

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.demo.inputs import CONTENT_LIMIT, START_MS, STEP_MS, InputError, Tally, files, mapping, read, split
from memquorum.core.ids import memory_id
from memquorum.core.records import AccessRecorded, EpisodeRecorded
from tests import ROOT

DATA = ROOT.parent / "shared" / "data"


def write(path: Path, *values: object) -> Path:
    text = "\n".join(json.dumps(v) for v in values) + "\n"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def load(path: Path, places: str = "") -> tuple[list, Tally]:
    tally = Tally()
    records = list(read(path, mapping(places), "n", tally))
    assert tally.adds_up()
    assert len(records) == tally.episodes + tally.accesses
    return records, tally


def test_our_own_records_are_published_as_they_stand(tmp_path):
    own = {
        "event_id": "e1",
        "namespace": "m",
        "agent": "a",
        "content": "  ",
        "occurred_at": 5_000_000_000_000,
        "reward": 7,
    }
    path = write(tmp_path / "log.jsonl", own, {"agent": "b", "content": "x" * (CONTENT_LIMIT + 1)})
    (first, second), tally = load(path)
    assert first == EpisodeRecorded("a", "  ", "m", "e1", 5_000_000_000_000, session="log", reward=7.0)
    assert (second.namespace, second.event_id, second.occurred_at) == ("n", "log#2", 5_000_000_000_000 + STEP_MS)
    assert len(second.content) == CONTENT_LIMIT + 1  # for intake to refuse
    assert tally.empty == [] and tally.split == []


def test_an_access_names_its_memory_or_the_event_it_became(tmp_path):
    path = write(
        tmp_path / "log.jsonl",
        {"agent": "a", "content": "kept", "event_id": "e1"},
        {"agent": "b", "accesses": "e1"},
        {
            "agent": "b",
            "memory_id": "6d656d71-0000-4000-8000-000000000000",
            "namespace": "m",
            "accessed_at": 2_000_000_000,
        },
    )
    (_, first, second), tally = load(path)
    assert first == AccessRecorded("b", (memory_id("n", "e1"),), "n", "log#2", START_MS + STEP_MS)
    assert (second.namespace, second.accessed_at) == ("m", 2_000_000_000_000)  # below 1e11 a time is in seconds
    assert (tally.messages, tally.accesses) == (1, 2)


@pytest.mark.parametrize("key", ["messages", "traj", "history", "conversation", None])
@pytest.mark.parametrize("suffix", ["jsonl", "jsonl.gz"])
def test_one_conversation_a_line(tmp_path, key, suffix):
    talk = [{"role": "user", "content": "hello"}, {"role": "assistant", "name": "Ada", "content": "good day"}]
    path = write(tmp_path / f"chat.{suffix}", *[{key: talk} if key else talk] * 2)
    records, _ = load(path)
    assert [(r.agent, r.role, r.session) for r in records] == [
        ("user", "user", "chat/1"),
        ("Ada", "assistant", "chat/1"),
        ("user", "user", "chat/2"),
        ("Ada", "assistant", "chat/2"),
    ]
    assert [r.occurred_at for r in records] == [START_MS + STEP_MS * i for i in range(4)]
    assert len({r.event_id for r in records}) == 4


def test_a_json_file_holds_a_list_of_messages_or_of_conversations(tmp_path):
    talk = [{"role": "user", "content": "one"}, {"role": "user", "content": "two"}]
    for value, sessions in ((talk, 1), ({"messages": talk}, 1), ([talk, talk], 2), ([{"traj": talk}] * 3, 3)):
        records, _ = load(write(tmp_path / "chat.json", value))
        assert len({r.session for r in records}) == sessions
        assert len(records) == 2 * sessions


def test_one_message_a_line_and_a_folder_in_order(tmp_path):
    write(tmp_path / "b.jsonl", {"role": "user", "content": "second"})
    write(tmp_path / "a.jsonl.gz", {"role": "user", "content": "first"})
    (tmp_path / "LICENSE-NOTE.txt").write_text("no log")
    records, tally = load(tmp_path)
    assert [(r.content, r.session) for r in records] == [("first", "a"), ("second", "b")]
    assert tally.files == 2
    assert [p.name for p in files(tmp_path)] == ["a.jsonl.gz", "b.jsonl"]


def test_tool_calls_and_parts_become_text(tmp_path):
    call = {"id": "1", "type": "function", "function": {"name": "book", "arguments": '{"seat": 3}'}}
    parts = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": "x"}}, "plain"]
    blocks = [
        {"type": "tool_use", "name": "look", "input": {"at": 1}},
        {"type": "tool_result", "content": [{"text": "3"}]},
    ]
    path = write(
        tmp_path / "c.jsonl",
        [
            {"role": "assistant", "content": None, "tool_calls": [call, call]},
            {"role": "assistant", "content": "wait", "function_call": {"name": "old", "arguments": "{}"}},
            {"role": "user", "content": parts},
            {"role": "assistant", "content": blocks},
        ],
    )
    records, _ = load(path)
    assert [r.content for r in records] == [
        'calls book({"seat": 3})\ncalls book({"seat": 3})',
        "wait\ncalls old({})",
        "see\n[image_url]\nplain",
        'calls look({"at": 1})\n3',
    ]


def test_a_message_without_text_and_calls_is_counted_with_its_place(tmp_path):
    talk = [{"role": "tool", "content": None}, {"role": "tool", "content": " \n"}, {"role": "tool", "content": "x"}]
    records, tally = load(write(tmp_path / "c.jsonl", talk))
    assert tally.empty == [f"{tmp_path}/c.jsonl, line 1, message {i}" for i in (1, 2)]
    assert [r.occurred_at for r in records] == [START_MS + 2 * STEP_MS]  # they still took their time


def test_a_long_message_is_split_and_counted(tmp_path):
    long = "wörter und mehr " * 9000
    records, tally = load(write(tmp_path / "c.json", [{"role": "user", "content": long}]))
    assert "".join(r.content for r in records) == long
    assert [r.event_id for r in records] == [f"c#1.1.{i}of3" for i in (1, 2, 3)]
    assert len({r.occurred_at for r in records}) == 1
    assert tally.split == [(f"{tmp_path}/c.json, message 1", 3)]


@given(st.text(max_size=200), st.integers(min_value=8, max_value=40))
def test_parts_join_to_the_text_and_keep_the_limit(text, limit):
    parts = split(text, limit)
    assert "".join(parts) == text.encode("utf-8", "replace").decode()
    assert all(len(p.encode()) <= limit for p in parts)
    assert len(parts) == 1 or all(parts)


@pytest.mark.parametrize(
    ("role", "agent"),
    [
        ("Orchestrator (-> WebSurfer)", "Orchestrator"),
        ("Orchestrator (thought)", "Orchestrator"),
        ("(x)", "(x)"),
        ("A", "A"),
    ],
)
def test_what_a_role_says_in_brackets_is_no_part_of_the_agent(tmp_path, role, agent):
    (record,), _ = load(write(tmp_path / "c.json", [{"role": role, "content": "go"}]))
    assert (record.agent, record.role) == (agent, role)


def test_other_field_names(tmp_path):
    line = {
        "turns": [{"speaker": "Ida", "body": {"text": "hi"}, "at": "2026-01-01T00:00:00Z"}],
        "chat": 7,
        "score": 0.5,
    }
    path = write(tmp_path / "c.jsonl", line)
    (record,), _ = load(
        path, "agent=speaker, content=body.text, messages=turns, session=chat, occurred_at=at, reward=score"
    )
    assert record == EpisodeRecorded("Ida", "hi", "n", "c#1.1", 1_767_225_600_000, session="7", reward=0.5)


def test_the_reward_of_a_run_holds_for_its_messages(tmp_path):
    talk = [{"role": "user", "content": "a"}, {"role": "user", "content": "b", "reward": 0.25}]
    path = write(tmp_path / "c.jsonl", {"traj": talk, "reward": 1.0})
    assert [r.reward for r in load(path)[0]] == [1.0, 0.25]
    assert [r.reward for r in load(path, "reward=none")[0]] == [None, None]


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("c.jsonl", '{"role": "user", "content": "a"}\n{"role"', "c.jsonl, line 2: expected JSON"),
        ("c.json", '{"a": 1}\n{"b": 2}', "must end in .jsonl"),
        ("c.jsonl", "7", "line 1: expected a message, a list of them or an object, found a number"),
        (
            "c.jsonl",
            '[{"role": "user", "content": "a"}, "b"]',
            "line 1, message 2: expected a message, an object, found text",
        ),
        ("c.jsonl", '{"speaker": "a", "content": "b"}', "no text under name or role"),
        ("c.jsonl", '{"role": "a", "content": 3}', "content is a number, expected text or a list of parts"),
        ("c.jsonl", '{"agent": "a", "content": "b", "reward": "high"}', "reward is text, expected a number in [0, 1]"),
        ("c.jsonl", '{"traj": [{"role": "a", "content": "b"}], "reward": 3}', "--map reward=none"),
        ("c.jsonl", '{"role": "a", "content": "b", "timestamp": "noon"}', "time 'noon': expected milliseconds"),
        ("c.jsonl.gz", "no gzip", "cannot be read"),
        ("c.txt", "", "expected a name that ends in .json"),
    ],
)
def test_what_cannot_be_read_says_where_and_what_was_expected(tmp_path, name, text, complaint):
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as caught:
        load(tmp_path / name)
    assert complaint in str(caught.value)
    assert name in str(caught.value)


def test_an_empty_folder_an_absent_path_and_a_wrong_mapping_say_so(tmp_path):
    with pytest.raises(InputError, match="no file here ends in"):
        load(tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        load(tmp_path / "absent.jsonl")
    for text, complaint in (
        ("speaker", "not of the form"),
        ("who=x", "unknown field 'who'"),
        ("agent=", "not of the form"),
    ):
        with pytest.raises(InputError, match=complaint):
            mapping(text)
    with pytest.raises(InputError, match="no list of messages under 'turns'"):
        load(write(tmp_path / "c.jsonl", {"traj": []}), "messages=turns")


@pytest.mark.parametrize(
    ("name", "messages", "empty", "parts"), [("tau_bench", 2526, 41, []), ("who_and_when", 2145, 1, [2])]
)
def test_real_logs_are_read_whole(name, messages, empty, parts):
    if not (DATA / name).is_dir():
        pytest.skip(f"{DATA / name} is not on this machine")
    records, tally = load(DATA / name)
    assert (tally.messages, len(tally.empty), [n for _, n in tally.split]) == (messages, empty, parts)
    assert all(0 < len(r.content.encode()) <= CONTENT_LIMIT for r in records)
    assert len({r.event_id for r in records}) == len(records)
    assert not any("(" in r.agent for r in records)
    times = [r.occurred_at for r in records]
    assert times == sorted(times)
