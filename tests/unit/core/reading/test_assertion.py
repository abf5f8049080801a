"""Texts that assert what they say, and others, in ten languages. The texts were written for this file."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memquorum.core.reading.assertion import READ, asserts, unreal

UNSURE = {
    "en": ["Just kidding, the server room is in the pool.", "If the queue fills up, two workers start.",
           "I heard Marta sold the van.", "Maybe the key is under the mat."],
    "de": ["War nur ein Scherz, der Keller steht im Garten.", "Falls es regnet, fällt das Training aus.",
           "Angeblich hat Jana gekündigt.", "Vielleicht liegt der Schlüssel im Auto."],
    "fr": ["Je plaisante, le serveur est dans la piscine.", "Il paraît que Luc a vendu la maison.",
           "Peut-être que la clé est dans le tiroir."],
    "es": ["Es broma, la caldera está en la luna.", "Dicen que Ana dejó la empresa.",
           "Quizás la llave está en el cajón."],
    "it": ["Sto scherzando, il server è in piscina.", "Forse la chiave è nel cassetto.",
           "Si dice che Carla abbia venduto la barca."],
    "pt": ["Estou brincando, o servidor fica na piscina.", "Talvez a chave esteja na gaveta.",
           "Dizem que o Rui vendeu o barco."],
    "nl": ["Grapje, de server staat in het zwembad.", "Misschien ligt de sleutel in de la.",
           "Als het regent, gaat de training niet door."],
    "pl": ["Żartuję, serwer stoi w basenie.", "Chyba klucz leży w szufladzie.", "Podobno Ewa sprzedała łódź."],
    "ja": ["冗談だけど、サーバーはプールにある。", "もしかしたら鍵は引き出しにあるかもしれない。"],
    "zh": ["开个玩笑，服务器在游泳池里。", "听说小王把船卖了。", "如果下雨，训练就取消。"],
}  # fmt: skip
SURE = {
    "en": [
        "The server room is in the basement.",
        "Marta sold the van on Friday.",
        "Two workers start at six.",
        "At night the pressure falls to 3 bar.",
        "We decided to test pump 7 on Thursday.",
        "Lena has the concept ready, there is much to do.",
    ],
    "de": [
        "Der Serverraum ist im Keller.",
        "Jana fährt mit dem Rad zur Arbeit.",
        "Jana leitet die Abteilung seit März.",
    ],
    "fr": ["Le serveur est au sous-sol.", "Luc a vendu la maison en mai."],
    "es": ["El servidor está en el sótano.", "Ana dejó la empresa en mayo."],
    "it": ["Il server è in cantina.", "Carla ha venduto la barca a maggio."],
    "pt": ["O servidor fica na cave.", "O Rui vendeu o barco em maio."],
    "nl": ["De server staat in de kelder.", "Jan verkocht de boot in mei."],
    "pl": ["Serwer stoi w piwnicy.", "Ewa sprzedała łódź w maju."],
    "ja": ["サーバーは地下室にある。", "訓練は六時に始まります。", "さようならと田中さんが書いた。"],
    "zh": ["服务器在地下室。", "小王五月把船卖了。"],
}


@pytest.mark.parametrize("language", UNSURE)
def test_what_jokes_guesses_or_supposes_does_not_assert(language: str) -> None:
    assert [text for text in UNSURE[language] if asserts(text)] == []


@pytest.mark.parametrize("language", SURE)
def test_what_states_a_fact_asserts(language: str) -> None:
    assert [text for text in SURE[language] if not asserts(text)] == []


def test_what_stands_behind_the_bound_is_not_read() -> None:
    assert not asserts(" " * (READ - 20) + "just kidding")
    assert asserts(" " * READ + "just kidding")


@given(st.text(max_size=200))
def test_any_text_has_an_answer(text: str) -> None:
    assert asserts(text) in (True, False)


@pytest.mark.parametrize(
    "text",
    ["Just kidding, the pump runs on beer.", "War nur ein Scherz, der Keller steht im Garten.", "听说小王把船卖了。"],
)
def test_a_joke_and_a_rumour_are_unreal(text: str) -> None:
    assert unreal(text)


@pytest.mark.parametrize(
    "text",
    ["If the queue fills up, two workers start.", "Maybe the key is under the mat.", "Marta sold the van on Friday."],
)
def test_a_condition_and_a_guess_are_not_unreal(text: str) -> None:
    assert not unreal(text)


@pytest.mark.parametrize(
    ("text", "is_unreal"),
    [
        ("Scherzo, eh: la sede si sposta a Roma.", True),
        ("Spaß, haha: das Büro zieht um.", True),
        ("Joke, lol: the office moves to Mars.", True),
        ("Blague, hein : on déménage.", True),
        ("The office moves to Mars ;)", True),
        ("The office moves to Mars 😜", True),
        ("The meeting is at 3 :)", False),
        ("Meeting, ok: at 3", False),
        ("Call f(a;) with (a; b).", False),
    ],
)
def test_a_word_before_a_colon_and_a_wink_are_signs_of_a_joke(text: str, is_unreal: bool) -> None:
    assert unreal(text) is is_unreal
