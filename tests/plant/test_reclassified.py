"""Orders to reclassify on a running installation: no way in gives what a raise keeps back, and a rebuild agrees."""

from __future__ import annotations

import json

import pytest

from memquorum.client import Invalid, Memory, NotFound
from tests.support.commands import ran
from tests.support.sessions import Plant

QUERY = "Which medicine does Ivy take in the morning?"


def stored(memory: Memory) -> tuple[str, str, str]:
    """Stores a memory, one that was made of it, and one that has nothing to do with it."""
    said = {"subject": "ivy", "sensitivity": 0.1, "wait": True}
    own = memory.add("Ivy takes 5 mg of bisoprolol each morning.", **said).memory_id
    made = memory.add(
        "Ivy keeps her heart medicine bisoprolol in the clinic and takes it before breakfast.",
        derives_from=[own],
        **said,
    ).memory_id
    other = memory.add("The gate of the clinic closes at nine.", subject="house", wait=True).memory_id
    assert own and made and other
    return own, made, other


def ways(memory: Memory, **gates: object) -> dict[str, set[str]]:
    """The memories that each way in gives a reader with these limits."""
    return {
        "search": {hit.memory_id for hit in memory.search(QUERY, k=10, peek=True, **gates)},
        "retrieve": {one.memory_id for one in memory.retrieve(QUERY, peek=True, **gates).items},
        "recall": {one.memory_id for one in memory.recall(query=QUERY, peek=True, **gates).items},
        "context": {one.memory_id for one in memory.context(QUERY, peek=True, **gates).items},
        "list": {one.memory_id for one in memory.memories(**gates).memories},
        "report": {one.memory_id for one in memory.report(subject="ivy", **gates)},
    }  # fmt: skip


def test_a_raise_is_in_force_at_once_by_every_way_in_and_a_lowering_gives_all_back(fleet: Plant) -> None:
    with fleet.client("reclassified") as memory:
        own, made, _ = stored(memory)
        gates = {"sensitivity_max": 0.5}
        before = ways(memory, **gates)
        assert {way: found >= {own, made} for way, found in before.items()} == dict.fromkeys(before, True)
        # Asked again, so that the answers are kept.
        assert ways(memory, **gates) == before
        done = memory.reclassify(own, sensitivity=0.9, purposes=["care"], reference="ticket-4", timeout=20)
        (one,) = done.memories
        assert (done.status, one.sensitivity, one.purposes) == ("reclassified", 0.9, ("care",))
        for limits in (gates, {}, {"purpose": "billing"}, {"purpose": "care", "sensitivity_max": 0.89}):
            for way, found in ways(memory, **limits).items():
                assert not found & {own, made}, (way, limits)
        assert all(found >= {own, made} for found in ways(memory, purpose="care").values())
        for hidden in (own, made):
            with pytest.raises(NotFound):
                memory.get(hidden, sensitivity_max=0.5, purpose="care")
            with pytest.raises(NotFound):
                memory.explain(hidden, sensitivity_max=0.5, purpose="care")
        # A memory made of it is no freer than it, whatever is ordered.
        (held,) = memory.reclassify(made, sensitivity=0.0, purposes=[], timeout=20).memories
        assert (held.sensitivity, held.purposes) == (0.9, ("care",))
        later = memory.add(
            "Ivy needs her medicine.", derives_from=[made], subject="ivy", sensitivity=0.0, wait=True
        ).memory_id
        assert later and memory.get(later, purpose="care").sensitivity == 0.9
        memory.reclassify(own, sensitivity=0.0, purposes=[], timeout=20)
        assert all(found >= {own, made} for found in ways(memory, **gates).values())
        assert memory.get(later).sensitivity == 0.0
        assert memory.order(one.order_id).reference == "ticket-4"
        assert {line.effect for line in memory.journal(memory_id=own).entries} >= {"stored", "reclassified"}
        assert "An order changed" not in str(memory.explain(made))


def test_what_is_wrong_is_refused_and_a_person_reaches_her_own_alone(fleet: Plant) -> None:
    with fleet.client("reclassified-wrong") as memory:
        own, _, other = stored(memory)
        with pytest.raises(Invalid, match="say a sensitivity"):
            memory.reclassify(own)
        with pytest.raises(Invalid, match="lie in"):
            memory.reclassify(own, sensitivity=1.5)
        with pytest.raises(Invalid, match="ISO 3166"):
            memory.reclassify(own, jurisdiction="Germany")
        with fleet.client("reclassified-elsewhere") as stranger, pytest.raises(NotFound):
            stranger.reclassify(own, sensitivity=0.9)
        done = ran(
            "memquorum", "reclassify", "-n", "reclassified-wrong", own, other, "--sensitivity", "0.7", "--jurisdiction",
            "DE", "--json", "--url", fleet.line.retrieval_url,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        told = json.loads(done.stdout)
        assert [(one["sensitivity"], one["jurisdictions"]) for one in told["memories"]] == [(0.7, ["DE"])] * 2
