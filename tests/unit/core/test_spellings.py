"""Names that read the same are the same: composed once at intake, and asked for so, whatever way they are spelled."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum import topics
from memquorum.client import items, wire
from memquorum.core import intake, jsontext, labelling, names
from memquorum.core.access import _slots
from memquorum.core.accounts import erasing, pages
from memquorum.core.avro import Codec
from memquorum.core.experience import ended
from memquorum.core.identity import signatures
from memquorum.core.intake import EndIntent, EpisodeIntent, Intent, Origin, Refusal
from memquorum.core.reasons import Reason
from memquorum.core.records import ErasureOrdered
from memquorum.core.retrieval import filing, listing, query
from tests.builders import genesis

NOW = 1_750_000_000_000
NFC, NFD = "Zo\u00eb", "Zoe\u0308"
BOTH = pytest.mark.parametrize("said", [NFC, NFD])
SPELLINGS = (NFC, NFD)
GENESIS = genesis.make(signed=["vaulted"], agent_keys={"ann": genesis.public_key("agent:ann")})


def accept(value: dict[str, Any], topic: str = topics.EPISODES, **more: Any) -> Intent | Refusal:
    return intake.accept(Codec([]), json.dumps(value).encode(), Origin(topic, 0, 0, NOW), NOW, False, **more)


@given(st.text())
def test_a_text_has_one_composed_form(text: str) -> None:
    found = names.normal(text)
    assert names.normal(found) == found == names.normal(unicodedata.normalize("NFD", text))
    assert {found, text} <= set(names.spellings(text)) and names.spellings(text)[0] == found


@BOTH
def test_what_an_episode_names_is_composed(said: str) -> None:
    found = accept({
        "agent": "ann", "content": said, "subject": said, "session": said, "source": said, "role": said,
        "path": f"users/{said}", "key": said, "explicit": True, "attributes": {said: [said, {"in": said}], "n": 1},
        "links": [{"kind": "isA", "name": said}], "event_id": said,
    })  # fmt: skip
    assert isinstance(found, EpisodeIntent)
    assert (found.subject, found.session, found.source, found.role, found.names) == (NFC, NFC, NFC, NFC, (NFC,))
    assert (found.labels.key, found.labels.path) == (NFC, f"users/{NFC}")
    assert labelling.read(found.labels.attributes) == {NFC: [NFC, {"in": NFC}], "n": 1}
    # Content in words, and ids, stay as they are.
    assert (found.content, found.event_id) == (said, said)


@pytest.mark.parametrize("topic", [topics.EPISODES, topics.TASKS, topics.ENDS, topics.QUERIES, topics.ACCESSES])
def test_an_agent_that_is_not_composed_is_refused(topic: str) -> None:
    said = {
        topics.EPISODES: {"content": "c"}, topics.TASKS: {"goal": "g", "outcome": "failed"},
        topics.ENDS: {"session": "s"}, topics.QUERIES: {"query": "q"},
        topics.ACCESSES: {"memory_ids": ["6f1c1a52-5a0e-5d0c-9d57-2f6d656d3000"]},
    }[topic]  # fmt: skip
    assert not isinstance(accept({"agent": NFC, **said}, topic), Refusal)
    found = accept({"agent": NFD, **said}, topic)
    assert isinstance(found, Refusal) and (found.reason, found.field) == (Reason.BAD_NAME, "agent")
    assert "NFC" in found.detail and NFD not in found.detail


def test_who_said_how_a_task_ended_is_an_agent_too() -> None:
    found = accept({"agent": "ann", "goal": "g", "outcome": "failed", "said_by": NFD}, topics.TASKS)
    assert isinstance(found, Refusal) and (found.reason, found.field) == (Reason.BAD_NAME, "said_by")


def test_two_names_of_attributes_that_read_the_same_are_refused() -> None:
    with pytest.raises(jsontext.JsonRefused, match="read the same"):
        labelling.parsed(json.dumps({NFC: 1, NFD: 2}))
    found = accept({"agent": "ann", "content": "c", "attributes": {NFC: 1, NFD: 2}})
    assert isinstance(found, Refusal) and (found.reason, found.field) == (Reason.DUPLICATE_FIELD, "attributes")


@pytest.mark.parametrize("name", ["key", "path"])
def test_where_agents_sign_a_slot_is_signed_as_it_is_filed(name: str) -> None:
    """Members compare what was signed with the slot that an episode fills; they change neither."""

    def sent(said: str) -> Intent | Refusal:
        value = {
            "agent": "ann", "content": "c", "namespace": "vaulted", "key": "k", "explicit": True, "subject": NFD,
            name: said,
        }  # fmt: skip
        data = json.dumps(value).encode()
        seed = genesis.seed_of("agent:ann")
        proof = signatures.sign(GENESIS.cluster, topics.EPISODES, seed, data)
        return accept(value, genesis=GENESIS, signature=proof)

    found = sent(NFC)
    assert isinstance(found, EpisodeIntent) and found.subject == NFC
    assert found.signed is not None and json.dumps(NFD).encode() in found.signed, "what is signed stays as it was"
    refused = sent(NFD)
    assert isinstance(refused, Refusal) and (refused.reason, refused.field) == (Reason.BAD_NAME, name)
    # So the client composes it before it signs.
    _, data = wire.checked(topics.EPISODES, {"agent": "ann", "content": "c", "key": "k", "explicit": True, name: NFD})
    assert json.loads(data)[name] == NFC


@BOTH
def test_a_session_ends_by_either_spelling(said: str) -> None:
    found = accept({"agent": "ann", "session": said}, topics.ENDS)
    assert isinstance(found, EndIntent) and found.session == NFC
    assert ended.event_id("ann", "n", "ann", said) == ended.event_id("ann", "n", "ann", NFC)


@BOTH
def test_questions_ask_for_the_composed_form_and_for_what_was_stored_before(said: str) -> None:
    asked = {
        "subjects": [said], "sessions": [said], "agents": [said], "keys": [said], "path": f"users/{said}",
        "where": {said: said},
    }  # fmt: skip
    filters = listing.read_list(json.dumps(asked).encode()).gates
    for found in (filters.subjects, filters.sessions, filters.agents, filters.keys):
        assert found == SPELLINGS
    assert (filters.path, filters.older_path) == (f"users/{NFC}", f"users/{NFD}")
    for spelling in SPELLINGS:
        # In the names of attributes only what was composed is found.
        attributes = {NFC: spelling}
        at = f"users/{spelling}/notes"
        assert filing.passes(filters.path, filters.where, filed=at, attributes=attributes, older=filters.older_path)
    assert not filing.passes(filters.path, filters.where, filed="users/Zoe", attributes={NFC: NFC}, older="users/x")
    slot = listing.read_slot(json.dumps({"key": said, "path": said}).encode())
    assert (slot.key, slot.path) == (NFC, NFC)
    tasks = pages.read_tasks(json.dumps({"subjects": [said], "agents": [said]}).encode())
    assert (tasks.subjects, tasks.agents) == (SPELLINGS, SPELLINGS)
    search = query.read_search(json.dumps({"query": said, "agent": "ann", "subjects": [said]}).encode())
    assert (search.query, search.filters.subjects) == (said, SPELLINGS)


def test_who_reads_is_an_agent_whose_name_is_composed() -> None:
    with pytest.raises(query.BadRequest, match="NFC") as refused:
        query.read_search(json.dumps({"query": "q", "agent": NFD}).encode())
    assert refused.value.field == "agent"


@BOTH
def test_a_condition_that_excludes_a_text_excludes_both_spellings(said: str) -> None:
    conditions = filing.read({"name": {"$ne": said}})
    assert not any(filing.passes(None, conditions, filed=None, attributes={"name": one}) for one in SPELLINGS)
    assert filing.passes(None, conditions, filed=None, attributes={"name": "Zoe"})


@BOTH
@pytest.mark.parametrize("selector", ["subject", "source", "agent"])
def test_an_erasure_by_either_spelling_is_one_of_both(said: str, selector: str) -> None:
    asked = erasing.read_erasure(json.dumps({selector: said}).encode(), NOW)
    assert {asked.order.value, *(one.value for one in asked.otherwise)} == {NFC, NFD}
    assert asked.order.value == (said if selector == "agent" else NFC)


def test_other_selectors_have_one_spelling() -> None:
    order = ErasureOrdered(b"", "o", "n", "namespace", "", "x", NOW)
    assert erasing.otherwise(order) == ()
    assert erasing.read_erasure(b'{"subject": "ada"}', NOW).otherwise == ()


def test_adapters_file_and_ask_alike_and_give_values_back_as_they_were() -> None:
    assert items.path_of(["users", NFD]) == items.path_of(["users", NFC]) and items.key_of(NFD) == items.key_of(NFC)
    for value in ({"text": "t", "name": NFD}, {"text": "t", "name": NFC}):
        content, attributes = items.written(value, ["t"], "text")
        stored = labelling.read(labelling.parsed(json.dumps(attributes)))
        assert items.read(content, stored) == value


def test_slots_of_an_api_key_are_composed() -> None:
    assert _slots([f"users/{NFD}/*", "*"], ["publish"]) == (f"users/{NFC}/*", "*")
