"""Scores how likely a hit answers the question, in [0, 1]: one score for search, retrieve and context.

A cosine says which of two texts is nearer, and nothing about whether either answers: what is near enough differs from
question to question. So the score also asks how much of the question's content the hit has, a word the more, the fewer
hits have it, and whether it lacks names and numbers of the question. The coefficients are whole numbers, by the name of
the encoder, fitted by `python -m bench.fitting` on questions of our own in ten languages; of an encoder that
was not fitted the score is the cosine.

The score falls with the rank: a hit counts as its own evidence or that of the best one behind it, for which it was put
first. A hit is `answerable` from `FLOOR` on, and a whole answer where its first hit is. The `HEAD` best hits are scored
among themselves, and later ones no higher: so the scores of the best do not depend on how many hits are asked for.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.api.answers import Hit
from memquorum.core.policy import PPM
from memquorum.core.reading import assertion, times
from memquorum.core.reading.content import stems_of
from memquorum.core.reading.lists import CJK, LANGUAGES, months
from memquorum.core.reading.matter import GRAMMAR
from memquorum.core.reading.words import folded, words

VERSION = 2
"""Another number means that a score says something else."""
FLOOR = 0.5
"""From here on a hit answers more likely than not."""
ALONE_FLOOR = 0.35
"""The same where the score is the cosine alone."""
_READ = 4_000
"""So many characters of a text are read."""
HEAD = 10
"""So many of the best hits are scored, however few are asked for; and so many count for how rare a word is."""
_STEM, _SHORT, _LACK_MOST = 5, 2, 3
_WORD = re.compile(r"\w+")
_GRAMMAR = frozenset(map(folded, GRAMMAR))
_MONTHS = frozenset(folded(name) for language in LANGUAGES for name in months(language))
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<![.!?]\s)(?<!\A)\b[^\W\d_a-z][\w'-]{0,60}")


class Weights(Struct, frozen=True):
    """Coefficients in millionths: of the cosine, of the share of the question's content, of each name and each number
    that is lacking, and what is always added."""

    cosine: int
    content: int
    name: int
    number: int
    always: int


WEIGHTS: Mapping[str, Weights] = MappingProxyType(
    {
        "minilm-l6-v2-rows8/1": Weights(
            cosine=1_711_029, content=3_395_533, name=-223_446, number=-750_177, always=-1_464_125
        ),
        "use-multilingual-v3-6bit/1": Weights(
            cosine=6_472_371, content=2_065_064, name=-416_947, number=-1_036_813, always=-2_045_004
        ),
    }
)
"""By the name of the encoder."""


class ScoredText(Struct, frozen=True):
    """A text as it is scored: its content, names and numbers."""

    content: frozenset[str]
    names: frozenset[str]
    numbers: frozenset[str]


class Verdict(Struct, frozen=True):
    """The score of a hit, and whether that is enough."""

    score: float
    answerable: bool


def read(text: str) -> ScoredText:
    """Reads a text for scoring. In scripts without spaces pairs of characters stand for words."""
    text = text[:_READ]
    content = set[str]()
    for word in words(text):
        one = folded(word)
        if CJK.search(one):
            content.update(one[at : at + 2] for at in range(max(1, len(one) - 1)))
        elif one.isdecimal() or len(one) > _SHORT:
            content.add(_stem(one))
    names = frozenset(folded(one)[:_STEM] for one in _NAME.findall(text) if one[0].isupper())
    return ScoredText(frozenset(content), names, frozenset(_NUMBER.findall(text)))


def _stem(word: str) -> str:
    """The beginning of a folded word, in English without its ending: "works" and "work" are one."""
    return next(iter(stems_of(word)), word)[:_STEM]


def _asked(question: str) -> ScoredText:
    """A question as it is scored: "where" and "does" are no content of it, unless it has nothing else."""
    found = read(question)
    grammar = {_stem(one) for one in map(folded, words(question[:_READ])) if not stems_of(one) or one in _GRAMMAR}
    return replace(found, content=found.content - grammar or found.content)


def features(question: str, texts: Sequence[str]) -> list[tuple[float, float, float]]:
    """Finds for each text the share of the question's content that it has, and how many of the question's names and
    numbers it lacks."""
    asked, told = _asked(question), [read(text) for text in texts]
    holders = Counter(one for text in told[:HEAD] for one in text.content & asked.content)
    among = len(told[:HEAD]) + 1
    # In a fixed order: a sum of floats depends on it.
    worth = {one: math.log(among / (holders[one] + 0.5)) for one in sorted(asked.content)}
    every = sum(worth.values())
    return [
        (
            sum(value for one, value in worth.items() if one in text.content) / every if every > 0 else 0.0,
            float(min(_LACK_MOST, len(asked.names - text.names))),
            float(min(_LACK_MOST, len(asked.numbers - text.numbers))),
        )
        for text in told
    ]


def nearest_first(question: str, hits: Sequence[Hit], encoder: str) -> list[Hit]:
    """The hits, nearest first, with the best in the order of their own evidence: of two that are about as near, the one
    that has more of the question's words comes first. Jokes, drafts and guesses count for half. `encoder`: of an
    encoder that was not fitted the order stays."""
    weights, head = WEIGHTS.get(encoder), hits[:HEAD]
    if weights is None:
        return list(hits)
    texts = [hit.answering for hit in head]
    found = _own(weights, question, texts, [hit.score for hit in head])
    own = [score if assertion.asserts(text) else score / 2 for score, text in zip(found, texts, strict=True)]
    return [*(head[at] for at in sorted(range(len(head)), key=lambda at: -own[at])), *hits[HEAD:]]


def verdicts(question: str, texts: Sequence[str], cosines: Sequence[float], encoder: str) -> list[Verdict]:
    """Scores how likely each text answers, best first. `question`: empty where a vector was asked."""
    weights = WEIGHTS.get(encoder) if question else None
    if weights is None:
        own = [min(1.0, max(0.0, cosine)) for cosine in cosines]
        floor = ALONE_FLOOR
    else:
        own = _own(weights, question, texts, cosines)
        floor = FLOOR
    # A question, a joke or a supposition lends its evidence to no hit before it.
    lent = [score if assertion.asserts(text) else 0.0 for score, text in zip(own, texts, strict=True)]
    head = [max(one, own[at]) for at, one in enumerate(_falling(lent[:HEAD]))]
    scores = list(accumulate([*head, *_falling(lent[HEAD:])], min))
    return [Verdict(round(score, 6), round(score, 6) >= floor) for score in scores]


def _own(weights: Weights, question: str, texts: Sequence[str], cosines: Sequence[float]) -> list[float]:
    """Each text's own evidence."""
    found = features(_without_time(question), texts)
    return [_likely(weights, cosine, *one) for cosine, one in zip(cosines, found, strict=True)]


def _without_time(question: str) -> str:
    """The question without the date that it asks about: a memory is of that time by when it was said, and seldom has
    its words."""
    asked = times.asked_time(question)
    span = None if asked is None else asked.span
    if span is None:
        return question
    dates = {str(one) for one in (span.year, span.day) if one is not None}
    return _WORD.sub(lambda word: "" if word[0] in dates or folded(word[0]) in _MONTHS else word[0], question)


def _falling(own: Sequence[float]) -> list[float]:
    """The scores, each as high as the best behind it."""
    return list(accumulate(reversed(own), max))[::-1]


def _likely(weights: Weights, cosine: float, content: float, names: float, numbers: float) -> float:
    told = weights.cosine * cosine + weights.content * content + weights.name * names + weights.number * numbers
    return 1 / (1 + math.exp(-min(30.0, max(-30.0, (told + weights.always) / PPM))))
