"""The row of the oracle share, on conversations made up for it: figures that can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bench import __main__ as bench
from bench.consolidation.sessions import TAU, Talk
from bench.policies import command, oracle
from bench.policies.frame import Material
from bench.policies.oracle import LENGTH, Served, by_length, served
from bench.policies.streams import AFTER, ALONG, Stream, replayed, streams
from bench.sets import LOCOMO
from memquorum.core.policy import FORGETTING, Policy
from memquorum.core.reading.tokens import tokens
from memquorum.core.whatif.events import Came, Used
from memquorum.encoders.hashing import HashingEncoder

SAID = (
    ("Ann", "The boiler in hall 3 was serviced by Marta Keller on 12 March."),
    ("Bob", "We decided to move the pump test to Thursday 14:00."),
    ("Ann", "Tomas measured 3.8 bar at the inlet of pump 7, and wrote it down in the blue book."),
    ("Bob", "The key of the north gate hangs in the office behind the door."),
    ("Ann", "Noor paints the fence of the orchard green in May."),
    ("Bob", "The truck from Leipzig brings forty sacks of lime."),
)
ENCODER = HashingEncoder()


def stream(*reads: tuple[int, tuple[int, ...]]) -> Stream:
    texts = tuple(f"{who}: {what}" for who, what in SAID)
    return Stream(Talk("t", texts, SAID, (100, 200, 300, 400, 500, 600), ("s",) * 6), reads)


def made(of: Stream) -> Any:
    return replayed(of, ENCODER.encode(of.talk.texts), Policy())


@pytest.fixture
def material(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Material:
    monkeypatch.setattr("bench.forgetting.vectors.OnnxEncoder", lambda **_: ENCODER)
    return Material(tmp_path, tmp_path)


def test_a_stream_is_what_is_stored_and_read(material: Material) -> None:
    found = made(stream((250, (0, 1)), (401, (3,))))
    came = [one.item for one in found.course.events if isinstance(one, Came)]
    assert found.tokens == sum(one.tokens for one in came) == sum(map(tokens, stream().talk.texts))
    assert [(one.at, one.memory_id) for one in found.course.events if isinstance(one, Used)] == [
        (250, "000000"), (250, "000001"), (401, "000003")
    ]  # fmt: skip
    assert (found.reads, found.unstored) == (3, 0)
    assert all(one.worth > 0 for one in came)


def test_what_is_served_is_counted_beside_random_length_and_the_oracle(material: Material) -> None:
    found = served([made(stream((700, (0,)))), made(stream((700, (2,))))], material)
    assert set(found.hits) == {*FORGETTING, LENGTH, "oracle", "ceiling", "reads"}
    assert found.hits["oracle"].tolist() == [1, 1] and found.hits["reads"].tolist() == [1, 1]
    assert found.hits["fifo"].tolist() == [0, 0], "what is oldest was asked for"
    assert found.hits[LENGTH].tolist() == [0, 1], "the longest is kept"
    lengths = [one.item.created for one in by_length(made(stream()).course).events if isinstance(one, Came)]
    assert lengths == list(map(tokens, stream().talk.texts))


def test_shares_leads_and_their_intervals() -> None:
    hits = {"random": [2, 2], "oracle": [10, 10], "worth": [6, 6], "lru": [4, 2], "fifo": [2, 0], "length": [2, 2]}
    of = Served({name: np.array(values, np.float64) for name, values in hits.items()})
    assert of.share("worth") == 0.5 and of.share("random") == 0 and of.share("oracle") == 1
    assert of.lead("worth") == pytest.approx(0.5 - 2 / 16)
    assert of.interval(lambda draw: of.share("worth", draw)) == (0.5, 0.5)
    assert of.interval(lambda draw: of.lead("worth", draw)) == (0.25, 0.5)


def test_the_row(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "SETS", (LOCOMO,))
    material.courses = lambda name, when: [made(stream((700, (0,)))), made(stream((700, (2,))))]  # type: ignore[assignment]
    row = oracle.oracle_share(material)
    assert {goal.limit for goal in row.goals} == {0.25, 0.0}
    assert row.value(f"{LOCOMO}: reads served, oracle") == 100
    assert row.value(f"{LOCOMO}: fifo") < 0 < row.value(f"{LOCOMO}: length")


def test_questions_are_asked_half_way_or_when_all_is_said(tmp_path: Path) -> None:
    said = [{"dia_id": f"D1:{at}", "speaker": "Ann", "text": f"Thing {at}"} for at in range(1, 6)]
    asked = {"question": "?", "evidence": ["D1:1", "D1:3"], "category": 1, "answer": "a"}
    file = tmp_path / LOCOMO / "set.json"
    file.parent.mkdir()
    file.write_text(json.dumps([{"sample_id": "s", "conversation": {"session_1": said}, "qa": [asked]}]))
    (along,), (after,) = streams(tmp_path, LOCOMO, ALONG), streams(tmp_path, LOCOMO, AFTER)
    first, *_, last = along.talk.times
    assert along.reads == (((along.talk.times[2] + last) // 2, (0, 2)),)
    assert after.reads == ((last + 1 + along.talk.times[2] - first, (0, 2)),)


def test_a_call_reads_what_first_told_its_arguments(tmp_path: Path) -> None:
    call = {"function": {"name": "f", "arguments": json.dumps({"user": "mia_li", "n": 1, "ids": ["X9Y8", "unsaid"]})}}
    run = [
        {"role": "system", "content": "mia_li"},
        {"role": "user", "content": "I am Mia_Li."},
        {"role": "assistant", "content": "Which order, mia_li?"},
        {"role": "user", "content": "x9y8"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "content": "done"},
    ]
    file = tmp_path / TAU / "set.jsonl"
    file.parent.mkdir()
    file.write_text(json.dumps({"task_id": 1, "trial": 0, "traj": run}))
    (found,) = streams(tmp_path, TAU)
    assert found.reads == ((found.talk.times[2] + 1, (0, 2)),)


def test_a_set_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["policies", "--only", "oracle-share", "--data", str(tmp_path), "--cache", str(tmp_path)]
    assert "oracle-share" in command.ONLY and bench.main(asked) == 0
    assert "has no set" in capsys.readouterr().err
