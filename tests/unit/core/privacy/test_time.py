"""No text takes long: the longest that intake lets in, of what patterns stumble over, takes a bounded time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memquorum.core.intake import CONTENT_BYTES_MAX
from memquorum.core.privacy.finding import kinds, spans

_PIECES = (
    "a", "A", "Aa ", "é", "1", "1 ", "0 ", "00", "1-", "1.", "+1", "(11) ", "1111 ", "12 34 ", "123-45-6789 ", "-", "@",
    "a@", "a.", "a@a.", ":", "::", "a:", "1.2.3.4 ", "DE11 ", "eyJ", "eyJaaaaa.", "sk-", "ghp_", "AKIA", "xoxb-", "://a:",
    "password ", "password=", "is ", "phone ", "call a ", "card ", "1 Aaaa ", "Aaaa-", "Str. ", "P.O. Box 1", "\n",
    f"-----{'BEGIN'} PRIVATE KEY-----", "-----END ", "health ", "krank", "'", ", ", "[", "]", "x1",
    "bearer ", "authorization: bearer a", "bearer aaaaaaaaaaaaaaaaaaaa", "gsk_", "part no. 030-1234567 ", "order ",
    "call ", "born ", "born on the ", "12 March ", "1.1.", "is ",
)  # fmt: skip
# A text of ordinary words takes a fiftieth of this here; what grows as the square of the length takes minutes.
_SECONDS = 3.0


def taken(text: str) -> float:
    began = time.process_time()
    spans(text)
    kinds(text)
    return time.process_time() - began


def longest(pieces: list[str]) -> str:
    piece = "".join(pieces)
    return (piece * (CONTENT_BYTES_MAX // len(piece) + 1))[:CONTENT_BYTES_MAX]


@pytest.mark.parametrize("piece", _PIECES, ids=repr)
def test_what_a_pattern_begins_with_over_and_over_takes_bounded_time(piece: str) -> None:
    assert taken(longest([piece])) < _SECONDS


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(_PIECES), min_size=2, max_size=8))
def test_no_mixture_of_them_takes_longer(pieces: list[str]) -> None:
    assert taken(longest(pieces)) < _SECONDS
