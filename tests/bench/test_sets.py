"""The sets are found by their folder, and read as their authors wrote them."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench import sets
from bench.kept import Row
from bench.right import command
from bench.right.frame import Material


def _write(folder: Path, name: str, records: list[dict[str, object]]) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(record) + "\n" for record in records).encode()
    (folder / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)


def test_a_set_is_its_folder_whatever_its_files_are_called(tmp_path: Path) -> None:
    _write(tmp_path, "quora_dup/other-side.jsonl.gz", [{"q1": "a", "q2": "b", "dup": 1}])
    _write(tmp_path, "quora_dup/more.jsonl", [{"q1": "c", "q2": "d", "dup": 0}])
    _write(tmp_path, "quora_dup/LICENSE-NOTE.txt", [{"q1": "no", "q2": "no", "dup": 0}])
    assert sets.quora(tmp_path) == [sets.Pair("c", "d", sets.OTHER), sets.Pair("a", "b", sets.SAME)]


def test_the_file_of_inference_says_by_its_name_or_its_texts_which_it_is(tmp_path: Path) -> None:
    _write(tmp_path, "nli/a.jsonl", [{"premise": "A dog.", "hypothesis": "A cat.", "label": "contradiction"}])
    _write(tmp_path, "nli/b.jsonl", [{"premise": "word " * 91, "hypothesis": "A cat.", "label": "neutral"}])
    assert {name: len(pairs) for name, pairs in sets.nli(tmp_path).items()} == {"SNLI": 1, "MultiNLI": 1}


def test_sts_says_of_four_and_more_that_it_is_the_same(tmp_path: Path) -> None:
    (tmp_path / "stsb").mkdir()
    (tmp_path / "stsb" / "x.csv").write_text('g\tf\t2012\t1\t4.000\tOne "here.\tTwo.\ng\tf\t2012\t2\t3.9\tA.\tB.\n')
    assert sets.stsb(tmp_path) == [
        sets.Pair('One "here.', "Two.", sets.SAME, 4.0),
        sets.Pair("A.", "B.", sets.OTHER, 3.9),
    ]


def test_a_chat_has_its_messages_without_what_was_appended_and_the_probes_with_both_ends(tmp_path: Path) -> None:
    turn = [{"role": "user", "id": 4, "time_anchor": "May", "content": "Ten. ->-> 1,2"}, {"role": "assistant", "id": 5, "content": "So."}]  # fmt: skip  # noqa: E501
    asked = {"question": "How many?", "answer": "12", "source_chat_ids": {"original_info": [4], "updated_info": [5]}}
    chat = {"conversation_id": 7, "chat": [{"turns": [turn]}], "probing_questions": {"knowledge_update": [asked]}}
    _write(tmp_path, "beam100k/x.jsonl", [chat])
    (found,) = sets.beam(tmp_path)
    assert found.messages == (sets.Message(4, "user", "Ten.", "May"), sets.Message(5, "assistant", "So.", "May"))
    assert found.probes == (sets.Probe(sets.UPDATE, "How many?", "12", (4,), (5,)),)


def test_a_row_whose_set_is_not_there_is_named_and_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def pairs(material: Material) -> Row:
        sets.sick(material.data)
        raise AssertionError("the set is not there")

    monkeypatch.setattr(command, "ROWS", {"pairs": pairs})
    assert bench.main(["right", "--data", str(tmp_path), "--cache", str(tmp_path), "--json", str(tmp_path / "j")]) == 0
    assert f"pairs skipped: {tmp_path} has no set sick" in capsys.readouterr().err
    assert json.loads((tmp_path / "j").read_text()) == {}
