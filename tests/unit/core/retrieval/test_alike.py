"""Hits that say nearly the same as others come behind the rest of the best."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray

from memquorum.core.api.answers import Hit
from memquorum.core.retrieval.alike import HEAD, demoted

QUESTION = np.array([1, 0, 0, 0], np.float32)
WORDINGS = (
    "Backups begin at two o'clock at night",
    "every night the backup starts at two",
    "Saw it kick off around two again",
    "The nightly job runs at two sharp",
)
OTHERS = ("Logs are kept for ninety days", "Priti gets the text message", "They land in Falkenstein")


def hit(name: str, text: str) -> Hit:
    return Hit(name, text, "short-term", "a", 0, 0, 0, 0.5, 0.5)


def at(*parts: float) -> NDArray[np.float32]:
    return np.array(parts, np.float32)


def near_hits(texts: tuple[str, ...], others: tuple[str, ...] = ()) -> list[Hit]:
    """The hits of texts that are near beyond the question, and behind them of others that are not."""
    hits = [hit(f"m{n}", text) for n, text in enumerate((*texts, *others))]
    vectors = {one.memory_id: at(0.6, 0.8, 0, 0) for one in hits}
    for n, one in enumerate(hits[len(texts) :]):
        vectors[one.memory_id] = at(0.6, 0, *((0.8, 0) if n % 2 else (0, 0.8)))
    return demoted(hits, vectors, QUESTION)


def test_two_wordings_keep_their_places_and_the_rest_comes_behind_and_is_named() -> None:
    found = near_hits(WORDINGS, OTHERS[:2])
    assert [one.memory_id for one in found] == ["m0", "m1", "m4", "m5", "m2", "m3"]
    assert found[0].alike == ("m1", "m2", "m3") and not any(one.alike for one in found[1:])


@pytest.mark.parametrize("texts", [
    ("Pump 1 runs at 3 bar", "Pump 2 runs at 3 bar", "Pump 3 runs at 3 bar"),
    ("Ada may enter the hall", "Bo may enter the hall", "Cy may enter the hall"),
    ("the gate is open", "the gate is not open", "the gate is never open"),
    ("insurance paid ✅", "insurance paid ❌", "insurance paid ⏳"),
    ("move it by +3 now", "move it by -3 now", "move it by =3 now"),
    ("the key is aB3x", "the key is Ab3x", "the key is ab3X"),
    ("the red door sticks", "the blue door sticks", "the green door sticks"),
])  # fmt: skip
def test_texts_that_are_built_alike_and_differ_are_not_nearly_the_same(texts: tuple[str, ...]) -> None:
    found = near_hits(texts, OTHERS[:1])
    assert [one.memory_id for one in found] == ["m0", "m1", "m2", "m3"] and not found[0].alike


def test_what_two_have_of_the_question_alone_is_no_likeness() -> None:
    hits = [hit(str(n), text) for n, text in enumerate((*WORDINGS[:1], *OTHERS))]
    vectors = {"0": at(0.9, 0.4, 0, 0), "1": at(0.9, 0, 0.4, 0), "2": at(0.9, 0, 0, 0.4), "3": at(0.9, -0.4, 0, 0)}
    assert demoted(hits, vectors, QUESTION) == hits


def test_what_has_no_vector_and_what_stands_behind_the_head_stays() -> None:
    hits = [hit(str(n), f"{WORDINGS[n % 4]} {n}") for n in range(HEAD + 2)]
    assert demoted(hits, {}, QUESTION) == hits
    near = {one.memory_id: at(0.6, 0.8, 0, 0) for one in hits[HEAD:]}
    assert demoted(hits, near, QUESTION) == hits
    assert demoted([], {}, QUESTION) == []


@given(st.lists(st.text(), max_size=14))
def test_no_hit_is_lost_and_the_first_stays(texts: list[str]) -> None:
    hits = [hit(str(n), text) for n, text in enumerate(texts)]
    vectors = {one.memory_id: at(0.6, 0.8, 0, 0) for one in hits}
    found = demoted(hits, vectors, QUESTION)
    assert sorted(one.memory_id for one in found) == sorted(one.memory_id for one in hits)
    assert [one.memory_id for one in found[:1]] == [one.memory_id for one in hits[:1]]


def test_long_texts_are_read_in_time() -> None:
    hits = [hit(str(n), "a1 " * 21_845) for n in range(HEAD)]
    before = time.process_time()
    demoted(hits, {one.memory_id: at(0.6, 0.8, 0, 0) for one in hits}, QUESTION)
    assert time.process_time() - before < 0.2


def test_long_texts_are_like_no_other() -> None:
    """They say much beside the passage that answers, of which a vector of the whole knows little."""
    hits = [replace(hit(f"m{n}", text), passage=(0, 10)) for n, text in enumerate(WORDINGS)]
    vectors = {one.memory_id: at(0.6, 0.8, 0, 0) for one in hits}
    others = [hit(f"o{n}", text) for n, text in enumerate(OTHERS)]
    assert demoted([*hits, *others], vectors, QUESTION) == [*hits, *others]
    assert demoted([*(replace(one, passage=None) for one in hits), *others], vectors, QUESTION) != [*hits, *others]


def test_two_wordings_keep_their_places_and_are_not_named() -> None:
    assert not any(hit.alike for hit in near_hits(WORDINGS[:2]))
