"""Requests to the memory: what is refused names the field, what is let through is within the limits."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from memquorum.core.api.answers import Hit
from memquorum.core.records import USES_MOST, QueryRecorded
from memquorum.core.retrieval import query
from memquorum.core.retrieval.bounds import DEFAULTS
from memquorum.core.retrieval.query import BadRequest, Search

GOOD = {"query": "where is the key?", "agent": "planner"}
HIT = Hit("5f0c8f0e-0000-5000-8000-000000000001", "t", "short-term", "a", 0, 0, 0, 0.5, 0.9)


def read(value: Any) -> Search:
    return query.read_search(value if isinstance(value, bytes) else json.dumps(value).encode())


def test_defaults() -> None:
    assert read({"vector": [3, 4.0], "peek": True}) == Search("default", "", 10, None, True, vector=(0.6, 0.8))
    assert read(GOOD) == Search("default", "where is the key?", 10, "planner", False)
    assert read({"query": "q", "peek": True, "k": 100, "namespace": "n"}) == Search("n", "q", 100, None, True)


@pytest.mark.parametrize(
    ("value", "code", "field"),
    [
        (b"[]", "bad_json", None),
        (b"{", "bad_json", None),
        ({}, "missing_field", "query"),
        ({"query": "q"}, "missing_field", "agent"),
        ({"query": "q", "peek": False}, "missing_field", "agent"),
        (GOOD | {"peek": 1}, "wrong_type", "peek"),
        (GOOD | {"peek": "yes"}, "wrong_type", "peek"),
        (GOOD | {"k": True}, "wrong_type", "k"),
        (GOOD | {"k": 0}, "out_of_range", "k"),
        (GOOD | {"k": 101}, "out_of_range", "k"),
        (GOOD | {"limit": 3}, "unknown_field", "limit"),
        (GOOD | {"query": " "}, "empty_value", "query"),
        (GOOD | {"query": "q" * 16_385}, "too_long", "query"),
        (GOOD | {"query": "\ud800"}, "forbidden_character", "query"),
        (GOOD | {"query": "a\0b"}, "forbidden_character", "query"),
        (GOOD | {"vector": [1.0]}, "too_many", "query"),
        ({"vector": [0.0, 0], "peek": True}, "out_of_range", "vector"),
        ({"vector": [], "peek": True}, "out_of_range", "vector"),
        (b'{"vector": [1e999], "peek": true}', "out_of_range", "vector"),
        ({"vector": ["1"], "peek": True}, "wrong_type", "vector"),
        (GOOD | {"where": {"a": {"$like": 1}}}, "out_of_range", "where"),
        (GOOD | {"where": []}, "wrong_type", "where"),
        (GOOD | {"path": "a//b"}, "bad_name", "path"),
        (GOOD | {"namespace": "a/b"}, "bad_name", "namespace"),
        (GOOD | {"agent": ""}, "bad_name", "agent"),
    ],
)
def test_what_is_refused_names_the_field(value: Any, code: str, field: str | None) -> None:
    with pytest.raises(BadRequest) as caught:
        read(value)
    assert (caught.value.code, caught.value.field) == (code, field)


def test_ids_and_waits() -> None:
    assert query.read_memory_id(HIT.memory_id.upper()) == HIT.memory_id
    assert [query.read_wait(v) for v in (None, "0", "60000")] == [0, 0, 60_000]
    for wrong in ("-1", "60001", "1.5", "x", "", "²"):
        with pytest.raises(BadRequest, match="whole number"):
            query.read_wait(wrong)
    with pytest.raises(BadRequest, match="not a UUID"):
        query.read_memory_id("x")


def test_hits_are_uses_unless_peeked_at() -> None:
    search = read(GOOD)
    others = [replace(HIT, memory_id=f"m{at}") for at in range(USES_MOST)]
    first, second = query.uses(search, [HIT, *others], "e")
    assert first.memory_ids == (HIT.memory_id, *(one.memory_id for one in others[:-1])), (
        "one record, as far as it takes"
    )
    assert second.memory_ids == (others[-1].memory_id,) and first.event_id != second.event_id
    assert {(one.agent, one.namespace) for one in (first, second)} == {("planner", "default")}
    assert query.uses(read(GOOD | {"peek": True}), [HIT], "e") == query.uses(search, [], "e") == []


def test_a_query_is_logged_unless_it_peeks_or_says_nothing() -> None:
    search = read(GOOD)
    told = query.query_record(search, [HIT], "q", "minilm", [0.5])
    wanted = QueryRecorded("planner", search.query, "default", "q", None, (HIT.memory_id,), "minilm", (0.5,))
    assert told == wanted
    assert query.query_record(read(GOOD | {"peek": True}), [HIT], "q") is None
    assert query.query_record(replace(search, query=""), [HIT], "q") is None


@pytest.mark.parametrize(("distance", "score"), [(0.0, 1.0), (-1e-9, 1.0), (2.0000001, -1.0), (0.25, 0.75)])
def test_scores_are_cosines(distance: float, score: float) -> None:
    assert query.cosine(distance) == score


@given(st.binary(max_size=200))
def test_any_body_is_read_or_refused(body: bytes) -> None:
    try:
        found = query.read_search(b"{" + body)
    except BadRequest as refused:
        refused.detail.encode()
    else:
        assert 1 <= found.k <= DEFAULTS.k_most


def hit(memory_id: str, score: float) -> Hit:
    return Hit(memory_id, "text", "short-term", "ann", 0, 0, 0, 0.5, score)


def merged_ids(lists: list[tuple[list[Hit], int]], k: int = 10) -> list[str]:
    return [one.memory_id for one in query.merge(lists, k)]


def test_hits_of_two_encoders_are_merged_by_rank_never_by_score() -> None:
    high, low = [hit(f"h{i}", 0.9) for i in range(3)], [hit(f"l{i}", 0.1) for i in range(3)]
    assert merged_ids([(low, 100), (high, 100)]) == ["l0", "h0", "l1", "h1", "l2", "h2"]
    assert merged_ids([(low, 100), (high, 100)], k=3) == ["l0", "h0", "l1"]


def test_the_best_of_few_says_less_than_the_best_of_many() -> None:
    many, few = [hit(f"m{i}", 0.5) for i in range(5)], [hit("f0", 0.9), hit("f1", 0.9)]
    assert merged_ids([(many, 1_000), (few, 2)], k=5) == ["m0", "m1", "m2", "m3", "m4"]
    assert merged_ids([(many, 1_000), (few, 400)], k=4) == ["m0", "m1", "f0", "m2"]


def test_a_memory_that_changed_its_encoder_meanwhile_counts_once() -> None:
    assert merged_ids([([hit("a", 0.5), hit("b", 0.4)], 2), ([hit("b", 0.9)], 1)]) == ["a", "b"]
    assert merged_ids([([], 0), ([], 0)]) == []


def test_of_equally_near_hits_the_one_that_was_said_last_is_first() -> None:
    said = [("a", 0.9, 5), ("b", 0.8, 1), ("c", 0.8, 3), ("d", 0.8, 3), ("e", 0.7, 9)]
    hits = [replace(hit(name, score), occurred_at=at) for name, score, at in said]
    assert [one.memory_id for one in query.latest_of_equals(hits)] == ["a", "c", "d", "b", "e"]
    assert query.latest_of_equals([]) == []
