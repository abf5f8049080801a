"""The benchmark beside others: what is asked, what counts as found, what is left, and that the page is the result's."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench import __main__ as bench
from bench import conversations, kept
from bench.conversations import Conversation, Question
from bench.peers import command, page, questions, residue, table
from bench.peers.questions import Asked


def _talk(name: str, turns: int, evidence: list[tuple[int, ...]]) -> Conversation:
    said = tuple(f"{name} {turn}" for turn in range(turns))
    asked = tuple(Question(f"{name}? {found}", found, "1") for found in evidence)
    return Conversation(name, said, ("s1",) * turns, asked)


def test_questions_are_those_whose_whole_evidence_is_stored() -> None:
    talks = [_talk("a", 3, [(0,), (1, 2)]), _talk("b", 3, [(0,), (0, 2), (1,)]), _talk("c", 3, [(0,)])]
    task = questions.choose(talks, turns=5, count=3)
    assert task.texts == ("a 0", "a 1", "a 2", "b 0", "b 1")
    assert task.sessions[2:4] == ("a s1", "b s1")
    assert task.eligible == 4
    every = {"a? (0,)": (0,), "a? (1, 2)": (1, 2), "b? (0,)": (3,), "b? (1,)": (4,)}
    asked = {one.text: one.evidence for one in task.questions}
    assert len(asked) == 3 and asked.items() <= every.items()
    assert {*task.warm} == every.keys() - asked.keys()
    assert questions.choose(talks, turns=5, count=3) == task


def test_a_hit_is_any_evidence_among_the_first() -> None:
    asked = [Asked("?", (1, 2)), Asked("?", (3,)), Asked("?", (4,))]
    assert questions.hits([[0, 2], [0, 3], []], asked, k=2) == pytest.approx(2 / 3)
    assert questions.hits([[0, 2], [0, 3], []], asked, k=1) == 0


def _task() -> questions.Task:
    return questions.Task(("x", "y"), ("s", "s"), (Asked("?", (1,)),), ("?",), 1)


def _told(speed: float, found: list[list[int]]) -> dict[str, Any]:
    timed = {key: [2.0 / speed, 4.0 / speed] for key in ("search ms", "again ms", "add ms", "delete ms")}
    return {**timed, "batched s": 1 / speed, "found": found, "encoder ms": [1.0], "versions": {"x": "1"}, "network": 0}


def _rows(**speeds: float) -> dict[str, kept.Row]:
    rows = {name: table.row(name, _told(speed, [[1]]), _task()) for name, speed in speeds.items()}
    if table.OURS in rows:
        told = _told(speeds[table.OURS], [[0]]) | {"retrieved": [[0, 1]], "served": {"again": {"cache": 2}}}
        rows[table.OURS] = table.row(table.OURS, told, _task())
    return rows


def test_goals_are_ratios_within_the_run() -> None:
    rows = _rows(floor=2, mem0=1, langgraph=1, memquorum=4)
    table.judge(rows)
    ours = rows[table.OURS]
    goals = {goal.figure: (goal.limit, goal.met) for goal in ours.goals}
    assert ours.value("search, first time: p50 ÷ floor's") == pytest.approx(0.5)
    assert goals["search, first time: p50 ÷ floor's"] == (1, True)
    assert goals["search, again: mem0's p50 ÷ ours"] == (5, False)
    assert goals["add, batches of 50 ÷ langgraph's"] == (2, True)
    assert goals["retrieve: hit@10"] == (0.6, True)
    assert ours.value("hit@10") == 0
    reference = rows["mem0"].reference
    assert reference is not None and reference.ratio == 2


def _run(rows: dict[str, kept.Row], folder: Path) -> list[dict[str, Any]]:
    about = {"cpu": "a", "cores": 2, "ram_gib": 1, "kernel": "6", "python": "3", "packages": {}, "load_at_start": [0.1]}
    begun = {
        "at": "2000-01-01T00:00:00Z",
        "commit": "c",
        "machine": about,
        "postgres": "18.4",
        "seconds": 9,
        "task": {},
    }
    begun["task"] = {"turns": 2, "characters": 1, "questions": 1, "eligible": 1}
    kept.write(list(rows.values()), begun, quick=False, folder=folder)
    return kept.read(folder)


def test_the_page_says_what_is_worse_and_who_is_not_there(tmp_path: Path) -> None:
    rows = _rows(floor=2, langgraph=1, memquorum=1.5)
    rows["mem0"] = table.absent("mem0", "not installed")
    rows["floor"].series["left"] = {"tables": [], "files": ["Postgres' table files"]}
    rows[table.OURS].series["left"] = {"tables": [], "files": ["topic t"], "swept": []}
    table.judge(rows)
    made = page.render(_run(rows, tmp_path))
    assert "| search, first time: p50, ms | 2 | not installed | 4 (2) | 2.67 (1.33) |" in made
    assert "- search, first time: p50: 2.67, and floor 2." in made
    assert "- hit@10: 0, and floor 1, LangGraph 1." in made
    assert "Not measured against mem0" in made
    assert "| memquorum, after `sweep` | no | no |" in made
    assert "| floor | no | **yes**: Postgres' table files |" in made
    assert "Searches, again: 2 from cache." in made


def test_the_page_is_what_the_command_makes_of_the_results() -> None:
    there = page.PAGE.read_text(encoding="utf-8")
    assert there == page.render(kept.read(page.RESULTS)), "run `make bench WHAT=pages`"


def test_what_is_left_is_seen_in_tables_and_in_files(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "history.db")) as link, link:
        link.execute("CREATE TABLE history (id integer, old text)")
        link.execute("INSERT INTO history VALUES (1, 'the canary-x of old')")
    assert residue.sqlite_tables(tmp_path / "history.db", "canary-x") == ["history of history.db (1 row)"]
    assert residue.sqlite_tables(tmp_path / "history.db", "canary-y") == []
    topic = tmp_path / "kafka" / "data" / "memory.episode.recorded.v1-3"
    wal = tmp_path / "postgres" / "data" / "pg_wal"
    for folder in (topic, wal):
        folder.mkdir(parents=True)
    (topic / "000.log").write_bytes(b"\0canary-x\0")
    (wal / "000001").write_bytes(b"..canary-y..")
    assert residue.files(tmp_path, {"x": "canary-x", "y": "canary-y", "z": "canary-z"}) == {
        "x": ["history.db", "topic memory.episode.recorded.v1"],
        "y": ["Postgres' write-ahead log"],
        "z": [],
    }


def test_without_the_set_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["peers", "--data", str(tmp_path)]) == 0
    assert "skipped" in capsys.readouterr().err


def test_what_is_not_installed_has_a_row_that_says_so(tmp_path: Path) -> None:
    row = command.other("mem0", tmp_path / "python", None, _task())  # type: ignore[arg-type]
    assert row.series["absent"] == "not installed" and not row.figures


def test_turns_may_come_without_their_pictures(tmp_path: Path) -> None:
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello.", "blip_caption": "a cat"}
    sample = {"sample_id": "c", "conversation": {"session_1": [turn]}, "qa": []}
    (tmp_path / "locomo").mkdir()
    (tmp_path / "locomo" / "ours.json").write_text(json.dumps([sample]))
    (talk,) = conversations.locomo(tmp_path, pictures=False)
    assert talk.turns == ("Ann: Hello.",)
