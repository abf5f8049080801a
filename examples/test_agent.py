"""Tests of an agent that looks up a memory before it answers."""

from __future__ import annotations

from memquorum.client import Memory


def answer(memory: Memory, question: str) -> str:
    """The agent: it says the best memory, or that it does not know."""
    found = memory.retrieve(question)
    return found.items[0].text if found.items and found.answerable else "I do not know."


def test_it_answers_from_memory(memory: Memory) -> None:
    memory.add("The alarm code of the greenhouse is 4471.", wait=True)
    assert "4471" in answer(memory, "What is the alarm code of the greenhouse?")


def test_it_does_not_make_up_an_answer(memory: Memory) -> None:
    assert answer(memory, "What is the alarm code of the greenhouse?") == "I do not know."
