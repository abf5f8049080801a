"""A summary is not served beside what it was made of."""

from __future__ import annotations

import pytest

from memquorum.core.retrieval.supports import Support, told_otherwise

FOUND = (Support("summary", "a"), Support("summary", "b"))


@pytest.mark.parametrize(
    ("order", "left"),
    [
        (["summary", "x", "a", "b"], {"a", "b"}),
        (["a", "summary", "b"], {"summary"}),
        (["x", "a", "b"], set()),
        (["summary", "x"], set()),
        ([], set()),
    ],
)
def test_whichever_stands_first_stands_for_both(order: list[str], left: set[str]) -> None:
    assert told_otherwise(order, FOUND) == left
