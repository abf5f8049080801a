"""A namespace's memories as a graph of typed links, in JSON-LD 1.1 (SPEC D, provenance graph).

Each memory is a node, and so is each finished task, each goal that needs a memory, and each name that one is linked
with. Links: `derivesFrom` (what it was made of, or given), `temporalNext` (what its agent said next in the session;
written at the later one, as the reverse term `follows`), `contradicts`, `attachesToGoal`, and the links that publishers
state (`linking.KINDS`).
Links to what is erased, gone or out of the reader's sight are not there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from memquorum.core import moments
from memquorum.core.api.answers import FinishedTask, Listed
from memquorum.core.linking import KINDS
from memquorum.core.records import Link

VOCABULARY = "urn:memquorum:"
CONTEXT: dict[str, Any] = {
    "@version": 1.1,
    "@vocab": VOCABULARY,
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "prov": "http://www.w3.org/ns/prov#",
    "id": "@id",
    "type": "@type",
    "text": "https://schema.org/text",
    "occurredAt": {"@id": "prov:generatedAtTime", "@type": "xsd:dateTime"},
    "derivesFrom": {"@id": "prov:wasDerivedFrom", "@type": "@id"},
    "follows": {"@reverse": f"{VOCABULARY}temporalNext", "@type": "@id"},
    "contradicts": {"@type": "@id"},
    "helped": {"@type": "@id"},
    "didNotHelp": {"@type": "@id"},
    "attachesToGoal": {"@type": "@id"},
    "attributes": {"@type": "@json"},
    **{kind: {"@type": "@id"} for kind in KINDS},
}
_TYPES = {"episodic": "EpisodicMemory", "semantic": "SemanticMemory", "social": "SocialMemory", "task": "TaskMemory"}
# Fields of a memory that are exported unchanged, each with its term in the vocabulary.
_TOLD = {
    "agent": "agent", "subject": "subject", "session": "session", "role": "role", "source": "source", "key": "key",
    "path": "path", "attributes": "attributes",
    "event_id": "eventId", "tier": "tier", "made_by": "madeBy", "sensitivity": "sensitivity",
}  # fmt: skip


def node(namespace: str, one: Listed) -> dict[str, Any]:
    """The memory as a node; what it has nothing of is left out."""
    told: dict[str, Any] = {"id": f"urn:uuid:{one.memory_id}", "type": _types(one)}
    told |= {term: getattr(one, name) for name, term in _TOLD.items()}
    told |= {
        "namespace": namespace,
        "text": one.text,
        "occurredAt": moments.moment(one.occurred_at),
        "purposes": None if one.purposes is None else list(one.purposes),
        "jurisdictions": list(one.jurisdictions) or None,
        "derivesFrom": [f"urn:uuid:{source}" for source in one.derives_from] or None,
        "contradicts": [f"urn:uuid:{other}" for other in one.contradicts] or None,
        "attachesToGoal": [goal_id(namespace, goal) for goal in one.goals] or None,
        "follows": None if one.follows is None else f"urn:uuid:{one.follows}",
    }
    for kind in KINDS:
        told[kind] = [_target(namespace, link) for link in one.links if link.kind == kind] or None
    return {term: value for term, value in told.items() if value is not None}


def finished(one: FinishedTask) -> dict[str, Any]:
    """A finished task as a node: what it says, and the memories that it was given; what it has nothing of is left
    out."""
    given = [i for i in one.retrieved if i not in one.unknown]
    told: dict[str, Any] = {
        "id": f"urn:uuid:{one.task}", "type": "FinishedTask", "namespace": one.namespace, "agent": one.agent,
        "subject": one.subject, "goal": one.goal, "inputs": one.inputs or None, "outputs": one.outputs or None,
        "tools": list(one.tools) or None, "outcome": one.outcome, "saidBy": one.said_by,
        "occurredAt": moments.moment(one.finished_at),
        "derivesFrom": [f"urn:uuid:{i}" for i in given] or None,
        "helped": [f"urn:uuid:{i}" for i in one.helped] or None,
        "didNotHelp": [f"urn:uuid:{i}" for i in one.did_not_help] or None,
    }  # fmt: skip
    return {term: value for term, value in told.items() if value is not None}


def goals(namespace: str, listed: Iterable[Listed], told: set[str]) -> Iterator[dict[str, Any]]:
    """The goals that need some of the memories, each once: those in `told` are not told again, and it grows."""
    for goal in (goal for one in listed for goal in one.goals):
        if goal not in told:
            told.add(goal)
            yield {"id": goal_id(namespace, goal), "type": "Goal", "namespace": namespace, "name": goal}


def named(namespace: str, listed: Iterable[Listed], told: set[str]) -> Iterator[dict[str, Any]]:
    """Yields the named things that the memories are linked with, each once; `told` holds the names that were exported
    already, and grows."""
    for name in (link.name for one in listed for link in one.links if link.name is not None):
        if name not in told:
            told.add(name)
            yield {"id": name_id(namespace, name), "type": "Named", "namespace": namespace, "name": name}


def name_id(namespace: str, name: str) -> str:
    """Returns the URN of a named thing that memories are linked with."""
    return f"{VOCABULARY}named:{_quoted(namespace)}:{_quoted(name)}"


def goal_id(namespace: str, goal: str) -> str:
    """The name of a goal as a URN. Characters that a URN does not allow are percent-encoded."""
    return f"{VOCABULARY}goal:{_quoted(namespace)}:{_quoted(goal)}"


def _types(one: Listed) -> str | list[str]:
    of = _TYPES[one.type]
    return of if one.made_by is None else [of, "Summary"]


def _target(namespace: str, link: Link) -> str:
    return f"urn:uuid:{link.to}" if link.to is not None else name_id(namespace, link.name or "")


def _quoted(name: str) -> str:
    kept = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._")
    return "".join(c if c in kept else "".join(f"%{byte:02X}" for byte in c.encode()) for c in name)
