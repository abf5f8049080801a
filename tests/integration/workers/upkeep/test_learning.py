"""The command learns from a journal on a real topic, and writes a file for the policy."""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from dataclasses import replace as changed
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from infra import genesis, learn, policy_command
from infra.learn import TooLittle
from infra.settings import Settings, load
from memquorum import topics
from memquorum.core.learning import LEAST
from memquorum.core.policy import PPM, Policy
from memquorum.core.records import JournalAppended, JournalEntry, Stored
from memquorum.schema_files import load_codec
from tests.builders.used import used
from workers.kafka import loop
from workers.kafka.strangers import stamped

HOUR, CODEC = 3_600_000, load_codec()
STORED = Stored(
    agent="ann", subject="ann", occurred_at=0, commitment=b"c", characters=100, outcome="stored", salience_ppm=1,
    early=False, accepted_offset=0, scored_offset=0, encoder="e", novelty_ppm=PPM, rank_ppm=PPM // 2,
)  # fmt: skip


@pytest.fixture
def place(fresh_kafka: str, tmp_path: Path) -> Settings:
    settings = changed(load({}, tmp_path), bootstrap=fresh_kafka)
    genesis.create(settings, shards=4)
    return settings


def journal(place: Settings, count: int) -> None:
    """A memory an hour in shard 1; those with a high reward are read a day later, most times."""
    chance, entries = random.Random(5), list[tuple[int, str, str | None, object]]()
    for at in range(count):
        reward = chance.randrange(PPM)
        said = replace(STORED, reward_ppm=reward, rank_ppm=chance.randrange(PPM), characters=chance.randrange(1, 500))
        entries.append((at * HOUR, "stored", f"m{at}", said))
        if chance.randrange(PPM) < reward:
            entries.append((at * HOUR + 24 * HOUR, "accessed", None, used(f"m{at}")))
    producer = loop.producer(place.bootstrap)
    for seq, (as_of, effect, memory_id, detail) in enumerate(sorted(entries, key=lambda one: one[0]), 1):
        entry = JournalEntry(1, seq, as_of, effect, f"e{seq}", "t", 1, seq, CODEC.encode(detail), "n", memory_id)
        value = CODEC.encode(JournalAppended(CODEC.encode(entry), bytes(32), bytes(32)))
        headers = loop.headers("JournalAppended", "test", f"e{seq}", None)
        writer = genesis.stamps(place, 4)
        producer.produce(topics.JOURNAL, value, b"n", 1, headers=stamped(headers, writer, topics.JOURNAL, 1, value))
    assert producer.flush(20) == 0
    producer.close()


def learned(place: Settings, **asked: Any) -> int:
    given = {"namespace": None, "within": 2.0, "out": None, "json": True} | asked
    return learn.learn.do(place, argparse.Namespace(**given))


def test_the_file_is_learned_tested_and_a_part_of_a_policy(
    place: Settings, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal(place, 900)
    file = tmp_path / "learned.json"
    assert learned(place, out=file) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["better"] and told["sha256"] == hashlib.sha256(file.read_bytes()).hexdigest()
    assert told["earlier"]["memories"] + told["later"]["memories"] > 700
    made = policy_command.changed(Policy(), file, [])
    assert made.learned.reward_ppm == max(told["coefficients"].values()) > PPM
    assert learned(place, json=False, out=file) == 0
    assert "`memquorum admin policy set" in capsys.readouterr().out
    with pytest.raises(TooLittle, match="no memory is old enough"):
        learned(place, namespace="elsewhere")


def test_too_little_is_told(place: Settings) -> None:
    journal(place, LEAST)
    with pytest.raises(TooLittle, match="were used; at least"):
        learned(place, within=0.1)
