"""Which of the best hits answers a question first, where meaning alone cannot tell.

A vector hardly sees what makes two memories two: a number, a name, a day. So the best hits are read once more:

1. What only asks answers nothing: it comes behind all that states something. What jokes, drafts, guesses or supposes
   (`reading.assertion`) comes behind what asserts and has as much of the question, and renews nothing.
2. What has a name or a number of the question comes before what lacks it, if it has as much of the rest: "aisle 13" is
   not "aisle 12", though both have a 13 somewhere.
3. What speaks of the present comes before what says that it speaks of an earlier time, and for a question about what
   was the other way round.
4. What was said later of the same matter comes before what it renews: its words say that something became otherwise
   ("Bernd has handed the juniors over to Svenja."), or it gives another value of the same sort.

The rules of `text.conflict` are strict, for a vote lets what they find go. This is no judgement of which of two holds,
and nothing is marked or voted on by it: of what is given anyway the one comes before the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

from memquorum.core.api.answers import Hit
from memquorum.core.reading import assertion
from memquorum.core.retrieval.matter import Matter, differ
from memquorum.core.text import claiming
from memquorum.core.text.asking import bare_question
from memquorum.core.text.content import stems_of
from memquorum.core.text.moments import Moment, moment
from memquorum.core.tiers import LONG_TERM

HEAD = 10
"""So many of the best hits are looked at."""

# How much further from the question what comes before may be, as a cosine: where it speaks of the same matter, and
# where it has what the question names. How much of the shorter text's content both have; how much of what the earlier
# one has of the question the later one must have.
_FURTHER, _NAMED_FURTHER, _SHARED, _COVERED = 0.35, 0.2, 1 / 3, 1 / 2
# How much nearer the second of three may be that are equally near a question.
_AS_NEAR = 0.05

_YEAR = 31_556_952_000
"""Milliseconds, on average: about new year a year may be off."""
# What stands where another word stood may be a verb, or a word for the change itself: that is no other thing.
_CHANGES = frozenset(
    stem for word in claiming.OTHERWISE | claiming.RENEWS | claiming.FUNCTIONAL for stem in stems_of(word)
)
# Not that of "not any more".
_DENIES = re.compile(r"\bnot\b(?! (?:longer|any))", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_ASKS_A_NAME = re.compile(
    r"\b(?:who|whom|whose|where|which|what|wer|wem|wen|wo|welche[rsnm]?|qui|où|quel(?:le)?s?|quién|dónde|cuál|chi|dove|"
    r"quale)\b"
)
_OWNS = (
    "his its their theirs hers sein seine seinen seiner ihr ihre ihren ihrer er sie es son sa ses leur leurs il elle "
    "su sus él ella suo sua suoi sue lui lei"
)
_POINTS_BACK = claiming.PRONOUNS.union(_OWNS.split())
_YES_OR_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|should|will|would|am)\b")


def of_one_moment(hits: Sequence[Hit]) -> list[str]:
    """Which of the best were said in the same millisecond as another: their times do not tell which is later."""
    said = Counter(hit.occurred_at for hit in hits[:HEAD])
    return [hit.memory_id for hit in hits[:HEAD] if said[hit.occurred_at] > 1]


def best_first(question: str, hits: Sequence[Hit], entries: Mapping[str, int] = MappingProxyType({})) -> list[Hit]:
    """The hits, each directly before the first of the best that it comes before. `entries`: of those of one moment,
    where they were said last, in the accepted stream."""
    asked = _Asked(question)
    head = [_Read(hit, asked, entries.get(hit.memory_id, 0)) for hit in hits[:HEAD]]
    order: list[_Read] = []
    for one in sorted(head, key=lambda one: one.only_asks):
        at = next((at for at, other in enumerate(order) if one.before(other)), len(order))
        order.insert(at, one)
    return [*(one.hit for one in _with_what_is_so_again(order)), *hits[HEAD:]]


def _with_what_is_so_again(order: list[_Read]) -> list[_Read]:
    """The order, where of A, B and A again the last comes before B: it says again what B replaced."""
    for again in sorted(order, key=lambda one: one.said):
        behind = [one for one in order[: order.index(again)] if again.is_so_again_after(one, order)]
        if behind:
            order = [one for one in order if one is not again]
            order.insert(order.index(behind[0]), again)
    return order


class _Asked:
    """A question, and what it asks for."""

    def __init__(self, text: str) -> None:
        flat = text.strip().casefold()
        self.matter, self.moment = Matter(text), moment(text)
        self.named = self.matter.names | self.matter.numbers
        self.plain = self.matter.stems - self.named
        self.things = self.named | {stem for one in self.named for stem in self.matter.said_before(one)}
        """What names the things that it asks about: "pump 7", "project Kiwi"."""
        self.a_name = _ASKS_A_NAME.search(flat) is not None
        self.exactly = self.moment.was or _YES_OR_NO.match(flat) is not None
        """It asks whether something is so, or what was: another value is no newer answer to that."""


class _Read:
    """A hit, and what it has of the question."""

    def __init__(self, hit: Hit, question: _Asked, entry: int) -> None:
        self.hit, self.question = hit, question
        self.said = (hit.occurred_at, entry)
        self.matter = Matter(hit.answering)
        self.has = self.matter.stems & question.matter.stems

    @cached_property
    def only_asks(self) -> bool:
        """Whether it is a bare question."""
        return bare_question(self.hit.answering)

    def before(self, other: _Read) -> bool:
        """Whether it comes before the other."""
        if self.only_asks != other.only_asks:
            return other.only_asks
        if self.asserts != other.asserts:
            sure, unsure = (self, other) if self.asserts else (other, self)
            if sure.answers_like(unsure):
                return sure is self
        return self.renews(other) or (self.fits_better(other) and not other.renews(self))

    @cached_property
    def asserts(self) -> bool:
        """True if it asserts what it says."""
        return assertion.asserts(self.hit.answering)

    def answers_like(self, other: _Read) -> bool:
        """True if it has as much of the question as the other, but for one word, and is hardly further from it."""
        shares = bool(self.has) and len(self.has) >= len(other.has) - 1
        return shares and self.hit.score >= other.hit.score - _NAMED_FURTHER

    @cached_property
    def fits(self) -> frozenset[str]:
        """The names and numbers of the question that it has: a number where one of its neighbours is the same."""
        mine, asked = self.matter, self.question.matter
        found = (self.has & self.question.named) - (mine.owners - asked.owners)
        return frozenset(one for one in found if one not in asked.numbers or self._same_place(one, mine, asked))

    @staticmethod
    def _same_place(number: str, mine: Matter, asked: Matter) -> bool:
        beside = asked.beside(number)
        return not beside or not beside.isdisjoint(mine.beside(number))

    def fits_better(self, other: _Read) -> bool:
        """Whether it has a name or a number of the question that the other lacks, and nothing less."""
        return (
            self.fits > other.fits
            and len(self.has) >= len(other.has)
            and self.hit.score >= other.hit.score - _NAMED_FURTHER
        )

    def renews(self, other: _Read) -> bool:
        """Whether it speaks of the same matter as the other, and of the time that is asked for or later."""
        mine, theirs = self.hit, other.hit
        if not self.asserts:
            return False
        if (theirs.tier == LONG_TERM and mine.agent != theirs.agent) or mine.score < theirs.score - _FURTHER:
            return False
        if not self.same_matter(other):
            return False
        told = self.of_the_time_asked(other)
        return told if told is not None else self.is_newer(other)

    def is_so_again_after(self, other: _Read, all_: Sequence[_Read]) -> bool:
        """Whether it says again, in the words in which it was said before, what the other replaced."""
        if self.said <= other.said or self.only_asks or self.hit.score < other.hit.score - _FURTHER:
            return False
        if other.fits_better(self):
            return False  # "door 3" is asked for, and this is of another door
        answers = bool(self.has) and len(self.has) >= len(other.has)
        if not answers and self.hit.score < other.hit.score - _AS_NEAR:
            return False  # it speaks of another statement of the note that the other renews
        first = self.hit.first_at
        if first is not None and first < other.hit.occurred_at and (self.same_matter(other) or other.same_matter(self)):
            return True
        known = other.matter.stems | self.question.matter.stems
        return any(
            one.said < other.said
            and not (self.matter.stems & one.matter.stems) <= known
            and (other.renews(one) or min(one.hit.score, self.hit.score) >= other.hit.score - _AS_NEAR)
            for one in all_
        )

    def same_matter(self, other: _Read) -> bool:
        """Whether both speak of one thing, as far as their words tell."""
        mine, theirs, asked = self.matter, other.matter, self.question
        lacks = other.has - self.has
        both = mine.stems & theirs.stems
        alike = len(both) >= _SHARED * min(len(mine.stems), len(theirs.stems)) or len(both & asked.plain) > 1
        return (
            bool(self.has)
            and len(self.has) >= (1 if asked.exactly else _COVERED) * len(other.has)
            and alike
            and bool(both - asked.named)
            and lacks.isdisjoint(theirs.numbers)
            # Of one pump there is much to say: what is said of it otherwise renews nothing that the other answers.
            and bool(both - asked.things or not lacks & asked.plain)
            and not self.says_instead(other, lacks)
        )

    def says_instead(self, other: _Read, lacks: Iterable[str]) -> bool:
        """Whether it has another word where the other has one of those that it lacks: it speaks of another thing."""
        mine, theirs = self.matter, other.matter
        known = theirs.stems | self.question.matter.stems | _CHANGES
        return any(mine.says_instead(word, theirs, known) for word in lacks)

    @cached_property
    def over(self) -> bool:
        """Whether it speaks of an earlier time than that at which it was said."""
        moment = self.moment
        if moment.now:
            return False
        year = 1970 + self.hit.occurred_at // _YEAR
        once = {stem for word in moment.once for stem in stems_of(word)}
        return moment.earlier or not once.isdisjoint(self.question.matter.stems) or any(y < year for y in moment.years)

    @cached_property
    def moment(self) -> Moment:
        """What it says of its time."""
        return moment(self.hit.answering)

    def of_the_time_asked(self, other: _Read) -> bool | None:
        """Whether it speaks of the time that is asked for and the other does not, and gives another value of what is
        asked; None where both do or neither."""
        alike = self.has >= other.has and differ(self.matter, other.matter, named=True)
        if self.over == other.over or not alike:
            return None
        asked = self.question.moment
        return self.over is bool(asked.earlier or asked.once or (asked.was and not asked.now))

    def is_newer(self, other: _Read) -> bool:
        """Whether it was said later and tells something else."""
        if self.said <= other.said:
            return False
        mine, theirs = self.matter, other.matter
        if self.otherwise or (self.moment.now and not other.moment.now):
            return True
        if not (mine.owners & self.has) <= self.question.matter.owners | theirs.owners:
            return False  # it is about what belongs to what is asked for
        if (theirs.stems & self.question.matter.names) - mine.stems and not self.points_back:
            return False  # "The server's address is 203.0.113.7" after "Marta's address is 12 Elm Street"
        if differ(mine, theirs, self.question.a_name):
            return True
        others = theirs.stems - mine.stems
        # By no more than a "not": that denies the other only where all else is the same.
        if becomes_otherwise(self.hit.answering):
            return not self.says_instead(other, others)
        answers = self.question.a_name and self.has == other.has == self.question.matter.stems
        return answers and self.says_instead(other, others)

    @cached_property
    def points_back(self) -> bool:
        """Whether it speaks of somebody or something that was named before: "her address"."""
        return not _POINTS_BACK.isdisjoint(word.casefold() for word in _WORD.findall(self.hit.answering))

    @cached_property
    def otherwise(self) -> bool:
        """Whether its words say that something became otherwise, beyond a "not"."""
        return becomes_otherwise(_DENIES.sub(" ", self.hit.answering))


def becomes_otherwise(text: str) -> bool:
    """Whether its words say that something is not as it was: "now", "was moved", "nicht mehr"."""
    words = [word.replace("’", "'") for word in _WORD.findall(text.casefold())]
    flat = f" {' '.join(words)} "
    return not claiming.OTHERWISE.isdisjoint(words) or any(f" {phrase} " in flat for phrase in claiming.CUES)
