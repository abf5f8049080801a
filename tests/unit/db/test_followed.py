"""A vault that has followed less than is known."""

from __future__ import annotations

import pytest

from db.followed import Followed
from memquorum.ports import VaultBehind


def test_what_was_seen_or_told_is_the_least_from_then_on() -> None:
    followed = Followed()
    followed.check({})
    followed.check({0: 7, 1: 3})
    followed.learn({1: 2, 2: 4})
    followed.check({0: 7, 1: 3, 2: 4})
    for notes in ({0: 6, 1: 3, 2: 4}, {0: 7, 1: 3}, {}):
        with pytest.raises(VaultBehind, match="put back from a backup"):
            followed.check(notes)
    followed.check({0: 9, 1: 3, 2: 4})
    with pytest.raises(VaultBehind, match="shard 0 up to entry 8, and keys were destroyed since, up to entry 9"):
        followed.check({0: 8, 1: 3, 2: 4})


def test_the_commit_worker_may_begin_lower() -> None:
    followed = Followed()
    followed.check({0: 7, 1: 7})
    followed.moved({0: 5})
    followed.check({0: 5, 1: 7})
    followed.reset({1: 2})
    followed.check({1: 2})
