"""Puts the best hits in the order in which they answer a question, where meaning alone cannot tell.

A vector hardly sees what makes two memories two: a number, a name, a day. So the best hits are read once more:

1. A text that only asks answers nothing, and comes behind all that state something. A joke, a draft, a guess or a
   supposition (`reading.assertion`) comes behind a text that asserts and has as much of the question; it renews none.
2. A text with a name or a number of the question comes before one that lacks it, if it has as much of the rest: "aisle
   13" is not "aisle 12", though both have a 13 somewhere.
3. A text about the present comes before one that says that it is about an earlier time. For a question about what was,
   it is the other way round.
4. A later text about the same matter comes before the one that it renews: its words say that something became otherwise
   ("Bernd has handed the juniors over to Svenja."), or it gives another value of the same sort.

The rules of `conflict` are strict, for a vote lets what they find go. This is no judgement of which of two holds,
and nothing is marked or voted on by it: of what is given anyway the one comes before the other.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from types import MappingProxyType

from memquorum.core.api.answers import Hit
from memquorum.core.denying import statements
from memquorum.core.reading import assertion, claiming
from memquorum.core.reading.asking import bare_question
from memquorum.core.reading.content import stems_of
from memquorum.core.reading.lists import CJK, Words, any_of, either, everywhere
from memquorum.core.reading.matter import Matter, differ
from memquorum.core.reading.moments import Moment, moment
from memquorum.core.reading.sentences import clauses
from memquorum.core.reading.wording import NEGATORS
from memquorum.core.tiers import LONG_TERM

HEAD = 10
"""So many of the best hits are looked at."""

# The text that comes before may be so much further from the question, as a cosine: where it speaks of the same matter,
# and where it has the names of the question. The share of the shorter text's content that both have; the share of the
# earlier one's words of the question that the later one must have.
_FURTHER, _NAMED_FURTHER, _SHARED, _COVERED = 0.35, 0.2, 1 / 3, 1 / 2
# The second of three texts that are equally near a question may be nearer by so much.
_AS_NEAR = 0.05

_YEAR = 31_556_952_000
"""Milliseconds, on average: about new year a year may be off."""
_OTHERWISE = Words(claiming.OTHERWISE)
_TURNS = re.compile(f" {any_of(claiming.TURNS)} ")
_TURNED = {word.rstrip("~") for one in (*claiming.OTHERWISE, *claiming.TURNS) for word in one.split()}
_NEW = frozenset(stem for word in claiming.NEW for stem in stems_of(word))
_MOVES = frozenset(stem for word in claiming.MOVES for stem in stems_of(word.rstrip("~")))
# A verb, or a word for the change itself, may stand where another word stood: that is no other thing.
_CHANGES = frozenset(stem for word in _TURNED | claiming.RENEWS | claiming.FUNCTIONAL for stem in stems_of(word))
# Not that of "not any more".
_DENIES = re.compile(r"\bnot\b(?! (?:longer|any))", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:['’.][^\W_]+)*")
_EXACT = re.compile(
    r"(?<![\w.])[+\-−]\d+(?:[.,]\d+)*|\b(?=\w*\d)\w*[^\W\d_]\w*|\b\w*[a-zß-ÿ][A-ZÀ-Þ]\w*|\b[^\W\d_]+/[^\W\d_]+|"
    "[\U0001f300-\U0001faff]"
)
"""Codes, units, signed numbers and emoji, which are other ones in another case or with another sign."""
_ASKS_WHEN = re.compile(rf"[¿\s]*(?:{either('asks-when')})\b")
_TIMES = frozenset({"time", "day"})
"""The values of a text that answer a question for a time."""
_ASKS_A_NAME = re.compile(rf"\b(?:{either('asks-a-name')})\b|^was (?:ist|sind|hat|haben|macht|kostet)\b")
_I = frozenset(everywhere("says-i"))
_POINTS_BACK = claiming.PRONOUNS.union(everywhere("owns"))
_YES_OR_NO = re.compile(r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|should|will|would|am)\b")


def of_one_moment(hits: Sequence[Hit]) -> list[str]:
    """Returns the best hits that were said in the same millisecond as another: their times do not tell
    which is later.
    """
    said = Counter(hit.occurred_at for hit in hits[:HEAD])
    return [hit.memory_id for hit in hits[:HEAD] if said[hit.occurred_at] > 1]


def best_first(
    question: str, hits: Sequence[Hit], entries: Mapping[str, int] = MappingProxyType({}), *, asker: str | None = None
) -> list[Hit]:
    """The hits, each directly before the first of the best that it comes before. `entries`: of those of one moment,
    where they were said last, in the accepted stream. `asker`: the agent whom "I" of the question names."""
    asked = _Asked(question, asker)
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

    def __init__(self, text: str, asker: str | None) -> None:
        flat = text.strip().casefold()
        self.matter, self.moment = Matter(text), moment(text)
        asks = asker if asker and _says_i(text) else ""
        self.asker = frozenset(stems_of(asks.casefold()))
        self.named = self.matter.names | self.matter.numbers | self.asker
        self.stems = self.matter.stems | self.asker
        self.plain = self.matter.stems - self.named
        self.things = self.named | {stem for one in self.named for stem in self.matter.said_before(one)}
        """The names of the things that it asks about: "pump 7", "project Kiwi"."""
        self.of_now = self.moment.now or self.moment.passing
        self.a_name, self.when = _ASKS_A_NAME.search(flat) is not None, _ASKS_WHEN.match(flat) is not None
        self.exact = frozenset(_EXACT.findall(text))
        self.exactly = self.moment.was or _YES_OR_NO.match(flat) is not None
        """It asks whether something is so, or what was: another value is no newer answer to that."""


class _Read:
    """A hit, and what it has of the question."""

    def __init__(self, hit: Hit, question: _Asked, entry: int) -> None:
        self.hit, self.question = hit, question
        self.said = (hit.occurred_at, entry)
        self.matter = Matter(hit.answering)
        self.personal = _says_i(hit.answering)
        subject = hit.subject or (hit.agent if self.personal else "")
        self.about = frozenset(stems_of(subject.casefold())) & question.named - self.matter.stems
        """The name of its subject, where the question has it and the text does not: "I am allergic to nuts." of Bob."""
        self.exact = question.exact.intersection(_EXACT.findall(hit.answering)) if question.exact else frozenset()
        self.state = _ended(hit.answering) & question.matter.stems
        """Verbs of the question whose state it ends: "lives", of who moved."""
        self.has = (self.matter.stems | self.about | self.state) & question.stems

    @cached_property
    def parts(self) -> list[Matter]:
        """The matter of each of its statements; one that points back, "She is allergic to cats.", has the subject and
        the names of one before."""
        found, names = list[Matter](), frozenset[str]()
        for text in statements(self.hit.answering):
            part = self.matter if text == self.hit.answering else Matter(text)
            if names and _points_back(text):
                part.stems |= names
            else:
                names = frozenset({*part.names, *part.owners, *part.order[:1]})
            found.append(part)
        return found or [self.matter]

    def nearest_parts(self, asked: Set[str]) -> list[Matter]:
        """Its statements that have the most of some stems."""
        most = max(len(part.stems & asked) for part in self.parts)
        return [part for part in self.parts if len(part.stems & asked) == most]

    @cached_property
    def asked_part(self) -> Matter:
        """The matter of the statement that has the most of the question, or of all where several have as much: a newer
        word on another statement of a note renews nothing that is asked for."""
        best = self.nearest_parts(self.question.matter.stems)
        return best[0] if len(best) == 1 else self.matter

    @cached_property
    def only_asks(self) -> bool:
        """Whether it is a bare question."""
        return bare_question(self.hit.answering)

    def before(self, other: _Read) -> bool:
        """Whether it comes before the other."""
        if self.only_asks != other.only_asks:
            return other.only_asks
        if self.holds != other.holds:
            sure, unsure = (self, other) if self.holds else (other, self)
            if sure.answers_like(unsure):
                return sure is self
        more = self.exact > other.exact or self.exact < other.exact
        if more and abs(self.hit.score - other.hit.score) <= _NAMED_FURTHER:
            return self.exact > other.exact
        return self.renews(other) or (self.fits_better(other) and not other.renews(self))

    @cached_property
    def holds(self) -> bool:
        """True if it asserts what it says, and not of a day or a week alone that nobody asks about: "This week on
        Thursday." ends no rule."""
        passing = self.moment.passing and not (self.otherwise or self.question.of_now)
        return not passing and assertion.asserts(self.hit.answering)

    def answers_like(self, other: _Read) -> bool:
        """True if it has as much of the question as the other, but for one word, and is hardly further from it."""
        shares = bool(self.has) and len(self.has) >= len(other.has) - 1
        return shares and self.hit.score >= other.hit.score - _NAMED_FURTHER

    @cached_property
    def fits(self) -> frozenset[str]:
        """The names and numbers of the question that it has: a number where one of its neighbours is the same."""
        mine, asked = self.matter, self.question.matter
        found = (self.has & self.question.named) - (mine.owners - asked.owners)
        return self.about.union(one for one in found if one not in asked.numbers or self._same_place(one, mine, asked))

    @staticmethod
    def _same_place(number: str, mine: Matter, asked: Matter) -> bool:
        beside = asked.beside(number)
        return not beside or not beside.isdisjoint(mine.beside(number))

    def answers_as_much(self, other: _Read) -> bool:
        """True if it was said later, is built mostly of the other's words, and has all that the other has of the
        question: of two such texts the newer one holds, whatever word of it is another."""
        mine, theirs = self.matter.stems - _CHANGES, other.asked_part.stems
        alike = 2 * len(mine & theirs) > max(len(mine), len(theirs)) and not mine & theirs <= self.question.plain
        near = self.hit.score >= other.hit.score - _NAMED_FURTHER and self.said > other.said
        denied = {_denies(one.hit.answering) for one in (self, other)}
        covers = self.has >= other.has and not (self.over or self.question.exactly)
        return alike and near and covers and len(denied) == 1

    def fits_better(self, other: _Read) -> bool:
        """Whether it has a name or a number of the question that the other lacks, and nothing less."""
        more = self.fits > other.fits or bool(self.about and self.fits == other.fits and self.has > other.has)
        return more and len(self.has) >= len(other.has) and self.hit.score >= other.hit.score - _NAMED_FURTHER

    def renews(self, other: _Read) -> bool:
        """Whether it speaks of the same matter as the other, and of the time that is asked for or later."""
        mine, theirs = self.hit, other.hit
        if other.holds and not self.holds:
            return False
        if (theirs.tier == LONG_TERM and mine.agent != theirs.agent) or mine.score < theirs.score - _FURTHER:
            return False
        if self.speaks_of_another(other) or not self.same_matter(other):
            return False
        told = self.of_the_time_asked(other)
        return told if told is not None else self.is_newer(other) or self.answers_as_much(other)

    def is_so_again_after(self, other: _Read, all_: Sequence[_Read]) -> bool:
        """Whether it says again, in the words in which it was said before, what the other replaced."""
        if (
            not (self.has or self.otherwise)
            or self.said <= other.said
            or self.only_asks
            or self.hit.score < other.hit.score - _FURTHER
        ):
            return False
        if other.fits_better(self) and not self.points_back:
            return False  # "door 3" is asked for, and this is of another door
        first = self.hit.first_at
        if first is not None and first < other.hit.occurred_at and (self.same_matter(other) or other.same_matter(self)):
            return True
        known = other.matter.stems | self.question.matter.stems
        return any(
            one.said < other.said
            and not (self.matter.stems & one.replaced_by(other)) <= known
            and (other.renews(one) or min(one.hit.score, self.hit.score) >= other.hit.score - _AS_NEAR)
            for one in all_
        )

    def replaced_by(self, other: _Read) -> frozenset[str]:
        """The stems of the statements that a later memory may replace: of a note of several, those that have most of
        the later one's words and the question's. "Her phone is 555-0100." beside "Ada lives in Graz." tells no
        move."""
        near = self.nearest_parts(other.matter.stems | self.question.matter.stems)
        return frozenset[str]().union(*(part.stems for part in near))

    def speaks_of_another(self, other: _Read) -> bool:
        """True if "I" of one of them, by another agent, is somebody else than the other speaks of."""
        if self.hit.agent == other.hit.agent or not (self.personal or other.personal):
            return False
        return not (self.about | self.has) & (other.about | other.has) & self.question.named

    def same_matter(self, other: _Read) -> bool:
        """Whether both speak of one thing, as far as their words tell."""
        asked = self.question
        if not self.has or len(self.has) < (1 if asked.exactly else _COVERED) * len(other.has):
            return False
        mine, theirs, lacks = self.matter, other.asked_part, other.has - self.has
        both = (mine.stems | self.state) & theirs.stems
        least = min(len(mine.stems - _MOVES), len(theirs.stems))
        alike = len(both) >= _SHARED * least or len(both & asked.plain) > 1
        return (
            alike
            and bool(both - asked.named or (len(both) > 1 and not lacks))
            and lacks.isdisjoint(theirs.numbers)
            # There is much to say about one pump: another statement about it renews nothing that the other answers.
            and bool(both - asked.things or not lacks & asked.plain or (asked.a_name and differ(mine, theirs, True)))
            and not self.says_instead(other, lacks)
            and not (lacks and self.is_of_another_clause(other, lacks))
            and not (lacks and self.does_something_else(other, lacks) and not differ(mine, theirs, asked.a_name))
        )

    def is_of_another_clause(self, other: _Read, lacks: Set[str]) -> bool:
        """True if it shares words with one clause of the other, and what it lacks of the question is in another one:
        "It opens at 10 now." renews nothing of "sells bread" in "It opens at 9 and sells bread."."""
        shared = (self.matter.stems & other.matter.stems) - self.question.matter.stems
        parts = [Matter(text).stems for text in clauses(other.hit.answering)]
        return len(parts) > 1 and bool(shared) and not any(part & lacks and part & shared for part in parts)

    def does_something_else(self, other: _Read, lacks: Set[str]) -> bool:
        """True if another word than one that it lacks stands directly behind what both speak of: "The shop opens at 10
        now." tells nothing of what the shop sells."""
        mine, theirs = self.matter, other.matter
        both = mine.stems & theirs.stems & self.question.matter.stems
        told = ((theirs.said_behind(stem) & lacks, mine.said_behind(stem) - _MOVES) for stem in both)
        return any(asked and other for asked, other in told)

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
        """The statement about its time."""
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
        mine, theirs = self.matter, other.asked_part
        asks_when = self.question.when and not _TIMES.isdisjoint(theirs.values)
        if asks_when and mine.numbers and _TIMES.isdisjoint(mine.values):
            return False  # "The train leaves from platform 9 today" tells no time
        if self.otherwise or (self.moment.now and not other.moment.now) or self.has_a_new(other.has & self.has):
            return True
        if not (mine.owners & self.has) <= self.question.matter.owners | theirs.owners:
            return False  # it is about what belongs to what is asked for
        if (theirs.stems & self.question.matter.names) - mine.stems - self.about and not self.points_back:
            return False  # "The server's address is 203.0.113.7" after "Marta's address is 12 Elm Street"
        if differ(mine, theirs, self.question.a_name):
            # "5 of the 20 sensors have not been calibrated" is another number than that of those that have.
            return _denies(other.hit.answering) or not _denies(self.hit.answering)
        others = theirs.stems - mine.stems
        # By no more than a "not": that denies the other only where all else is the same.
        if _DENIES.search(self.hit.answering) and becomes_otherwise(self.hit.answering):
            return not self.says_instead(other, others)
        answers = self.question.a_name and self.has == other.has == self.question.matter.stems
        return answers and self.says_instead(other, others)

    def has_a_new(self, asked: Set[str]) -> bool:
        """True if it says "new" of something that is asked for: "a new number"."""
        found = _NEW & self.matter.stems
        return any(not asked.isdisjoint(self.matter.said_behind(one) | self.matter.said_before(one)) for one in found)

    @cached_property
    def points_back(self) -> bool:
        """Whether it speaks of somebody or something that was named before: "her address"."""
        return _points_back(self.hit.answering)

    @cached_property
    def otherwise(self) -> bool:
        """Whether its words say that something became otherwise, beyond a "not"."""
        return becomes_otherwise(_DENIES.sub(" ", self.hit.answering))


def _points_back(text: str) -> bool:
    """True if a text speaks of somebody or something that was named before: "her address"."""
    return not _POINTS_BACK.isdisjoint(word.casefold() for word in _WORD.findall(text))


def _denies(text: str) -> bool:
    return not NEGATORS.isdisjoint(text.casefold().split())


def _says_i(text: str) -> bool:
    """True if a text speaks of who says it: by another agent, the same words are of somebody else."""
    return any(word.casefold().split("'")[0] in _I for word in _WORD.findall(text.replace("’", "'")))


def _ended(text: str) -> frozenset[str]:
    """The stems of the verbs whose state a text ends."""
    ended = (claiming.ENDS_STATE.get(word.casefold(), ()) for word in _WORD.findall(text))
    return frozenset(stem for states in ended for state in states for stem in stems_of(state))


def becomes_otherwise(text: str) -> bool:
    """Whether its words say that something is not as it was: "now", "was moved", "nicht mehr"."""
    words = [word.replace("’", "'") for word in _WORD.findall(text.casefold())]
    flat = f" {' '.join(words)} "
    turned = any(word in _OTHERWISE for word in words) or _TURNS.search(flat) is not None
    return turned or (CJK.search(text) is not None and any(one in text for one in claiming.TURNS_UNSPACED))
