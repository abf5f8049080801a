"""Nothing that users can name goes, comes or changes unseen: `python -m tests.inventory --keep` freezes it anew."""

from __future__ import annotations

from tests.inventory.items import FILE, SQL, differences, frozen, items


def test_what_users_can_name_is_what_the_list_says() -> None:
    kept = {one for one in frozen() if not one.startswith(SQL)}
    assert differences(kept, items()) == "", "look at each, then: python -m tests.inventory --keep"


def test_the_list_is_sorted_and_has_every_kind() -> None:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    assert lines == sorted(set(lines))
    kinds = {line.split()[0] for line in lines}
    assert kinds == {"command", "http", "mcp", "metric", "policy", "setting", "sql", "topic"}


def test_a_difference_is_named() -> None:
    assert differences({"a", "b"}, {"b", "c"}) == "gone: a\nnew: c"
