"""The rows of experience, on sets made up for them: figures that can be worked out by hand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memquorum.encoders.hashing import HashingEncoder
from tests.benchmarks import __main__ as bench
from tests.benchmarks import kept
from tests.benchmarks.experience import admitting, command, finding, frame, page, resisting, runs
from tests.benchmarks.experience.frame import FM2, HOTPOT, MUSIQUE, Material


@pytest.fixture
def material(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Material:
    monkeypatch.setattr("tests.benchmarks.forgetting.vectors.OnnxEncoder", lambda **_: HashingEncoder())
    return Material(tmp_path, tmp_path)


def write(folder: Path, name: str, records: Sequence[dict[str, Any]]) -> None:
    (folder / name).mkdir(exist_ok=True)
    with gzip.open(folder / name / "set.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(one) + "\n" for one in records)


def claim(text: str, gold: str, *others: str, label: str = "SUPPORTS") -> dict[str, Any]:
    given = [{"text": one} for one in (gold, *others)]
    return {"text": text, "label": label, "gold_evidence": [{"text": gold}], "retrieved_evidence": given}


DAM = "The great dam of Tarbela on the river Indus was finished in 1976 after eight years of building."
NOISE = "The great dam of Tarbela is seen from the air by visitors of the valley and photographed."
CLAIMS = [
    claim("The great dam of Tarbela on the river Indus was finished in the seventies.", DAM, NOISE),
    claim("The building of the great dam of Tarbela on the Indus was finished after eight years.", DAM),
    *(
        claim(f"The great dam of Tarbela on the river Indus has a wall of {at} metres.",
              f"The wall of the great dam of Tarbela on the river Indus measures {at} metres in section {at}.")
        for at in range(140, 145)
    ),
    claim("The great dam of Tarbela on the river Indus was finished in 1999.", DAM, label="REFUTES"),
]  # fmt: skip


def test_claims_that_share_evidence_are_on_two_sides(material: Material, tmp_path: Path) -> None:
    write(tmp_path, FM2, CLAIMS)
    split = material.fm2
    assert [one.id for one in split.contexts] == ["c0", "c2", "c3", "c4", "c5", "c6"]
    assert [one.text for one in split.asked] == [CLAIMS[1]["text"], CLAIMS[7]["text"]]
    assert {split.texts[at] for one in split.asked for at in one.evidence} == {DAM}
    row = admitting.fool_me_twice(material)
    assert row.value("candidates") == len(split.candidates) == 7
    assert row.value("of them evidence of what is asked") == 1
    assert row.value("+ SCEC: R@3") >= row.value("none: store all: R@3")
    assert NOISE not in {one.text for one in material.shown_fm2.held}


def test_groups_are_joined_over_several() -> None:
    assert frame._groups([["a"], ["b"], ["a", "c"], ["d"], ["c", "b"]]) == [(0, 1, 2, 4), (3,)]


def test_a_liar_changes_no_verdict(material: Material, tmp_path: Path) -> None:
    write(tmp_path, FM2, CLAIMS)
    row = resisting.verifiers(material)
    assert row.value("rounds with a liar") > 0
    assert row.value("verdicts that change") == 0
    assert row.value("rounds in which the liar is shown") == 100


def test_a_question_is_parted_from_its_steps(material: Material, tmp_path: Path) -> None:
    paragraphs = [
        {"title": "Tarbela", "paragraph_text": "Tarbela lies on the Indus.", "is_supporting": True},
        {"title": "Indus", "paragraph_text": "The Indus ends at Karachi.", "is_supporting": True},
        {"title": "Rhine", "paragraph_text": "The Rhine ends at Rotterdam.", "is_supporting": False},
    ]
    steps = [
        {"question": "On which river does Tarbela lie?", "answer": "Indus"},
        {"question": "Where does the #1 end?", "answer": "Karachi"},
    ]
    asked = {"question": "Where does the river of Tarbela end?", "answer": "Karachi"}
    write(tmp_path, MUSIQUE, [{**asked, "paragraphs": paragraphs, "question_decomposition": steps}])
    split = material.musique
    assert [(one.goal, one.outputs) for one in split.contexts] == [
        ("On which river does Tarbela lie?", "Indus"), ("Where does the Indus end?", "Karachi")
    ]  # fmt: skip
    assert {split.texts[at] for at in split.asked[0].evidence} == {
        "Tarbela: Tarbela lies on the Indus.", "Indus: The Indus ends at Karachi."
    }  # fmt: skip


def test_an_answer_counts_where_it_is_given(material: Material, tmp_path: Path) -> None:
    context = [["Tarbela", ["It lies on the Indus.", "It is old."]], ["Rhine", ["It ends at Rotterdam."]]]
    write(tmp_path, HOTPOT, [{"question": "Where does the Rhine end?", "answer": "Rotterdam", "context": context}])
    row = finding.hotpotqa(material)
    assert row.value("no memory: answer in context") == 0
    assert row.value("words and vectors: answer in context") == 1
    assert row.value("words and vectors: words given") <= 15


def test_what_a_tool_answered_is_parted() -> None:
    told = {"name": "Mia", "flights": [{"number": f"HAT{at}", "from": "JFK", "note": "x" * 60} for at in range(3)]}
    parts = list(runs._parts(json.dumps(told)))
    assert parts[0] == 'name: "Mia"'
    assert all("HAT" in part for part in parts[1:])
    assert list(runs._parts("one\n\ntwo")) == ["one", "two"]


def test_numbers_are_changed() -> None:
    assert resisting._swapped("In 1976, 8 years on.") == "In 1989, 12 years on."


@pytest.mark.usefixtures("material")
def test_a_set_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["experience", "--quick", "--data", str(tmp_path), "--cache", str(tmp_path)]) == 0
    assert capsys.readouterr().err.count("has no set") == len(command.ROWS)


def test_the_page_is_what_the_command_makes_of_the_results() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.render(kept.read(page.RESULTS)), "run `make bench WHAT=pages`"
