"""What the journal's page says of a use."""

from __future__ import annotations

import pytest

from memquorum.core.accounts import chronicle
from memquorum.core.records import APPLIED, MISSED, Accessed
from memquorum.core.records.journal import MemoryUsed


@pytest.mark.parametrize(
    ("outcomes", "words"),
    [
        ([APPLIED], "eva read 1 memory."),
        ([APPLIED, APPLIED, MISSED], "eva read 2 memories; 1 more not counted: no longer in use when the record came."),
        ([MISSED, MISSED], "eva read 2 memories, not counted: no longer in use when the record came."),
    ],
)  # fmt: skip
def test_a_use_that_does_not_count_says_why(outcomes: list[str], words: str) -> None:
    used = tuple(MemoryUsed(str(at), outcome) for at, outcome in enumerate(outcomes))
    assert chronicle._use("accessed", Accessed("eva", 1_000, used)) == words
