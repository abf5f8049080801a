"""The words that lead to memories where there are too many to look at all."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.retrieval import wording


def test_rare_words_lead_alone_and_common_ones_together() -> None:
    found = wording.worded({"the": 80_000, "valve": 9_000, "ginster": 40, "frost": 6_000, "nobody": 0}, 100_000)
    assert found.words == ("ginster", "frost", "valve", "the")
    # 6,000 and 9,000 of 100,000 are expected to share 540, which is what is left of 600 beside 40.
    assert found.sources == (("ginster",), ("frost", "valve"))
    assert found.weights[0] == wording.worth(40, 100_000) > found.weights[-1] > 0


def test_what_is_common_in_every_combination_is_looked_up_by_all_its_words() -> None:
    found = wording.worded({"the": 90_000, "of": 95_000}, 100_000)
    assert found.sources == (("the", "of"),)


def test_nothing_that_nobody_has_leads_anywhere() -> None:
    found = wording.worded({"nobody": 0}, 10)
    assert found.sources == () and found.words == () and wording.lookup(found.sources) == ""


def test_a_word_is_worth_what_bm25_says() -> None:
    assert wording.worth(3, 10) == math.log(1 + 7.5 / 3.5)
    # A size that was counted before the holders may be smaller than these.
    assert wording.worth(12, 10) == math.log(1 + 0.5 / 12.5)


def test_a_lookup_is_a_tsquery_whatever_stands_in_its_words() -> None:
    assert wording.lookup((("a",), ("o'clock", "c:\\"))) == "('a') | ('o''clock' & 'c:\\\\')"


@given(st.dictionaries(st.text(min_size=1, max_size=3), st.integers(0, 10_000), max_size=12), st.integers(1, 10_000))
def test_what_is_expected_to_be_looked_at_stays_within_the_limit(holders: dict[str, int], most: int) -> None:
    total = 10_000
    found = wording.worded(holders, total, most)
    expected = [total * math.prod(holders[word] / total for word in group) for group in found.sources]
    assert sum(expected) <= most + 1e-6 or len(found.sources) == 1
    assert (
        {word for group in found.sources for word in group} <= set(found.words) == {w for w, n in holders.items() if n}
    )
