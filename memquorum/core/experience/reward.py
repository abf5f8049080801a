"""What a retrieval is worth to a finished task: the port, and the rule that needs no label and no model.

The rule asks whether what the task came to is now within reach, R ∈ [−1, 1]: the share of what its outputs state that
one of the given texts states, less the share that one of them contradicts.

1. A short answer ("port 8443") is within reach where a text has its words, one after the other, and half of what
   was asked: a wrong answer to one question is the right one to another, which its text is not about.
2. A sentence is, where a sentence of a text has all its numbers and names, and most of its other content, and neither
   denies what it asserts nor takes the other side (`text.agreement`): "at 3" does not reach "at 4".
   Either is within reach, too, where a sentence has all numbers and names of it that were not asked with, half of what
   was asked, and something else of it: "the admin page is at port 8443" came from "the gateway uses port 8443".
3. Where the outputs state nothing that could be looked for ("Yes."), the share of the evidence counts: of the memories
   that the task had been given.
4. A sentence is contradicted as the door would find it (`text.conflict`), and by one that has its names and most of
   its other content, and takes the other side or gives another number, in a text that does not state it: a text that
   is wrong in one sentence may be right in the next. What a sentence says on a condition denies nothing: who heeds
   "the build fails unless the cache is cleared" has a build that succeeds.

Only a task that succeeded says what is right: of what failed, or of what nobody judged, nothing follows. Who asks a
model instead implements `Reward`, and says so by its name: what a model says is never evidence against a verifier.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from msgspec import Struct

from memquorum.core.experience.context import SUCCEEDED, Context
from memquorum.core.experience.view import Held
from memquorum.core.policy import PPM
from memquorum.core.text import conflict
from memquorum.core.text.agreement import Marks, marks
from memquorum.core.text.content import content

REACH = "reach/3"
"""The rule of this module, and its version."""

_SHORT_WORDS = 8
"""An answer of so many words at most is looked for word for word."""
_COVERS = (4, 5)
"""Of a sentence's content so much has to be there, beside all its numbers and names."""
_ABOUT = (1, 2)
"""So much of what was asked has to be in a text that holds a short answer."""
_STEMS_LEAST = 2
_READ = 16_384

# What comes behind holds on a condition: "or the build fails".
_CONDITION = re.compile(r"\b(?:unless|otherwise|if|else|wenn|falls|sonst)\b|[,;] or ", re.IGNORECASE)

_WORD = re.compile(r"[^\W_]+(?:['’.,:/-][^\W_]+)*")
_SENTENCES = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n")
_ARTICLES = frozenset(("a", "an", "the"))


class Reward(Protocol):
    """Says what it is worth to a finished task to be given memories."""

    @property
    def name(self) -> str:
        """Which one it is, with its version: it stands in the statistics."""
        ...

    @property
    def reproducible(self) -> bool:
        """Whether every machine comes to the same: only then does a difference speak against anybody."""
        ...

    def asks(self, context: Context) -> bool:
        """Whether the task can be a judge at all."""
        ...

    def reward_ppm(self, context: Context, given: Sequence[Held]) -> int:
        """What these memories are worth to it, in millionths, between −1 and 1."""
        ...


class Reach:
    """The rule of this module. Adapter of `Reward`."""

    reproducible = True

    def __init__(self, about: tuple[int, int] = _ABOUT, *, opposes: bool = True, facts: bool = True) -> None:
        """`about`: how much of what was asked has to be in a text that holds a short answer, as (some, of); `opposes`:
        whether a sentence is contradicted by what only the fourth rule finds; `facts`: whether numbers and names that
        were not given suffice. Others than the shipped ones are there to be measured, and are named."""
        self._about, self._opposes, self._facts = about, opposes, facts
        shipped = about == _ABOUT and opposes and facts
        self.name = REACH if shipped else f"{REACH}, about {about[0]}/{about[1]}, opposes {opposes}, facts {facts}"

    def asks(self, context: Context) -> bool:
        """Whether the task succeeded, and came to something that can be looked for."""
        return context.outcome == SUCCEEDED and bool(_wanted(context.outputs) or context.retrieved)

    def reward_ppm(self, context: Context, given: Sequence[Held]) -> int:
        """See the head of this module."""
        wanted = _wanted(context.outputs)
        if not wanted:
            ids = {one.id for one in given}
            return PPM * sum(one in ids for one in context.retrieved) // max(1, len(context.retrieved))
        found = sum(
            any(self._answers(context, one, held.text) for held in given)
            - any(_denies(one, held.text, self._opposes) for held in given)
            for one in wanted
        )
        return found * PPM // len(wanted)

    def _answers(self, context: Context, wanted: _Wanted, text: str) -> bool:
        if _reaches(wanted, text) and (not wanted.words or _about(context.goal, text, *self._about)):
            return True
        asked = tuple(one for one in (context.goal, context.inputs) if one.strip()) if self._facts else ()
        return any(_states(wanted, asked, one, self._about) for one in _sentences(text))


class _Wanted(Struct, frozen=True):
    """What is looked for: an answer's words, or a sentence's content."""

    text: str
    words: tuple[str, ...] = ()
    must: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    marks: Marks = Marks()


class _Sentence(Struct, frozen=True):
    stems: frozenset[str]
    must: frozenset[str]
    marks: Marks


@lru_cache(_READ)
def _wanted(outputs: str) -> tuple[_Wanted, ...]:
    words = _plain(outputs)
    if len(words) <= _SHORT_WORDS:
        told = content(outputs).stems
        one = _sentence(outputs)
        return (_Wanted(outputs, words=words, must=one.must, marks=one.marks),) if told else ()
    found = []
    for text in _SENTENCES.split(outputs):
        one = _sentence(text)
        if len(one.stems) >= _STEMS_LEAST:
            found.append(_Wanted(text, must=one.must, stems=one.stems, marks=one.marks))
    return tuple(found)


@lru_cache(_READ)
def _plain(text: str) -> tuple[str, ...]:
    return tuple(one for one in _WORD.findall(text.casefold()) if one not in _ARTICLES)


@lru_cache(_READ)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    return tuple(_sentence(one) for one in _SENTENCES.split(text) if one.strip())


@lru_cache(_READ)
def _sentence(text: str) -> _Sentence:
    words = _WORD.findall(text)
    # The first is written large whatever it is.
    names = {one for one in words[1:] if one[:1].isupper()} | {one for one in words if any(map(str.isdigit, one))}
    must = frozenset(stem for one in names for stem in content(one).stems)
    return _Sentence(frozenset(content(text).stems), must, marks(text))


@lru_cache(_READ)
def _about(goal: str, text: str, some: int, of: int) -> bool:
    asked = _stems(goal)
    return len(asked & _stems(text)) * of >= len(asked) * some


def _reaches(wanted: _Wanted, text: str) -> bool:
    if wanted.words:
        return _holds(_plain(text), wanted.words)
    some, of = _COVERS
    return any(
        wanted.must <= one.stems
        and len(wanted.stems & one.stems) * of >= len(wanted.stems) * some
        and not wanted.marks.oppose(one.marks)
        for one in _sentences(text)
    )


def _states(wanted: _Wanted, asked: tuple[str, ...], one: _Sentence, about: tuple[int, int]) -> bool:
    """Whether a sentence has all numbers and names that were not asked with, is about what was asked and what it came
    to, and neither denies nor takes the other side."""
    new, (some, of) = wanted.must.difference(*map(_stems, asked)), about
    return (
        bool(new and asked)
        and new <= one.stems
        and bool(one.stems & wanted.marks.stems - wanted.must)
        and any(len(_stems(what) & one.stems) * of >= len(_stems(what)) * some for what in asked)
        and one.marks.negated == wanted.marks.negated
        and not wanted.marks.oppose(one.marks)
    )


@lru_cache(_READ)
def _stems(text: str) -> frozenset[str]:
    return frozenset(content(text).stems)


def _opposes(wanted: _Wanted, text: str) -> bool:
    """Whether a sentence has the names and most of what another one says beside its numbers, and takes the other
    side."""
    some, of = _COVERS
    said = frozenset(one for one in wanted.stems if not any(map(str.isdigit, one)))
    return len(said) >= _STEMS_LEAST and any(
        wanted.must & said <= one.stems
        and len(said & one.stems) * of >= len(said) * some
        and wanted.marks.oppose(one.marks)
        for one in _sentences(text)
    )


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(words[at : at + len(part)] == part for at in range(len(words) - len(part) + 1))


@lru_cache(_READ)
def _denies(wanted: _Wanted, text: str, opposes: bool) -> bool:
    if wanted.words:
        return False
    plain = _unconditional(text)
    if opposes and _opposes(wanted, plain) and not _reaches(wanted, text):
        return True
    return conflict.between(_claims(wanted.text), _claims(plain), same_agent=False) is not None


def _unconditional(text: str) -> str:
    """The text without its sentences that speak of a condition."""
    if _CONDITION.search(text) is None:
        return text
    return " ".join(one for one in _SENTENCES.split(text) if _CONDITION.search(one) is None)


@lru_cache(_READ)
def _claims(text: str) -> conflict.Claims:
    return conflict.read(text)
