"""A rehearsal's draw, and its conclusions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.policy import Policy
from memquorum.core.rehearsal import Verdict, concluded, drawn
from memquorum.core.tiers import LONG_TERM, SHORT_TERM
from memquorum.ports import Drawable, Seen

POLICY = Policy()
HOUR = 3_600_000
# Used a moment ago, so that its decay score is its salience.
FINE = Seen("m", "space", SHORT_TERM, 540_000, 0, HOUR, 1, 0, 0, 0, None, 0, 0, protected=False, seq=1)


def pool(tier: str, count: int, salience_ppm: int = 500_000) -> list[Drawable]:
    return [Drawable(f"{tier}-{at:05}", salience_ppm) for at in range(count)]


@given(st.integers(0, 200), st.integers(0, 60), st.integers())
def test_of_a_rehearsal_two_in_seven_are_old_as_soon_as_any_is(recent: int, old: int, seed: int) -> None:
    found = drawn(pool("new", recent), pool("old", old), seed)
    ancient = sum(one.startswith("old") for one in found)
    assert len(found) == len(set(found)) <= 70
    assert ancient == min(20, old)
    if old:
        assert ancient * 7 >= len(found) * 2
    else:
        assert len(found) == min(50, recent)


def test_a_full_rehearsal_is_fifty_and_twenty_and_keeps_the_share_wherever_it_is_cut() -> None:
    found = drawn(pool("new", 500), pool("old", 500), 7)
    assert (len(found), sum(one.startswith("old") for one in found)) == (70, 20)
    for cut in range(7, 71, 7):
        assert sum(one.startswith("old") for one in found[:cut]) == cut * 2 // 7


def test_the_same_seed_draws_the_same_whatever_the_order_and_another_one_others() -> None:
    recent, old = pool("new", 300), pool("old", 300)
    assert drawn(recent, old, 1) == drawn(recent[::-1], old[::-1], 1)
    assert set(drawn(recent, old, 1)) != set(drawn(recent, old, 2))


def test_the_salient_are_drawn_more_often() -> None:
    recent = pool("low", 100, 100_000) + pool("high", 100, 900_000)
    high = sum(one.startswith("high") for seed in range(40) for one in drawn(recent, [], seed))
    assert 0.75 < high / (40 * 50) < 0.95


DENIED = {"contested": "x", "stated": "x"}


@pytest.mark.parametrize(
    ("changes", "verdict", "after", "nominated"),
    [
        ({}, Verdict.HELD, 594_000, "promote"),
        ({"salience_ppm": 499_999}, Verdict.HELD, 549_998, None),
        ({"salience_ppm": 500_000}, Verdict.HELD, 550_000, "promote"),
        ({"created": HOUR - 59_999}, Verdict.HELD, 594_000, None),
        ({"salience_ppm": 950_000, "tier": LONG_TERM}, Verdict.HELD, 1_000_000, None),
        ({"uses": 0}, Verdict.UNUSED, 540_000, None),
        ({"rehearsed": HOUR}, Verdict.UNUSED, 540_000, None),
        (DENIED, Verdict.CONTESTED, 459_000, None),
        ({"contested": "x"}, Verdict.HELD, 594_000, "promote"),
        ({"sources": 2, "sources_left": 1}, Verdict.HELD, 594_000, "promote"),
        ({"sources": 2}, Verdict.GROUNDLESS, 459_000, None),
        ({**DENIED, "salience_ppm": 117_647}, Verdict.CONTESTED, 99_999, "forget"),
        ({**DENIED, "salience_ppm": 117_648}, Verdict.CONTESTED, 100_000, None),
        (
            {**DENIED, "salience_ppm": 100_000, "tier": LONG_TERM},
            Verdict.CONTESTED,
            85_000,
            "demote",
        ),
        (
            {**DENIED, "salience_ppm": 100_000, "protected": True},
            Verdict.CONTESTED,
            85_000,
            None,
        ),
        ({"uses": 0, "salience_ppm": 50_000}, Verdict.UNUSED, 50_000, None),
    ],
)
def test_what_follows_from_what_was_seen(
    changes: dict[str, object], verdict: Verdict, after: int, nominated: str | None
) -> None:
    found = concluded(replace(FINE, **changes), HOUR, POLICY)
    assert (found.verdict, found.after_ppm, found.nominated) == (verdict, after, nominated)


def test_what_was_inferred_to_say_otherwise_is_a_doubt_where_the_policy_says_so() -> None:
    seen = replace(FINE, contested="x")
    inferring = replace(POLICY, supersede=replace(POLICY.supersede, inferred=True))
    assert concluded(seen, HOUR, POLICY).verdict is Verdict.HELD
    assert concluded(seen, HOUR, inferring).verdict is Verdict.CONTESTED
    assert (seen.against(POLICY), seen.against(inferring)) == (None, "x")
