"""The page of languages is what its results say, and what it counts is what was said."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bench import kept
from bench.kept import Row
from bench.languages import finding, page, parallel
from memquorum.encoders.hashing import HashingEncoder
from memquorum.encoders.multilingual import LANGUAGES


def test_the_page_is_what_the_command_makes_of_the_results() -> None:
    found = page.render(kept.read(page.RESULTS))
    assert page.PAGE.read_text(encoding="utf-8") == found, "run `make bench WHAT=pages`"


def test_each_fact_is_said_and_asked_in_every_language() -> None:
    told, named = parallel.read(), parallel.languages()
    assert set(LANGUAGES) < set(named) and len(named) == 20
    assert all(tuple(one.facts) == tuple(one.asks) == named for one in told)
    texts = [text for one in told for text in (*one.facts.values(), *one.asks.values())]
    assert all(text.strip() for text in texts)
    within = [one.facts[name] for name in named for one in told]
    assert len({(name, text) for name in named for text in (one.facts[name] for one in told)}) == len(within)


class Knowing(HashingEncoder):
    """Knows which fact a text is about, in all languages but one, and otherwise the language alone."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        told, named = parallel.read(), parallel.languages()
        vectors = np.zeros((len(texts), 64), np.float32)
        for row, text in enumerate(texts):
            at, language = next(
                (at, name) for at, one in enumerate(told) for name in named if text in (one.facts[name], one.asks[name])
            )
            vectors[row, at if language != "fr" else 20 + at] = 1
            vectors[row, 40 + named.index(language)] = 0.5
        return vectors


def test_a_fact_in_a_language_that_is_not_known_is_not_found_from_another() -> None:
    row = Row("translated", "")
    finding.translated(row, Knowing(64), "some")
    wanted = {
        f"some, de: {finding.OWN}": 100.0,
        f"some, fr: {finding.OWN}": 100.0,
        f"some, fr: {finding.OTHERS}": 0.0,
        f"some, fr: {finding.AMONG}": 0.0,
        f"some, fr: {finding.SAID}": 0.0,
        f"some, sv: {finding.AMONG}": 100 * 15 / 16,
        f"some, de: {finding.AMONG}": 100 * 14 / 15,
    }
    assert {name: row.value(name) for name in wanted} == {name: round(value, 3) for name, value in wanted.items()}


def test_the_cases_are_asked_in_their_own_language() -> None:
    row = Row("cases", "")
    finding.cases(row, HashingEncoder(), "words", quick=True)
    assert row.value(f"words, en: {finding.CASE}") > 50
    assert sum(row.series[name] for name in ("de", "en")) > 5
