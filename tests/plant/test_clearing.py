"""A slot is cleared on a running installation: what filled it is served nowhere any more, a vote brings it back, a
later write fills the slot again, and an erasure takes what was cleared."""

from __future__ import annotations

import json

import httpx
import pytest

from memquorum import cli
from memquorum.client import Invalid, Memory, NotFound
from memquorum.commands import OK
from memquorum.core.api.answers import Shown
from tests.support.sessions import Plant

ASKED = "What does Ada eat?"
SLOT = {"key": "dietary", "path": "users/ada"}


def fills(memory: Memory, after: str | None = None) -> Shown | None:
    try:
        return memory.slot(**SLOT, after=after)
    except NotFound:
        return None


def served(memory: Memory, after: str | None = None) -> set[str]:
    """The memories of Ada that any read gives."""
    found = {hit.memory_id for hit in memory.search(ASKED, peek=True, after=after)}
    found |= {item.memory_id for item in memory.retrieve(ASKED, peek=True).items}
    found |= {item.memory_id for item in memory.context(ASKED, peek=True).items}
    return found | {one.memory_id for one in memory.memories().memories}


def test_what_is_cleared_is_served_nowhere_and_comes_back_by_a_vote(fleet: Plant) -> None:
    with fleet.client("cleared") as memory:
        meat = memory.add("Ada eats no meat.", explicit=True, wait=True, subject="ada", **SLOT)
        other = memory.add("Ada eats her lunch at noon.", explicit=True, wait=True, key="lunch", path="users/ada")
        cleared = memory.clear(**SLOT, subject="ada")
        assert fills(memory, cleared.token) is None, "a read that names it waits for it"
        assert served(memory) == {other.memory_id}
        assert [path for path in memory.paths().paths] == ["users/ada"]
        became = memory.outcome(cleared)
        assert (became.outcome, became.hidden, became.stays) == ("cleared", (meat.memory_id,), ())
        shown = memory.get(meat.memory_id)
        assert (shown.tier, shown.text, shown.key, shown.path) == ("superseded", None, None, None)
        with pytest.raises(NotFound):
            memory.get(cleared.memory_id)
        ((alive,),) = fleet.rows("SELECT alive FROM living WHERE namespace = 'cleared'")
        assert alive == 1, "it is no memory"
        told = memory.explain(meat.memory_id).in_numbers()
        assert "superseded: its slot was cleared" in told and f"A write of nothing, {cleared.memory_id}, took" in told
        assert f"It took away {meat.memory_id}" in memory.explain(cleared.memory_id).in_numbers()

        again = memory.clear(**SLOT, wait=True)
        assert (again.outcome, again.hidden, again.stays) == ("empty", (), ())
        same = memory.clear(**SLOT, wait=True, event_id=cleared.event_id)
        assert (same.outcome, same.hidden) == ("cleared", (meat.memory_id,)), "published again it changes nothing"

        memory.restore(meat.memory_id, timeout=0.1)
        fleet.later(lambda: memory.get(meat.memory_id).tier == "short-term")
        found = fills(memory)
        assert found is not None and (found.memory_id, found.text) == (meat.memory_id, "Ada eats no meat.")
        assert "it came back at" in memory.explain(meat.memory_id).in_numbers()

        memory.clear(**SLOT)
        fish = memory.add("Ada eats no meat.", explicit=True, wait=True, subject="ada", **SLOT)
        assert fish.outcome == "stored" and fish.memory_id != meat.memory_id, "what is gone is not reinforced"
        found = fills(memory)
        assert found is not None and found.memory_id == fish.memory_id

        going = {one.memory_id for one in memory.erase(subject="ada").going}
        assert {meat.memory_id, fish.memory_id, cleared.memory_id} <= going
        memory.erase(subject="ada", dry_run=False)
        assert memory.event(cleared.event_id).outcome == "erased"


def test_what_is_another_agents_or_pinned_stays_and_is_named(fleet: Plant) -> None:
    with fleet.client("contested") as memory, fleet.client("contested", "nurse") as nurse:
        hers = nurse.add("Ada eats no nuts.", explicit=True, wait=True, **SLOT)
        mine = memory.add("Ada eats no meat.", explicit=True, wait=True, **SLOT)
        cleared = memory.clear(**SLOT, wait=True)
        assert (cleared.outcome, cleared.hidden, cleared.stays) == ("contested", (mine.memory_id,), (hers.memory_id,))
        nurse.pin(hers.memory_id)
        assert nurse.clear(**SLOT, wait=True).stays == (hers.memory_id,)
        nurse.unpin(hers.memory_id)
        noon = memory.add("Ada eats her lunch at noon.", wait=True)
        assert nurse.clear(memory_id=noon.memory_id, wait=True).stays == (noon.memory_id,)
        assert memory.clear(memory_id=noon.memory_id, wait=True).hidden == (noon.memory_id,)
        assert memory.get(noon.memory_id).tier == "superseded"
        assert "took it away at" in memory.explain(noon.memory_id).in_numbers()
        assert nurse.clear(**SLOT, wait=True).hidden == (hers.memory_id,)
        assert fills(memory) is None


def test_over_http_and_by_the_command_it_is_the_same(
    fleet: Plant, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(fleet.line.run_dir))
    with fleet.client("ways-to-clear") as memory:
        first = memory.add("Ada eats no meat.", explicit=True, wait=True, **SLOT)
        body = {"namespace": "ways-to-clear", "agent": "anna", **SLOT}
        answer = httpx.post(f"{fleet.line.retrieval_url}/memories/clear", json=body)
        assert answer.status_code == 202, answer.text
        assert fills(memory, answer.json()["token"]) is None
        assert memory.event(answer.json()["event_id"]).hidden == (first.memory_id,)
        refused = httpx.post(f"{fleet.line.retrieval_url}/memories/clear", json={**body, "content": "x"})
        assert (refused.status_code, refused.json()["field"]) == (400, "content")

        second = memory.add("Ada eats fish.", explicit=True, wait=True, **SLOT)
        said = ["-n", "ways-to-clear", "-a", "anna", "--path", "users/ada", "--wait"]
        assert cli.main(["clear", "dietary", *said]) == OK
        assert f"memquorum restore {second.memory_id}" in capsys.readouterr().out
        assert cli.main(["clear", "dietary", *said, "--json"]) == OK
        assert json.loads(capsys.readouterr().out)["outcome"] == "empty"
        with pytest.raises(Invalid, match="says nothing"):
            memory.add("Ada eats fish.", explicit=True, clears=True, **SLOT)
