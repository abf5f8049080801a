"""A shard's voters, present and past, by the successive configurations."""

from __future__ import annotations

from typing import Any

from memquorum.core.accounts.seats import seats
from memquorum.core.api.answers import Member, Since
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.configuration import apply
from tests.builders.genesis import make, public_key
from tests.builders.votes import order

GENESIS = make(5)
DECIDED = {number: (10 + number, 1_000 * number) for number in range(1, 5)}


def then(genesis: Genesis, action: str, **changes: Any) -> Genesis:
    return apply(genesis, order(genesis, action, **changes))


def test_of_the_genesis_file_s_members_nobody_decided() -> None:
    found = seats(GENESIS, {})
    assert [one.id for one in found] == [0, 1, 2, 3, 4]
    assert {(one.seated, one.since, one.key_since, one.left) for one in found} == {(True, Since(0), Since(0), None)}
    assert found[2] == Member(
        2, "member-2", "execution", True, 1.0, 1.0, public_key("member:2").hex(), Since(0), Since(0), None
    )


def test_who_came_who_left_and_by_which_key_since_when() -> None:
    now = then(GENESIS, "rotate", member=1, public_key=public_key("member:1'"))
    now = then(now, "weight", member=1, weight_milli=1200)
    now = then(now, "add", member=5, name="late", role="review", weight_milli=1000, public_key=public_key("member:5"))
    now = then(now, "remove", member=2)
    found = {one.id: one for one in seats(now, DECIDED)}
    assert [one.id for one in found.values() if one.seated] == [0, 1, 3, 4, 5]
    assert (found[1].since, found[1].key_since, found[1].weight) == (Since(0), Since(1, 11, 1_000), 1.2)
    assert found[1].public_key == public_key("member:1'").hex()
    assert (found[5].since, found[5].key_since) == (Since(3, 13, 3_000), Since(3, 13, 3_000))
    assert (found[2].left, found[2].seated, found[2].since) == (Since(4, 14, 4_000), False, Since(0))
    assert found[0].left is None and found[0].key_since == Since(0)
