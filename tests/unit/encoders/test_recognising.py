"""Kinds of data are found by meaning on sentences that the list and the number were not chosen on: how often, and how
often falsely."""

from __future__ import annotations

import numpy as np
import pytest

from memquorum.core.privacy.finding import Span, kinds
from memquorum.core.privacy.kinds import WEIGHTS_PPM
from memquorum.core.privacy.sensitivity import Recogniser, Weights, suggested_ppm
from memquorum.encoders import recognising
from memquorum.encoders.onnx import OnnxEncoder
from memquorum.encoders.recognising import by_meaning, by_names
from tests.support.withheld import rows


@pytest.fixture(scope="module")
def meaning() -> Recogniser:
    return by_meaning(OnnxEncoder())


def test_the_list_has_known_kinds_and_names_nobody() -> None:
    assert {*recognising.KINDS} <= {*WEIGHTS_PPM} and len(recognising.KINDS) == len(recognising.TOLD) >= 20
    assert all(not word[0].isupper() for told in recognising.TOLD for word in told.split()[1:])


def test_nothing_is_found_in_nothing_and_a_long_text_is_read_to_a_bound(meaning: Recogniser) -> None:
    assert meaning.kinds("") == meaning.kinds(" ") == set()
    assert len(recognising.read("It rains. " * 100)) == recognising.SENTENCES_MOST
    listed = np.zeros((len(recognising.TOLD), 3), np.float32)
    assert recognising.kinds_near(np.zeros((0, 3), np.float32), listed) == set()


def test_it_suggests_a_sensitivity_where_no_rule_does(meaning: Recogniser) -> None:
    text = "The police are investigating Rita."
    assert kinds(text) == () and suggested_ppm(text) is None
    judged = Weights(recognisers=(meaning,))
    assert suggested_ppm(text, weights=judged) == WEIGHTS_PPM["crime"] and judged.rules == "patterns-2+meaning-1"
    assert suggested_ppm("The valve opens at 4 bar.", weights=judged) is None
    assert suggested_ppm(text, weights=Weights(on=False, recognisers=(meaning,))) is None


def test_names_are_weighed_where_a_model_finds_them() -> None:
    found = by_names(lambda text: [Span(0, 3, "name"), Span(9, 12, "name")])
    judged = Weights(recognisers=(found,))
    assert (suggested_ppm("Ada sees Ben", weights=judged), judged.rules) == (200_000, "patterns-2+names-1")
    assert suggested_ppm("Ada sees Ben", weights=Weights(ppm={"name": 0}, recognisers=(found,))) is None


@pytest.mark.parametrize(("part", "by_rules", "by_both", "falsely"), [
    ("chosen on", 0.6, 0.68, 0.2), ("measured on", 0.36, 0.55, 0.1),
])  # fmt: skip
def test_how_much_is_found_beside_the_rules(
    meaning: Recogniser, part: str, by_rules: float, by_both: float, falsely: float
) -> None:
    told = rows(part)
    sensitive, harmless = ([text for row in told for text in row[at]] for at in (slice(2), slice(2, 4)))

    def share(texts: list[str], weights: Weights) -> float:
        return float(np.mean([suggested_ppm(text, weights=weights) is not None for text in texts]))

    both = Weights(recognisers=(meaning,))
    assert share(sensitive, Weights()) == pytest.approx(by_rules, abs=0.02)
    assert share(sensitive, both) >= by_both and share(harmless, both) <= falsely
    assert share(harmless, both) - share(harmless, Weights()) <= 0.05
