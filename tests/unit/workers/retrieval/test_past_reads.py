"""Reads of the past over HTTP: which show what was replaced, what of it is told, and that it counts as no use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from memquorum.core.access import Sight
from memquorum.core.api.answers import Hit
from memquorum.core.avro import Codec
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import Candidate, Question, Ranking
from memquorum.core.retrieval.recall import Neighbour, Reach
from memquorum.core.retrieval.replaced import Replaced
from tests.builders.served import HERS, THEIRS, Served, client_of, make
from workers.retrieval.door import Door

AS_OF = 1_750_000_000_000
THEN = {"as_of": AS_OF}
WAS = {"query": "What was the port before?"}


@dataclass
class Watched:
    """A service whose store has a memory that HERS took the place of: as of which times that was asked for, and what
    was counted as used."""

    service: Served
    asked: list[int | None] = field(default_factory=list)
    used: list[list[str]] = field(default_factory=list)


@pytest.fixture
def watched(codec: Codec, monkeypatch: pytest.MonkeyPatch) -> Watched:
    made = Watched(make(codec, Door(None)))

    async def replaced(_: Sight, question: Question, __: Ranking) -> list[Replaced]:
        made.asked.append(question.filters.as_of)
        (name, vector), *_ = question.vectors.items()
        return [_gone(name, np.ones_like(vector))]

    around = made.service.reads.around

    async def with_gone(sight: Sight, namespace: str, named: list[str], reach: Reach, filters: Filters) -> Any:
        gone = _gone("e", np.ones(1, np.float32))
        more = [Neighbour(gone.candidate, THEIRS, "anchor", 0, gone)] if reach.past and THEIRS in named else []
        return [*await around(sight, namespace, named, reach, filters), *more]

    async def conflicts_then(*_: Any) -> list[Any]:
        return []

    async def use(_: Any, hits: Sequence[Hit], *__: Any, **___: Any) -> tuple[int, None]:
        made.used.append([hit.memory_id for hit in hits])
        return len(hits), None

    monkeypatch.setattr(made.service.reads, "replaced", replaced, raising=False)
    monkeypatch.setattr(made.service.reads, "around", with_gone)
    monkeypatch.setattr(made.service.reads, "conflicts_then", conflicts_then, raising=False)
    monkeypatch.setattr(made.service, "use", use)
    return made


def _gone(encoder: str, vector: NDArray[np.float32]) -> Replaced:
    """What HERS took the place of."""
    hit = Hit(THEIRS, "8080", "superseded", "bob", 5, 5, 0, 0.0, score=0.9)
    return Replaced(Candidate(hit, encoder, vector, near=True, words=1.0, after=()), HERS, "a", 7)


def ask(watched: Watched, path: str, **said: Any) -> dict[str, Any]:
    body = {"namespace": "greenhouse", "agent": "ann", "query": "Which port?"} | said
    answer = client_of(watched.service).post(path, json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


PATHS = ("/search", "/retrieve", "/context", "/recall")


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("said", [THEN, WAS], ids=["as of a time", "a question"])
def test_it_is_shown_and_counts_as_no_use(watched: Watched, path: str, said: dict[str, Any]) -> None:
    found = ask(watched, path, **said)
    shown = {one["memory_id"]: one for one in found["hits" if path == "/search" else "items"]}
    assert set(shown) == {HERS, THEIRS}
    marks = [] if said is THEN else [{"by": HERS, "agent": "a", "since": 7, "disputed": False, "spans": []}]
    assert (shown[THEIRS]["overtaken"], shown[THEIRS]["tier"]) == (marks, "superseded")
    assert shown[HERS]["overtakes"] == ([] if said is THEN else [THEIRS])
    assert (watched.used, found["used"]) == ([[HERS]], 1)


@pytest.mark.parametrize("path", PATHS)
def test_other_reads_do_not_ask_for_it(watched: Watched, path: str) -> None:
    ask(watched, path)
    if path != "/context":
        ask(watched, path, **WAS, tiers=["long-term"])
    assert watched.asked == []
    ask(watched, path, **THEN)
    assert watched.asked == [AS_OF]


def test_a_list_does_not_ask_for_it(watched: Watched) -> None:
    refused = client_of(watched.service).post("/memories/list", json={"namespace": "greenhouse", **THEN})
    assert (refused.status_code, refused.json()["field"], watched.asked) == (400, "as_of", [])


def test_a_context_marks_it_in_the_text_for_the_prompt(watched: Watched) -> None:
    text = ask(watched, "/context", **WAS)["text"]
    assert '- [1970-01-01 00:00, overtaken on 1970-01-01] bob: "8080"' in text


def test_a_recall_begins_at_it_only_in_a_read_of_the_past(watched: Watched) -> None:
    body = {"namespace": "greenhouse", "agent": "ann", "memory_id": THEIRS}
    client = client_of(watched.service)
    assert client.post("/recall", json=body).status_code == 404
    (item,) = client.post("/recall", json=body | THEN).json()["items"]
    assert (item["memory_id"], item["way"], item["overtaken"]) == (THEIRS, "anchor", [])
