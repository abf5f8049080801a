"""After all that the tests beside it did: the journal proves it, and leads to the same rows."""

from __future__ import annotations

import pytest

from infra.checks import rebuilt
from memquorum import cli
from memquorum.commands import OK
from tests.support.sessions import Plant


def test_it_holds_together(fleet: Plant, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    made = "SELECT count(*) FROM memory WHERE made_by IS NOT NULL"
    assert fleet.rows(made) != [(0,)], "the tests beside it ran in another session"
    monkeypatch.chdir(fleet.line.run_dir.parent)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(fleet.line.run_dir))
    assert cli.main(["verify"]) == OK, capsys.readouterr().out
    assert rebuilt(fleet.line, "rebuilt")["equal"]
