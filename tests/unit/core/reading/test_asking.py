"""A bare question states nothing; one that carries a statement does."""

from __future__ import annotations

import pytest

from memquorum.core.reading.asking import bare_question


@pytest.mark.parametrize(
    "text",
    [
        "Is the budget of project Heron 70000 euros?",
        "Who has the spare projector?",
        "Hey, did anyone feed the cat? Was it Tim?",
        "Any news of the delivery?",
        "Wer hat den Schlüssel?",
        "Où est la clé ?",
        "¿Dónde está la llave?",
        "Quando parte il treno?",
        "Kannst du mir sagen, wie hoch die Kaution ist?",
        "Weiß jemand, wo der Beamer ist?",
        "Sais-tu où est la clé ?",
        "¿Alguien sabe dónde está la llave?",
    ],
)
def test_it_asks_and_does_nothing_else(text: str) -> None:
    assert bare_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "The gate code is 4821.",
        "The gate code is 4821. Is that right?",
        "Since the raise I put $260 a month into the camera fund, can you project it?",
        "Did you know that the gate code is 4821?",
        "It is the blue key, isn't it?",
        "What is the best way to make sure that our accuracy of 90% does not hide a bias against anybody?",
        "",
    ],
)
def test_what_carries_a_statement_is_none(text: str) -> None:
    assert not bare_question(text)
