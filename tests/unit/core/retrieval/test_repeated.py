"""When an answer may be given again: the order of what it was chosen from, and nothing of content in what is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.api.answers import Around, Hit
from memquorum.core.policy import Policy
from memquorum.core.retrieval.ranking import DEFAULTS, Candidate, Scored, rank
from memquorum.core.retrieval.repeated import Chosen, Standing, beside_traces, chosen, emptied, filled, hit_again

POLICY, NOW = Policy(), 100_000_000
DAY = 86_400_000


def candidate(name: str, near: float, **more: Any) -> Candidate:
    hit = Hit(name, f"text of {name}", "short-term", "ann", 0, NOW - DAY, 1, 0.5, near, **more)
    return Candidate(hit, "e", np.ones(2, np.float32), True, None, ())


def ranked(*found: Candidate) -> list[Scored]:
    return rank(found, {"e": len(found)}, NOW, POLICY)


@pytest.fixture
def three() -> Chosen:
    return chosen(ranked(*(candidate(name, 0.9 - 0.1 * n) for n, name in enumerate("abc"))), NOW, POLICY, DEFAULTS)


def test_in_the_same_order_it_is_given_again_with_the_strengths_of_now(three: Chosen) -> None:
    assert [one.memory_id for one in three.ranked] == ["a", "b", "c"] == list(three.watched)
    same = three.strengths(three.standing)
    later = three.strengths(replace(three.standing, as_of=NOW + DAY))
    assert same is not None and later is not None
    assert all(later[name] < same[name] for name in "abc")
    scored = ranked(*(candidate(name, 0.9 - 0.1 * n) for n, name in enumerate("abc")))
    assert same == {one.candidate.hit.memory_id: one.strength for one in scored}


def test_in_another_order_it_is_not(three: Chosen) -> None:
    stronger = Standing(three.standing.last_access, (0, 1_000_000, 0), NOW)
    assert three.strengths(stronger) is None
    assert three.strengths(Standing((NOW, None, NOW), (1, None, 1), NOW)) is None, "one has no strength any more"


def test_an_answer_of_sentences_depends_on_the_scores_themselves() -> None:
    found = chosen(ranked(candidate("a", 0.9, made_by="maker"), candidate("b", 0.8)), NOW, POLICY, DEFAULTS)
    assert found.by_value and found.strengths(found.standing) is not None
    assert found.strengths(replace(found.standing, as_of=NOW + DAY)) is None
    assert found.strengths(replace(found.standing, salience_ppm=(500_001, 500_000))) is None


def test_the_salience_of_traces_orders_them(three: Chosen) -> None:
    found = beside_traces(three, [candidate("t", 0.1)])
    assert found.watched == ("a", "b", "c", "t")
    used = replace(found.standing, last_access=(*found.standing.last_access[:3], NOW))
    assert found.strengths(used) is not None
    assert found.strengths(replace(found.standing, salience_ppm=(*found.standing.salience_ppm[:3], 1))) is None


def test_what_is_kept_has_no_content_and_is_filled_from_the_memory_of_now() -> None:
    item = Around(
        "m", "one. two. three.", "short-term", "ann", 1, 2, 3, 0.5, tokens=2, folded=("f",), spans=((0, 4), (10, 16)),
        way="anchor", anchor="m", apart=0, subject="ada", key="slot", path="a/b", attributes={"x": 1}, excerpt=True,
    )  # fmt: skip
    kept = emptied(item)
    assert kept is not None
    assert (kept.text, kept.subject, kept.key, kept.path, kept.attributes) == ("", "", None, None, None)
    now = Hit("m", "one. two. three.", "short-term", "ann", 1, 7, 4, 0.6, 0.0, subject="ada", key="slot", path="a/b")
    hit = hit_again(kept, now)
    assert (hit.text, hit.excerpt, hit.folded) == ("one.\nthree.", True, ("f",))
    again = filled(kept, hit, {})
    assert (again.text, again.key, again.accesses, again.way) == ("one.\nthree.", "slot", 4, "anchor")
    assert emptied(replace(item, spans=())) is None, "nothing tells where its text begins"
