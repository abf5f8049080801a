"""Texts that are passed over unread give nothing."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from memquorum.core.reading import claiming, outline, parsing, wording

_WORDS = [*parsing._VALUED, *claiming.RENEWS, *wording.UNITS, "may", "May", "x²", "ǆ", "ß", "A", "o'clock", "ü", "9"]


@given(st.lists(st.sampled_from(_WORDS) | st.text(min_size=1, max_size=6), min_size=1, max_size=6))
@example(["every", "day"])
def test_a_word_that_is_passed_over_is_no_value(tokens: list[str]) -> None:
    words = [token.casefold() for token in tokens]
    places = [at for at, word in enumerate(words) if not parsing._may_be_value(word, tokens[at])]
    assert all(not parsing._value(tokens, words, at)[0] for at in places)


@given(
    st.lists(st.sampled_from(["NOW", "Moved", "out", "anymore", "ſince", "Wrong", "rose", "TO", "8", "-"]), max_size=6)
)
def test_a_pattern_is_found_in_any_case(words: list[str]) -> None:
    text = " ".join(words)
    assert outline._corrects(text) == outline._corrects(f"{text} é") == outline._corrects(text.title())
