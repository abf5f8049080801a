"""Links that publishers name: what may be stored, which memory each is to, and names that come back from their seal."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from memquorum.core import ids, labelling, letters, linking
from memquorum.core.labelling import Labels
from memquorum.core.records import Link
from tests.builders.shard import NAMESPACE, accepted, memory_id

KEY, NONCE = b"k" * 32, b"n" * 12
A, B, C = (memory_id(name) for name in "abc")
BOTH = (Link("requires", A), Link("isA"), Link("friendOf"))


def sealed(*names: str) -> bytes:
    return labelling.seal(KEY, NONCE, Labels(), names, memory_id("c"))


@pytest.mark.parametrize(
    ("links", "told"),
    [
        ((Link("owns", A),), "of kind 'owns'"),
        ((Link("isA", name="pump"),), "tells a name"),
        ((Link("isA", "pump"),), "no UUID"),
        ((Link("isA", A),) * 17, "17 links"),
    ],
)
def test_what_intake_lets_in_of_no_link_is_not_stored(links: tuple[Link, ...], told: str) -> None:
    assert told in (linking.fault(links) or "")
    assert linking.fault(BOTH) is None


def test_a_link_is_to_the_memory_of_its_id_or_else_of_its_event_id() -> None:
    event = "0b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a11"
    of_event = ids.memory_id(NAMESPACE, event)
    links = (Link("requires", A), Link("partOf", event), Link("partOf", of_event), Link("isA"), Link("isA", C))
    assert linking.targets(NAMESPACE, links) >= {A, event, of_event, C}
    there = {A, of_event, C}
    assert linking.resolved_links(C, NAMESPACE, links, there) == [("requires", A), ("partOf", of_event)]
    assert linking.resolved_links(C, NAMESPACE, links, there | {event})[1] == ("partOf", event)


def test_a_link_leads_nowhere_unless_it_was_noted() -> None:
    event = "0b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a11"
    links = (Link("requires", A), Link("partOf", event), Link("isA"), Link("partOf", A))
    noted = {("requires", A), ("partOf", ids.memory_id(NAMESPACE, event))}
    assert linking.nowhere(NAMESPACE, links, noted) == (Link("partOf", A),)
    assert linking.nowhere(NAMESPACE, links, set()) == (links[0], links[1], links[3])


def test_names_come_back_from_their_seal_in_their_order() -> None:
    episode = replace(accepted("c", 1), links=BOTH, sealed_labels=sealed("pump", "marta weil"))
    assert linking.named(episode, KEY) == ("isA pump", "friendOf marta weil")
    assert [linking.read(one).name for one in linking.named(episode, KEY)] == ["pump", "marta weil"]
    assert linking.published(episode, KEY)[0] == Link("requires", A)
    assert linking.named(accepted("c", 1), KEY) == ()


@pytest.mark.parametrize("names", [None, sealed("pump"), b"altered"])
def test_a_name_that_is_not_there_is_no_link(names: bytes | None) -> None:
    with pytest.raises(ValueError, match=r"cannot be opened|not there"):
        linking.named(replace(accepted("c", 1), links=BOTH, sealed_labels=names), KEY)


def test_the_letter_of_what_failed_has_the_names_under_seal() -> None:
    episode = replace(accepted("c", 1), links=BOTH, sealed_labels=sealed("pump", "marta"))
    letter = letters.of_failed(episode, "said", KEY, NONCE, why="encoder", at=1)
    opened = letters.open_payload(memory_id("c"), KEY, letter.sealed_payload)
    assert b'{"kind": "friendOf", "name": "marta"}' in opened and b"marta" not in letter.sealed_payload


def test_what_failed_has_its_letter_where_its_names_cannot_be_opened() -> None:
    episode = replace(accepted("c", 1), links=BOTH, sealed_labels=b"altered")
    letter = letters.of_failed(episode, "said", KEY, NONCE, why="encoder", at=1)
    opened = letters.open_payload(memory_id("c"), KEY, letter.sealed_payload)
    assert json.loads(opened)["links"] == [{"kind": "requires", "to": A}]
