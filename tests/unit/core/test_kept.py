"""A mapping that lets go of what was used longest ago."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.kept import Kept


def test_what_was_used_longest_ago_goes_first() -> None:
    kept = Kept[str, str](len, 100, most=2)
    kept.update(a="x", b="y")
    assert kept.get("a") == "x"
    kept["c"] = "z"
    assert list(kept) == ["a", "c"] and kept.get("b") is None


def test_no_more_of_it_stays_than_there_is_room() -> None:
    kept = Kept[str, str](len, 10)
    for name in "abcd":
        kept[name] = name * 4
    assert list(kept) == ["c", "d"] and kept.size == 8
    kept["e"] = "e" * 50
    assert (len(kept), kept.size) == (0, 0), "what there is no room for is not kept"


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.one_of(st.none(), st.text("x", max_size=9))), max_size=40))
def test_its_size_is_that_of_what_it_holds(steps: list[tuple[str, str | None]]) -> None:
    kept = Kept[str, str](len, 20, most=4)
    for key, value in steps:
        if value is None:
            kept.pop(key, None)
        else:
            kept[key] = value
            assert kept[key] == value  # none is larger than all the room
        assert kept.size == sum(map(len, kept.values()))
        assert len(kept) <= 4 and kept.size <= 20
