"""A summary of which a source is erased, on a running installation: gone at once, made anew of what others said."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra import admin_commands, genesis, hold
from memquorum.client import Invalid, Memory
from memquorum.core.audit import receipts
from memquorum.schema_files import load_codec
from tests.support.sessions import HOUR, Plant

SAID = {
    "marta": "The boiler in hall 3 was serviced by Marta Keller on 12 March and runs at 74 degrees again.",
    "board": "We decided to move the pump test to Thursday 14:00 because the valve arrives on Wednesday.",
    "lena": "Lena will send the pressure log to the insurer by Friday.",
    "money": "It is still unclear who pays for the second gasket set, 480 euros.",
    "tomas": "Tomas measured 3.8 bar at the inlet and 2.1 bar at the outlet of pump 7.",
}


def lived(fleet: Plant, namespace: str, **said: dict[str, Any]) -> tuple[Memory, dict[str, str]]:
    """A client in a namespace in which a session has been lived and is over, and the ids of what was said. `said`: by
    subject, what else is said of its note."""
    memory, told = fleet.client(namespace), dict[str, str]()
    for subject, note in SAID.items():
        (told[subject],) = fleet.live(memory, notes=(note,), subject=subject, **said.get(subject, {}))
    memory.end_session("shift-1")
    return memory, told


def summary(fleet: Plant, namespace: str) -> str:
    """The summary that is served, once there is one."""
    (found,) = fleet.later(lambda: fleet.summaries(namespace))
    return found


def text(memory: Memory, memory_id: str) -> str:
    found = memory.search("pump valve log euros boiler", peek=True, k=20)
    return next(hit.text for hit in found if hit.memory_id == memory_id)


def drafted(fleet: Plant, namespace: str) -> str:
    """The summary that waits for its vote, once there is one; no time passes."""
    (found,) = fleet.until(lambda: fleet.summaries(namespace, "draft"))
    return found


def quoted(fleet: Plant, summary_id: str) -> set[str]:
    return {source for (source,) in fleet.rows("SELECT source::text FROM quote WHERE summary = %(s)s", s=summary_id)}


def test_others_are_still_found_after_one_source_is_erased(fleet: Plant, capsys: pytest.CaptureFixture[str]) -> None:
    memory, told = lived(fleet, "anew")
    with memory:
        old = summary(fleet, "anew")
        assert fleet.tiers("anew") == {"anna sealed": 5, "extractive/1 short-term": 1}
        until_of = "SELECT id::text, sealed_until FROM memory WHERE namespace = 'anew' AND tier = 'sealed'"
        sealed = dict(fleet.rows(until_of))
        would = memory.erase(subject="tomas")
        assert (would.memories, would.summaries, would.anew) == (2, 1, 1)
        assert {one.memory_id: one.summary for one in would.going} == {told["tomas"]: None, old: "anew"}
        done = memory.erase(subject="tomas", dry_run=False)
        assert (done.status, done.summaries, done.anew) == ("erased", 1, 1)
        gone = fleet.tiers("anew")
        assert (gone["extractive/1 gone"], gone["anna gone"], gone["anna sealed"]) == (1, 1, 4)
        assert not memory.search("Who measured the inlet of pump 7?", peek=True)
        assert "It was a summary, to be made anew of what others said" in memory.explain(old).in_numbers()
        left = f"sealed, since {old} said what was to be kept of it, which was erased"
        assert left in memory.explain(told["marta"]).in_numbers()

        new = summary(fleet, "anew")
        assert fleet.tiers("anew") == {
            "anna sealed": 4, "anna gone": 1, "extractive/1 gone": 1, "extractive/1 short-term": 1
        }  # fmt: skip
        said = text(memory, new)
        assert "Tomas" not in said and "pump 7" not in said and SAID["marta"] in said.split("\n")
        assert dict(fleet.rows(until_of)) == {one: at for one, at in sealed.items() if one != told["tomas"]}
        assert quoted(fleet, new) <= {told[name] for name in SAID if name != "tomas"}
        assert f"In its place {new} was made of what was left, which is short-term" in memory.explain(old).in_numbers()
        assert f"It was made in the place of {old}, which was erased" in memory.explain(new).in_numbers()
        assert f"sealed, since {new} says what is to be kept of it" in memory.explain(told["marta"]).in_numbers()
        assert done.order_id is not None
        receipt = fleet.until(lambda: found if (found := memory.erasure_receipt(done.order_id))["attested"] else None)
    assert receipt["erased"]["summaries"] == {"erased": 1, "anew": 1, "dropped": {}}
    made = genesis.read(fleet.line)
    assert receipts.verify(load_codec(), made, json.dumps(receipt).encode()).checked is not None


def test_what_others_said_is_voted_on_at_the_next_ticks_and_waits_for_no_interval(fleet: Plant) -> None:
    memory, _ = lived(fleet, "soon")
    with memory:
        drafted(fleet, "soon")
        fleet.turn()
        # By no further tick: from this epoch on the next one by the clock is an hour away.
        fleet.until(lambda: fleet.summaries("soon"))
        memory.erase(subject="tomas", dry_run=False)
        new = drafted(fleet, "soon")
        began = fleet.now

        def again() -> bool:
            fleet.turn(1_000)
            return bool(memory.search("Who serviced the boiler?", peek=True))

        fleet.until(again)
        assert fleet.now - began < HOUR // 2, "an epoch by the clock, or by what has expired, was due by then"
        assert "opened for a summary that was made in the place of an erased one" in memory.explain(new).in_numbers()
        assert fleet.summaries("soon") == [new]


def test_of_two_that_are_erased_one_after_the_other_nothing_is_in_the_new_one(fleet: Plant) -> None:
    memory, told = lived(fleet, "quick")
    with memory:
        summary(fleet, "quick")
        memory.erase(memory_id=told["marta"], dry_run=False)
        memory.erase(memory_id=told["board"], dry_run=False)
        new = summary(fleet, "quick")
        assert quoted(fleet, new) <= {told[name] for name in ("lena", "money", "tomas")}
        assert "Marta" not in text(memory, new) and "Thursday" not in text(memory, new)
        assert fleet.tiers("quick")["extractive/1 short-term"] == 1
        # A further source of the new one: of two that are left none is made.
        would = memory.erase(memory_id=told["lena"])
        assert {one.memory_id: one.summary for one in would.going} == {told["lena"]: None, new: "few"}
        done = memory.erase(memory_id=told["lena"], dry_run=False)
        assert (done.summaries, done.anew) == (1, 0)
        assert "dropped: of what it was made of fewer than 3 memories are left" in memory.explain(new).in_numbers()
        for _ in range(3):
            fleet.turn()
        assert set(fleet.tiers("quick")) == {"anna gone", "anna sealed", "extractive/1 gone"}
        assert not memory.search("pump valve log euros boiler", peek=True)


def test_a_draft_whose_source_is_erased_goes_and_another_is_made_where_that_saves_something(fleet: Plant) -> None:
    memory, told = lived(fleet, "draft")
    with memory:
        first = drafted(fleet, "draft")
        memory.erase(memory_id=told["tomas"], dry_run=False)
        again = drafted(fleet, "draft")
        assert again != first, "the draft of before said what was erased"
        done = memory.erase(subject="money", dry_run=False)
        assert (done.memories, done.summaries, done.anew) == (2, 1, 1)
        # The three that are left are its most important ones: a summary would keep all of it, and they stay alive.
        for _ in range(3):
            fleet.turn()
        assert fleet.tiers("draft") == {"anna short-term": 3, "anna gone": 2, "extractive/1 gone": 2}
        found = {hit.memory_id for hit in memory.search("pump valve log boiler", peek=True)}
        assert found == {told[name] for name in ("marta", "board", "lena")}


def test_a_draft_of_what_rests_sealed_goes_too_when_one_of_that_is_erased(fleet: Plant) -> None:
    memory, told = lived(fleet, "again")
    with memory:
        summary(fleet, "again")
        memory.erase(memory_id=told["tomas"], dry_run=False)
        waits = drafted(fleet, "again")
        would = memory.erase(memory_id=told["marta"])
        assert {one.memory_id: (one.was, one.summary) for one in would.going} == {
            told["marta"]: ("sealed", None), waits: ("draft", "anew")
        }  # fmt: skip
        memory.erase(memory_id=told["marta"], dry_run=False)
        new = summary(fleet, "again")
        assert new != waits and quoted(fleet, new) == {told[name] for name in ("board", "lena", "money")}
        assert fleet.rows("SELECT tier FROM memory WHERE id = %(i)s", i=waits) == [("gone",)]


def test_a_consolidator_that_is_killed_makes_it_anew_once(fleet: Plant) -> None:
    memory, told = lived(fleet, "anew-killed")
    with memory:
        summary(fleet, "anew-killed")
        fleet.kill("consolidator")
        memory.erase(memory_id=told["lena"], dry_run=False)
        new = summary(fleet, "anew-killed")
        assert quoted(fleet, new) <= {told[name] for name in SAID if name != "lena"}
        assert fleet.tiers("anew-killed") == {
            "anna sealed": 4, "anna gone": 1, "extractive/1 gone": 1, "extractive/1 short-term": 1
        }  # fmt: skip


def test_in_a_strict_namespace_the_others_stay_and_the_overlay_is_made_anew(fleet: Plant) -> None:
    memory, told = lived(fleet, "strict-anew")
    with memory:
        old = summary(fleet, "strict-anew")
        memory.erase(memory_id=told["tomas"], dry_run=False)
        assert memory.search("Who serviced the boiler?", peek=True), "what others said is there all along"
        new = summary(fleet, "strict-anew")
        assert new != old and told["tomas"] not in quoted(fleet, new)
        assert fleet.tiers("strict-anew") == {
            "anna short-term": 4, "anna gone": 1, "extractive/1 gone": 1, "extractive/1 short-term": 1
        }  # fmt: skip


@pytest.mark.parametrize("named", [{"agent": "anna"}, {"everything": True}, {"memory_id": "summary"}])
def test_what_names_all_or_the_summary_itself_leaves_none(fleet: Plant, named: dict[str, Any]) -> None:
    (how,) = named
    memory, _ = lived(fleet, f"none-{how.replace('_', '-')}")
    with memory:
        old = summary(fleet, f"none-{how.replace('_', '-')}")
        named = {"memory_id": old} if how == "memory_id" else named
        done = memory.erase(**named, dry_run=False)
        assert (done.status, done.summaries, done.anew) == ("erased", 1, 0)
        why = {"agent": "few", "everything": "named", "memory_id": "named"}[how]
        assert fleet.rows("SELECT summary FROM erased WHERE memory_id = %(i)s", i=old) == [(why,)]


def test_what_a_source_told_is_erased_with_its_summary_and_the_rest_made_anew(fleet: Plant) -> None:
    minutes = {"source": "minutes-7.pdf"}
    memory, told = lived(fleet, "document", board=minutes, money=minutes, tomas={"source": "gauge"})
    with memory:
        old = summary(fleet, "document")
        would = memory.erase(source="minutes-7.pdf")
        assert {one.memory_id: one.summary for one in would.going} == {
            told["board"]: None, told["money"]: None, old: "anew"
        }  # fmt: skip
        assert {one.because for one in would.going if one.memory_id == old} <= {told["board"], told["money"]}
        done = memory.erase(source="minutes-7.pdf", dry_run=False)
        assert (done.status, done.memories, done.summaries, done.anew) == ("erased", 3, 1, 1)
        new = summary(fleet, "document")
        assert quoted(fleet, new) <= {told[name] for name in ("marta", "lena", "tomas")}
        assert "Thursday" not in text(memory, new) and "480" not in text(memory, new)
        # Two remaining sources are too few for another summary.
        done = memory.erase(source="gauge", dry_run=False)
        assert (done.memories, done.summaries, done.anew) == (2, 1, 0)
        assert fleet.rows("SELECT summary FROM erased WHERE memory_id = %(i)s", i=new) == [("few",)]


def test_a_summary_made_anew_without_its_strictest_source_is_bound_by_the_rest(fleet: Plant) -> None:
    billing = {"purposes": ["billing", "ops"], "jurisdiction": "DE", "sensitivity": 0.15}
    strictest = billing | {"sensitivity": 0.2}
    # A memory with other bounds gets no summary: it stays, and binds none of the others.
    apart = {"purposes": ["billing"], "jurisdiction": "US", "sensitivity": 0.8}
    facets = {"marta": strictest, "tomas": apart, **dict.fromkeys(("board", "lena", "money"), billing)}
    memory, told = lived(fleet, "bound", **facets)
    bound = "SELECT sensitivity_ppm, purposes, jurisdictions FROM memory WHERE id = %(i)s"
    with memory:
        old = summary(fleet, "bound")
        assert fleet.rows(bound, i=old) == [(200_000, "billing,ops", "DE")]
        assert fleet.tiers("bound") == {"anna sealed": 4, "anna short-term": 1, "extractive/1 short-term": 1}
        asked = {"peek": True, "sensitivity_max": 0.15, "purpose": "ops", "jurisdictions": ["DE"], "k": 20}
        assert not memory.search("pressure log insurer", **asked)
        memory.erase(memory_id=told["marta"], dry_run=False)
        new = summary(fleet, "bound")
        assert fleet.rows(bound, i=new) == [(150_000, "billing,ops", "DE")]
        assert [hit.memory_id for hit in memory.search("pressure log insurer", **asked)] == [new]


def test_a_held_source_is_not_erased_and_the_summary_of_it_stays(fleet: Plant) -> None:
    memory, told = lived(fleet, "held")
    with memory:
        old = summary(fleet, "held")
        asked = admin_commands.parser().parse_args(
            ["memories", "hold", told["marta"], "-n", "held", "--reference", "case 9"]
        )
        assert hold.run(fleet.line, asked) == 0
        with pytest.raises(Invalid, match="hold"):
            memory.erase(subject="marta", dry_run=False)
        assert text(memory, old) and fleet.tiers("held")["extractive/1 short-term"] == 1
        # Another goes, and the one that is held is summed up anew with the rest, sealed as it is.
        memory.erase(subject="tomas", dry_run=False)
        new = summary(fleet, "held")
        assert SAID["marta"] in text(memory, new).split("\n")
