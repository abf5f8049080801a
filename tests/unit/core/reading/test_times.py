"""The time that a question asks about."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.reading.times import AFTER, AT, BEFORE, DURING, FIRST, TURN, WAS, Span, asked_time

EVENTS = [
    ("Who looked after the boiler before Ines joined the team?", BEFORE, "Ines joined the team"),
    ("Before the merger went through, where did payroll sit?", BEFORE, "the merger went through"),
    ("What broke right after the firmware was flashed?", AFTER, "the firmware was flashed"),
    ("Which room was ours when the sprinkler burst?", DURING, "the sprinkler burst"),
    ("Wo lag das Archiv, bevor der Keller feucht wurde?", BEFORE, "der Keller feucht wurde"),
    ("Wer war zuständig, nachdem Frau Ott gegangen ist?", AFTER, "Frau Ott gegangen ist"),
    ("Où était le stock avant que le toit cède ?", BEFORE, "le toit cède"),
    ("¿Dónde vivía Inés antes de que naciera Leo?", BEFORE, "naciera Leo"),
    ("Chi teneva le chiavi prima che arrivasse Bruno?", BEFORE, "arrivasse Bruno"),
    ("Onde estava o cofre antes de a sala inundar?", BEFORE, "a sala inundar"),
    ("Waar stond de kast voordat de muur werd gesloopt?", BEFORE, "de muur werd gesloopt"),
    ("Kto miał klucze, zanim przyszedł nowy dozorca?", BEFORE, "przyszedł nowy dozorca"),
    ("店が移転する前に、倉庫はどこでしたか?", BEFORE, "店が移転"),
    ("公司搬家之前仓库在哪里?", BEFORE, "公司搬家"),
]
DATES = [
    ("Which bay was the crane in on 18 March 2025?", AT, Span(2025, 3, 3, 18)),
    ("Where did we meet in January?", AT, Span(None, 1, 1)),
    ("What was the limit in 2024?", AT, Span(2024)),
    ("Who was on call in autumn 2024?", AT, Span(2024, 9, 11)),
    ("Who was on call before March 2025?", BEFORE, Span(2025, 3, 3)),
    ("Wo war der Kurs am 3. Mai?", AT, Span(None, 5, 5, 3)),
    ("Où était le bureau le 4 juin 2024 ?", AT, Span(2024, 6, 6, 4)),
    ("¿Quién tenía la guardia en febrero?", AT, Span(None, 2, 2)),
    ("Quem tinha a chave em agosto de 2023?", AT, Span(2023, 8, 8)),
    ("Gdzie był magazyn w maju 2024?", AT, Span(2024, 5, 5)),
    ("3月18日に当番は誰でしたか?", AT, Span(None, 3, 3, 18)),
    ("2024年5月仓库在哪里?", AT, Span(2024, 5, 5)),
]
SORTS = [
    ("What did the gym use to charge previously?", WAS),
    ("Which bank did we use to be with?", WAS),
    ("Wie hieß die Halle früher?", WAS),
    ("Comment s'appelait la salle autrefois ?", WAS),
    ("¿Cómo se llamaba antes el pabellón?", WAS),
    ("以前のパスワードは?", WAS),
    ("以前谁负责?", WAS),
    ("What was the deadline originally?", FIRST),
    ("Was war anfangs geplant?", FIRST),
    ("最初の締め切りはいつでしたか?", FIRST),
    ("Since when has the gate been locked?", TURN),
    ("When did the price change?", TURN),
    ("Seit wann gilt das neue Tor?", TURN),
    ("Depuis quand la porte est fermée ?", TURN),
    ("いつから門が閉まっていますか?", TURN),
    ("什么时候换的密码?", TURN),
]
PRESENT = [
    "When does the bakery open?",
    "Which port does staging use?",
    "How bright is the tablet when it runs on battery?",
    "How long is the walk up to the chapel?",
    "I'm looking after the house this week, what do I need to know?",
    "May I park in the yard?",
    "Wann öffnet die Bäckerei?",
    "Wer betreut die Halle?",
    "Où est rangé le vélo ?",
    "¿Quién entrena al primer equipo?",
    "Chi ha le chiavi?",
    "Wie heeft de sleutel?",
    "Kto ma klucze?",
    "鍵は誰が持っていますか?",
    "二期项目什么时候评审?",
    "",
]


@pytest.mark.parametrize(("question", "sort", "anchor"), EVENTS)
def test_an_event_is_what_stands_behind_its_mark(question: str, sort: str, anchor: str) -> None:
    found = asked_time(question)
    assert found is not None and (found.sort, found.anchor) == (sort, anchor)
    assert anchor not in found.rest


@pytest.mark.parametrize(("question", "sort", "span"), DATES)
def test_a_date_is_read_as_it_is_said(question: str, sort: str, span: Span) -> None:
    found = asked_time(question)
    assert found is not None and (found.sort, found.span) == (sort, span)


@pytest.mark.parametrize(("question", "sort"), SORTS)
def test_what_was_is_told_by_listed_words(question: str, sort: str) -> None:
    found = asked_time(question)
    assert found is not None and found.sort == sort


@pytest.mark.parametrize("question", PRESENT)
def test_a_question_about_the_present_asks_no_time(question: str) -> None:
    assert asked_time(question) is None


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    asked_time(text)


def test_a_long_text_is_read_in_time() -> None:
    asked_time("Who was it before they came?")
    for text in ("before " * 9_000, "when did " * 7_000, "3月" * 20_000, "a" * 65_536, "12 may " * 9_000):
        before = time.process_time()
        asked_time(text)
        assert time.process_time() - before < 0.05
