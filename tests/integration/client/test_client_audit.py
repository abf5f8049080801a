"""`memquorum verify` of a client: the journal's topics on a real broker, whole and tampered with."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import cli, topics
from memquorum.commands import FAILED, OK, UNREACHABLE, USAGE
from memquorum.core.avro import Codec
from tests.builders import genesis
from tests.builders.published import DECIDED, GENESIS, POLICY, Published, lively, publish
from tests.builders.shard import Shard
from workers.kafka import loop


@pytest.fixture
def genesis_file(tmp_path: Path) -> Path:
    file = tmp_path / "genesis.json"
    file.write_bytes(genesis.make_bytes(policy=POLICY))
    return file


@pytest.fixture
def published(codec: Codec) -> Published:
    return publish(lively(Shard(codec, GENESIS)))


def verify(kafka: str, published: Published, genesis_file: Path, *more: str) -> int:
    producer = loop.producer(kafka)
    for topic, values in ((topics.JOURNAL, published.entries), (topics.HEADS, published.heads)):
        for value in values:
            producer.produce(topic, value, partition=0)
    assert producer.flush(10) == 0
    return cli.main(["verify", "--topics-only", "--kafka", kafka, "--genesis", str(genesis_file), *more])


def test_a_whole_journal_is_said_to_be(
    fresh_kafka: str, published: Published, genesis_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(fresh_kafka, published, genesis_file) == OK
    assert "nothing is wrong" in capsys.readouterr().out


@pytest.mark.parametrize("how", ["altered", "cut", "forged"])
def test_what_was_tampered_with_is_named(
    how: str, fresh_kafka: str, published: Published, genesis_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    expected: Sequence[str]
    if how == "altered":
        published.relink(3, entry=published.link(4).entry)
        expected = ("hash_wrong",)
    elif how == "cut":
        del published.entries[-2:]
        expected = ("tail_cut",)
    else:
        detail: Any = published.detail(DECIDED)
        published.forge(DECIDED, replace(detail, commits=detail.commits[:2]))
        expected = ("certificate_invalid",)
    assert verify(fresh_kafka, published, genesis_file, "--json") == FAILED
    told = json.loads(capsys.readouterr().out)
    assert told["ok"] is False
    for kind in expected:
        assert any(finding.startswith(f"{kind}:") for finding in told["findings"]), told["findings"]


def test_a_cluster_without_a_journal_is_said_to_be_none(
    kafka: str, genesis_file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(topics, "HEADS", "memory.journal.head.v99")
    arguments = ["verify", "--topics-only", "--kafka", kafka, "--genesis", str(genesis_file)]
    assert cli.main(arguments) == UNREACHABLE
    assert "there is no topic memory.journal.head.v99" in capsys.readouterr().err


def test_a_journal_that_is_not_there_is_not_waited_for(
    kafka: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(topics, "JOURNAL", "memory.journal.appended.v99")
    began = time.monotonic()
    assert cli.main(["tail", "--once", "--from", "start", "--kafka", kafka]) == UNREACHABLE
    assert time.monotonic() - began < 20
    said = capsys.readouterr().err
    assert "there is no topic memory.journal.appended.v99" in said and "`make up` starts one" in said


def test_what_cannot_be_read_is_no_finding(genesis_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["verify", "--topics-only", "--kafka", "127.0.0.1:1", "--genesis"]
    assert cli.main([*arguments, str(genesis_file)]) == UNREACHABLE
    assert cli.main([*arguments, str(genesis_file.parent / "none.json")]) == USAGE
    assert "cannot be read" in capsys.readouterr().err
