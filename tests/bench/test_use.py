"""The proof of use: what is a correct answer, what fits a context, and that the page is the results'."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from bench import __main__ as bench
from bench import conversations, kept
from bench.conversations import Conversation, Question
from bench.kept import Row
from bench.use import marking, memories, page, tables
from bench.use.answering import UNKNOWN, Extractive, Modelled, chosen
from bench.use.memories import Gave, Piece
from memquorum.core.reading.tokens import tokens
from memquorum.encoders.onnx import OnnxEncoder

TURNS = (
    "Ada: The pump of hall 2 was moved to hall 5 on Monday. Somebody painted it green.",
    "Ben: We had soup for lunch.",
    "Ada: The key of the old cellar lies under the fourth stone.",
    "Ben: It rained all night.",
)
TALK = Conversation(
    "made", TURNS, ("s1", "s1", "s2", "s2"),
    (
        Question("Where does the key of the old cellar lie?", (2,), "4", "under the fourth stone"),
        Question("Which ship did Cleo's uncle sail to Lisbon?", (1,), "5"),
    ),
    ("1 May", "1 May", "2 May", "2 May"),
)  # fmt: skip


@pytest.fixture(scope="module")
def reader() -> Extractive:
    return Extractive(OnnxEncoder())


def test_the_mark_of_locomo_is_that_of_its_own_evaluation() -> None:
    def mark(category: str, right: str, answer: str) -> float:
        return marking.locomo(Question("?", (0,), category, right), answer)

    assert mark("4", "The Green Valve", "a green valves") == 1
    assert mark("4", "green valve", "green door") == pytest.approx(0.5)
    assert mark("4", "green", "") == 0
    assert mark("1", "soup, bread", "bread and butter, soup") == pytest.approx((1 + 2 / 3) / 2)
    assert mark("3", "yes; she likes it", "Yes") == 1
    assert mark("2", "yes; she likes it", "Yes") < 1
    assert mark("5", "", UNKNOWN) == mark("5", "", "That is not mentioned.") == 1
    assert mark("5", "", "green") == 0


def test_exact_is_the_same_words_and_longmemeval_wants_those_of_the_answer_in_their_order() -> None:
    asked = Question("?", (0,), "4", "The fourth stone")
    assert marking.exact(asked, "stone, fourth") and not marking.exact(asked, "under the fourth stone")
    assert marking.longmemeval(asked, "It lies under the fourth stone.") == 1
    assert marking.longmemeval(asked, "the stone is the fourth") == 0
    assert marking.longmemeval(Question("?", (), "x"), UNKNOWN) == 1


def test_what_fits_is_taken_best_first_and_given_newest_last() -> None:
    pieces = [Piece(at, text * 40, "d", "Ada") for at, text in ((2, "x"), (3, "y" * 10), (0, "z"))]
    one = tokens("[d] Ada: " + "x" * 40 + "\n")
    assert [piece.place for piece in memories.fit(pieces, 2 * one)] == [0, 2]
    assert memories.cost(memories.fit(pieces, 2 * one)) == 2 * one
    assert memories.fit(pieces, one - 1) == ()


def test_every_memory_has_the_same_budget_and_the_plain_ones_give_what_they_say() -> None:
    budget = memories.cost([memories.piece(TALK, at, TURNS[at]) for at in (2, 3)])
    (full,), (none,), (evidence,) = (memories.PLAIN[name]([TALK], budget).contexts for name in memories.PLAIN)
    assert [[piece.place for piece in given] for given in full] == [[2, 3], [2, 3]]
    assert none == [(), ()]
    assert [[piece.place for piece in given] for given in evidence] == [[2], [1]]


def test_the_reader_quotes_the_sentence_that_answers_or_does_not_know(reader: Extractive) -> None:
    context = [memories.piece(TALK, at, text) for at, text in enumerate(TURNS)]
    assert "fourth stone" in reader.answer(TALK.questions[0].text, context)
    assert (
        reader.answer("Where was the pump of hall 2 moved?", context)
        == "The pump of hall 2 was moved to hall 5 on Monday."
    )
    assert reader.answer(TALK.questions[1].text, context) == UNKNOWN
    assert reader.answer(TALK.questions[0].text, context[:2]) == UNKNOWN
    assert reader.answer(TALK.questions[0].text, []) == UNKNOWN


class _Model(BaseHTTPRequestHandler):
    """Says yes to who asks for a judgement, and else the first note."""

    asked: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append({**body, "authorization": self.headers["Authorization"], "path": self.path})
        told = body["messages"][1]["content"]
        said = "Yes." if told.startswith("Question:") else told.split("\n")[1]
        answer = json.dumps({"choices": [{"message": {"content": said}, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def url() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), _Model)
    Thread(target=server.serve_forever, daemon=True).start()
    _Model.asked.clear()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()


def test_a_model_answers_where_the_environment_names_one(url: str) -> None:
    named = {"MEMQUORUM_SUMMARISER_URL": url, "MEMQUORUM_SUMMARISER_MODEL": "m", "MEMQUORUM_SUMMARISER_KEY": "k1"}
    with chosen(OnnxEncoder(), named) as answerer:
        assert isinstance(answerer, Modelled)
        assert answerer.answer("Where?", [memories.piece(TALK, 2, TURNS[2])]) == f"[2 May] {TURNS[2]}"
        assert tables._judged(marking.longmemeval, answerer)(TALK.questions[0], "something else") == 1
    first, second = _Model.asked
    assert first["authorization"] == "Bearer k1" and first["path"] == "/v1/chat/completions"
    assert first["messages"][1]["content"].endswith("Question: Where?")
    assert "something else" in second["messages"][1]["content"]


def test_settings_of_an_installation_name_no_model(tmp_path: Path, url: str) -> None:
    (tmp_path / "settings.json").write_text(json.dumps({"summariser_url": url, "summariser_model": "m"}))
    with chosen(OnnxEncoder(), {"MEMQUORUM_RUN_DIR": str(tmp_path)}) as answerer:
        assert isinstance(answerer, Extractive)


def _row(reader: Extractive) -> Row:
    gave = {name: give([TALK], 1_000) for name, give in memories.PLAIN.items()}
    ours = Gave(gave["evidence"].contexts, [2.0, 4.0], 0.02, 1.0, 2.0)
    row = Row("locomo", "a set")
    tables.answered(
        row, [TALK], {"memquorum": ours, "mem0": Gave(absent="not installed"), **gave}, reader, marking.locomo
    )
    return row


def test_figures_are_those_of_the_answers(reader: Extractive) -> None:
    row = _row(reader)
    assert row.value("none: does not know") == 100 and row.value("none: mark") == 0
    assert (
        row.value("memquorum: mark") == pytest.approx(6 / 11, abs=1e-4)
        and row.value("memquorum: unanswerable known") == 100
    )
    assert row.value("memquorum: evidence in context") == row.value("memquorum: words of the answer") == 100
    assert row.value("memquorum: find: processor time") == 10
    assert row.value("memquorum: build") == 250
    assert row.series["ahead"]["evidence"] == [0, 0, 0]
    assert row.series["ahead"]["none"][0] == pytest.approx(row.value("memquorum: mark") / 2, abs=1e-4)
    assert row.series["ahead, answerable"]["none"][0] == pytest.approx(row.value("memquorum: mark"), abs=1e-4)
    assert row.notes == ["mem0 was not asked: not installed"]


def test_longmemeval_is_read_as_its_authors_wrote_it(tmp_path: Path) -> None:
    turns = [
        {"role": "user", "content": "I took physics.", "has_answer": True},
        {"role": "assistant", "content": "Oh."},
    ]
    one = {
        "question_id": "q1", "question": "What?", "answer": 7, "question_type": "single-session-user",
        "haystack_session_ids": ["s1", "s2"], "haystack_dates": ["d1", "d2"], "haystack_sessions": [turns[1:], turns],
    }  # fmt: skip
    (tmp_path / "longmemeval_one").mkdir()
    file = tmp_path / "longmemeval_one" / "any.json"
    file.write_text(json.dumps([one, {**one, "question_id": "q2_abs"}]))
    talk, without = conversations.longmemeval(tmp_path)
    assert talk.turns == ("assistant: Oh.", "user: I took physics.", "assistant: Oh.")
    assert (talk.dates, talk.sessions) == (("d1", "d2", "d2"), ("s1", "s2", "s2"))
    assert talk.questions == (Question("What?", (1,), "single-session-user", "7"),)
    assert without.questions[0].answer == ""


def test_questions_without_an_answer_are_read_where_they_are_asked_for(tmp_path: Path) -> None:
    turn = {"speaker": "Ann", "dia_id": "D1:1", "text": "Hello."}
    sample = {
        "sample_id": "c", "conversation": {"session_1": [turn], "session_1_date_time": "noon"},
        "qa": [{"question": "never?", "evidence": ["D1:1"], "category": 5, "adversarial_answer": "x"}],
    }  # fmt: skip
    (tmp_path / "locomo").mkdir()
    (tmp_path / "locomo" / "ours.json").write_text(json.dumps([sample]))
    (talk,) = conversations.locomo(tmp_path, unanswerable=True)
    assert talk.questions == (Question("never?", (0,), "5"),) and talk.dates == ("noon",)
    assert next(conversations.locomo(tmp_path)).questions == ()


def test_whole_conversations_are_taken_and_of_a_quick_run_some_questions_of_one() -> None:
    assert len(tables.some(iter([TALK] * 3), 5, quick=False)) == 2
    assert len(tables.some(iter([TALK] * 3), 100, quick=False)) == 3
    (one,) = tables.some(iter([replace(TALK, questions=TALK.questions * 40)]), 100, quick=True)
    assert len(one.questions) == 40 and {*one.questions} == {TALK.questions[0]}


def test_without_the_sets_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["use", "--data", str(tmp_path), "--only", "locomo", "--only", "longmemeval"]) == 0
    told = capsys.readouterr().err
    assert "locomo skipped" in told and "longmemeval skipped" in told


def test_a_page_of_a_run_has_every_memory_that_was_asked(reader: Extractive, tmp_path: Path) -> None:
    row = _row(reader)
    row.series["size"] = {"conversations": 1, "turns": 4, "tokens": 50, "questions": 30, "unanswerable": 1}
    kept.write([row], kept.begin(), quick=False, folder=tmp_path)
    made = page.render(kept.read(tmp_path))
    assert "| no memory | 0.000 |" in made and "Mem0 was not asked: not installed." in made
    assert "| over no memory | +" in made and "| mem0 |" not in made
    row.series["size"]["questions"] = 29
    kept.write([row], kept.begin() | {"at": "2999-01-01T00:00:00Z"}, quick=False, folder=tmp_path)
    assert "| over no memory |" not in page.render(kept.read(tmp_path))
    assert "## longmemeval\n\nNot measured yet." in made


def test_the_page_is_what_the_command_makes_of_the_results() -> None:
    found = page.render(kept.read(page.RESULTS))
    assert page.PAGE.read_text(encoding="utf-8") == found, "run `make bench WHAT=pages`"
