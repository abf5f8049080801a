"""Agents that must sign have to, and no other agent can pass for them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum import topics
from memquorum.core import ids, intake
from memquorum.core.avro import Codec
from memquorum.core.identity import signatures
from memquorum.core.intake import EpisodeIntent, Origin, Refusal
from memquorum.core.reasons import Reason
from memquorum.core.records import AccessAccepted
from tests.builders import genesis

NOW = 1_760_000_000_000
SEEDS = {agent: genesis.seed_of(f"agent:{agent}") for agent in ("planner", "mallory")}
KEYS = {agent: genesis.public_key(f"agent:{agent}") for agent in SEEDS}
CLUSTER = genesis.make(agent_keys=KEYS, signed={"ledger"})
ELSEWHERE = genesis.make(shards=8, agent_keys=KEYS, signed={"ledger"})
EPISODE = {"agent": "planner", "content": "c"}


def judge(value: dict[str, str], signature: bytes | None, topic: str = topics.EPISODES) -> object:
    data, origin = json.dumps(value).encode(), Origin(topic, 0, 0, NOW)
    return intake.accept(Codec([]), data, origin, NOW, False, genesis=CLUSTER, signature=signature)


def signed(value: dict[str, str], agent: str = "planner", topic: str = topics.EPISODES) -> bytes:
    return signatures.sign(CLUSTER.cluster, topic, SEEDS[agent], json.dumps(value).encode())


def reason(answer: object) -> Reason | None:
    assert not isinstance(answer, Refusal) or answer.field == "signature"
    return answer.reason if isinstance(answer, Refusal) else None


LEDGER = EPISODE | {"namespace": "ledger"}


def test_what_is_signed_comes_in() -> None:
    assert isinstance(judge(LEDGER, signed(LEDGER)), EpisodeIntent)
    access = {"agent": "planner", "memory_ids": [ids.memory_id("ledger", "e")], "namespace": "ledger"}
    assert isinstance(judge(access, signed(access, topic=topics.ACCESSES), topics.ACCESSES), AccessAccepted)


@pytest.mark.parametrize(
    ("value", "signature", "why"),
    [
        (LEDGER, None, Reason.UNSIGNED),
        (LEDGER, b"", Reason.BAD_SIGNATURE),
        (LEDGER, bytes(64), Reason.BAD_SIGNATURE),
        (LEDGER, signed(LEDGER)[:-1], Reason.BAD_SIGNATURE),
        # Another agent's, another record's, another topic's, another cluster's.
        (LEDGER, signed(LEDGER, "mallory"), Reason.BAD_SIGNATURE),
        (LEDGER, signed(LEDGER | {"content": "d"}), Reason.BAD_SIGNATURE),
        (LEDGER, signed(LEDGER, topic=topics.ACCESSES), Reason.BAD_SIGNATURE),
        (
            LEDGER,
            signatures.sign(ELSEWHERE.cluster, topics.EPISODES, SEEDS["planner"], json.dumps(LEDGER).encode()),
            Reason.BAD_SIGNATURE,
        ),
        # Somebody without a key.
        (LEDGER | {"agent": "guest"}, signed(LEDGER | {"agent": "guest"}), Reason.BAD_SIGNATURE),
        # Without a required signature a wrong one is still a lie, unless it cannot be checked.
        (EPISODE, None, None),
        (EPISODE, signed(EPISODE), None),
        (EPISODE, signed(EPISODE, "mallory"), Reason.BAD_SIGNATURE),
        (EPISODE | {"agent": "guest"}, bytes(64), None),
    ],
)
def test_what_does_not_hold_stays_outside(value: dict[str, str], signature: bytes | None, why: Reason | None) -> None:
    assert reason(judge(value, signature)) == why


@given(st.binary(max_size=80))
def test_nobody_guesses_a_signature(signature: bytes) -> None:
    assert reason(judge(LEDGER, signature)) is Reason.BAD_SIGNATURE


def test_a_client_that_knows_no_cluster_asks_for_no_signature() -> None:
    origin = Origin(topics.EPISODES, 0, 0, NOW)
    assert isinstance(intake.accept(Codec([]), json.dumps(LEDGER).encode(), origin, NOW, False), EpisodeIntent)


def came(value: dict[str, str], signature: bytes | None, offset: int) -> str:
    data = json.dumps(value).encode()
    origin = Origin(topics.EPISODES, 0, offset, NOW + offset)
    found = intake.accept(Codec([]), data, origin, NOW + offset, False, genesis=CLUSTER, signature=signature)
    assert isinstance(found, EpisodeIntent)
    return found.event_id


def test_what_is_signed_and_names_no_event_is_named_by_its_bytes() -> None:
    """Anybody may publish it once more, and from another place it would be another event."""
    assert came(LEDGER, signed(LEDGER), 5) == came(LEDGER, signed(LEDGER), 6)
    other = LEDGER | {"content": "d"}
    assert came(other, signed(other), 5) != came(LEDGER, signed(LEDGER), 5)
    named = LEDGER | {"event_id": "e"}
    assert came(named, signed(named), 5) == "e"


def test_what_nobody_signed_is_named_by_its_place_so_that_ok_twice_is_two_episodes() -> None:
    ok = {"agent": "planner", "content": "ok", "namespace": "free"}
    assert came(ok, None, 5) != came(ok, None, 6)
    # A signature that an agent without a key sends proves nothing.
    mine = ok | {"agent": "nobody"}
    assert came(mine, bytes(64), 5) != came(mine, bytes(64), 6)
    assert came(ok, signed(ok), 5) == came(ok, signed(ok), 6)
