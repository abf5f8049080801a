"""Rewards a retrieval by its worth to a finished task: the port, and a rule without a model or labels but the agents'.

The rule asks whether what the task came to is now within reach, R ∈ [0, 1]: the share of what its outputs state that
one of the given texts states. A sentence that one of them contradicts is marked for people to see (`stands`) and takes
nothing from R: a denial is inferred from words alone. If agents said that a memory did not help, R goes down to −1 (3).

1. A short answer ("port 8443") is within reach if a text has its words, one after the other, in whatever form
   ("cabinet", "cabinets"), and half of the question. A wrong answer to one question is the right one to another, which
   its text is not about. The sentence with them must not deny it: "Lena Ott is not the owner".
2. A sentence is, where a sentence of a text has all its numbers and names, and most of its other content, and neither
   denies what it asserts nor takes the other side (`opposing`): "at 3" does not reach "at 4". Either is within reach,
   too, if a sentence has all its numbers and names beyond the question, half of the question, and something else of it:
   "the admin page is at port 8443" came from "the gateway uses port 8443". Addresses, paths and identifiers count as
   names, and need nothing else beside them: nobody hits upon one by accident. Numbers, times and dates are the same
   however they are written (`written`).
3. If the outputs state nothing that could be looked for ("Yes."), the share of the evidence counts: of the memories
   that the task had been given. If agents had said which of these helped, that is the evidence: each memory that they
   spoke of counts, where it is given, 1 if it helped and −1 if it did not; R is the mean over all of these.
4. A sentence is contradicted as intake would find it (`conflict`). It is also contradicted by a sentence that has its
   names and most of its other content, and takes the other side or gives another number, in a text that does not state
   it: a text that is wrong in one sentence may be right in the next. A conditional sentence denies nothing: a reader
   who heeds "the build fails unless the cache is cleared" has a build that succeeds.
5. A short answer with a number is contradicted by a sentence that has half of the question, with all its numbers and
   names, and one other number beside the same words: "greenhouse 2 is kept at 28 degrees" by "24 degrees". Two such
   numbers may be about different things; a number alone has no words beside it.

6. A sentence about another thing is neither (`named`): "the mailing service" for "the billing service", "room 12" for
   "room 14". And a sentence that states something does not deny it by what else it or the other one says.

7. Sentences of outputs and texts beyond a limit (`STATED_MOST`, `SENTENCES_MOST`) are not read, since each sentence is
   compared with each.

Only a task that succeeded says what is right: of what failed, or of what nobody judged, nothing follows. A reward that
asks a model has a name that says so: the answer of a model is never evidence against a verifier.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import MappingProxyType
from typing import Final, Protocol

from msgspec import Struct

from memquorum.core.experience.context import SUCCEEDED, Context
from memquorum.core.experience.view import Held
from memquorum.core.policy import PPM
from memquorum.core.reading import conflict, memo, named, opposing, wording
from memquorum.core.reading.agreement import Marks, marks
from memquorum.core.reading.content import content
from memquorum.core.reading.named import unlike
from memquorum.core.reading.opposing import denies, negations, oppose
from memquorum.core.reading.sentences import sentences as spoken
from memquorum.core.reading.sentences import spans
from memquorum.core.reading.written import plainly

REACH = "reach/7"
"""The rule of this module, and its version."""
REACHES = ("reach/5", "reach/6", REACH)
"""The versions whose statistics a journal may hold: what was found by an earlier one stays what it was."""
NOBODY: Final[Mapping[str, int]] = MappingProxyType({})
"""No agent said of any memory whether it helped."""
NOTHING_TOLD: Final[Mapping[str, Mapping[str, int]]] = MappingProxyType({})
"""The feedback where no task has any."""

_SHORT_WORDS = 8
"""An answer of so many words at most is looked for word for word."""
_COVERS = (4, 5)
"""The share of a sentence's content that has to be there, beside all its numbers and names."""
_ABOUT = (1, 2)
"""So much of what was asked has to be in a text that holds a short answer."""
_STEMS_LEAST = 2
STATED_MOST = 64
"""The number of sentences of a task's outputs that count, from the first on."""
SENTENCES_MOST = 256
"""The number of sentences of a text that are read, from the first on: the rest states and contradicts nothing."""
_READ = 16_384

# The words behind these hold on a condition: "or the build fails".
_CONDITION = re.compile(r"\b(?:unless|otherwise|if|else|wenn|falls|sonst)\b|[,;] or ", re.IGNORECASE)

_WORD = re.compile(r"[^\W_]+(?:['’.,:/-][^\W_]+)*")
_NUMBER = "#"
# An address, a path of several parts, a file or a host with its dots, what has an underscore or a capital within it,
# and an option: nobody comes to the very same by accident.
_CODE = re.compile(
    r"[a-z][a-z0-9+.-]{0,20}://[^\s<>\"'`()\[\]]+"
    r"|(?<![\w./~])(?:~|\.{1,2})?(?:/[\w.@+-]+){2,}"
    r"|(?<![\w./@+-])[\w.@+-]+(?:/[\w.@+-]+){2,}"
    r"|(?<![\w.-])[a-z0-9_-]{2,}(?:\.[a-z0-9_-]{2,})+(?![\w-])"
    r"|(?<!\w)[A-Za-z0-9]\w*_\w+"
    r"|(?<!\w)[a-z]+[A-Z]\w*"
    r"|(?<![\w-])--[a-z][\w-]+"
)
_BEHIND = ".,;:!?/"
_ARTICLES = frozenset(("a", "an", "the"))


class Reward(Protocol):
    """Says what it is worth to a finished task to be given memories."""

    @property
    def name(self) -> str:
        """The name of the reward, with its version: it stands in the statistics."""
        ...

    @property
    def reproducible(self) -> bool:
        """Whether every machine comes to the same: only then does a difference speak against anybody."""
        ...

    def asks(self, context: Context) -> bool:
        """Whether the task can be a judge at all."""
        ...

    def reward_ppm(self, context: Context, given: Sequence[Held], told: Mapping[str, int] = NOBODY) -> int:
        """Returns the worth of these memories to the task, in millionths, between −1 and 1. `told`: how much of the
        memories that it was given helped it, as agents had said by then (`uses.told_ppm`)."""
        ...


class Reach:
    """The rule of this module. Adapter of `Reward`."""

    reproducible = True

    def __init__(
        self, about: tuple[int, int] = _ABOUT, *, opposes: bool = True, facts: bool = True,
        shorts: bool = True, written: bool = True, parts: bool = True,
    ) -> None:  # fmt: skip
        """`about`: how much of what was asked has to be in a text that holds a short answer, as (some, of); `opposes`:
        whether a sentence is contradicted by what only the fourth rule finds; `facts`: whether numbers and names that
        were not given suffice; `shorts`: whether another number contradicts a short answer; `parts`: whether sentences
        are held against each other part by part, and what they speak of by its names. Others than the shipped ones are
        there to be measured, and are named."""
        self._about, self._opposes, self._facts = about, opposes, facts
        self._shorts, self._written, self._parts = shorts, written, parts
        shipped = about == _ABOUT and opposes and facts and shorts and written and parts
        told = f"about {about[0]}/{about[1]}, opposes {opposes}, facts {facts}, shorts {shorts}, written {written}"
        told += "" if parts else ", parts False"
        self.name = REACH if shipped else f"{REACH}, {told}"

    def asks(self, context: Context) -> bool:
        """Whether the task succeeded, and came to something that can be looked for."""
        return context.outcome == SUCCEEDED and bool(_wanted(context.outputs) or context.retrieved)

    def reward_ppm(self, context: Context, given: Sequence[Held], told: Mapping[str, int] = NOBODY) -> int:
        """See the head of this module."""
        wanted = _wanted(context.outputs)
        if not wanted:
            ids, evidence = {one.id for one in given}, told or dict.fromkeys(context.retrieved, PPM)
            return sum(gain for one, gain in evidence.items() if one in ids) // max(1, len(evidence))
        asked, texts = (context.goal, context.inputs), [_beginning(held.text) for held in given]
        found = sum(any(self._answers(asked, one, text) for text in texts) for one in wanted)
        return found * PPM // len(wanted)

    def stands(self, goal: str, inputs: str, outputs: str, text: str) -> tuple[frozenset[int], frozenset[int]]:
        """Returns the places of the sentences of a task's outputs that a text states, and of those it contradicts."""
        asked, wanted, text = (goal, inputs), _wanted(outputs), _beginning(text)
        said = frozenset(at for at, one in enumerate(wanted) if self._answers(asked, one, text))
        return said, frozenset(at for at, one in enumerate(wanted) if self._denied(asked, one, text))

    def _answers(self, asked: _Asked, wanted: _Wanted, text: str) -> bool:
        if self._says(asked, wanted, text):
            return True
        return self._written and _varies(wanted, text) and self._says(*_plainly(asked, wanted, text))

    def _says(self, asked: _Asked, wanted: _Wanted, text: str) -> bool:
        goal, _ = asked
        if self._reaches(goal, wanted, text) and (not wanted.words or _about(goal, text, *self._about)):
            return True
        some = tuple(one for one in asked if one.strip()) if self._facts else ()
        return any(
            _states(wanted, some, one, self._about)
            and not (self._parts and (unlike(goal, one.text, wanted.text) or unlike(wanted.text, one.text)))
            for one in _sentences(text)
        )

    def _reaches(self, goal: str, wanted: _Wanted, text: str) -> bool:
        if not self._parts:
            return _reaches(wanted, text)
        return _bears_out(goal, wanted, text) if wanted.words else bool(_sayings(wanted, text))

    def _denied(self, asked: _Asked, wanted: _Wanted, text: str) -> bool:
        """Whether a text denies it, and does not say the same in another way of writing."""
        if not wanted.words:
            denied = self._contradicts(asked[0], wanted, text)
        else:
            denied = self._shorts and _gives_another(asked[0], wanted, _unconditional(text), parts=self._parts)
        if not denied or not self._written or not _varies(wanted, text):
            return denied
        _, plain, said = _plainly(asked, wanted, text)
        return not self._reaches(asked[0], plain, said)

    def _contradicts(self, goal: str, wanted: _Wanted, text: str) -> bool:
        denied = _denies(wanted, text, self._opposes, parts=self._parts)
        if not denied or not self._parts:
            return denied
        # A sentence that states it does not deny it by its other half, nor does one about another thing.
        said = frozenset(_sayings(wanted, text))
        others = (one.text for one in _sentences(text) if one.text not in said)
        left = " ".join(one for one in others if not unlike(wanted.text, one) and not unlike(goal, one, wanted.text))
        return _denies(wanted, left, self._opposes and not said, parts=True)


_Asked = tuple[str, str]
"""A task's goal, and its inputs."""


class _Wanted(Struct, frozen=True):
    """The content that is looked for: an answer's words, or a sentence's content."""

    text: str
    words: tuple[str, ...] = ()
    must: frozenset[str] = frozenset()
    stems: frozenset[str] = frozenset()
    codes: frozenset[str] = frozenset()
    marks: Marks = Marks()


class _Sentence(Struct, frozen=True):
    """`must`: the stems of numbers and names, and `codes`; these are addresses, paths and identifiers, each as a whole,
    and are among the `stems`, too."""

    text: str
    stems: frozenset[str]
    must: frozenset[str]
    codes: frozenset[str]
    marks: Marks


def _varies(wanted: _Wanted, text: str) -> bool:
    return plainly(wanted.text) != wanted.text or plainly(text) != text


def _plainly(asked: _Asked, wanted: _Wanted, text: str) -> tuple[_Asked, _Wanted, str]:
    """The same, with numbers, times and dates written in one way."""
    return (plainly(asked[0]), plainly(asked[1])), _want(plainly(wanted.text), short=bool(wanted.words)), plainly(text)


@lru_cache(_READ)
def _want(text: str, *, short: bool) -> _Wanted:
    one = _sentence(text)
    return _Wanted(text, _plain(text) if short else (), one.must, one.stems, one.codes, one.marks)


@lru_cache(_READ)
def _wanted(outputs: str) -> tuple[_Wanted, ...]:
    if len(_WORD.findall(outputs)) <= _SHORT_WORDS:
        return (_want(outputs, short=True),) if content(outputs).stems else ()
    found = (_want(one, short=False) for one in spoken(outputs))
    return tuple(islice((one for one in found if len(one.stems) >= _STEMS_LEAST), STATED_MOST))


@lru_cache(_READ)
def _beginning(text: str) -> str:
    """Cuts a text behind what is read of it."""
    return text[: spans(text)[:SENTENCES_MOST][-1][1]] if text.strip() else text


@lru_cache(_READ)
def _plain(text: str) -> tuple[str, ...]:
    words = (one for one in _WORD.findall(text.casefold()) if one not in _ARTICLES)
    return tuple(one if _digits(one) else wording.stem(one) for one in words)


@lru_cache(_READ)
def _sentences(text: str) -> tuple[_Sentence, ...]:
    return tuple(_sentence(one) for one in spoken(text))


@lru_cache(_READ)
def _sentence(text: str) -> _Sentence:
    words = _WORD.findall(text)
    # The first is written large whatever it is.
    names = {one for one in words[1:] if one[:1].isupper()} | {one for one in words if any(map(str.isdigit, one))}
    found = (one.group().rstrip(_BEHIND).casefold() for one in _CODE.finditer(text))
    codes = frozenset(one for one in found if any(map(str.isalpha, one)))
    must = frozenset(stem for one in names for stem in content(one).stems) | codes
    return _Sentence(text, frozenset(content(text).stems) | codes, must, codes, marks(text))


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


@lru_cache(_READ)
def _sayings(wanted: _Wanted, text: str) -> tuple[str, ...]:
    """The sentences of a text that state what a sentence does, of the same thing."""
    some, of = _COVERS
    return tuple(
        one.text
        for one in _sentences(text)
        if wanted.must <= one.stems
        and len(wanted.stems & one.stems) * of >= len(wanted.stems) * some
        and not oppose(wanted.text, wanted.marks, one.text, one.marks)
        and denies(one.text, wanted.stems) == denies(wanted.text, wanted.stems)
        and not unlike(wanted.text, one.text)
    )


@lru_cache(_READ)
def _bears_out(goal: str, wanted: _Wanted, text: str) -> bool:
    """Whether a text has a short answer's words: in a sentence that does not deny it, and not of another thing."""
    if not _reaches(wanted, text):
        return False
    holding = [one for one in spoken(text) if _holds(_plain(one), wanted.words)]
    if not holding:
        return True  # over the end of a sentence
    elsewhere = unlike(goal, text, wanted.text)
    negates = bool(wanted.marks.negated or marks(goal).negated)
    return any(
        (negates or not any(_holds(_plain(part), wanted.words) for part in negations(one)))
        and not (elsewhere and unlike(goal, one, wanted.text))
        for one in holding
    )


def _states(wanted: _Wanted, asked: tuple[str, ...], one: _Sentence, about: tuple[int, int]) -> bool:
    """Whether a sentence has all numbers and names that were not asked with, is about what was asked and what it came
    to, and neither denies nor takes the other side."""
    new, (some, of) = wanted.must.difference(*map(_stems, asked)), about
    return (
        bool(new and asked)
        and new <= one.stems
        and bool(new & wanted.codes or one.stems & wanted.marks.stems - wanted.must)
        and any(len(_stems(what) & one.stems) * of >= len(_stems(what)) * some for what in asked)
        and one.marks.negated == wanted.marks.negated
        and not wanted.marks.oppose(one.marks)
    )


@lru_cache(_READ)
def _stems(text: str) -> frozenset[str]:
    return _sentence(text).stems


def _opposes(wanted: _Wanted, text: str, *, parts: bool) -> bool:
    """Whether a sentence has the names and most of what another one says beside its numbers, and takes the other
    side."""
    some, of = _COVERS
    said = frozenset(one for one in wanted.stems if not any(map(str.isdigit, one)))
    return len(said) >= _STEMS_LEAST and any(
        wanted.must & said <= one.stems
        and len(said & one.stems) * of >= len(said) * some
        and (oppose(wanted.text, wanted.marks, one.text, one.marks) if parts else wanted.marks.oppose(one.marks))
        for one in _sentences(text)
    )


def _holds(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(words[at : at + len(part)] == part for at in range(len(words) - len(part) + 1))


@lru_cache(_READ)
def _gives_another(goal: str, wanted: _Wanted, text: str, *, parts: bool) -> bool:
    """Whether a sentence that names what was asked for, and is about it, has one number where a short answer has
    another, beside the same words: "28 degrees" for "24 degrees"."""
    shape = tuple(_NUMBER if _digits(word) else word for word in wanted.words)
    if _NUMBER not in shape or not _stems(wanted.text) - wanted.must or _holds(_plain(text), wanted.words):
        return False
    return any(
        _another(goal, wanted, shape, one) and not (parts and unlike(goal, one, wanted.text)) for one in spoken(text)
    )


def _another(goal: str, wanted: _Wanted, shape: tuple[str, ...], text: str) -> bool:
    asked, one, words = _sentence(goal), _sentence(text), _plain(text)
    if not asked.must <= one.stems or one.marks.negated != wanted.marks.negated or not _about(goal, text, *_ABOUT):
        return False
    said = set[tuple[str, ...]]()
    for at in range(len(words) - len(shape) + 1):
        part = words[at : at + len(shape)]
        if all(_digits(word) if form == _NUMBER else word == form for word, form in zip(part, shape, strict=True)):
            said.add(tuple(filter(_digits, part)))
    return len(said) == 1 and not any(number in _plain(goal) for number in said.pop())


def _digits(word: str) -> bool:
    return any(map(str.isdigit, word))


@lru_cache(_READ)
def _denies(wanted: _Wanted, text: str, opposes: bool, *, parts: bool = False) -> bool:
    if wanted.words:
        return False
    plain = _unconditional(text)
    if opposes and _opposes(wanted, plain, parts=parts) and not _reaches(wanted, text):
        return True
    return conflict.between(_claims(wanted.text), _claims(plain), same_agent=False) is not None


@lru_cache(_READ)
def _unconditional(text: str) -> str:
    """The text without its sentences that speak of a condition."""
    if _CONDITION.search(text) is None:
        return text
    return " ".join(one for one in spoken(text) if _CONDITION.search(one) is None)


@lru_cache(_READ)
def _claims(text: str) -> conflict.Claims:
    return conflict.read(text)


_KEPT = (
    _beginning, _unconditional, _want, _wanted, _plain, _sentences, _sentence, _about, _sayings, _bears_out, _stems,
    _gives_another, _denies, _claims,
)  # fmt: skip


def forget() -> None:
    """Empties what is kept of the texts that were judged: for who judges texts of many readers, once for each."""
    for one in _KEPT:
        one.cache_clear()
    memo.forget(plainly, *named.KEPT, *opposing.KEPT)
