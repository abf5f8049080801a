"""Each ready question gets the answer that is known of ten days in which everything happened once."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from infra import settings
from infra.audit_questions import answer, ask, questions
from infra.embedded.postgres import Postgres
from infra.settings import SettingsError
from memquorum.core.avro import Codec
from tests.builders import audited
from tests.builders.shard import memory_id
from tests.sql_pages import QUESTIONS, audit_questions
from tests.support.audited_store import stored

NAMED = {
    **{memory_id(name): name for name in audited.NAMES},
    memory_id("elsewhere", audited.BESIDE): "elsewhere",
    audited.ERASED_ADA: "erase ada",
    audited.ERASED_OPEN: "erase open",
    audited.WITHHELD: "withheld",
    audited.ASKED_BACK: "ask back",
    audited.ASKED_OPEN: "ask open",
}
KNOWN: Mapping[str, list[tuple[Any, ...]]] = {
    # namespace, accepted, ordered_by, reference, signer, selector, value, memories, episodes, receipt, order_id
    "erasures": [
        ("greenhouse", "day 9", "ada", "ticket-7", "operator", "memory", "spared", 1, 1, "unattested", "erase open"),
        ("greenhouse", "day 9", "ada", "ticket-7", "operator", "subject", "ada", 2, 2, "whole", "erase ada"),
    ],
    # namespace, order_id, memory_id, was, at, ordered_by
    "erased": [
        ("greenhouse", "erase ada", "ada too", "short-term", "day 9", "ada"),
        ("greenhouse", "erase ada", "of ada", "short-term", "day 9", "ada"),
        ("greenhouse", "erase open", "spared", "short-term", "day 9", "ada"),
    ],
    # namespace, order_id, receipt, attested, residue_until, residue
    "receipts": [
        ("greenhouse", "erase ada", "whole", "day 9", "day 9", False),
        ("greenhouse", "erase open", "unattested", None, "day 9", False),
    ],
    # namespace, memory_id, tier, due, held
    "destructions": [
        ("greenhouse", "capped a", "sealed", "day 16", True),
        ("greenhouse", "capped c", "sealed", "day 16", False),
        ("greenhouse", "capped e", "sealed", "day 16", False),
        ("greenhouse", "defended", "sealed", "day 14", False),
        ("greenhouse", "evicted", "sealed", "day 15", False),
        ("greenhouse", "faint", "dropped", "day 7", False),
        ("greenhouse", "said first", "sealed", "day 15", False),
        ("greenhouse", "said second", "sealed", "day 15", False),
    ],
    # namespace, memory_id, kind, outcome, at, members_for, members_against
    "votes": [
        ("greenhouse", "capped a", "forget", "forgotten", "day 9", [0, 1, 2, 3], []),
        ("greenhouse", "capped c", "forget", "forgotten", "day 9", [0, 1, 2, 3], []),
        ("greenhouse", "capped e", "forget", "forgotten", "day 9", [0, 1, 2, 3], []),
        ("greenhouse", "defended", "forget", "forgotten", "day 7", [1, 2, 3], [0]),
        ("greenhouse", "evicted", "evict", "forgotten", "day 8", [0, 1, 2, 3], []),
        ("greenhouse", "gone", "forget", "forgotten", "day 7", [0, 1, 2, 3], []),
        ("greenhouse", "old", "supersede", "superseded", "day 7", [0, 1, 2, 3], []),
        ("greenhouse", "said first", "consolidate", "consolidated", "day 8", [0, 1, 2, 3], []),
        ("greenhouse", "said second", "consolidate", "consolidated", "day 8", [0, 1, 2, 3], []),
    ],
    # namespace, memory_id, kind, member, outcome, at
    "defended": [
        ("greenhouse", "defended", "forget", 0, "forgotten", "day 7"),
    ],
    # namespace, shard, member, ballots, alone, dissent
    "dissent": [
        ("greenhouse", 0, 0, 14, 1, 0.2143),
        ("greenhouse", 0, 1, 14, 0, 0.1429),
        ("greenhouse", 0, 2, 14, 0, 0.1429),
        ("greenhouse", 0, 3, 14, 0, 0.1429),
        ("n0", 0, 0, 1, 0, 0.0),
        ("n0", 0, 1, 1, 0, 0.0),
        ("n0", 0, 2, 1, 0, 0.0),
        ("n0", 0, 3, 1, 0, 0.0),
    ],
    # namespace, week, proposals, unanimous, agreement
    "agreement": [
        ("greenhouse", "day 7", 14, 13, 0.9821),
        ("n0", "day 7", 1, 1, 1.0),
    ],
    # namespace, day, came, went, alive, characters
    "footprint": [
        ("greenhouse", "day 0", 21, 1, 20, 460),
        ("greenhouse", "day 7", 0, 3, 17, 391),
        ("greenhouse", "day 8", 1, 3, 15, 345),
        ("greenhouse", "day 9", 1, 6, 10, 230),
        ("n0", "day 0", 1, 0, 1, 23),
    ],
    # namespace, type, purposes, jurisdictions, memories, subjects, agents, sensitive, oldest, recipients
    "processing": [
        ("greenhouse", "episodic", "any", "", 19, 2, 2, 0, "day 0", ["llm.example.org"]),
        ("n0", "episodic", "any", "", 1, 1, 1, 0, "day 0", []),
    ],
    # namespace, recipient, memory_id, sent
    "recipients": [
        ("greenhouse", "llm.example.org", "kept", "before"),
        ("greenhouse", "llm.example.org", "promoted", "before"),
    ],
    # namespace, memory_id, agent, at, ballots_for, weight, needed, confidence
    "promoted": [
        ("greenhouse", "promoted", "planner", "day 7", 4, 5.0, 3.35, 0.965),
        ("n0", "elsewhere", "planner", "day 7", 4, 5.0, 3.35, 0.965),
    ],
    # namespace, day, agent, memories, fewest_votes, least_weight
    "forgotten": [
        ("greenhouse", "day 7", "planner", 2, 3, 3.5),
        ("greenhouse", "day 8", "planner", 1, 4, 5.0),
        ("greenhouse", "day 9", "planner", 3, 4, 5.0),
    ],
    # namespace, memory_id, kind, at, ballots_for, shard, epoch
    "capped": [
        ("greenhouse", "capped b", "forget", "day 9", 4, 0, 5),
        ("greenhouse", "capped d", "forget", "day 9", 4, 0, 5),
    ],
    # namespace, older, newer, way, at, tier
    "superseded": [
        ("greenhouse", "blue", "green", "slot", "day 0", "superseded"),
        ("greenhouse", "old", "new", "vote", "day 7", "superseded"),
    ],
    # namespace, older, newer, stated, compared, at
    "overtaken": [
        ("greenhouse", "said before", "said since", False, False, "day 0"),
    ],
    # namespace, memory_id, made_by, sources, sentences, resting, outcome, ballots_for, decided
    "summaries": [
        ("greenhouse", "summary", "extractive/1", 2, 2, 2, "consolidated", 4, "day 8"),
    ],
    # namespace, order_id, kind, action, ordered_by, reference, answered, state
    "orders": [
        ("greenhouse", "ask open", "restore", "restore", "ops", None, "day 9", "waits for its vote"),
        ("greenhouse", "erase open", "erase", "erase", "ada", "ticket-7", "day 9", "unattested"),
    ],
    # namespace, order_id, ordered_by, reference, answered
    "withheld": [
        ("greenhouse", "withheld", "ada", "ticket-7", "day 9"),
    ],
    # namespace, memory_id, kind, ordered_by, reference, since
    "protected": [
        ("greenhouse", "capped a", "hold", "counsel", "case-3", "before"),
        ("greenhouse", "promoted", "pin", "counsel", "case-3", "before"),
    ],
    # namespace, memory_id, request, ordered_by, asked, decided, tier
    "restored": [
        ("greenhouse", "gone", "ask back", "ops", "day 9", "day 9", "short-term"),
    ],
    # namespace, agent, memory_id, uses, last
    "uses": [
        ("greenhouse", "reviewer", "gone", 1, "day 7"),
        ("greenhouse", "reviewer", "kept", 1, "day 0"),
        ("greenhouse", "reviewer", "promoted", 2, "day 0"),
    ],
    # shard, opened_by, epochs, mean_s, longest_s
    "duration": [
        (0, "erase", 1, 0.0, 0.0),
        (0, "interval", 5, 0.0, 0.0),
        (0, "restore", 1, 0.0, 0.0),
    ],
    # namespace, policy, budget, held, at
    "budgets": [
        ("greenhouse", "worth", 100, 140, "day 8"),
    ],
    # namespace, memory_id, policy, tokens, score, features, outcome, at
    "scores": [
        (
            "greenhouse",
            "evicted",
            "worth",
            40,
            0.002,
            {
                "goals": 0,
                "worth": 0.75,
                "novelty": 1,
                "recency": 0.5,
                "urgency": 0,
                "accesses": 0.25,
                "centrality": 0.125,
            },
            "forgotten",
            "day 8",
        ),
        (
            "greenhouse",
            "spared",
            "worth",
            40,
            -0.06,
            {
                "goals": 0,
                "worth": 0.75,
                "novelty": 1,
                "recency": 0.5,
                "urgency": 0,
                "accesses": 0.25,
                "centrality": 0.125,
            },
            "kept",
            "day 8",
        ),
    ],
    # namespace, at, policy, budget, held, freed, after, forgotten, score_least, score_most, summaries, predicted,
    # realised, charged, account
    "triggers": [
        ("greenhouse", "day 8", "worth", 100, 140, 40, 100, 1, -0.06, 0.002, 0, None, None, 0.0, 0.0),
        ("greenhouse", "day 8", None, None, None, 6, None, 0, None, None, 1, 0.35, 0.4, 0.0, 0.0),
    ],
}
"""The rows of each answer, sorted; times as days since the first."""


@pytest.fixture(scope="module")
def dsn(postgres: Postgres, codec: Codec) -> Iterator[str]:
    with stored(postgres, codec) as found:
        yield found


def plain(value: Any) -> Any:
    if isinstance(value, datetime):
        day = (value.timestamp() * 1000 - audited.START) // audited.DAY
        return f"day {day:.0f}" if day >= 0 else "before"
    return NAMED.get(str(value), str(value) if isinstance(value, UUID) else value)


def test_every_question_has_a_known_answer_that_says_something() -> None:
    assert set(questions()) == set(KNOWN) and len(KNOWN) >= 20
    assert all(KNOWN.values())


@pytest.mark.parametrize("name", questions())
def test_a_question_is_answered(dsn: str, name: str) -> None:
    columns, rows = answer(dsn, questions()[name].statement, {})
    found = [tuple(map(plain, row)) for row in rows]
    assert sorted(found, key=repr) == KNOWN[name]
    # Of one namespace, as of all.
    if "namespace" in columns:
        at = columns.index("namespace")
        _, own = answer(dsn, questions()[name].statement, {"namespace": audited.BESIDE})
        assert [tuple(map(plain, row)) for row in own] == [row for row in found if row[at] == audited.BESIDE]


def asked(dsn: str, folder: Path, *only: str, question: str | None = None, **said: Any) -> int:
    given = replace(settings.load({}, folder), memory_dsn=dsn)
    return ask(given, Namespace(**({"question": question, "only": list(only), "json": False} | said)))


def test_the_command_lists_and_answers(dsn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert asked(dsn, tmp_path) == 0
    assert "Who erased what, and when?" in capsys.readouterr().out
    assert asked(dsn, tmp_path, "selector=subject", question="erasures") == 0
    told = capsys.readouterr().out
    assert audited.ERASED_ADA in told and audited.ERASED_OPEN not in told and "1 row" in told
    assert asked(dsn, tmp_path, "selector=nothing", question="erasures", json=True) == 0
    assert not capsys.readouterr().out
    assert asked(dsn, tmp_path, question="scores", json=True) == 0
    first, _ = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["score"], first["features"]["worth"]) == (-0.06, 0.75)


@pytest.mark.parametrize(
    ("question", "only", "why"),
    [
        ("nonsense", (), "no question 'nonsense'; there are: erasures"),
        ("erasures", ("ada",), "'ada' is not COLUMN=VALUE"),
        ("erasures", ("who=ada",), "the answer has the columns namespace, accepted, ordered_by"),
        ("erasures", ("x; DROP TABLE memory=1",), "the answer has the columns"),
    ],
)
def test_what_cannot_be_asked_is_said(dsn: str, tmp_path: Path, question: str, only: tuple[str, ...], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        asked(dsn, tmp_path, *only, question=question)


def test_the_page_shows_the_questions() -> None:
    assert QUESTIONS.read_text(encoding="utf-8") == audit_questions(), "run python -m tests.sql_pages"
