"""Roll-ups on a running installation: what is said of a thing over sessions, corrected, as of then, and erased."""

from __future__ import annotations

import pytest

from memquorum import cli
from memquorum.client import Memory, NotFound
from memquorum.commands import NOT_FOUND, OK
from memquorum.core.api.answers import Rollup
from tests.support.sessions import MINUTE, Plant

# Memories stored this long ago are rolled up: infra/settings.py has five minutes.
DUE = 6 * MINUTE
FIRST = (
    "Pump 7 runs at 3.8 bar.",
    "Lena ordered a new gasket for pump 7.",
    "The cover of pump 7 is kept in hall 3.",
    "The motor of pump 7 was made by Brandt in Ulm.",
)
# Notes of the same session that are worth less: a summary that keeps everything is none.
BESIDE = ("The radio in the van is broken.", "The canteen was closed at noon.")
SECOND = ("Correction: pump 7 runs at 4.1 bar now.", "Marta Keller painted the cover of pump 7 blue.")


def texts(found: Rollup) -> list[str]:
    return [one.text for one in found.sentences]


def rolled_up(fleet: Plant, memory: Memory, topic: str, sentence: str) -> Rollup:
    """The roll-up, once it has a sentence; time stands still."""

    def has() -> Rollup | None:
        try:
            found = memory.rollup(topic)
        except NotFound:
            return None
        return found if sentence in texts(found) else None

    return fleet.until(has)


def test_facts_of_two_sessions_corrected_and_as_of_before(
    fleet: Plant, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    began = fleet.now
    with fleet.client("pumps") as memory:
        first = fleet.live(memory, notes=(*FIRST, *BESIDE))
        # It stays a memory of its own, whatever is summed up.
        memory.pin(first[0])
        fleet.turn(DUE)
        assert texts(rolled_up(fleet, memory, "pump 7", FIRST[0])) == list(FIRST)
        before = fleet.now
        fleet.turn()
        fleet.live(memory, session="shift-2", notes=SECOND)
        fleet.turn(DUE)
        now = rolled_up(fleet, memory, "the pump 7", SECOND[1])
        assert texts(now) == [*FIRST, *SECOND], "the correction stands behind what it corrects"
        assert texts(memory.rollup("pump 7", as_of=before)) == list(FIRST)
        told = memory.rollup("pump 7", history=True).history
        assert [one.op for one in told] == ["add"] * 6
        assert told[4].text == SECOND[0] and told[4].replaces is None and told[0].memory_id == first[0]
        with pytest.raises(NotFound):
            memory.rollup("pump 7", as_of=began)
        (of,) = [one for one in memory.rollups().topics if one.topic.casefold() == "pump 7"]
        assert (of.sentences, of.unreadable) == (6, 0)

        # Consolidated, the sources rest sealed, and what a summary quotes of them is read from it.
        memory.end_session("shift-1")
        made = {*fleet.later(lambda: fleet.summaries("pumps"))}
        found = memory.rollup("pump 7")
        assert texts(found) == texts(now), "the summary keeps its three whole"
        quoted = [one.read_from != one.memory_id for one in found.sentences]
        assert quoted == [False, True, True, True, False, False]
        (rolled,) = memory.retrieve("What is known about pump 7?", peek=True, k_max=1).rollups
        assert rolled.topic.casefold() == "pump 7" and 0 < len(rolled.sentences) + rolled.more == 6
        assert {*texts(rolled)} <= {*texts(now)}, "those that rest sealed are read from their summary"
        prompt = memory.context("What is known about pump 7?", peek=True, k_max=1, buffer_share=0)
        assert prompt.parts["rollups"] > 0 and "Of what is asked about:" in prompt.text
        assert memory.retrieve("What is known about pump 8?", peek=True, k_max=1).rollups == ()
        patched = "SELECT memory::text FROM patch WHERE namespace = 'pumps'"
        assert not made & {one for (one,) in fleet.rows(patched)}, "of a summary"
    monkeypatch.chdir(fleet.line.run_dir.parent)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(fleet.line.run_dir))
    asked = ["rollup", "show", "-n", "pumps", "--url", fleet.line.retrieval_url, "pump 7"]
    assert cli.main([*asked, "--as-of", str(before), "--history"]) == OK
    said = capsys.readouterr().out
    assert FIRST[0] in said and SECOND[0] not in said
    assert cli.main(["rollup", "list", "-n", "pumps", "--url", fleet.line.retrieval_url]) == OK
    assert "6 sentences" in capsys.readouterr().out
    assert cli.main([*asked[:-1], "pump 8"]) == NOT_FOUND


def test_what_is_erased_is_in_no_state_and_nor_is_its_name(fleet: Plant) -> None:
    began = fleet.now
    with fleet.client("clinic") as memory:
        fleet.live(memory, notes=("Frieda Weil lives at the harbour.", "Frieda Weil has a cat."), subject="frieda")
        fleet.live(memory, notes=("Lena met Frieda Weil in hall 3.", "The lamp in hall 3 is broken."))
        fleet.live(memory, notes=("The door of hall 3 is open.",))
        fleet.turn(DUE)
        found = rolled_up(fleet, memory, "Frieda Weil", "Frieda Weil has a cat.")
        assert len(found.sentences) == 3
        assert len(memory.rollup("frieda weil", persona="frieda").sentences) == 2
        before = fleet.now
        memory.erase(subject="frieda", dry_run=False)
        left = memory.rollup("Frieda Weil", as_of=before)
        assert (texts(left), left.unreadable) == (["Lena met Frieda Weil in hall 3."], 2)
        with pytest.raises(NotFound):
            memory.rollup("Frieda Weil", persona="anna", as_of=began)
        memory.erase(memory_id=left.sentences[0].memory_id, dry_run=False)
        with pytest.raises(NotFound):
            memory.rollup("Frieda Weil", as_of=before)
        assert all("weil" not in one.topic.casefold() for one in memory.rollups(as_of=before).topics)
        stored = fleet.rows("SELECT string_agg(p::text, ' ') FROM patch p WHERE namespace = 'clinic'")
        journal = fleet.rows("SELECT entry FROM journal WHERE effect = 'patched' AND namespace = 'clinic'")
        assert journal and "weil" not in str(stored).casefold()
        assert not any(b"weil" in bytes(entry).lower() for (entry,) in journal)


def test_a_consolidator_that_is_killed_patches_once(fleet: Plant) -> None:
    with fleet.client("pumps-killed") as memory:
        fleet.live(memory, notes=FIRST[:3])
        fleet.turn(DUE)
        fleet.kill("consolidator")
        assert texts(rolled_up(fleet, memory, "pump 7", FIRST[2])) == list(FIRST[:3])
        fleet.live(memory, notes=FIRST[3:])
        fleet.turn(DUE)
        rolled_up(fleet, memory, "pump 7", FIRST[3])
        told = fleet.rows("SELECT op, memory, start, topic FROM patch WHERE namespace = 'pumps-killed'")
        assert len(told) == len(set(told)) == len(FIRST)


def test_a_reader_sees_what_passes_its_gates(fleet: Plant) -> None:
    with fleet.client("gated") as memory:
        fleet.live(memory, notes=FIRST[:2])
        fleet.live(memory, notes=FIRST[2:3], sensitivity=0.9)
        fleet.turn(DUE)
        rolled_up(fleet, memory, "pump 7", FIRST[2])
        assert texts(memory.rollup("pump 7", sensitivity_max=0.5)) == list(FIRST[:2])
        assert memory.rollup("pump 7", sensitivity_max=0.5).unreadable == 0
        found = memory.retrieve("What is known about pump 7?", peek=True, k_max=1, sensitivity_max=0.5).rollups
        assert {said for one in found for said in texts(one)} <= {*FIRST[:2]}, "under the gates of its memories"
