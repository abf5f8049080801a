"""Reads of the past show replaced memories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from memquorum.core.api.answers import Hit
from memquorum.core.reading.times import WAS, AskedTime
from memquorum.core.retrieval.folding import fold
from memquorum.core.retrieval.overtaken import Beside, Otherwise
from memquorum.core.retrieval.query import ALL, Filters
from memquorum.core.retrieval.ranking import Candidate, Scored
from memquorum.core.retrieval.replaced import Past, Replaced, by_nearness, marked, marked_ranking, of_past, then

QUESTION = AskedTime(WAS)


def hit(name: str, tier: str = "superseded", **said: Any) -> Hit:
    return Hit(name, said.pop("text", name), tier, "ann", said.pop("at", 10), 0, 0, 0.5, said.pop("score", 0.5), **said)


def gone(name: str, newer: str | None, since: int = 20) -> Replaced:
    one = Candidate(hit(name), "e", np.ones(2, np.float32), near=True, words=None, after=())
    return Replaced(one, newer, None if newer is None else "bob", since)


@pytest.mark.parametrize(
    ("filters", "asked", "shown"),
    [
        (ALL, None, False),
        (ALL, QUESTION, True),
        (Filters(as_of=1), None, True),
        (Filters(as_of=1, tiers=("long-term",)), None, False),
        (Filters(tiers=("long-term", "short-term")), QUESTION, True),
        (Filters(experience=True), QUESTION, False),
    ],
)
def test_only_reads_of_the_past_show_it(filters: Filters, asked: AskedTime | None, shown: bool) -> None:
    assert of_past(filters, asked) is shown


def test_what_was_said_again_since_is_of_its_first_saying() -> None:
    again = hit("a", first_at=10, at=30)
    assert then(again, None) is again
    assert then(again, 30) is again
    assert (then(again, 29).occurred_at, then(again, 29).first_at) == (10, None)


def test_as_of_a_time_it_stands_among_the_rest_and_else_beside() -> None:
    found = (gone("a", "b"),)
    assert (Past(found).beside, Past(found).among, Past(found).names) == (found, (), {"a"})
    assert (Past(found, 5).beside, Past(found, 5).among, Past(found, 5).names) == ((), found, frozenset())
    assert set(Past(found, 5).vectors) == {"a"}


def test_it_is_marked_and_what_took_its_place_names_it() -> None:
    newer = hit("b", "short-term", overtakes=("z",))
    before = {"a": Beside(against=(Otherwise("y", "eve", 15, disputed=True),))}
    hits, beside = marked([hit("a"), newer, hit("c")], before, [gone("a", "b"), gone("c", None), gone("x", "b")])
    assert [one.overtakes for one in hits] == [(), ("z", "a"), ()]
    assert [(by.by, by.agent, by.at, by.disputed) for by in beside["a"].against] == [
        ("y", "eve", 15, True), ("b", "bob", 20, False)
    ]  # fmt: skip
    assert beside["c"].against == (Otherwise(None, None, 20, disputed=False),), "the reader may not see which"
    assert "x" not in beside, "what is not given has no mark"


def test_a_ranking_is_marked_the_same() -> None:
    ranked = [Scored(gone(name, None).candidate, 1.0, 1.0, 1.0) for name in ("a", "b")]
    first, second = marked_ranking(ranked, [gone("a", "b")])
    assert first.candidate.against == (Otherwise("b", "bob", 20, disputed=False),)
    assert (second.candidate.hit.overtakes, second.candidate.against) == (("a",), ())


def test_the_same_text_at_two_times_is_two_hits() -> None:
    hits = [hit("c", "short-term", text="8080"), hit("b", text="9090"), hit("a", text="8080"), hit("z", text="8080")]
    assert [one.memory_id for one in fold(hits)] == ["c", "b", "a", "z"]
    alive = [replace(one, tier="short-term") for one in hits]
    assert [one.memory_id for one in fold(alive)] == ["c", "b"]


def test_the_nearest_come_first() -> None:
    found = by_nearness([hit("c", score=0.1), hit("b", score=0.9), hit("a", score=0.9)])
    assert [one.memory_id for one in found] == ["a", "b", "c"]
