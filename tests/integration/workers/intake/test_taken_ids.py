"""Event ids that another agent has used, or foresees: nobody loses a record to it, on a real broker and vault."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import TopicPartition

from db.vault import PostgresVault
from memquorum import topics
from memquorum.core import ids, letters, sealing
from memquorum.core.avro import Codec
from memquorum.core.identity import signatures
from memquorum.core.records import AccessAccepted, EpisodeAccepted, IntakeRefused
from tests.builders import genesis
from tests.support.intake import MASTER, SHARDS, Line
from workers.intake.arrivals import FIRST_AT

NAMESPACE = "works"
SIGNED = "vaulted"
AGENTS = ("mallory", "victim")
GENESIS = genesis.make(
    shards=SHARDS, signed=[SIGNED],
    agent_keys={agent: genesis.public_key(f"agent:{agent}") for agent in AGENTS},
)  # fmt: skip
WATCHED = 40


@pytest.fixture
def line(fresh_kafka: str, databases: tuple[str, str], codec: Codec) -> Iterator[Line]:
    found = Line(fresh_kafka, codec, PostgresVault(databases[1], MASTER), GENESIS)
    yield found
    found.close()


def episode(agent: str, content: str, namespace: str = NAMESPACE, **said: Any) -> dict[str, Any]:
    return {"agent": agent, "content": content, "namespace": namespace, **said}


def event(source: str, event_id: str, data: dict[str, Any]) -> dict[str, Any]:
    return {"specversion": "1.0", "type": "EpisodeRecorded", "source": source, "id": event_id, "data": data}


def signed(line: Line, value: dict[str, Any], agent: str) -> None:
    data = json.dumps(value).encode()
    signature = signatures.sign(GENESIS.cluster, topics.EPISODES, genesis.seed_of(f"agent:{agent}"), data)
    line.publish(topics.EPISODES, data, headers=[(signatures.HEADER, signature)])


def accepted(line: Line, agent: str) -> list[EpisodeAccepted]:
    return [one for one in line.of(EpisodeAccepted) if one.agent == agent]


def opened(line: Line, letter: IntakeRefused) -> bytes:
    key = line.vault.open([letter.key_id])[letter.key_id]
    return letters.open_payload(letter.key_id, key, letter.sealed_payload)


def foreseen(at: int) -> list[dict[str, Any]]:
    """Returns the records of a stranger who foresees the next record's offset: under the ids that follow from it, of
    this release and of earlier ones, in its own name and in the victim's, and as a replay of that offset.
    """
    place = (topics.EPISODES, 0, at)
    named = [ids.place_uuid(*place), ids.origin_event_id("mallory", *place), ids.origin_event_id("victim", *place)]
    said = [episode("mallory", "Nothing to see.", event_id=one) for one in named]
    return [*said, episode("victim", "Nothing to see.", event_id=named[-1])]


def test_who_publishes_without_event_ids_loses_nothing_to_who_foresees_places(line: Line) -> None:
    # The broker is shared: a record of an earlier test may have come late.
    _, base = line.reader.get_watermark_offsets(TopicPartition(topics.EPISODES, 0), timeout=10)
    watched = range(base + 5 * WATCHED, base + 6 * WATCHED)
    line.publish(topics.EPISODES, *(value for at in watched for value in foreseen(at)))
    for at in watched:
        first = f"{topics.EPISODES}/0/{at}".encode()
        line.publish(topics.EPISODES, episode("victim", "Nothing to see."), headers=[(FIRST_AT, first)])
    said = [f"Valve {number} opens at {number} bar." for number in range(WATCHED)]
    line.publish(topics.EPISODES, *(episode("victim", one, subject="plant") for one in said))
    with line.intake(clock="wall"):
        line.until(lambda: len([one for one in accepted(line, "victim") if one.subject == "plant"]) >= WATCHED)
    found = [one for one in accepted(line, "victim") if one.subject == "plant"]
    assert [one.origin_offset for one in found] == list(watched)
    keys = line.vault.open([one.memory_id for one in found])
    assert [sealing.open_text(keys[one.memory_id], one.sealed_content, one.memory_id) for one in found] == said
    events = [one.event_id for one in line.of(EpisodeAccepted)]
    assert len(set(events)) == len(events), "no two records came in under one event id"


@pytest.mark.parametrize("namespace", [NAMESPACE, SIGNED])
def test_nor_does_who_publishes_cloud_events(line: Line, namespace: str) -> None:
    def publish(value: dict[str, Any], agent: str) -> None:
        if namespace == SIGNED:
            signed(line, value, agent)
        else:
            line.publish(topics.EPISODES, value)

    for number in range(5):
        source = ("/plants/7", f"A-{number}")
        for taken in (ids.cloud_uuid(*source), ids.cloud_event_id("victim", *source)):
            publish(episode("mallory", "Nothing to see.", namespace, event_id=taken), "mallory")
        publish(event(*source, episode("mallory", "Nothing to see.", namespace)), "mallory")
    for number in range(5):
        publish(event("/plants/7", f"A-{number}", episode("victim", f"Sensor {number} broke.", namespace)), "victim")
    with line.intake(clock="wall"):
        line.until(lambda: len(accepted(line, "victim")) == 5 and len(line.of(IntakeRefused)) == 5)
    assert [one.event_id for one in accepted(line, "victim")] == [
        ids.cloud_event_id("victim", "/plants/7", f"A-{number}") for number in range(5)
    ]
    refused = [(one.reason, one.field) for one in line.of(IntakeRefused)]
    assert refused == [("bad_id", "event_id")] * 5, "ids that name another agent"


@pytest.mark.parametrize("namespace", [NAMESPACE, SIGNED])
@pytest.mark.parametrize("forgotten", [False, True])
def test_an_id_that_is_taken_is_told_with_the_payload(line: Line, namespace: str, forgotten: bool) -> None:
    wanted = episode(
        "victim", "The key is under the mat.", namespace, event_id="report-17", occurred_at=1_750_000_000_000
    )
    with line.intake(clock="wall"):
        signed(line, episode("mallory", "I was here first.", namespace, event_id="report-17"), "mallory")
        line.until(lambda: len(accepted(line, "mallory")) == 1)
        if forgotten:
            assert line.vault.destroy([ids.memory_id(namespace, "report-17")]) == 1
        signed(line, wanted, "victim")
        line.until(lambda: len(line.of(IntakeRefused)) == 1)
    (letter,) = line.of(IntakeRefused)
    assert (letter.reason, letter.field) == ("taken", "event_id")
    assert opened(line, letter) == json.dumps(wanted).encode()
    assert accepted(line, "victim") == [] and len(accepted(line, "mallory")) == 1


def test_what_was_forgotten_is_told_so_to_its_own_agent_and_no_letter_keeps_it(line: Line) -> None:
    said = episode("victim", "The key is under the mat.", event_id="report-17")
    with line.intake(clock="wall"):
        line.publish(topics.EPISODES, said)
        line.until(lambda: len(accepted(line, "victim")) == 1)
        line.vault.destroy([ids.memory_id(NAMESPACE, "report-17")])
        line.publish(topics.EPISODES, said)
        line.until(lambda: len(line.of(IntakeRefused)) == 1)
    (letter,) = line.of(IntakeRefused)
    assert (letter.reason, letter.sealed_payload) == ("forgotten", b"")


def test_no_use_takes_the_id_of_an_episode_and_none_is_lost_to_one(line: Line) -> None:
    memory = ids.memory_id(NAMESPACE, "other")
    use = {"agent": "mallory", "memory_ids": [memory], "namespace": NAMESPACE, "event_id": "report-17"}
    with line.intake(clock="wall"):
        line.publish(topics.ACCESSES, use)
        line.until(lambda: len(line.of(AccessAccepted)) == 1)
        line.publish(topics.EPISODES, episode("victim", "The key is under the mat.", event_id="report-17"))
        line.until(lambda: len(line.of(IntakeRefused)) == 1)
        line.publish(topics.ACCESSES, use | {"agent": "victim"}, use)
        line.until(lambda: len(line.of(IntakeRefused)) == 2 and len(line.of(AccessAccepted)) == 2)
    assert {(one.reason, bool(one.sealed_payload)) for one in line.of(IntakeRefused)} == {("taken", True)}


def test_what_an_earlier_release_let_in_is_let_in_again_as_the_same(line: Line) -> None:
    """A record comes again over the upgrade: its episode, by its place or its envelope, is repeated and not doubled."""
    placed = ids.place_uuid(topics.EPISODES, 0, 0)
    enveloped = ids.cloud_uuid("/plants/7", "A-1")
    line.vault.create([(ids.memory_id(NAMESPACE, one), NAMESPACE, "victim") for one in (placed, enveloped)])
    line.publish(topics.EPISODES, episode("victim", "Valve 3 opens."))
    line.publish(topics.EPISODES, event("/plants/7", "A-1", episode("victim", "Valve 4 opens.")))
    with line.intake(clock="wall"):
        line.until(lambda: len(accepted(line, "victim")) == 2)
    assert [one.event_id for one in accepted(line, "victim")] == [placed, enveloped]
