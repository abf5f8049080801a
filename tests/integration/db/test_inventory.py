"""The views that people ask by SQL are those of the list of what users can name."""

from __future__ import annotations

from tests.inventory.items import SQL, differences, frozen, views


def test_views_and_their_columns_are_those_of_the_list(databases: tuple[str, str]) -> None:
    kept = {one for one in frozen() if one.startswith(SQL)}
    assert differences(kept, views(databases)) == "", "look at each, then: python -m tests.inventory --keep"
