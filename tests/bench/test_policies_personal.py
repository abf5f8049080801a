"""Rows of privacy, on sentences made up for them: figures that can be worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench import __main__ as bench
from bench.policies import personal
from bench.right.frame import Material
from bench.sets import CONFAIDE, PII, Labelled

CARD, MAIL = "4111 1111 1111 1111", "ada@example.org"


def write(folder: Path, name: str, records: list[dict[str, object]]) -> None:
    (folder / name).mkdir(exist_ok=True)
    (folder / name / "some.jsonl").write_text("\n".join(map(json.dumps, records)), encoding="utf-8")


def sentence(text: str, **said: str) -> dict[str, object]:
    spans = [
        {"entity_type": kind, "start_position": text.index(value), "end_position": text.index(value) + len(value)}
        for kind, value in said.items()
    ]
    return {"full_text": text, "spans": spans}


def test_a_span_counts_where_both_ends_and_the_kind_are_right(tmp_path: Path) -> None:
    write(
        tmp_path, PII,
        [
            sentence(f"Card {CARD} and {MAIL}.", CREDIT_CARD=CARD, EMAIL_ADDRESS=MAIL),
            sentence(f"Mail to {MAIL}!", EMAIL_ADDRESS=f"{MAIL}!"),  # labelled with one character more
            sentence("Number 12-34.", US_SSN="12-34"),  # not found
            sentence("Ada lives here.", PERSON="Ada"),
        ],
    )  # fmt: skip
    row = personal.pii(Material(tmp_path, tmp_path))
    assert row.value("F1, all templates") == pytest.approx(2 * 2 / (2 * 2 + 2 + 1), rel=1e-4)
    assert row.value("email: F1, all templates") == pytest.approx(2 / 4)
    assert (row.value("card: F1, all templates"), row.value("ssn: F1, all templates")) == (1, 0)
    assert row.value("sentences without any in which something is found") == 0


def test_a_template_is_its_sentence_without_what_was_filled_in() -> None:
    one, other = (Labelled(f"Call {name} now.", ((5, 5 + len(name), "PERSON"),)) for name in ("Ada", "Bertram"))
    assert personal.template(one) == personal.template(other) == "Call <PERSON> now."
    sides = {personal.unseen(f"item {n}") for n in range(20)}
    assert sides == {True, False}


def test_ranks_are_compared_and_equals_share_theirs(tmp_path: Path) -> None:
    assert personal.ranks([3, 1, 3]).tolist() == [2.5, 1, 2.5]
    assert personal.spearman([1, 2, 3], [10, 20, 15]) == pytest.approx(0.5)
    assert personal.spearman([1, 1], [1, 2]) == 0
    said = {"their passport number": 4.0, "their date of birth": 2.5, "their tea": 1.0}
    write(tmp_path, CONFAIDE, [{"tier": 1, "information": text, "human_mean": mean} for text, mean in said.items()])
    (tmp_path / CONFAIDE / "tier4.txt").write_text("A meeting, rated by nobody.", encoding="utf-8")
    assert personal.confaide(Material(tmp_path, tmp_path)).value("tier 1, all items: Spearman") == 1


def test_a_set_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [word for name in personal.ROWS for word in ("--only", name)]
    assert bench.main(["policies", *asked, "--data", str(tmp_path), "--cache", str(tmp_path)]) == 0
    assert capsys.readouterr().err.count("has no set") == 2
