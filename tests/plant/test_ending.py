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
        assert cli.main(["end-session", "-n", "ending", "-a", "anna", "shift-1", "--wait", "60"]) == OK
        out = capsys.readouterr().out
        assert "shift-1 of ending is over for anna" in out and "of 5 of them waits for its vote" in out
        assert "It is not over for bert (5 memories)" in out and "Members vote in epoch" in out
        # The same from Python, for all.
        anna.end_session("shift-1", everyone=True)
        fleet.until(lambda: all(one.waiting for one in anna.session("shift-1").parts))
        assert len(fleet.summaries("ending", "draft")) == 2, "anna's part was over already"
        (draft, _) = fleet.summaries("ending", "draft")
        account = str(anna.explain(draft))
        assert "It waits for its vote" in account and "in epoch" in account and "nothing to forget" not in account
        fleet.later(lambda: len(fleet.summaries("ending")) == 2)
        for part in anna.session("shift-1").parts:
            (one,) = part.summaries
            assert (part.memories, part.sealed, part.waiting, part.coming) == (0, 5, (), ())
            assert set(fleet.sources(one)) == {
                i for (i,) in fleet.rows(OF, a=part.agent)
            }  # fmt: skip
        capsys.readouterr()
        assert cli.main(["session", "-n", "ending", "shift-1"]) == OK
        assert "anna: 5 sealed, since a summary says what is to be kept of them" in capsys.readouterr().out


def test_why_no_summary_is_made_is_told_and_what_nobody_said_is_not_over(
    fleet: Plant, capsys: pytest.CaptureFixture[str]
) -> None:
    with fleet.client("why") as memory:
        fleet.live(memory, notes=NOTES[:2])
        with pytest.raises(NotFound):
            memory.session("shift-2")
    assert cli.main(["end-session", "-n", "why", "shift-1"]) == OK
    assert "2 too few to be summed up" in capsys.readouterr().out
    assert cli.main(["end-session", "-n", "why", "shift-2", "--wait", "1"]) == FAILED
    told = capsys.readouterr()
    assert "is over for" not in told.out and "no memory in why is of session shift-2" in told.err
