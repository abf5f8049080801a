"""Sentences that say nearly what is withheld from a reader are found: how often, and how often falsely, on sentences
that the numbers were not chosen on."""

from __future__ import annotations

import numpy as np
import pytest

from memquorum.core.privacy.finding import Span
from memquorum.core.privacy.masking import masked
from memquorum.core.privacy.nearly import find_nearly
from memquorum.encoders.onnx import OnnxEncoder
from tests.support.withheld import rows

PHONE = "Her number is +49 30 1234567."


def told(text: str, *near: tuple[str, float]) -> str:
    return masked(text, lambda said: find_nearly(said, near), formats=False)


def test_the_same_data_is_withheld_however_it_is_written() -> None:
    assert told("Call +49 (30) 123 45 67 at noon.", (PHONE, 0.3)) == "Call [phone] at noon."
    assert told("Call +49 30 7654321 at noon.", (PHONE, 0.9)) == "Call +49 30 7654321 at noon."


def test_the_sentences_that_say_it_are_withheld_and_the_others_stay() -> None:
    near = "Ada Meyer has type 2 diabetes.", 0.7
    assert told("Ada likes tea. She has had diabetes for years.", near) == "Ada likes tea. [withheld]"
    assert told("Ada likes tea.", near) == "Ada likes tea."
    assert told("She has had diabetes for years.", (near[0], 0.4)) == "She has had diabetes for years."
    assert list(find_nearly("", [near])) == [] and list(find_nearly("Ada likes tea.", [])) == []


def test_a_text_whose_sentences_say_it_only_together_is_withheld_whole() -> None:
    text = "Tess burned out"
    assert list(find_nearly(text, [("Tess Hart burned out.", 0.9)])) == [Span(0, len(text), "withheld")]


def test_masking_again_changes_nothing() -> None:
    near = ("Ada Meyer has type 2 diabetes.", 0.9)
    once = told("Ada has diabetes. Ada likes tea.", near)
    assert told(once, near) == once == "[withheld] Ada likes tea."


def _rates(part: str) -> list[float]:
    """Returns the share of texts that are found, by column."""
    told = rows(part)
    vectors = OnnxEncoder().encode([text for row in told for text in row]).reshape(len(told), 4, -1)
    unit = vectors / np.linalg.norm(vectors, axis=2, keepdims=True)
    near = (unit[:, :1] * unit[:, 1:]).sum(axis=2)
    found = [
        [any(find_nearly(row[column + 1], [(row[0], float(cosines[column]))])) for column in range(3)]
        for row, cosines in zip(told, near, strict=True)
    ]
    rates: list[float] = np.mean(found, axis=0).tolist()
    return rates


@pytest.mark.parametrize(("part", "least", "most"), [("chosen on", 0.5, 0.25), ("measured on", 0.35, 0.1)])
def test_how_much_is_found_and_how_much_falsely(part: str, least: float, most: float) -> None:
    found, of_the_person, of_the_matter = _rates(part)
    assert found >= least and of_the_person <= most and of_the_matter == 0.0
