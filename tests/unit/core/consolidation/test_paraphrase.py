"""A model's permitted paraphrases of its sources, case by case, and rules for every text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from memquorum.core.consolidation.paraphrase import REASONS, nearest, refused
from memquorum.core.reading.sentences import spans

CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("paraphrases.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES, ids=[one["sentence"] for one in CASES])
def test_a_sentence_stands_where_it_says_what_its_sources_say(case: dict[str, Any]) -> None:
    sources = [case["source"]] if isinstance(case["source"], str) else case["source"]
    assert refused(case["sentence"], sources) == case["refused"]


def test_the_cases_have_each_reason() -> None:
    assert {case["refused"] for case in CASES} == {None, *REASONS}
    assert len(CASES) >= 60


def test_a_sentence_of_nothing_is_refused() -> None:
    assert refused("The pump leaks.", []) == "unlike"
    assert refused("The pump leaks. " * 100, ["The pump leaks."]) == "unlike", "as long as a page"


@given(st.text(st.sampled_from("aB7 .,:-%'\nnotMarch12Uhr°é漢"), max_size=60))
@settings(deadline=None)
def test_whatever_a_text_is_it_is_answered(text: str) -> None:
    assert refused(text, ["The pump leaks on 12 March."]) in (None, *REASONS)
    assert refused("The pump leaks on 12 March.", [text]) in (None, *REASONS)


def test_what_is_nearest_is_the_sentence_that_was_rendered() -> None:
    sources = ["The pump leaks. Lena will send the log by Friday.", "Tomas measured 3.8 bar."]
    found = nearest("Lena sends the log.", sources)
    assert found is not None
    at, start, end = found
    assert sources[at][start:end] == "Lena will send the log by Friday." and (start, end) in spans(sources[at])
    assert nearest("Zebulon.", sources) is None
