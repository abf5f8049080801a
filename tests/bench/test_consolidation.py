"""Rows of consolidation, on sessions made up for them: figures that can be worked out by hand."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from msgspec.structs import replace

from bench import __main__ as bench
from bench.consolidation import command, decisions, evidence, merging, repeated, shrinking
from bench.consolidation.frame import SHIPPED, Material
from bench.consolidation.made import AGREED, TOO_LITTLE, Consolidated, consolidate
from bench.consolidation.orders import ORDERS, Plain
from bench.consolidation.sessions import Stored, Talk, store
from bench.conversations import Question
from bench.sets import LOCOMO
from memquorum.core.consolidation.alike import stands_for
from memquorum.core.merging import Marks
from memquorum.core.policy import Policy
from memquorum.core.reading.tokens import tokens
from memquorum.core.retrieval.ranking import Candidate
from memquorum.encoders.hashing import HashingEncoder
from memquorum.ports import Candidate as Peered
from memquorum.ports import Peer
from tests.builders.found import candidate, scored
from workers.consolidator.extractive import Extractive

ENCODER = HashingEncoder()
# With so few turns most are worth keeping; the test asks what becomes of the others.
SHIPS = replace(Policy(), consolidate=replace(Policy().consolidate, lost_rank_ppm=1_000_001))
SAID = (
    ("Ann", "The boiler in hall 3 was serviced by Marta Keller on 12 March. It is a quiet one."),
    ("Bob", "We decided to move the pump test to Thursday 14:00."),
    ("Ann", "Okay."),
    ("Bob", "Tomas measured 3.8 bar at the inlet of pump 7. The dial looked fine. He wrote it down."),
    ("Ann", "Who has the key of the north gate?"),
    ("Bob", "The key hangs in the office behind the door, on the second hook from the left."),
)


def talk(said: tuple[tuple[str, str], ...] = SAID, sessions: str = "") -> Talk:
    texts = tuple(f"{who}: {what}" for who, what in said)
    return Talk("t", texts, said, tuple(range(0, 10 * len(said), 10)), tuple(sessions or "a" * len(said)))


def replace_sought(of: Talk, sought: tuple[tuple[int, ...], ...]) -> Talk:
    return dataclasses.replace(of, sought=sought)


def stored(of: Talk) -> Stored:
    return store(of, ENCODER.encode(of.texts), SHIPS)


def left(of: Talk, rule: str = SHIPPED, share: int = 350_000, policy: Policy = SHIPS) -> Consolidated:
    policy = replace(policy, consolidate=replace(policy.consolidate, share_ppm=share))
    return consolidate(stored(of), Extractive() if rule == SHIPPED else Plain(rule), policy)


@pytest.fixture
def material(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Material:
    (tmp_path / LOCOMO).mkdir()
    turns = [{"speaker": who, "dia_id": f"D1:{at}", "text": what} for at, (who, what) in enumerate(SAID)]
    sample = {
        "sample_id": "c1",
        "conversation": {"session_1": turns, "session_1_date_time": "1 May"},
        "qa": [
            {"question": "Where is the key of the north gate?", "answer": "office", "evidence": ["D1:5"], "category": 4}
        ],
    }
    (tmp_path / LOCOMO / "some.json").write_text(json.dumps([sample]), encoding="utf-8")
    made = Material(tmp_path, tmp_path / "cache")
    monkeypatch.setattr(made, "vectors", type("V", (), {"of": staticmethod(ENCODER.encode), "name": ENCODER.name})(),
                        raising=False)  # fmt: skip
    return made


def test_what_says_nothing_is_no_memory_and_the_rest_is_left_once() -> None:
    made = left(talk())
    assert 2 not in made.stored.memories
    assert sorted({at for one in made.agreed for at in one.sources} | {*made.raw}) == list(made.stored.memories)
    assert [one.ended for one in made.proposed] == [AGREED]
    assert set(made.kept) <= set(made.proposed[0].sources)
    for at, spans in made.kept.items():
        assert all(talk().texts[at][start:end] in made.proposed[0].record.content for start, end in spans)


def test_what_is_voted_down_stays_raw_and_a_short_session_is_not_summed_up() -> None:
    strict = replace(SHIPS, consolidate=replace(SHIPS.consolidate, covered_ppm=999_999))
    made = left(talk(), policy=strict)
    assert [one.ended for one in made.proposed] == [TOO_LITTLE]
    assert made.raw == made.stored.memories and made.texts == made.before
    assert left(talk(SAID[:2])).proposed == ()


@pytest.mark.parametrize("rule", ORDERS)
def test_a_plain_rule_keeps_to_its_share_and_members_find_it_faithful(rule: str) -> None:
    (made,) = left(talk(), rule, 500_000).proposed
    of = [talk().texts[at] for at in made.sources]
    spent = sum(tokens(of[made.sources.index(at)][a:b]) for at, spans in left(talk(), rule, 500_000).kept.items()
                for a, b in spans)  # fmt: skip
    assert 0 < spent <= sum(map(tokens, of)) / 2
    assert made.ended == AGREED


def test_the_first_sentences_are_the_first() -> None:
    (made,) = left(talk(), "the first", 300_000).proposed
    assert "serviced by Marta Keller" in made.record.content and "second hook" not in made.record.content


def test_the_rows_of_what_is_left(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Material, "policy", SHIPS)
    (one,) = material.left(LOCOMO)
    row = shrinking.characters(material)
    expected = 100 * sum(map(len, one.texts)) / sum(map(len, one.before))
    assert row.value("left, locomo") == pytest.approx(expected, rel=1e-3) and expected < 100
    row = shrinking.votes(material)
    assert row.value("consolidated, locomo") == 100 and row.value("proposed, locomo, the first") == 1
    row = shrinking.most_important(material)
    assert row.value("episodes of which something is lost") == 0
    assert row.value("episodes of which something is lost, the first") > 0


def test_a_decision_is_left_where_a_sentence_that_bears_it_out_is() -> None:
    of = replace_sought(talk(), ((1,), (2,), (5,)))
    made = left(of)
    turns = decisions.left(made)
    assert decisions._found([made], [turns]) == pytest.approx(
        100 * sum(not turns.isdisjoint({at}) for at in (1, 2, 5)) / 3
    )
    assert 2 not in turns and turns <= {0, 1, 3, 4, 5}
    spent = sum(tokens(of.texts[at]) for at in decisions.by_worth(made))
    assert 0 < spent <= sum(map(tokens, made.texts))


def test_the_row_of_exact_duplicates(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(material, "quick", True)
    monkeypatch.setattr(repeated, "OnnxEncoder", HashingEncoder)
    row = repeated.duplicates(material)
    assert row.value("duplicates that were known") == 100
    assert row.value("new texts that the filter let through") < 2


def test_a_set_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [word for name in command.ONLY if name not in command.WITHOUT_SETS for word in ("--only", name)]
    assert bench.main(["consolidation", *asked, "--data", str(tmp_path), "--cache", str(tmp_path)]) == 0
    said = capsys.readouterr().err
    assert said.count("has no set") == len(asked) // 2


def test_evidence_is_found_whole_in_part_or_by_the_sentence_that_answers() -> None:
    text = "Ann: Okay. The key hangs in the office. It is a red one."
    asked = Question("Where is the key?", (0,), "4", "in the office")
    whole = evidence.telling(text)
    assert {text[a:b] for a, b in whole} == {"The key hangs in the office.", "It is a red one."}
    answers = evidence.answering(text, asked)
    assert answers is not None and text[answers[0] : answers[1]] == "The key hangs in the office."
    other = next(span for span in whole if span != answers)
    assert evidence.evidence_shares([text], asked, {0: whole}) == (1, 1, 1)
    assert evidence.evidence_shares([text], asked, {0: frozenset({answers})}) == (0, 1, 1)
    assert evidence.evidence_shares([text], asked, {0: frozenset({other})}) == (0, 1, 0)
    assert evidence.evidence_shares([text], asked, {}) == (0, 0, 0)
    assert evidence.evidence_shares(["Okay."], asked, {}) is None


def test_what_a_summary_serves_is_told_of_its_sources() -> None:
    made = left(talk(), share=900_000)
    space = evidence.Namespace("n", made.stored, made.raw, made.agreed)
    (summary,) = [one for one in space.held if one.made_by]
    hit = structs.replace(candidate(1, summary.text).hit, memory_id=summary.memory_id, made_by=summary.made_by)
    best = scored(Candidate(hit, "e", np.ones(2, np.float32), True, None, ()))
    assert space.given([best], 1_000, None) == {at: frozenset(spans) for at, spans in made.kept.items()}
    line = next(line for line in summary.text.split("\n") if "second hook" in line)
    part = structs.replace(best, candidate=structs.replace(best.candidate, hit=structs.replace(hit, text=line)))
    assert set(space.given([part], 1_000, None)) == {5}
    assert space.given([part], 1_000, None, whole=True) == space.given([best], 1_000, None)
    assert space.given([part], 24, None) and not space.given([part], 24, None, whole=True), "a whole one does not fit"


def test_merging_spares_what_lies_near_or_also_says_the_same() -> None:
    said = ("Pump 7 was checked by Marta.", "Pump 7 was checked by  Marta.", "Pump 8 was checked by Marta.")
    some = [
        Peer(Peered(f"m{at}", "n", "short-term", at, at, 1, False), text, np.array([1, 0], np.float32), Marks("n"))
        for at, text in enumerate(said)
    ]
    near = merging.spared(some, merging.SOURCE_PPM, merging._any)
    assert (near.went, near.before - near.after) == (2, len(said[1]) + len(said[2]))
    shipped = merging.spared(some, merging.SOURCE_PPM, stands_for)
    assert (shipped.went, shipped.before - shipped.after, shipped.near, shipped.apart) == (1, len(said[1]), 3, 2)
