"""Identities on a running installation: ids that somebody else has used, and names that read the same."""

from __future__ import annotations

import json
from typing import Any

import httpx

from infra.settings import Settings
from memquorum import topics
from tests.support.sessions import HOUR, Plant
from tests.support.waiting import until
from workers.kafka import loop

NFC, NFD = "Zo\u00eb", "Zoe\u0308"
TEXTS = ("Zo has a red bicycle.", "Zo lives in the house by the harbour.", "Zo plays the cello on Sundays.")


def publish(line: Settings, *values: dict[str, Any]) -> None:
    producer = loop.producer(line.bootstrap)
    for value in values:
        producer.produce(topics.EPISODES, json.dumps(value).encode(), key=b"one")
    assert producer.flush(10) == 0


def test_who_waits_for_an_event_whose_id_is_taken_is_told_so(fleet: Plant) -> None:
    with fleet.client("taken", "mallory") as stranger, fleet.client("taken", "victim") as memory:
        first = stranger.add("I was here first.", explicit=True, event_id="report-17", wait=True)
        mine = memory.add("The key is under the mat.", explicit=True, event_id="report-17", wait=True)
        assert (first.outcome, mine.outcome) == ("stored", "taken")
        assert memory.get(first.memory_id).text == "I was here first."
        asked = memory.event("report-17")
        assert (asked.outcome, asked.memory_id) == ("stored", first.memory_id), (
            "asked for nobody, it is the first one's"
        )


def test_two_agents_end_one_session_and_publish_one_event_beside_each_other(fleet: Plant) -> None:
    told = {"specversion": "1.0", "type": "EpisodeRecorded", "source": "/plants/7", "id": "A-1"}
    said = [("mallory", "Nothing to see here today."), ("victim", "Sensor 3 of plant 7 broke at noon.")]
    data = [{"agent": agent, "namespace": "both", "content": text, "explicit": True} for agent, text in said]
    publish(fleet.line, *(told | {"data": one} for one in data))
    with fleet.client("both", "victim") as memory:
        until(lambda: len(memory.memories().memories) == 2)
        assert {(one.agent, one.text) for one in memory.memories().memories} == set(said)
        with fleet.client("both", "mallory") as stranger:
            ends = [
                one.end_session("s1", outcome=outcome, goal="Open valve 3.", wait=True)
                for one, outcome in ((stranger, "failed"), (memory, "succeeded"))
            ]
        tasks = [one.task for one in ends]
        assert [memory.finished_task(task).outcome for task in tasks if task] == ["failed", "succeeded"]


def test_a_person_is_one_whichever_way_the_name_is_spelled(fleet: Plant) -> None:
    """Published over Kafka, over HTTP and by the client, in both spellings."""
    filed = {"namespace": "people", "agent": "anna", "explicit": True}
    publish(fleet.line, filed | {
        "content": TEXTS[0], "subject": NFD, "session": NFD, "path": f"users/{NFD}", "attributes": {"name": NFD},
    })  # fmt: skip
    posted = filed | {"content": TEXTS[1], "subject": NFC, "session": NFC, "path": f"users/{NFC}/notes"}
    answer = httpx.post(f"{fleet.line.retrieval_url}/memories", json=posted | {"attributes": {"name": NFC}})
    assert answer.status_code == 202, answer.text
    with fleet.client("people") as memory:
        last = memory.add(
            TEXTS[2], explicit=True, subject=NFD, session=NFD, path=f"users/{NFD}", attributes={"name": NFD},
            wait=True,
        )  # fmt: skip
        until(lambda: len(memory.memories().memories) == len(TEXTS))
        for said in (NFC, NFD):
            for only in (
                {"subjects": [said]}, {"sessions": [said]}, {"path": f"users/{said}"}, {"where": {"name": said}},
            ):  # fmt: skip
                assert {one.text for one in memory.memories(**only).memories} == set(TEXTS), only
                assert {hit.text for hit in memory.search("Zo", peek=True, **only)} == set(TEXTS), only
                assert {one.text for one in memory.retrieve("Zo", peek=True, **only).items} == set(TEXTS), only
            assert [part.agent for part in memory.session(said).parts] == ["anna"]
        assert memory.get(last.memory_id).path == f"users/{NFC}"
        slots = [
            memory.add(one, explicit=True, key=said, path=said, wait=True) for one, said in (("A.", NFC), ("B.", NFD))
        ]
        assert [memory.get(one.memory_id).tier for one in slots] == ["superseded", "short-term"]
        assert [memory.slot(said, said).text for said in (NFC, NFD)] == ["B.", "B."]
        memory.clear(NFD, NFD, wait=True)
        assert memory.memories(keys=[NFC]).memories == ()
        would = memory.erase(subject=NFD)
        assert (would.value, would.memories) == (NFC, len(TEXTS))
        done = memory.erase(subject=NFD, dry_run=False)
        assert (done.status, done.value, done.memories, done.also) == ("erased", NFC, len(TEXTS), ())
        assert memory.memories(subjects=[NFC]).memories == ()
        late = memory.add("Zo has a dog.", subject=NFD, occurred_at=fleet.now - HOUR, wait=True)
        assert late.outcome == "erased"


def test_an_agent_whose_name_is_not_composed_is_told_why(fleet: Plant) -> None:
    answer = httpx.post(
        f"{fleet.line.retrieval_url}/memories", json={"namespace": "people", "agent": NFD, "content": "It rains."}
    )
    assert (answer.status_code, answer.json()["field"]) == (400, "agent") and "NFC" in answer.text
