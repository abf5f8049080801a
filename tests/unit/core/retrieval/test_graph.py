"""Memories as a graph in JSON-LD: nodes, links, and what is not there."""

from __future__ import annotations

from typing import Any

from memquorum.core.api.answers import Listed
from memquorum.core.records import Link
from memquorum.core.retrieval import graph

ONE, TWO = "5f0c8f0e-0000-5000-8000-000000000001", "5f0c8f0e-0000-5000-8000-000000000002"


def listed(**more: Any) -> Listed:
    told: dict[str, Any] = {
        "memory_id": ONE, "namespace": "plant", "text": "Valve 3 opens at 4 bar.", "tier": "short-term", "agent": "ann",
        "subject": "ann", "event_id": "e1", "occurred_at": 1_750_000_000_123, "changed": 5, "sealed_until": None,
        "confidence": None, "last_access": 1, "accesses": 0, "reinforced": 0, "salience": 0.5, "replays": 0,
        "fades": True, "due_at": 9,
    }  # fmt: skip
    return Listed(**told | more)


def test_a_node_says_what_is_there_and_nothing_of_what_is_not() -> None:
    assert graph.node("plant", listed()) == {
        "id": f"urn:uuid:{ONE}", "type": "EpisodicMemory", "namespace": "plant", "agent": "ann", "subject": "ann",
        "eventId": "e1", "tier": "short-term", "sensitivity": 0.0, "text": "Valve 3 opens at 4 bar.",
        "occurredAt": "2025-06-15T15:06:40.123Z",
    }  # fmt: skip
    sealed = graph.node("plant", listed(text=None, tier="sealed", purposes=(), jurisdictions=("DE",)))
    assert "text" not in sealed and (sealed["purposes"], sealed["jurisdictions"]) == ([], ["DE"])


def test_every_link_has_a_term_of_the_context() -> None:
    one = graph.node(
        "plant",
        listed(derives_from=(TWO,), contradicts=(TWO,), goals=("start up",), follows=TWO, made_by="extractive/1"),
    )
    other = f"urn:uuid:{TWO}"
    assert (one["derivesFrom"], one["contradicts"], one["follows"]) == ([other], [other], other)
    assert one["type"] == ["EpisodicMemory", "Summary"]
    assert one["attachesToGoal"] == ["urn:memquorum:goal:plant:start%20up"]
    for term in ("derivesFrom", "contradicts", "follows", "attachesToGoal", "requires", "isA", "partOf", "friendOf"):
        assert graph.CONTEXT[term]["@type"] == "@id"
    assert graph.CONTEXT["follows"]["@reverse"] == "urn:memquorum:temporalNext"


def test_a_goal_is_told_once() -> None:
    told: set[str] = set()
    both = [listed(goals=("a", "b")), listed(goals=("b",))]
    assert [one["name"] for one in graph.goals("plant", both, told)] == ["a", "b"]
    assert list(graph.goals("plant", both, told)) == []


def test_names_of_two_goals_do_not_become_one() -> None:
    assert graph.goal_id("a", "b:c") != graph.goal_id("a:b", "c")


def test_what_publishers_say_is_linked_to_memories_and_to_names() -> None:
    links = (Link("requires", TWO), Link("isA", name="pump 7"), Link("friendOf", name="marta"), Link("isA", TWO))
    one = graph.node("plant", listed(links=links))
    pump, marta = "urn:memquorum:named:plant:pump%207", "urn:memquorum:named:plant:marta"
    assert (one["requires"], one["isA"], one["friendOf"]) == ([f"urn:uuid:{TWO}"], [pump, f"urn:uuid:{TWO}"], [marta])
    assert "partOf" not in one
    told: set[str] = set()
    both = [listed(links=links), listed(links=links)]
    assert [(node["id"], node["name"]) for node in graph.named("plant", both, told)] == [
        (pump, "pump 7"),
        (marta, "marta"),
    ]
    assert list(graph.named("plant", both, told)) == []
