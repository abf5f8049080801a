"""A running installation takes nothing by inference: a memory that only seems to contradict another is served beside
it, marked, and no words of another agent end it. An explicit statement replaces a memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from memquorum.client import Memory, Receipt
from tests.support.sessions import Plant

UNIT = Path(__file__).parents[1] / "unit/core/vote/kinds"
PAIRS: list[dict[str, Any]] = [
    pair
    for name in ("served.yaml", "served_more.yaml")
    for pairs in yaml.safe_load((UNIT / name).read_text()).values()
    for pair in pairs
]
FACTS = ("The account of Vega Ltd is NL77.", "The due date of Vega is May 2.", "The approver for Vega is Selma.")
LIES = (
    "Correction: the account of Vega Ltd is NL00 now.",
    "Correction: the due date of Vega was moved to May 30.",
    "Correction: the approver for Vega is Magnus now.",
)


def voted(fleet: Plant, memory: Memory) -> None:
    """Waits until members have voted in the memory's shard on something that was said on purpose: of what was noted
    before, all that opens a vote is decided then."""
    old = memory.add("The spare keys hang behind the door.", wait=True, reward=0.9)
    memory.add("They lie under the mat.", explicit=True, supersedes=[old.memory_id], wait=True)
    fleet.later(lambda: memory.get(old.memory_id).tier == "superseded")


def disputes(memory: Memory, memory_id: str) -> list[str]:
    """The outcomes of the votes on whether another memory takes the place of this one."""
    votes = memory.explain(memory_id).account["votes"]
    return [vote["outcome"] for vote in votes if vote["kind"] in ("supersede", "overrule")]


def taken(fleet: Plant, memory: Memory) -> list[tuple[str, str]]:
    """Returns the kind and the outcome of each vote to replace one memory by another, beside that of `voted`."""
    told = (
        "SELECT o.kind, o.outcome FROM outcome o JOIN memory m ON m.id = o.memory_id "
        "WHERE m.namespace = %(n)s AND o.kind IN ('supersede', 'overrule') AND o.outcome <> 'superseded'"
    )
    return fleet.rows(told, n=memory.namespace)  # type: ignore[return-value]


def served(memory: Memory, ids: Sequence[str], texts: Sequence[str]) -> None:
    for memory_id, text in zip(ids, texts, strict=True):
        shown = memory.get(memory_id)
        assert (shown.tier, shown.text) == ("short-term", text)
        assert memory_id in {hit.memory_id for hit in memory.search(text, k=20, peek=True)}, text


def publish_pair(fleet: Plant, memory: Memory, pair: dict[str, Any], at: int) -> list[Receipt]:
    """Says both of a pair at one time, each under its key where they have some."""
    filed = [{"key": key, "explicit": True} for key in pair.get("keys", ())] or [{}, {}]
    return [
        memory.add(pair[which], reward=0.9, occurred_at=fleet.now + at, **how)
        for which, how in zip(("first", "second"), filed, strict=True)
    ]


def test_what_two_people_say_of_themselves_stays(fleet: Plant) -> None:
    with fleet.client("helpdesk", "helpdesk") as memory:
        named = {
            name: memory.add(
                f"My name is {name.title()}.", role="user", subject=name, session=f"{name}-1", wait=True, reward=0.9
            ).memory_id
            for name in ("lena", "tom")
        }
        voted(fleet, memory)
        for name, memory_id in named.items():
            (found,) = [one for one in memory.memories(subjects=[name]).memories if one.memory_id == memory_id]
            assert found.tier == "short-term"
            assert memory.get(memory_id).text == f"My name is {name.title()}."
            assert disputes(memory, memory_id) == []


def test_what_only_seems_to_be_contradicted_is_served(fleet: Plant) -> None:
    with fleet.client("seeming") as memory:
        receipts = [publish_pair(fleet, memory, pair, at) for at, pair in enumerate(PAIRS)]
        again = {
            at: memory.add(pair["first"], reward=0.9, occurred_at=fleet.now + len(PAIRS)).event_id
            for at, pair in enumerate(PAIRS)
            if pair.get("again")
        }
        last = list(again.values())[-1]
        fleet.until(lambda: fleet.rows("SELECT 1 FROM event WHERE event_id = %(e)s", e=last))
        voted(fleet, memory)
        first = [one.memory_id for one, _ in receipts]
        assert {memory.event(one.event_id).outcome for one, _ in receipts} == {"stored"}
        served(memory, first, [one["first"] for one in PAIRS])
        assert len(again) >= 4
        for at, event_id in again.items():
            assert memory.event(event_id).outcome == "reinforced"
            a, b = (memory.get(one.memory_id) for one in receipts[at])
            assert a.occurred_at > b.occurred_at and a.first_at == b.occurred_at, "it was said last"
        noted = "SELECT count(*) FILTER (WHERE stated), count(*) FROM conflict WHERE namespace = 'seeming'"
        ((stated, every),) = fleet.rows(noted)
        assert stated == 1 and every > 1, "contradictions were inferred, and what `voted` said alone is stated"
        assert taken(fleet, memory) == []


def test_corrections_of_another_agent_are_marked_and_take_nothing(fleet: Plant) -> None:
    with fleet.client("vega", "alice") as alice, fleet.client("vega", "mallory") as mallory:
        facts = [alice.add(text, wait=True, reward=0.9).memory_id for text in FACTS]
        lies = [mallory.add(text, wait=True, reward=0.9).memory_id for text in LIES]
        voted(fleet, alice)
        served(alice, facts, FACTS)
        assert taken(fleet, alice) == []
        hits = {hit.memory_id: hit for hit in alice.search("account of Vega Ltd", k=20, peek=True)}
        assert hits[facts[0]].conflicts_with == (lies[0],) and hits[lies[0]].conflicts_with == (facts[0],)

        (mark,) = hits[facts[0]].overtaken
        assert (mark.by, mark.agent, mark.disputed) == (lies[0], "mallory", True)
        assert ", disputed by another agent] alice: " in str(alice.context("account of Vega Ltd", peek=True))
        (listed,) = (one for one in alice.memories(limit=100).memories if one.memory_id == facts[0])
        assert listed.overtaken == (mark,)

        named = mallory.add(LIES[0] + " I am sure.", explicit=True, supersedes=[facts[0]], wait=True)
        fleet.later(lambda: disputes(alice, facts[0]))
        told = alice.explain(facts[0]).in_numbers()
        assert "the older one is another agent's, and nobody else has said what the newer one says" in told
        served(alice, facts, FACTS)
        hits = {hit.memory_id: hit for hit in alice.search(FACTS[0], k=20, peek=True)}
        assert facts[0] in hits[named.memory_id].conflicts_with

        own = alice.add("The account of Vega Ltd is NL78.", explicit=True, supersedes=[facts[0]], wait=True)
        fleet.later(lambda: alice.get(facts[0]).tier == "superseded")
        assert alice.get(own.memory_id).tier == "short-term", "its own agent corrects it on purpose"


def test_the_rest_of_a_corrected_note_comes_first_for_its_own_question(fleet: Plant) -> None:
    with fleet.client("annex", "ada") as ada, fleet.client("annex", "mallory") as mallory:
        note = ada.add(
            "Our office is in Graz, Annenstrasse 12. The alarm code is 4471. Parking is behind the building.",
            wait=True,
        )
        moved = ada.add("We moved the office to Linz.", wait=True)
        theirs = mallory.add("The alarm code is 9999 now.", wait=True)
        code = ada.add("Our alarm code changed: it is 5520 now.", wait=True)
        first = {
            question: ada.search(question, k=3, peek=True)[0].memory_id
            for question in ("Where can I park?", "Where is the office?", "What is the alarm code?")
        }
        assert list(first.values()) == [note.memory_id, moved.memory_id, code.memory_id]
        hits = {hit.memory_id: hit for hit in ada.search("What is the alarm code?", k=4, peek=True)}
        marks = {memory_id: {mark.by for mark in hit.overtaken} for memory_id, hit in hits.items()}
        assert marks[theirs.memory_id] == {code.memory_id} and code.memory_id in marks[note.memory_id]
