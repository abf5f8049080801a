"""Owners of event ids: an id that another agent has used first is refused, and nobody else can use the fleet's own."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memquorum import topics
from memquorum.core import ids, intake, letters
from memquorum.core.avro import Codec
from memquorum.core.intake import EpisodeIntent, Intent, Origin, Refusal
from memquorum.core.reasons import Reason
from memquorum.core.records import AccessAccepted, FeedbackAccepted
from tests.inmemory.vault import InMemoryVault
from workers.intake import event_owners
from workers.intake.arrivals import Judged

NOW = 1_750_000_000_000
NAMESPACE = "garden"
EPISODE = {"agent": "ann", "content": "Valve 3 opens at 4 bar.", "namespace": NAMESPACE}
USE = {"agent": "ann", "memory_ids": [ids.memory_id(NAMESPACE, "m")], "namespace": NAMESPACE}
FEEDBACK = {"agent": "ann", "task": ids.memory_id(NAMESPACE, "t"), "namespace": NAMESPACE, "helped": USE["memory_ids"]}
KINDS = {topics.EPISODES: EPISODE, topics.ACCESSES: USE, topics.FEEDBACK: FEEDBACK}
CLOUD = {"specversion": "1.0", "type": "EpisodeRecorded", "source": "/plants/7", "id": "A-1"}


@pytest.fixture
def vault() -> InMemoryVault:
    return InMemoryVault()


def judged(codec: Codec, value: Any, offset: int = 0, topic: str = topics.EPISODES, **origin: Any) -> Judged:
    place = Origin(topic, 1, offset, NOW, **origin)
    answer = intake.accept(codec, json.dumps(value).encode(), place, NOW, False)
    return Judged(None, place, answer, 0)  # type: ignore[arg-type]


def keyed(vault: InMemoryVault, *records: Judged) -> list[Intent | Refusal]:
    """The answers; those that stay outside with the key of their letter."""
    settled, keys = event_owners.keyed(vault, records)
    for one in settled:
        if one.answer is event_owners.TAKEN:
            assert letters.dead_letter_id(one.origin) in keys
    return [one.answer for one in settled]


def came_in(answer: Intent | Refusal) -> bool:
    return not isinstance(answer, Refusal)


@pytest.mark.parametrize("first", KINDS)
@pytest.mark.parametrize("second", KINDS)
def test_an_id_that_another_agent_has_used_is_taken(
    codec: Codec, vault: InMemoryVault, first: str, second: str
) -> None:
    mine = judged(codec, KINDS[first] | {"event_id": "e"}, 0, first)
    others = judged(codec, KINDS[second] | {"event_id": "e", "agent": "bob"}, 1, second)
    assert [came_in(one) for one in keyed(vault, mine)] == [True]
    assert keyed(vault, others) == [event_owners.TAKEN]
    assert keyed(vault, mine) == [mine.answer], "redelivered it is the same"
    # An agent's own record of another kind would be lost as silently.
    own = judged(codec, KINDS[second] | {"event_id": "e"}, 2, second)
    assert keyed(vault, own) == [own.answer if first == second else event_owners.TAKEN]


def test_of_two_in_one_batch_the_first_has_it(codec: Codec, vault: InMemoryVault) -> None:
    pair = [
        judged(codec, EPISODE | {"event_id": "e", "agent": who}, at) for at, who in enumerate(("ann", "bob", "ann"))
    ]
    assert keyed(vault, *pair) == [pair[0].answer, event_owners.TAKEN, pair[2].answer]
    # In another namespace it is another id.
    other = judged(codec, EPISODE | {"event_id": "e", "agent": "bob", "namespace": "attic"})
    assert came_in(*keyed(vault, other))


@pytest.mark.parametrize("topic", KINDS)
def test_who_had_it_before_has_it_also_behind_another_agent_in_one_batch(
    codec: Codec, vault: InMemoryVault, topic: str
) -> None:
    mine = judged(codec, KINDS[topic] | {"event_id": "e"}, 0, topic)
    assert keyed(vault, mine) == [mine.answer]
    others = judged(codec, KINDS[topic] | {"event_id": "e", "agent": "bob"}, 1, topic)
    again = judged(codec, KINDS[topic] | {"event_id": "e"}, 2, topic)
    assert keyed(vault, others, again) == [event_owners.TAKEN, again.answer]


def test_of_what_was_forgotten_another_agent_is_told_that_the_id_is_taken(codec: Codec, vault: InMemoryVault) -> None:
    mine = judged(codec, EPISODE | {"event_id": "e"})
    keyed(vault, mine)
    vault.destroy([ids.memory_id(NAMESPACE, "e")])
    assert keyed(vault, judged(codec, EPISODE | {"event_id": "e", "agent": "bob"}, 1)) == [event_owners.TAKEN]
    settled, keys = event_owners.keyed(vault, [mine])
    # A letter with a key would keep what was forgotten.
    assert settled[0].answer == event_owners.FORGOTTEN and keys == {}


@pytest.mark.parametrize("value", [EPISODE, CLOUD | {"data": EPISODE}], ids=["by place", "by envelope"])
def test_no_id_from_outside_is_one_that_the_line_makes(codec: Codec, vault: InMemoryVault, value: Any) -> None:
    (made,) = keyed(InMemoryVault(), judged(codec, value, 7))
    assert isinstance(made, EpisodeIntent) and ids.made_by_intake(made.event_id)
    for who in ("bob", "ann"):
        stranger = judged(codec, EPISODE | {"event_id": made.event_id, "agent": who})
        (answer,) = keyed(vault, stranger)
        assert isinstance(answer, Refusal) and (answer.reason, answer.field) == (Reason.BAD_ID, "event_id"), who
    assert keyed(vault, judged(codec, value, 7)) == [made]
    # A failed episode comes again with the id that it was given.
    again = judged(codec, EPISODE | {"event_id": made.event_id})
    assert keyed(vault, again) == [again.answer]


@pytest.mark.parametrize("topic", [topics.ACCESSES, topics.FEEDBACK])
def test_nor_does_a_use_or_feedback_bear_it(codec: Codec, topic: str) -> None:
    said = {"event_id": ids.origin_event_id("ann", topic, 1, 7)}
    answer = judged(codec, KINDS[topic] | said, 0, topic).answer
    assert isinstance(answer, Refusal) and answer.reason is Reason.BAD_ID
    made = judged(codec, KINDS[topic], 7, topic).answer
    assert isinstance(made, AccessAccepted | FeedbackAccepted) and made.event_id == said["event_id"]


def test_an_agents_own_ids_are_its_alone_without_a_row_of_the_vault(codec: Codec, vault: InMemoryVault) -> None:
    event = ids.use_event_id("ann", "request")
    used = judged(codec, USE | {"event_id": event}, 0, topics.ACCESSES)
    assert event_owners.keyed(vault, [used]) == ([used], {}) and vault.owners([ids.memory_id(NAMESPACE, event)]) == {}
    answer = judged(codec, USE | {"event_id": event, "agent": "bob"}, 1, topics.ACCESSES).answer
    assert isinstance(answer, Refusal) and (answer.reason, answer.detail) == (Reason.BAD_ID, intake.NOT_YOURS)
    for bad in ("memquorum/", "memquorum/x", f"{event}0", f"memquorum/use/{'0' * 32}/{'0' * 64}"):
        answer = judged(codec, EPISODE | {"event_id": bad}).answer
        assert isinstance(answer, Refusal) and answer.reason is Reason.BAD_ID, bad


@pytest.mark.parametrize(
    ("value", "earlier"),
    [
        (EPISODE, ids.place_uuid(topics.EPISODES, 1, 7)),
        (CLOUD | {"data": EPISODE}, ids.cloud_uuid("/plants/7", "A-1")),
    ],
    ids=["by place", "by envelope"],
)
@pytest.mark.parametrize("subject", ["ann", "Zo\u00eb", "Zoe\u0308"])
def test_what_an_earlier_release_let_in_keeps_its_id(
    codec: Codec, vault: InMemoryVault, value: Any, earlier: str, subject: str
) -> None:
    memory = ids.memory_id(NAMESPACE, earlier)
    vault.create([(memory, NAMESPACE, subject)])
    said = {"subject": subject}
    value = value | ({"data": value["data"] | said} if "data" in value else said)
    (found,) = keyed(vault, judged(codec, value, 7))
    assert isinstance(found, EpisodeIntent) and (found.event_id, found.memory_id) == (earlier, memory)


@pytest.mark.parametrize("subject", ["bob", "ann"])
def test_nobody_uses_up_the_ids_of_earlier_releases_now(codec: Codec, vault: InMemoryVault, subject: str) -> None:
    taken = EPISODE | {"event_id": ids.place_uuid(topics.EPISODES, 1, 7), "agent": "bob", "subject": subject}
    assert came_in(*keyed(vault, judged(codec, taken)))
    (found,) = keyed(vault, judged(codec, EPISODE, 7))
    assert isinstance(found, EpisodeIntent) and found.event_id == ids.origin_event_id("ann", topics.EPISODES, 1, 7)


def test_an_id_that_an_earlier_release_gave_a_key_is_its_subjects(codec: Codec, vault: InMemoryVault) -> None:
    vault.create([(ids.memory_id(NAMESPACE, "e"), NAMESPACE, "ann")])
    same = judged(codec, EPISODE | {"event_id": "e"})
    assert keyed(vault, same) == [same.answer]
    assert keyed(vault, judged(codec, EPISODE | {"event_id": "e", "agent": "bob"})) == [event_owners.TAKEN]


def test_a_first_place_counts_where_a_letter_was_written_there(codec: Codec, vault: InMemoryVault) -> None:
    at = Origin(topics.EPISODES, 1, 9, NOW, first=(1, 3))
    plain = Origin(topics.EPISODES, 1, 8, NOW)
    assert event_owners.attested(vault, [at, plain]) == [Origin(topics.EPISODES, 1, 9, NOW), plain]
    vault.create([(letters.dead_letter_id(Origin(topics.EPISODES, 1, 3)), "!intake", "dead-letter")])
    assert event_owners.attested(vault, [at, plain]) == [at, plain]
