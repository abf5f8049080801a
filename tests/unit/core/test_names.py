"""Whether a text says a name."""

from __future__ import annotations

import time

import pytest

from memquorum.core import names


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("Ada's phone rang.", "ada", True),
        ("ADA", "ada", True),
        ("An adagio.", "ada", False),
        ("ada7 and 7ada", "ada", False),
        ("An adagio for Ada", "ada", True),
        ("Call Zoe\u0308 back.", "Zo\u00eb", True),
        ("user-4711 called", "4711", True),
        ("see ada@example.org", "ada@example.org", True),
        ("田中さんが来た", "田中", True),
        ("", "ada", False),
        ("a%b", "%", True),
    ],
)
def test_a_name_is_said_as_words_of_its_own(text: str, name: str, said: bool) -> None:
    assert names.said_in(text, name) is said


def test_a_long_text_is_read_in_time() -> None:
    before = time.process_time()
    assert not names.said_in("a" * 65_536, "a" * 128)
    assert time.process_time() - before < 0.5
