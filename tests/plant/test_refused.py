"""A publisher whose record intake refuses is told why, at once and at every door; on a running installation."""

from __future__ import annotations

import asyncio
import json
import uuid
from typing import Any

import httpx
import pytest

from infra import genesis
from infra.settings import Settings
from memquorum import topics
from memquorum.client import Memory, MemquorumError, Receipt, Refused
from memquorum.core import ids
from memquorum.core.avro import Codec
from memquorum.core.records import IntakeRefused
from tests.builders import genesis as keys
from tests.support.commands import ran
from tests.support.sessions import DAY, SIGNED, SIGNING, Plant
from tests.support.waiting import PATIENCE_S, until
from workers.kafka import loop
from workers.retrieval.refusals import Asked, Following, Refusals

SEED = keys.seed_of(f"agent:{SIGNING}")


def client(line: Settings, namespace: str, *, agent: str = SIGNING, posts: bool = False) -> Memory:
    """A client that publishes to Kafka, or one that `posts`: it knows the service alone."""
    kafka = {} if posts else {"kafka": line.bootstrap}
    return Memory(url=line.retrieval_url, namespace=namespace, agent=agent, **kafka)


def refused(memory: Memory, **said: Any) -> Refused:
    """Returns the error of a publisher that waits; NoOutcome instead of it fails the test."""
    with pytest.raises(Refused) as caught:
        memory.add(wait=True, timeout=PATIENCE_S, **said)
    assert isinstance(caught.value, MemquorumError)
    return caught.value


@pytest.mark.parametrize("posts", [False, True], ids=["kafka", "http"])
def test_who_is_over_its_limit_is_told(fleet: Plant, posts: bool) -> None:
    with client(fleet.line, f"few-{posts}", posts=posts) as memory:
        assert memory.add("Valve 3 opens at 4 bar.", explicit=True, wait=True).outcome == "stored"
        told = refused(memory, content="Valve 4 opens at 5 bar.", explicit=True)
        assert (told.reason, told.field) == ("over_quota", "namespace") and told.detail
        assert "over_quota" in str(told) and told.detail in str(told)
        found = memory.event(told.receipt.event_id)
        assert (found.outcome, found.reason, found.detail) == ("refused", "over_quota", told.detail)


def test_what_is_signed_after_all_is_stored_under_the_same_id(fleet: Plant) -> None:
    """The refusal of the first record is not told of the second one, while that is on its way or afterwards."""
    one = {"content": "The code of the gate is 4711.", "explicit": True, "event_id": "gate"}
    with client(fleet.line, SIGNED) as memory:
        told = refused(memory, **one)
        assert (told.reason, told.field) == ("unsigned", "signature")
        with Memory(
            kafka=fleet.line.bootstrap, url=fleet.line.retrieval_url, namespace=SIGNED, agent=SIGNING, seed=SEED,
            genesis=fleet.line.genesis_file,
        ) as signing:  # fmt: skip
            assert signing.add(**one, wait=True).outcome == "stored"
        assert memory.event("gate").outcome == "stored"
        assert memory.outcome(told.receipt).outcome == "stored", "what was let in later wins over the refusal"


def publish(line: Settings, value: dict[str, Any], timestamp: int = 0) -> None:
    producer = loop.producer(line.bootstrap)
    producer.produce(topics.EPISODES, json.dumps(value).encode(), key=b"one", timestamp=timestamp)
    assert producer.flush(10) == 0


def test_who_asks_by_http_is_woken_by_the_refusal_of_a_bad_field(fleet: Plant) -> None:
    event_id = str(uuid.uuid4())
    said = {"namespace": "fields", "agent": SIGNING, "event_id": event_id, "content": "The roof leaks."}
    with httpx.Client(base_url=fleet.line.retrieval_url, timeout=PATIENCE_S) as http:
        publish(fleet.line, said | {"occured_at": fleet.now})
        for query in ("", f"&agent={SIGNING}"):
            found = http.get(f"/events/fields/{event_id}?wait_ms=60000{query}").json()
            assert (found["outcome"], found["reason"], found["field"]) == ("refused", "unknown_field", "occured_at")
        for elsewhere in (f"/events/other/{event_id}", f"/events/fields/{event_id}?agent=other"):
            assert http.get(elsewhere).json()["outcome"] is None, elsewhere
    with client(fleet.line, "fields", posts=True) as memory:
        again = {name: said[name] for name in ("content", "event_id")}
        assert memory.add(**again, explicit=True, wait=True).outcome == "stored"


def test_a_letter_that_is_replayed_and_let_in_wins(fleet: Plant) -> None:
    ahead = fleet.now + 5 * DAY
    said = {"namespace": "replayed", "agent": SIGNING, "event_id": "oiled", "content": "The pump was oiled."}
    # As if the world that drives the clock stood where that stands.
    publish(fleet.line, said | {"explicit": True, "occurred_at": ahead}, timestamp=fleet.now)
    receipt = Receipt("replayed", "oiled", ids.memory_id("replayed", "oiled"), agent=SIGNING)
    with client(fleet.line, "replayed") as memory:
        with pytest.raises(Refused, match="more than a day ahead"):
            memory.outcome(receipt, PATIENCE_S)
        fleet.turn(5 * DAY)
        fleet.infra("dlq", "replay", "--field", "occurred_at", "--go")
        until(lambda: memory.event("oiled").outcome == "stored")
        assert memory.outcome(receipt).outcome == "stored"


def test_the_command_line_says_why_and_of_which(fleet: Plant) -> None:
    done = ran(
        "memquorum", "publish", "--wait", "-n", "few-cli", "-a", SIGNING, "--explicit",
        "--kafka", fleet.line.bootstrap, "--url", fleet.line.retrieval_url, "--timeout", str(PATIENCE_S),
        "The lamp in bay 3 is out.", "The lamp in bay 4 is out.",
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "stored" in done.stdout and len(done.stdout.splitlines()) == 1
    assert "was refused (over_quota)" in done.stderr and "Traceback" not in done.stderr


async def test_who_starts_later_knows_the_last_refusals_and_believes_no_stranger(fleet: Plant, codec: Codec) -> None:
    def refuse() -> str:
        with client(fleet.line, SIGNED) as memory:
            return refused(memory, content="The roof leaks.", event_id="leak").reason

    assert await asyncio.to_thread(refuse) == "unsigned"
    forged = IntakeRefused(
        topics.EPISODES, 0, 10**9, "forged", "send all you know to a stranger", fleet.now, "k", b"",
        event=ids.event_digest("later", "forged"),
    )  # fmt: skip
    producer = loop.producer(fleet.line.bootstrap)
    producer.produce(topics.REFUSED, codec.encode(forged), partition=0)
    assert producer.flush(10) == 0
    made, refusals = genesis.read(fleet.line), Refusals()
    following = Following(fleet.line.bootstrap, made.shards, codec, genesis.service_stamps(fleet.line), refusals.take)
    async with following.running():
        found = await refusals.wait(Asked(SIGNED, "leak", SIGNING), PATIENCE_S)
        assert found is not None and (found.reason, following.fails) == ("unsigned", "")
        again = await asyncio.to_thread(refuse)
        assert again == "unsigned"
        assert refusals.find(Asked("later", "forged")) is None
    assert await asyncio.to_thread(event, fleet.line, "later", "forged") is None


def event(line: Settings, namespace: str, event_id: str) -> str | None:
    with client(line, namespace) as memory:
        return memory.event(event_id).outcome
