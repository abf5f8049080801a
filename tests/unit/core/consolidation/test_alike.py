"""Groups of summaries that say the same: every pair near and in agreement, never through a bridge, whatever their
order.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.consolidation.alike import cliques, cosine_ppm, lowest_ppm, same
from memquorum.core.merging import Marks
from memquorum.core.policy import PPM
from memquorum.ports import Candidate, Peer

NOW, LEAST = 1_700_000_000_000, 970_000
SAID = "Pump 7 was checked by Marta.\nTomas measured 3.8 bar at the inlet."
SAME = "Pump 7 was checked by Marta.\nTomas measured 3.8 bar at the  inlet."
OTHER = "Pump 7 was checked by Marta.\nTomas measured 3.9 bar at the inlet."


def vector(degrees: float) -> Any:
    """A unit vector at an angle: the cosine of two is that of the angle between them."""
    return np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], np.float32)


def peer(name: str, text: str = SAID, degrees: float = 0, *, salience: int = 600_000, **marks: Any) -> Peer:
    one = Candidate(name, "n", "short-term", NOW - 1_000, NOW, salience, False)
    return Peer(one, text, vector(degrees), Marks("anna", **marks))


def named(groups: list[tuple[Peer, ...]]) -> list[list[str]]:
    return [[one.candidate.memory_id for one in group] for group in groups]


def groups_of(*peers: Peer, most: int = 8) -> list[list[str]]:
    return named(cliques(peers, LEAST, most, NOW))


def test_the_cosine_is_rounded_down_and_exact_at_one() -> None:
    assert cosine_ppm(vector(0), vector(0)) == cosine_ppm(3 * vector(41), vector(41)) == PPM
    assert cosine_ppm(vector(0), vector(60)) in (499_999, 500_000)
    assert cosine_ppm(vector(0), vector(180)) == 0
    assert cosine_ppm(vector(0), np.zeros(2, np.float32)) == 0
    assert cosine_ppm(vector(0), np.ones(3, np.float32)) == 0
    assert lowest_ppm([peer("a"), peer("b", degrees=5), peer("c", degrees=60)]) == cosine_ppm(vector(0), vector(60))
    assert lowest_ppm([peer("a")]) == 0


def test_two_that_say_the_same_become_one_and_the_higher_score_stays() -> None:
    assert groups_of(peer("a", SAID, salience=500_000), peer("b", SAME, 5, salience=600_000)) == [["b", "a"]]


def test_of_equal_scores_the_older_stays_then_the_lower_id() -> None:
    late = peer("a")
    # Both fade: of equal importance the one that is a month older counts half by now.
    month = 30 * 24 * 3600 * 1000
    old = replace(late.candidate, memory_id="b", created=late.candidate.created - month, salience_ppm=1_000_000)
    assert groups_of(late, Peer(old, SAID, late.vector, late.marks)) == [["a", "b"]]
    even = replace(late.candidate, memory_id="c", created=late.candidate.created - 1)
    assert groups_of(late, Peer(even, SAID, late.vector, late.marks)) == [["c", "a"]]
    assert groups_of(peer("e"), peer("d")) == [["d", "e"]]


@pytest.mark.parametrize(
    "other",
    [
        peer("b", OTHER),
        peer("b", SAID.replace("Marta", "Lena")),
        peer("b", SAID.replace("was checked", "was not checked")),
        peer("b", SAID + "\nThe valve leaks."),
        peer("b", "\n".join(reversed(SAID.split("\n")))),
        peer("b", degrees=15),
        peer("b", sensitivity_ppm=1),
        peer("b", purposes="billing"),
        peer("b", purposes=""),
        peer("b", jurisdictions="DE"),
        peer("b", source="manual.pdf"),
        peer("b", slot="pump"),
        Peer(peer("b").candidate, SAID, vector(0), Marks("ben")),
        Peer(replace(peer("b").candidate, namespace="m"), SAID, vector(0), Marks("anna")),
    ],
    ids=[
        "a number", "a name", "a negation", "a sentence more", "another order", "too far", "sensitivity", "purposes",
        "no purpose", "jurisdiction", "source", "slot", "subject", "namespace",
    ],
)  # fmt: skip
def test_what_differs_stays_two(other: Peer) -> None:
    assert groups_of(peer("a"), other) == groups_of(other, peer("a")) == []


def test_a_bridge_joins_nobody() -> None:
    """Nine degrees apart each is near enough to the next, and the ends are not to each other."""
    row = [peer(name, degrees=9 * at) for at, name in enumerate("abcd")]
    assert cosine_ppm(row[0].vector, row[1].vector) >= LEAST > cosine_ppm(row[0].vector, row[2].vector)
    assert groups_of(*row) == [["a", "b"], ["c", "d"]]


def test_no_more_than_a_vote_takes_become_one() -> None:
    assert [len(group) for group in groups_of(*(peer(f"m{at}") for at in range(7)), most=3)] == [3, 3]


texts = st.sampled_from([SAID, SAME, OTHER])
peers = st.lists(
    st.tuples(texts, st.integers(0, 40), st.integers(0, 3), st.sampled_from([0, 1])), max_size=8
).map(
    lambda drawn: [
        peer(f"m{at}", text, degrees, salience=100_000 * salience, sensitivity_ppm=gate)
        for at, (text, degrees, salience, gate) in enumerate(drawn)
    ]
)  # fmt: skip


@given(peers, st.integers(2, 4), st.randoms())
def test_groups_are_cliques_and_do_not_depend_on_the_order(some: list[Peer], most: int, dice: Any) -> None:
    groups = cliques(some, LEAST, most, NOW)
    for group in groups:
        assert 2 <= len(group) <= most
        assert same(group) and lowest_ppm(group) >= LEAST
        assert group[0].candidate.salience_ppm == max(one.candidate.salience_ppm for one in group)
    ids = [one.candidate.memory_id for group in groups for one in group]
    assert len(ids) == len(set(ids)), "one summary in two groups"
    dice.shuffle(some)
    assert named(cliques(some, LEAST, most, NOW)) == named(groups)
    # A remaining summary could have joined no group that has room, and no two of them are one.
    left = [one for one in some if one.candidate.memory_id not in ids]
    assert not any(same(pair) and lowest_ppm(pair) >= LEAST for pair in itertools.combinations(left, 2))
    for one, group in itertools.product(left, groups):
        assert len(group) == most or not (same((*group, one)) and lowest_ppm((*group, one)) >= LEAST)
