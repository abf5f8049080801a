"""A task's texts as one: the same texts the same content, and read back as they were."""

from __future__ import annotations

import pytest

from memquorum.core.experience.texts import Texts, read

SAID = Texts('Öffne "3".', "4 bar", "open\n", ("a: b", "c"))


def test_they_are_read_back() -> None:
    assert read(SAID.content) == SAID and read(SAID.content).content == SAID.content
    assert "Öffne" in SAID.content, "full text would not be told from escapes"


def test_what_has_the_vector_is_what_was_to_be_done() -> None:
    assert (SAID.asked, Texts("goal", " ").asked) == ('Öffne "3".\n4 bar', "goal")


@pytest.mark.parametrize("content", ["", "goal", "{}", '{"goal": 1}', '{"goal": "g", "tools": "x"}', "\ud800"])
def test_what_is_none_is_refused(content: str) -> None:
    with pytest.raises(ValueError, match="not the texts of a task"):
        read(content)
