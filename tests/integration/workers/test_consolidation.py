"""A session on a running installation: its end, its summary, the vote, and what is served before and after."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from infra.settings import Settings
from memquorum import cli
from memquorum.client import Memory
from memquorum.commands import OK
from tests.support.clock import tick
from tests.support.sessions import NOTES, configured, driven, rows, tiers
from tests.support.waiting import until

START = 1_750_000_000_000
MINUTE, HOUR = 60_000, 3_600_000


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The whole fleet with a driven clock, at START."""
    with driven(configured(tmp_path_factory.mktemp("line"))) as running:
        yield running


def lived(line: Settings, namespace: str, session: str = "shift-1") -> Memory:
    """A client in a namespace in which a session has been lived."""
    memory = Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=namespace, agent="anna")
    for at, note in enumerate(NOTES):
        receipt = memory.add(note, session=session, occurred_at=START + at * 1_000, wait=True)
        assert receipt.outcome == "stored", note
    return memory


class Clock:
    """Time goes on by an hour at a time, so that each tick opens an epoch."""

    now = START + HOUR

    @classmethod
    def turn(cls, line: Settings) -> None:
        cls.now += HOUR
        tick(line, cls.now)


def consolidated(line: Settings, namespace: str) -> bool:
    Clock.turn(line)
    return tiers(line, namespace).get("extractive/1 short-term", 0) > 0


def test_a_session_that_ends_leaves_its_summary(
    line: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with lived(line, "plant") as memory:
        before = memory.search("Who measured the inlet of pump 7?", peek=True)
        memory.end_session("shift-1")
        until(lambda: tiers(line, "plant").get("extractive/1 draft"))
        assert all(hit.made_by is None for hit in memory.search("pump 7", peek=True)), "served before its vote"
        until(lambda: consolidated(line, "plant"))
        assert tiers(line, "plant") == {"anna sealed": 5, "extractive/1 short-term": 1}
        (hit,) = memory.search("Who measured the inlet of pump 7?", peek=True)
        assert hit.made_by == "extractive/1" and hit.agent == "consolidator"
        assert len(before) == 5 and before[0].text in hit.text.split("\n"), "what was asked for was lost"
        assert hit.occurred_at == START + 4_000, "a summary is as old as what it says"

        explained = memory.explain(hit.memory_id)
        quotes = rows(line, "SELECT source::text, start, finish FROM quote WHERE summary = %(i)s", i=hit.memory_id)
        assert quotes and all(f"characters {a} to {b} of {source}" in str(explained) for source, a, b in quotes)
        source = quotes[0][0]
        assert f"sealed, since {hit.memory_id} says what is to be kept of it" in str(memory.explain(source))

        # Within the grace time a vote brings a source back, and is not served beside its summary.
        assert memory.restore(source, timeout=0.1).status is not None
        until(lambda: (Clock.turn(line), tiers(line, "plant").get("anna short-term"))[1])
        assert len(memory.search("Who measured the inlet of pump 7?", peek=True)) == 1
    monkeypatch.chdir(line.run_dir.parent)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(line.run_dir))
    assert cli.main(["verify"]) == OK, capsys.readouterr().out


def test_a_session_without_activity_is_over_and_strict_namespaces_keep_all(line: Settings) -> None:
    with lived(line, "strict-plant") as memory:
        tick(line, Clock.now + 20 * MINUTE)
        until(lambda: (Clock.turn(line), tiers(line, "strict-plant").get("extractive/1 short-term"))[1])
        assert tiers(line, "strict-plant") == {"anna short-term": 5, "extractive/1 short-term": 1}
        hits = {hit.memory_id: hit.made_by for hit in memory.search("Who measured the inlet of pump 7?", peek=True)}
        found = rows(line, "SELECT summary::text, source::text FROM quote WHERE namespace = 'strict-plant'")
        assert hits and not any(summary in hits and source in hits for summary, source in found), "served beside it"


def test_a_consolidator_that_is_killed_makes_each_summary_once(line: Settings) -> None:
    with lived(line, "killed") as memory:
        (pid,) = [int(text) for text in (line.run_dir / "ready" / "consolidator").read_text().split()]
        memory.end_session("shift-1")
        os.kill(pid, signal.SIGKILL)
        memory.end_session("shift-1")
        until(lambda: consolidated(line, "killed"))
        assert tiers(line, "killed") == {"anna sealed": 5, "extractive/1 short-term": 1}


def test_what_one_source_says_is_erased_with_its_summary(line: Settings) -> None:
    with lived(line, "erased") as memory:
        memory.end_session("shift-1")
        until(lambda: consolidated(line, "erased"))
        ((source,),) = rows(
            line, "SELECT id::text FROM memory WHERE namespace = 'erased' AND created = %(at)s AND agent = 'anna'",
            at=START + 4_000,
        )  # fmt: skip
        memory.erase(memory_id=source, dry_run=False)
        assert tiers(line, "erased")["extractive/1 gone"] == 1
        assert not memory.search("Who measured the inlet of pump 7?", peek=True)
