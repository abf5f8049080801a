"""The benchmark of reading: its BM25 and its sums, and that it says when there is nothing to measure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench import conversations, reading
from bench.reading import Asked


def test_bm25_is_the_formula_of_the_books() -> None:
    turns = [{"tank": 1, "bay": 1}, {"tank": 2, "pump": 1, "bay": 5}, {"lunch": 1}]
    assert reading.bm25(turns, ["pump"])[0] == 1
    assert reading.bm25(turns, ["tank"]) == [0, 1, 2]  # twice among eight words is less than once among two
    assert reading.bm25(turns, ["none"]) == [0, 1, 2]


def test_sums_and_what_fits_a_budget() -> None:
    ranks = {"bm25": [0, 1, 2], "vectors": [1, 2, 0], "memquorum": [2, 0, 1]}
    asked = Asked("t", 0, "1", (2,), ranks, (300, 300, 200))
    assert reading.within([0, 1, 2], asked.costs, 500) == [0, 2]
    found = reading.figures([asked])
    assert {system: told["recall in 250 tokens"] for system, told in found.items()} == {
        "bm25": 1, "vectors": 1, "memquorum": 1
    }  # fmt: skip
    assert found["vectors"]["recall in 500 tokens"] == 1
    assert found["bm25"]["tokens@5"] == 800
    assert reading.ahead([asked], 1) == {"bm25": [1, 1, 1], "vectors": [1, 1, 1]}
    assert asked.plain()["evidence"] == [[2, 2]]
    assert reading.spans([1, 2, 3, 7, 9, 10]) == [[1, 3], [7, 7], [9, 10]]


def test_without_the_sets_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["reading", "--data", str(tmp_path)]) == 0
    assert "skipped" in capsys.readouterr().err


def test_locomo_is_read_as_its_authors_wrote_it(tmp_path: Path) -> None:
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello.", "blip_caption": "a cat"}
    later = {"speaker": "Bob", "dia_id": "D10:1", "text": "Bye."}
    sample = {
        "sample_id": "conv-1",
        "conversation": {"session_10": [later], "session_1": [turn], "session_1_date_time": "noon"},
        "qa": [
            {"question": "who?", "evidence": ["D1:1; D10:1"], "category": 4},
            {"question": "where?", "evidence": ["D7:7"], "category": 4},
            {"question": "never?", "evidence": ["D1:1"], "category": 5},
        ],
    }
    (tmp_path / "locomo").mkdir()
    (tmp_path / "locomo" / "ours.json").write_text(json.dumps([sample]))
    (talk,) = conversations.locomo(tmp_path)
    assert talk.turns == ("Ann: Hello. [a cat]", "Bob: Bye.")
    assert talk.questions == (conversations.Question("who?", (0, 1), "4"),)
