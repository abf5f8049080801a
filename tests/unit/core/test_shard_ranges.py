"""Divisions of the shards among processes: every shard has exactly one, and a wrong division says what is wrong."""

from __future__ import annotations

import pytest

from memquorum.core import shard_ranges
from memquorum.core.shard_ranges import RangesError


@pytest.mark.parametrize(
    ("text", "shards", "ranges"),
    [
        ("", 4, [range(4)]),
        ("0-3", 4, [range(4)]),
        ("0-1 2-3", 4, [range(2), range(2, 4)]),
        ("3 0-1 2", 4, [range(2), range(2, 3), range(3, 4)]),
    ],
)
def test_a_division_gives_each_shard_one_range(text: str, shards: int, ranges: list[range]) -> None:
    assert shard_ranges.whole(text, shards) == ranges


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0-1 1-3", "0-1 and 1-3 both have shard 1"),
        ("0-3 2", "0-3 and 2 both have shard 2"),
        ("0-1 3", "no range has shard 2:"),
        ("1", "no range has shard 0, 2 and 3:"),
        ("0-4", "0-4 goes beyond the last shard: there are 4, 0 to 3"),
        ("3-0", "'3-0' ends before it begins: write 0-3"),
        ("0-1,2-3", "'0-1,2-3' is no range of shards"),
        ("all", "'all' is no range of shards"),
    ],
)
def test_a_wrong_division_is_refused_with_its_shards(text: str, told: str) -> None:
    with pytest.raises(RangesError) as caught:
        shard_ranges.whole(text, 4)
    assert str(caught.value).startswith(told)


def test_a_process_has_a_range_of_the_division_and_no_other() -> None:
    assert shard_ranges.of_process("", "", 4) == range(4)
    assert shard_ranges.of_process("0-1 2-3", "2-3", 4) == range(2, 4)
    with pytest.raises(RangesError, match="divided into 0-1 2-3, and 1-2 is none of these ranges"):
        shard_ranges.of_process("0-1 2-3", "1-2", 4)
    with pytest.raises(RangesError, match="divided into 0-1 2-3: say which range this process has"):
        shard_ranges.of_process("0-1 2-3", "", 4)
    with pytest.raises(RangesError, match="divided into 0-3, and 0-1 is none"):
        shard_ranges.of_process("", "0-1", 4)
