"""The frozen verdicts agree with the rules, and a changed verdict is reported with its texts."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verdicts import __main__ as command
from tests.verdicts.frozen import FOLDER, SAID, TEXTS, Change, Frozen, changes, judged, read, write

BYTES_MOST = 500_000
GATE = ("The gate opens at 8:00.", "The gate now opens at 9:00.")
QUESTION = "When does the gate open?"


def line(frozen: Frozen, text: str) -> dict[str, object] | None:
    return next((one for one in frozen.texts if one["text"] == text), None)


@pytest.fixture(scope="module")
def frozen() -> Frozen:
    return read()


def test_what_is_frozen_is_what_the_rules_say_today(frozen: Frozen) -> None:
    today = judged(frozen)
    assert command.changes_in_words(changes(frozen, today)) == "", (
        "if they are right: `python -m tests.verdicts --keep`"
    )
    assert frozen == today, "lines are missing, unsorted or superfluous: `python -m tests.verdicts --keep`"


def test_the_files_are_small_and_have_verdicts_of_every_kind(frozen: Frozen) -> None:
    assert sum((FOLDER / name).stat().st_size for name in (TEXTS, SAID)) < BYTES_MOST
    kinds = {kind for one in (*frozen.texts, *frozen.said) for kind in one} - {"text", "said"}
    assert kinds == {
        *("small_talk", "unkept", "forget", "asks", "time", "masked", "fingerprint"),
        *("contradicts", "denied", "same", "order"),
    }


def test_lines_that_are_added_by_hand_get_their_verdicts() -> None:
    added = Frozen(({"text": "Thanks a lot!"},), ({"said": [*GATE], "order": {QUESTION: ""}},))
    assert judged(added).said == (
        {"said": [*GATE], "contradicts": {"2 to 1": "time, cue, exact"}, "order": {QUESTION: "2 1"}},
    )
    assert judged(added).texts == (
        {"text": "Thanks a lot!", "small_talk": True},
        {"text": GATE[1], "time": "now"},
        {"text": QUESTION, "asks": True},
    )


def test_questions_about_the_same_texts_are_of_one_line() -> None:
    twice = Frozen((), tuple({"said": [*GATE], "order": {question: ""}} for question in (QUESTION, "What opens?")))
    assert [one["order"].keys() for one in judged(twice).said] == [{QUESTION, "What opens?"}]


def test_a_text_has_a_line_of_its_own_where_it_stands_nowhere_else() -> None:
    plain = "The gate is made of oak."
    assert line(judged(Frozen(({"text": plain},), ())), plain) == {"text": plain}
    assert line(judged(Frozen(({"text": plain, "asks": True},), ({"said": [plain, GATE[1]]},))), plain) is None


def test_texts_of_one_fingerprint_name_the_first() -> None:
    found = judged(Frozen(({"text": "The gate is red."}, {"text": "The gate is red"}), ()))
    assert line(found, "The gate is red.") == {"text": "The gate is red.", "fingerprint": "The gate is red"}


def test_what_one_agent_says_otherwise_may_be_no_contradiction_of_two() -> None:
    said = ["I am left-handed.", "I am not left-handed any more."]
    assert judged(Frozen((), ({"said": said},))).said[0]["contradicts"]["2 to 1"].endswith(" / no")


def test_statements_that_a_newer_text_denies_are_numbered() -> None:
    said = [f"The gate is made of oak. {GATE[0]} Its key hangs in the shed.", GATE[1]]
    assert judged(Frozen((), ({"said": said},))).said[0]["denied"] == {"2 to 1": "2"}


def test_a_change_is_told_by_kind_with_what_it_is_about() -> None:
    before = Frozen(
        ({"text": "Thanks!"}, {"text": "Call 555", "masked": "Call [phone]"}),
        ({"said": [*GATE], "order": {QUESTION: "1 2"}, "contradicts": {"2 to 1": "number"}},),
    )
    after = Frozen(
        ({"text": "Thanks!", "small_talk": True}, {"text": "Call 555", "masked": "[phone]"}),
        ({"said": [*GATE], "order": {QUESTION: "2 1"}},),
    )
    found = changes(before, after)
    assert found == [
        Change("contradicts", "number", "no", GATE),
        Change("masked", "Call [phone]", "[phone]", ("Call 555",)),
        Change("order", "1 2", "2 1", (QUESTION, *GATE)),
        Change("small_talk", "no", "yes", ("Thanks!",)),
    ]
    assert command.changes_in_words(found[:1]).splitlines() == [
        "contradicts: 1 changed",
        "  number → no",
        f"    {GATE[0]!r}",
        f"    {GATE[1]!r}",
    ]
    assert changes(after, after) == []


def test_what_is_written_is_read(tmp_path: Path) -> None:
    odd = Frozen(({"text": 'a\u2028b\n"\x0b\ttab'},), ({"said": ["\u00e9", "e\u0301", "🙂"]},))
    write(odd, tmp_path)
    assert read(tmp_path) == odd
    assert (tmp_path / SAID).read_text(encoding="utf-8") == '{"said":["\u00e9","e\u0301","🙂"]}\n'


@pytest.mark.parametrize("keep", [False, True])
def test_the_command_tells_what_changed_and_freezes_it_where_it_is_told_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, keep: bool
) -> None:
    write(Frozen(({"text": "Thanks!"},), ()), tmp_path)
    monkeypatch.setattr(command, "read", lambda: read(tmp_path))
    monkeypatch.setattr(command, "write", lambda frozen: write(frozen, tmp_path))
    monkeypatch.setattr("sys.argv", ["verdicts", *(["--keep"] if keep else [])])
    assert command.main() == (0 if keep else 1)
    assert capsys.readouterr().out == "small_talk: 1 changed\n  no → yes\n    'Thanks!'\n"
    assert read(tmp_path).texts == (({"text": "Thanks!", "small_talk": True} if keep else {"text": "Thanks!"}),)
