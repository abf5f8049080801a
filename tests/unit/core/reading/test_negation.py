"""What words negate."""

from __future__ import annotations

import pytest

from memquorum.core.reading.negation import negations


@pytest.mark.parametrize(
    ("said", "negated", "count"),
    [
        ("the valve is not open", {"open"}, 1),
        ("das ventil ist nicht offen", {"offen"}, 1),
        ("it is not only open", set(), 0),
        ("the pump fails to start", {"start"}, 1),
        ("the pump failed", set(), 0),
        ("the host is unavailable", {"availabl"}, 1),
        ("nobody never came", {"cam"}, 2),
        ("it doesn't leak", {"leak"}, 1),
        ("o portão não abre", {"abr"}, 1),
        ("niemand kennt den code", {"kennt"}, 1),
    ],
)
def test_what_is_negated(said: str, negated: set[str], count: int) -> None:
    found, asserted, many = negations(said.split())
    assert (found, many) == (negated, count)
    assert asserted.isdisjoint(negated)
