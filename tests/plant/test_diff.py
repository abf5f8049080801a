"""The difference of two times on a running installation: learned, replaced, overtaken, voted away and erased."""

from __future__ import annotations

import pytest

from memquorum import cli
from memquorum.commands import OK
from tests.support.sessions import Plant

SLOT = {"key": "port", "path": "gateway"}


def test_the_difference_tells_what_became_otherwise(fleet: Plant, capsys: pytest.CaptureFixture[str]) -> None:
    with fleet.client("difference") as memory:
        early = memory.add("The lobby opens at seven.", wait=True, subject="lobby").memory_id
        first = memory.add("The gateway listens on port 8080.", wait=True, explicit=True, **SLOT).memory_id
        before = max(line.at for line in memory.journal().entries) + 1
        fleet.turn(60_000)
        second = memory.add("The gateway listens on port 9090.", wait=True, explicit=True, **SLOT).memory_id
        badge = memory.add("Ada's badge number is 5512.", wait=True, subject="ada").memory_id
        found = memory.diff(before)
        assert [one.memories for one in found.of("learned")] == [(second,), (badge,)]
        assert [one.text for one in found.of("learned")] == [
            "The gateway listens on port 9090.", "Ada's badge number is 5512.",
        ]  # fmt: skip
        (replaced,) = found.of("superseded")
        assert (replaced.memories, replaced.by) == ((first,), second)
        assert not any(early in one.memories for one in found.changes), "it was learned before"

        memory.erase(subject="ada", dry_run=False)
        found = fleet.until(lambda: (now := memory.diff(before)).of("erased") and now)
        assert [one.memories for one in found.of("erased")] == [(badge,)]
        assert [one.text for one in found.of("learned")] == ["The gateway listens on port 9090.", None]
        assert not memory.diff(0, before - 1).of("erased")
        assert cli.main(["diff", "-n", "difference", "--url", fleet.line.retrieval_url, str(before)]) == OK
        told = capsys.readouterr().out
        assert "5512" not in told and f"{first} → {second}" in told
