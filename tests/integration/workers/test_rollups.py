"""Roll-ups on a running installation: what is said of a thing over sessions, corrected, as of then, and erased."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest

from infra.settings import Settings
from memquorum import cli
from memquorum.client import Memory, NotFound
from memquorum.commands import NOT_FOUND, OK
from memquorum.core.api.answers import Rollup
from tests.support.clock import tick
from tests.support.sessions import configured, driven, rows
from tests.support.waiting import until

START = 1_750_000_000_000
MINUTE, HOUR = 60_000, 3_600_000
FIRST = (
    "Pump 7 runs at 3.8 bar.",
    "Lena ordered a new gasket for pump 7.",
    "The cover of pump 7 is kept in hall 3.",
    "The motor of pump 7 was made by Brandt in Ulm.",
)
# Of the same session, and worth less: a summary that keeps everything is none.
BESIDE = ("The radio in the van is broken.", "The canteen was closed at noon.")
SECOND = ("Correction: pump 7 runs at 4.1 bar now.", "Marta Keller painted the cover of pump 7 blue.")


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """The whole fleet with a driven clock, at START."""
    with driven(configured(tmp_path_factory.mktemp("line"))) as running:
        yield running


class Clock:
    """Time goes on: by an hour, so that an epoch opens, or by so much that roll-ups are due."""

    now = START + HOUR

    @classmethod
    def turn(cls, line: Settings, by: int = HOUR) -> None:
        cls.now += by
        tick(line, cls.now)


def client(line: Settings, namespace: str, agent: str = "anna") -> Memory:
    return Memory(kafka=line.bootstrap, url=line.retrieval_url, namespace=namespace, agent=agent)


def tell(memory: Memory, notes: tuple[str, ...], session: str, at: int, **said: Any) -> list[str]:
    found = []
    for place, note in enumerate(notes):
        receipt = memory.add(note, session=session, occurred_at=at + place * 1_000, wait=True, **said)
        assert receipt.outcome == "stored", note
        found.append(receipt.memory_id)
    return found


def texts(found: Rollup) -> list[str]:
    return [one.text for one in found.sentences]


def rolled_up(line: Settings, memory: Memory, topic: str, sentence: str) -> Rollup:
    """The roll-up, once it has a sentence."""

    def has() -> Rollup | None:
        Clock.turn(line, 6 * MINUTE)
        try:
            found = memory.rollup(topic)
        except NotFound:
            return None
        return found if sentence in texts(found) else None

    return until(has)


def test_facts_of_two_sessions_corrected_and_as_of_before(
    line: Settings, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with client(line, "plant") as memory:
        first = tell(memory, FIRST, "shift-1", START)
        tell(memory, BESIDE, "shift-1", START + MINUTE)
        # Else members would let the correction supersede it, and its text would go.
        memory.pin(first[0])
        assert texts(rolled_up(line, memory, "pump 7", FIRST[0])) == list(FIRST)
        before = Clock.now
        Clock.turn(line)
        tell(memory, SECOND, "shift-2", START + 2 * HOUR)
        now = rolled_up(line, memory, "the pump 7", SECOND[1])
        assert texts(now) == [*FIRST[1:], *SECOND], "the correction took the place of what it corrects"
        assert texts(memory.rollup("pump 7", as_of=before)) == list(FIRST)
        told = memory.rollup("pump 7", history=True).history
        assert [one.op for one in told] == ["add", "add", "add", "add", "supersede", "add"]
        assert told[4].text == SECOND[0] and told[4].replaces == told[0].memory_id == first[0]
        with pytest.raises(NotFound):
            memory.rollup("pump 7", as_of=START - HOUR)
        (of,) = [one for one in memory.rollups().topics if one.topic.casefold() == "pump 7"]
        assert (of.sentences, of.unreadable) == (5, 0)

        # Consolidated, the sources rest sealed, and what a summary quotes of them is read from it.
        memory.end_session("shift-1")
        until(
            lambda: (
                Clock.turn(line),
                rows(line, "SELECT FROM memory WHERE made_by IS NOT NULL AND tier = 'short-term'"),
            )[1]
        )
        found = memory.rollup("pump 7")
        assert texts(found) == texts(now), "the summary keeps its three whole"
        assert [one.read_from != one.memory_id for one in found.sentences] == [True, True, True, False, False]
        made = {one for (one,) in rows(line, "SELECT id::text FROM memory WHERE made_by IS NOT NULL")}
        assert not made & {one for (one,) in rows(line, "SELECT memory::text FROM patch")}, "of a summary"
    monkeypatch.chdir(line.run_dir.parent)
    monkeypatch.setenv("MEMQUORUM_RUN_DIR", str(line.run_dir))
    asked = ["rollup", "show", "-n", "plant", "--url", line.retrieval_url, "pump 7"]
    assert cli.main([*asked, "--as-of", str(before), "--history"]) == OK
    said = capsys.readouterr().out
    assert FIRST[0] in said and SECOND[0] not in said
    assert cli.main(["rollup", "list", "-n", "plant", "--url", line.retrieval_url]) == OK
    assert "5 sentences" in capsys.readouterr().out
    assert cli.main([*asked[:-1], "pump 8"]) == NOT_FOUND
    assert cli.main(["verify"]) == OK, capsys.readouterr().out


def test_what_is_erased_is_in_no_state_and_nor_is_its_name(line: Settings) -> None:
    with client(line, "clinic") as memory:
        tell(memory, ("Frieda Weil lives at the harbour.", "Frieda Weil has a cat."), "s", START, subject="frieda")
        tell(memory, ("Lena met Frieda Weil in hall 3.", "The lamp in hall 3 is broken."), "s", START + 5_000)
        tell(memory, ("The door of hall 3 is open.",), "s", START + 9_000)
        found = rolled_up(line, memory, "Frieda Weil", "Frieda Weil has a cat.")
        assert len(found.sentences) == 3
        assert len(memory.rollup("frieda weil", persona="frieda").sentences) == 2
        before = Clock.now
        memory.erase(subject="frieda", dry_run=False)
        left = memory.rollup("Frieda Weil", as_of=before)
        assert (texts(left), left.unreadable) == (["Lena met Frieda Weil in hall 3."], 2)
        with pytest.raises(NotFound):
            memory.rollup("Frieda Weil", persona="anna", as_of=START)
        memory.erase(memory_id=left.sentences[0].memory_id, dry_run=False)
        with pytest.raises(NotFound):
            memory.rollup("Frieda Weil", as_of=before)
        assert all("weil" not in one.topic.casefold() for one in memory.rollups(as_of=before).topics)
        stored = rows(line, "SELECT string_agg(p::text, ' ') FROM patch p WHERE namespace = 'clinic'")
        journal = rows(line, "SELECT entry FROM journal WHERE effect = 'patched' AND namespace = 'clinic'")
        assert journal and "weil" not in str(stored).casefold()
        assert not any(b"weil" in bytes(entry).lower() for (entry,) in journal)


def test_a_consolidator_that_is_killed_patches_once(line: Settings) -> None:
    with client(line, "killed") as memory:
        tell(memory, FIRST, "s", START)
        (pid,) = [int(text) for text in (line.run_dir / "ready" / "consolidator").read_text().split()]
        Clock.turn(line)
        os.kill(pid, signal.SIGKILL)
        assert texts(rolled_up(line, memory, "pump 7", FIRST[2])) == list(FIRST)
        Clock.turn(line)
        told = rows(line, "SELECT op, memory, start, topic FROM patch WHERE namespace = 'killed'")
        assert len(told) == len(set(told)) == len(FIRST)


def test_a_reader_sees_what_passes_its_gates(line: Settings) -> None:
    with client(line, "gated") as memory:
        tell(memory, FIRST[:2], "s", START)
        tell(memory, FIRST[2:3], "s", START + 5_000, sensitivity=0.9)
        rolled_up(line, memory, "pump 7", FIRST[2])
        assert texts(memory.rollup("pump 7", sensitivity_max=0.5)) == list(FIRST[:2])
        assert memory.rollup("pump 7", sensitivity_max=0.5).unreadable == 0
