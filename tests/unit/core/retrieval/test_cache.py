"""The retrieval cache: what it finds is what the store would find, or it does not answer; and nothing stays in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memquorum.core.retrieval import cache as c
from memquorum.core.retrieval.cache import Cache, Nearest, Rows, answers, confirmed
from tests import examples

DIMENSIONS = 8


def rows(vectors: NDArray[np.float32], uses: list[int] | None = None, first: int = 0) -> Rows:
    ids = [f"{first + i:04}" for i in range(len(vectors))]
    return Rows(ids, vectors, uses or [0] * len(ids))


def drawn(count: int, seed: int, kinds: int = 1_000) -> NDArray[np.float32]:
    """Vectors as the store has them, of so many kinds: there are equal ones."""
    dice = np.random.default_rng(seed)
    found = dice.standard_normal((kinds, DIMENSIONS))[dice.integers(0, kinds, count)]
    return found.astype(np.float16).astype(np.float32)


@dataclass
class Store:
    """The living memories, by id; and the results of a search: by cosine in another precision, ties by id."""

    alive: dict[str, NDArray[np.float32]]

    def nearest(self, query: NDArray[np.float32], k: int, among: set[str] | None = None) -> list[str]:
        scored = sorted((-self.score(query, i), i) for i in self.alive if among is None or i in among)
        return [i for _, i in scored[:k]]

    def score(self, query: NDArray[np.float32], memory_id: str) -> float:
        a, b = query.astype(np.float64), self.alive[memory_id].astype(np.float64)
        return round(float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)), 12)

    def confirm(self, found: Nearest, changed: set[str], query: NDArray[np.float32], k: int) -> list[str] | None:
        """The answer as the service makes it: candidates and changes, compared in the store's own snapshot."""
        named = set(found.memory_ids)
        hits = self.nearest(query, k, named | changed)
        best = self.score(query, hits[0]) if hits else None
        there = len(named & self.alive.keys())
        return hits if confirmed(found, there, len(changed), 30, best) else None


@settings(max_examples=examples(200), deadline=None)
@given(
    count=st.integers(1, 120), k=st.integers(1, 30), kinds=st.sampled_from([2, 20, 1_000]), seed=st.integers(0, 10**6),
    gone=st.integers(0, 60), came=st.integers(0, 40), followed=st.booleans(),
)  # fmt: skip
def test_an_answer_of_a_whole_cache_is_the_stores(
    *, count: int, k: int, kinds: int, seed: int, gone: int, came: int, followed: bool
) -> None:
    vectors = drawn(count + came, seed, kinds)
    cache = Cache(7, rows(vectors[:count]), whole=True)
    dice = np.random.default_rng(seed)
    lost = {f"{i:04}" for i in dice.permutation(count)[:gone]}
    # The likeliest hits are forgotten as well.
    query = drawn(1, seed + 1)[0]
    alive = {f"{i:04}": vector for i, vector in enumerate(vectors)}
    new = {f"{i:04}" for i in range(count, count + came)}
    store = Store({i: vector for i, vector in alive.items() if i not in lost})
    if followed:
        cache.remove(sorted(lost))
        cache.put(rows(vectors[count:], first=count))
        lost, new = set(), set()
    found = cache.nearest(query, k)
    if found is None:
        assert len(cache) == 0
        return
    assert answers(found, exact=True)
    answer = store.confirm(found, lost | new, query, k)
    if answer is not None:
        assert answer == store.nearest(query, k)
    elif len(lost | new) <= 30:
        # Not for nothing: more are gone than there were to spare.
        assert len(lost & set(found.memory_ids)) > c.SPARE


def test_what_is_gone_is_made_up_for_by_what_is_next() -> None:
    vectors = drawn(100, 3)
    cache, query = Cache(7, rows(vectors), whole=True), drawn(1, 4)[0]
    found = cache.nearest(query, 5)
    assert found is not None and len(found.memory_ids) == 5 + c.SPARE and found.needed == 5
    store = Store({f"{i:04}": vector for i, vector in enumerate(vectors)})
    for memory_id in store.nearest(query, c.SPARE):
        del store.alive[memory_id]
    assert store.confirm(found, set(), query, 5) == store.nearest(query, 5)
    del store.alive[store.nearest(query, 1)[0]]
    assert store.confirm(found, set(), query, 5) is None


def test_one_that_is_not_whole_answers_only_what_is_near_and_not_who_wants_all() -> None:
    vectors = drawn(40, 5)
    cache = Cache(7, rows(vectors), whole=False)
    near, far = cache.nearest(vectors[3], 2), cache.nearest(drawn(1, 77)[0], 2)
    assert near is not None and far is not None
    assert near.compared == "most used" and near.best == pytest.approx(1, abs=1e-6) and far.best < c.NEAR_ENOUGH
    assert answers(near, exact=False)
    assert not answers(near, exact=True) and not answers(far, exact=False) and not answers(None, exact=False)
    # The near memories were forgotten meanwhile.
    assert (
        confirmed(near, 2, 0, 30, 0.99) and not confirmed(near, 2, 0, 30, 0.5) and not confirmed(near, 2, 0, 30, None)
    )


def test_too_much_change_is_the_stores() -> None:
    found = Cache(7, rows(drawn(5, 1)), whole=True).nearest(drawn(1, 2)[0], 3)
    assert found is not None and (found.seq, found.needed) == (7, 0)
    assert confirmed(found, 5, 30, 30, 0.1) and not confirmed(found, 5, 31, 30, 0.1)


def test_the_most_used_stay() -> None:
    vectors = drawn(8, 1)
    cache = Cache(1, rows(vectors[:4], [5, 1, 3, 9]), whole=True, capacity=4)
    cache.use(["0001", "0001", "nobody"])  # 3 now
    cache.put(rows(vectors[4:5], [2], first=4))
    assert "0004" not in cache and (cache.whole, cache.crowded) == (False, True)
    cache.put(rows(vectors[5:6], [4], first=5))
    assert [f"{i:04}" in cache for i in range(6)] == [True, False, True, True, False, True]
    assert len(cache) == 4 and cache.size == 4
    cache.put(rows(vectors[6:7], [3], first=2))  # it is there: it makes no room
    assert len(cache) == 4 and "0002" in cache


def test_it_takes_no_more_room_than_its_memories_and_its_bound() -> None:
    cache = Cache(1, rows(drawn(65, 1)), whole=True, capacity=100)
    assert cache.size == 100
    assert Cache(1, rows(drawn(5, 1)), whole=True, capacity=100).size == 64


def test_what_was_removed_has_left_no_trace() -> None:
    vectors = drawn(70, 9)
    cache = Cache(1, rows(vectors), whole=True)
    matrix = cache._matrix
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert cache.remove(["0003", "0069", "0003", "nobody"]) == 2
    for gone in (3, 69):
        assert not (np.abs(matrix - units[gone]).max(axis=1) < 1e-6).any()
    assert (np.abs(matrix - units[68]).max(axis=1) < 1e-6).sum() == 1 and len(cache) == 68 and cache.whole
    assert cache.nearest(vectors[68], 1) is not None
    cache.clear()
    assert not matrix.any() and len(cache) == 0 and not cache.whole and cache.nearest(vectors[0], 1) is None


def test_growing_leaves_nothing_behind() -> None:
    cache = Cache(1, rows(drawn(64, 9)), whole=True)
    old = cache._matrix
    cache.put(rows(drawn(1, 10), first=64))
    assert cache._matrix is not old and not old.any() and len(cache) == 65


def test_what_cannot_be_placed_is_the_stores() -> None:
    vectors = drawn(3, 1)
    cache = Cache(1, rows(vectors), whole=True)
    assert cache.nearest(np.zeros(DIMENSIONS, np.float32), 1) is None
    assert cache.nearest(np.ones(3, np.float32), 1) is None
    cache.put(rows(np.zeros((1, DIMENSIONS), np.float32), first=1))
    assert "0001" not in cache and not cache.whole and not cache.crowded
    alike = Cache(1, rows(np.tile(vectors[:1], (c.CANDIDATES_MAX + 1, 1))), whole=True)
    assert alike.nearest(vectors[1], 1) is None
