"""Summaries come from the consolidator alone, and nothing else comes in its name."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.identity import signatures
from memquorum.core.identity.membership import CONSOLIDATOR, Genesis
from memquorum.core.intake import EpisodeIntent, Origin, Refusal, accept
from memquorum.core.records import EpisodeRecorded, Quote, Summary
from memquorum.schema_files import load_codec
from tests.builders import genesis as cluster

CODEC: Codec = load_codec()
NOW = 1_750_000_000_000
SOURCE = "0b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a11"
KEY = f"agent:{CONSOLIDATOR}"
GENESIS = cluster.make(agent_keys={CONSOLIDATOR: cluster.public_key(KEY)})
SUMMARY = Summary("extractive/1", "s1", 600_000, b"c" * 32, (Quote(SOURCE.upper(), 0, 5, "facts", NOW),))
RECORD = EpisodeRecorded(
    CONSOLIDATOR, "Valve 3 opens.", "plant", "e1", NOW, derives_from=(SOURCE,), summary=SUMMARY
)  # fmt: skip


def judged(record: EpisodeRecorded, *, genesis: Genesis = GENESIS, signed: bool = True) -> EpisodeIntent | Refusal:
    data = CODEC.encode(record)
    signature = signatures.sign(GENESIS.cluster, topics.EPISODES, cluster.seed_of(KEY), data) if signed else None
    answer = accept(CODEC, data, Origin(topics.EPISODES, 0, 0), NOW, driven=False, genesis=genesis, signature=signature)
    assert isinstance(answer, EpisodeIntent | Refusal)
    return answer


def test_a_signed_summary_comes_in_with_its_sentences() -> None:
    answer = judged(RECORD)
    assert isinstance(answer, EpisodeIntent) and answer.summary is not None
    assert [quote.memory_id for quote in answer.summary.quotes] == [SOURCE]


def test_one_that_was_made_for_want_of_room_is_of_no_session() -> None:
    answer = judged(replace(RECORD, summary=replace(SUMMARY, session="")))
    assert isinstance(answer, EpisodeIntent) and answer.summary is not None and answer.summary.session == ""


def test_nobody_else_publishes_a_summary() -> None:
    answer = judged(replace(RECORD, agent="anna"), signed=False)
    assert isinstance(answer, Refusal) and (answer.reason, answer.field) == ("not_entitled", "summary")


@pytest.mark.parametrize("changes", [{}, {"summary": None}], ids=["a summary", "an episode"])
def test_nobody_speaks_in_its_name(changes: dict[str, Any]) -> None:
    answer = judged(replace(RECORD, **changes), signed=False)
    assert isinstance(answer, Refusal) and (answer.reason, answer.field) == ("not_entitled", "agent")
    nobody = judged(replace(RECORD, **changes), genesis=cluster.make())
    assert isinstance(nobody, Refusal) and nobody.reason == "not_entitled", "nor where it has no key"


@pytest.mark.parametrize(
    ("summary", "reason"),
    [
        (replace(SUMMARY, importance_ppm=1_000_001), "out_of_range"),
        (replace(SUMMARY, quotes=(Quote("x", 0, 5, "facts", NOW),)), "bad_id"),
        (replace(SUMMARY, quotes=(Quote(SOURCE.replace("0", "1"), 0, 5, "facts", NOW),)), "bad_id"),
        (replace(SUMMARY, quotes=SUMMARY.quotes * 1_001), "too_many"),
        (replace(SUMMARY, by=" "), "bad_name"),
        (replace(SUMMARY, session=" "), "bad_name"),
    ],
)
def test_a_summary_that_is_none_is_told_why(summary: Summary, reason: str) -> None:
    answer = judged(replace(RECORD, summary=summary))
    assert isinstance(answer, Refusal) and answer.reason == reason


FORM = replace(RECORD, summary=replace(SUMMARY, by="abstract/1", quotes=()))


def test_a_general_form_is_made_of_one_memory_and_quotes_nothing() -> None:
    assert isinstance(judged(FORM), EpisodeIntent)
    for wrong in (
        replace(FORM, derives_from=(SOURCE, SOURCE.replace("0b", "1b"))),
        replace(FORM, summary=replace(SUMMARY, by="abstract/2")),
    ):
        answer = judged(wrong)
        assert isinstance(answer, Refusal) and (answer.reason, answer.field) == ("too_many", "derives_from")
