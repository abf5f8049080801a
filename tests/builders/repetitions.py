"""Memories that repeat each other, and what an erasure takes of them."""

from __future__ import annotations

from typing import Any

from memquorum.core.orders.erase import MEMORY
from tests.builders.shard import Shard, memory_id

A = memory_id("a")

# first: agent and marks of `a`; then each memory that repeats it; what is named; what goes.
CASES: dict[str, tuple[dict[str, Any], dict[str, dict[str, Any]], tuple[str, str], set[str]]] = {
    "an echo that nobody else supports takes what it is an echo of": (
        {}, {"b": {}}, (MEMORY, memory_id("b")), {"a", "b"},
    ),
    "and its other echoes": ({}, {"b": {}, "c": {}}, (MEMORY, memory_id("b")), {"a", "b", "c"}),
    "an echo of another agent takes nothing": (
        {"subject": "ada"}, {"b": {"subject": "ada", "agent": "reviewer"}}, (MEMORY, memory_id("b")), {"b"},
    ),
    "another agent's echo supports what an echo is of": (
        {"subject": "ada"},
        {"b": {"subject": "ada"}, "c": {"subject": "ada", "agent": "reviewer"}},
        (MEMORY, memory_id("b")), {"b"},
    ),
    "an agent that erases itself takes nobody's word": (
        {"subject": "ada"}, {"b": {"subject": "ada", "agent": "reviewer"}}, ("agent", "reviewer"), {"b"},
    ),
    "what was first said of nobody goes with what says of whom": (
        {}, {"b": {"subject": "ada", "sensitivity_ppm": 1_000_000}}, ("subject", "ada"), {"a", "b"},
    ),
    "and with what says of whom and from where": (
        {}, {"b": {"subject": "ada", "source": "mail"}}, ("source", "mail"), {"a", "b"},
    ),
    "also where what says of whom came first": (
        {"subject": "ada"}, {"b": {}}, ("subject", "ada"), {"a", "b"},
    ),
    "what another agent said of nobody stays": (
        {"agent": "reviewer", "subject": "reviewer"}, {"b": {"subject": "ada"}}, ("subject", "ada"), {"b"},
    ),
    "what is of somebody else stays": (
        {"subject": "bob"}, {"b": {"subject": "ada"}}, ("subject", "ada"), {"b"},
    ),
    "what says of whom stays where what says nothing is named": (
        {}, {"b": {"subject": "ada"}}, (MEMORY, A), {"a"},
    ),
    "whence it came says nothing of whom": (
        {"source": "chat"}, {"b": {"subject": "ada"}}, ("subject", "ada"), {"a", "b"},
    ),
    "nor where what says of whom came first": (
        {"subject": "ada", "source": "mail"}, {"b": {"source": "chat"}}, ("subject", "ada"), {"a", "b"},
    ),
    "what another agent said of nobody stays, from wherever": (
        {"source": "chat", "agent": "reviewer", "subject": "reviewer"}, {"b": {"subject": "ada"}},
        ("subject", "ada"), {"b"},
    ),
    "of what is named one by one each source supports its own": (
        {"source": "chat"}, {"b": {"subject": "ada"}}, (MEMORY, memory_id("b")), {"b"},
    ),
    "from elsewhere stays": (
        {"source": "feed"}, {"b": {"source": "mail"}}, ("source", "mail"), {"b"},
    ),
    "stricter gates go along": (
        {"subject": "ada"}, {"b": {"subject": "ada", "sensitivity_ppm": 1_000_000}},
        (MEMORY, memory_id("b")), {"a", "b"},
    ),
    "another agent's word between two of one agent hides neither": (
        {"subject": "ada", "source": "mail"},
        {"b": {"subject": "ada", "source": "crm", "agent": "reviewer"}, "c": {"reinforces": memory_id("b")}},
        ("subject", "ada"), {"a", "b", "c"},
    ),
    "nor where that stays": (
        {"subject": "ada", "source": "mail"},
        {"b": {"subject": "ada", "source": "crm", "agent": "reviewer"}, "c": {"reinforces": memory_id("b")}},
        ("source", "mail"), {"a", "c"},
    ),
    "nor where that came first": (
        {"subject": "ada", "source": "crm", "agent": "reviewer"}, {"b": {}, "c": {"subject": "ada", "source": "mail"}},
        ("source", "mail"), {"b", "c"},
    ),
    "what another agent says of an agent supports what that agent says of nobody": (
        {},
        {
            "echo": {"subject": "planner", "agent": "reviewer"}, "b": {"subject": "ada"},
            "c": {"subject": "ada", "agent": "reviewer", "sensitivity_ppm": 1_000_000},
        },
        ("subject", "ada"), {"b", "c"},
    ),
}  # fmt: skip


def shard_with(shard: Shard, first: dict[str, Any], again: dict[str, dict[str, Any]]) -> Shard:
    shard.tick(1_000)
    shard.episode("a", **first)
    for name, said in again.items():
        shard.episode(name, outcome="reinforced", **({"reinforces": A} | said))
    return shard
