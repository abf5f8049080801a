"""The rules of the sets: when an answer is correct.

LoCoMo (snap-research/LoCoMo, task_eval/evaluation.py): F1 over the stems of the words. If a question wants several
memories (category 1), the parts of the answer between commas are compared one by one. The right answer of an open
question (3) ends at its semicolon. A question without an answer (5) wants to hear that nothing is there. Here the stems
are the project's and not Porter's.

LongMemEval (xiaowu0162/LongMemEval, src/evaluation/evaluate_qa.py) lets a model judge. Without one an answer is correct
here if it holds the words of the right answer, in their order; of a question without an answer it is to say so.
"""

from __future__ import annotations

import string
from collections import Counter
from typing import Protocol

from bench.conversations import UNANSWERABLE, Question
from bench.use.answering import UNKNOWN
from memquorum.core.reading.wording import stem

_DROPPED = frozenset({"a", "an", "the", "and"})
_PUNCTUATION = str.maketrans("", "", string.punctuation)
_SEVERAL, _OPEN = "1", "3"
# LoCoMo's two wordings, and the one that is asked for here.
_NOTHING = ("no information available", "not mentioned", UNKNOWN.rstrip(".").lower())


class Judge(Protocol):
    """A model that says whether an answer is right."""

    def same(self, question: str, right: str, answer: str) -> bool:
        """Whether the answer says what the right one does."""


def words(text: str) -> list[str]:
    """The words of an answer in small letters, without punctuation and articles."""
    return [word for word in text.lower().translate(_PUNCTUATION).split() if word not in _DROPPED]


def unknown(answer: str) -> bool:
    """Whether an answer says that it does not know."""
    return any(one in answer.lower() for one in _NOTHING)


def f1(answer: str, right: str) -> float:
    """The harmonic mean of precision and recall of the words' stems."""
    told, wanted = (Counter(map(stem, words(text))) for text in (answer, right))
    same = (told & wanted).total()
    return 2 * same / (told.total() + wanted.total()) if same else 0.0


def recall(answer: str, right: str) -> float:
    """The share of the right answer's words that an answer has, by their stems."""
    told, wanted = (Counter(map(stem, words(text))) for text in (answer, right))
    return (told & wanted).total() / max(1, wanted.total())


def locomo(asked: Question, answer: str) -> float:
    """LoCoMo's mark, from 0 to 1."""
    if asked.category == UNANSWERABLE:
        return float(unknown(answer))
    if asked.category == _SEVERAL:
        parts = answer.split(",")
        wanted = asked.answer.split(",")
        return sum(max(f1(part, one) for part in parts) for one in wanted) / len(wanted)
    return f1(answer, asked.answer.split(";")[0] if asked.category == _OPEN else asked.answer)


def exact(asked: Question, answer: str) -> bool:
    """Whether an answer has just the words of the right one, as LoCoMo compares them."""
    if asked.category == UNANSWERABLE:
        return unknown(answer)
    return {*words(answer)} == {*words(asked.answer)}


def longmemeval(asked: Question, answer: str, judge: Judge | None = None) -> float:
    """LongMemEval's mark, 0 or 1."""
    if not asked.answer:
        return float(unknown(answer))
    if judge is not None:
        return float(judge.same(asked.text, asked.answer, answer))
    told, wanted = words(answer), words(asked.answer)
    return float(any(told[at : at + len(wanted)] == wanted for at in range(len(told) - len(wanted) + 1)))
