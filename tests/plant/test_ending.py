"""The end of a session that several agents spoke in, on a running installation, and what is told of that."""

from __future__ import annotations

import pytest

from memquorum import cli
from memquorum.client import NotFound
from memquorum.commands import FAILED, OK
from tests.builders.notes import NOTES as TWELVE
from tests.support.sessions import NOTES, Plant

OF = "SELECT id::text FROM memory WHERE agent = %(a)s AND namespace = 'ending'"
HIS = [*TWELVE[5:7], *TWELVE[8:11]]  # none of which suggests a sensitivity


@pytest.fixture(autouse=True)
def line(fleet: Plant, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command line finds the fleet."""
    monkeypatch.chdir(fleet.line.run_dir.parent)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(fleet.line.run_dir))
    monkeypatch.delenv("MEMQUORUM_AGENT", raising=False)


def test_a_session_ends_for_all_and_is_told_of(fleet: Plant, capsys: pytest.CaptureFixture[str]) -> None:
    with fleet.client("ending") as anna, fleet.client("ending", "bert") as bert:
        fleet.live(anna)
        fleet.live(bert, notes=HIS)
        before = anna.session("shift-1")
        assert [(one.agent, one.memories, one.coming) for one in before.parts] == [("anna", 5, (5,)), ("bert", 5, (5,))]
        assert cli.main(["session", "-n", "ending", "shift-1"]) == OK
        open_yet = capsys.readouterr().out
        assert open_yet.count("a summary of 5 of them is made once the session is over") == 2
        assert open_yet.startswith("The session is not over yet;") and "\nNext: it is over by " in open_yet
        assert cli.main(["end-session", "-n", "ending", "-a", "anna", "shift-1", "--wait", "60"]) == OK
        out = capsys.readouterr().out
        assert "shift-1 of ending is over for anna" in out and "of 5 of them waits for the members' vote" in out
        assert "It is not over for bert (5 memories)" in out and "\nNext: the members vote " in out
        # The same from Python, for all.
        anna.end_session("shift-1", everyone=True)
        fleet.until(lambda: all(one.waiting for one in anna.session("shift-1").parts))
        assert len(fleet.summaries("ending", "draft")) == 2, "anna's part was over already"
        (draft, _) = fleet.summaries("ending", "draft")
        account = anna.explain(draft).in_numbers()
        assert "It waits for its vote" in account and "in epoch" in account and "nothing to forget" not in account
        fleet.later(lambda: len(fleet.summaries("ending")) == 2)
        for part in anna.session("shift-1").parts:
            (one,) = part.summaries
            assert (part.memories, part.sealed, part.waiting, part.coming) == (0, 5, (), ())
            assert set(fleet.sources(one.memory_id)) == {
                i for (i,) in fleet.rows(OF, a=part.agent)
            }  # fmt: skip
            assert (one.status, one.memories) == ("served", 5)
        capsys.readouterr()
        assert cli.main(["session", "-n", "ending", "shift-1"]) == OK
        assert "anna: 5 put away, since a summary says what is to be kept of them" in capsys.readouterr().out


def test_why_no_summary_is_made_is_told_and_what_nobody_said_is_not_over(
    fleet: Plant, capsys: pytest.CaptureFixture[str]
) -> None:
    with fleet.client("why") as memory:
        fleet.live(memory, notes=NOTES[:2])
        with pytest.raises(NotFound):
            memory.session("shift-2")
    assert cli.main(["end-session", "-n", "why", "shift-1"]) == OK
    assert "2 not summed up: too few" in capsys.readouterr().out
    assert cli.main(["end-session", "-n", "why", "shift-2", "--wait", "1"]) == FAILED
    told = capsys.readouterr()
    assert "is over for" not in told.out and "no memory in why is of session shift-2" in told.err


CHAT = (
    "You know how it is with all of this, so we just go on.",
    "We are as many as we were, and it is as quiet here as it was.",
)


def test_at_one_end_all_its_summaries_are_made(fleet: Plant) -> None:
    """Memories with other bounds wait for no further end, however important the rest is."""
    with fleet.client("once", "kim") as kim:
        fleet.live(kim, notes=[*NOTES[:3], *CHAT], explicit=False, purposes=["billing"], jurisdiction="DE")
        fleet.live(kim, notes=["The lift in block C is out of order.", "Block C has 14 flats.", f"{CHAT[0]} {CHAT[1]}"])
        (before,) = kim.session("shift-1").parts
        assert sorted(before.coming) == [3, 5] and before.ends_at is not None and before.staying == {}
        kim.end_session("shift-1")
        fleet.until(lambda: not kim.session("shift-1").parts[0].coming)
        assert sorted(one.memories for one in kim.session("shift-1").parts[0].waiting) == [3, 5]


def test_a_summary_is_told_as_it_stands(fleet: Plant, capsys: pytest.CaptureFixture[str]) -> None:
    with fleet.client("stands") as memory:
        said = fleet.live(memory, notes=NOTES)
        memory.end_session("shift-1")
        (old,) = fleet.later(lambda: fleet.summaries("stands"))
        (part,) = memory.session("shift-1").parts
        assert [(one.memory_id, one.status) for one in part.summaries] == [(old, "served")]
        # Two remaining sources are too few for a new summary.
        for one in said[:3]:
            memory.erase(memory_id=one, dry_run=False)
        (part,) = fleet.until(lambda: found if (found := memory.session("shift-1").parts)[0].unsaid == 2 else None)
        one = next(one for one in part.summaries if one.memories)
        assert (one.status, one.memories, part.sealed, part.unsaid) == ("erased", 2, 0, 2)
        assert one.until is not None and one.until > fleet.now
    assert cli.main(["session", "-n", "stands", "shift-1"]) == OK
    out = capsys.readouterr().out
    assert out.startswith("The session was summed up, and its summary is gone.")
    assert "2 put away that no summary says" in out
    assert f"summary {one.memory_id} is erased; 2 put away that it said" in out
