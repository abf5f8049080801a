"""Roll-ups: what is said of one thing across sessions, as verbatim sentences of episodes (SPEC C).

A roll-up holds references alone: the place of a sentence in an episode, and where the sentence names the thing. Its
text is read when it is asked for: from the episode, or from a summary that is alive and quotes the sentence. So it is
never a summary of summaries; and what was forgotten, or erased, is in no state of it, nor is its name.

It changes by patches alone, which stand in a log that only grows; its state at a time is the fold of those until then
(`standing`). `patches` finds the next patches from the sentences, by the rules by which memories repeat each other
(`core.reading`); asked again with the same sentences, it finds none. A sentence that contradicts an earlier one by
these rules stands beside it, and takes its place only where the policy says so (`supersede.inferred`).
"""

from __future__ import annotations

import uuid
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from msgspec.structs import replace

from memquorum.core.consolidation.sections import FACTS, section
from memquorum.core.contained import Failures
from memquorum.core.reading import conflict
from memquorum.core.reading.agreement import ComparedText
from memquorum.core.reading.assertion import unreal
from memquorum.core.reading.content import content
from memquorum.core.reading.sameness import canonical
from memquorum.core.reading.sentences import spans
from memquorum.core.reading.talk import says_nothing
from memquorum.core.reading.topics import Name, key, names
from memquorum.core.reading.wording import NEGATORS
from memquorum.core.records import Patch
from memquorum.core.records.rollups import ADD, REVISE, SUPERSEDE
from memquorum.ports import Logged, Span, Uttered

LEAST = 3
"""A topic with fewer sentences has no roll-up."""
COMPARED = 32
"""So many of a roll-up's sentences, the latest, are held against a new one."""

NAMED_MOST, READ_MOST = 65_536, 2_048
"""The sizes of the caches: of topics per sentence, half a kilobyte each, and of claims per sentence, 18 kilobytes
each."""

_PUNCTUATION = ".,;:!?"
# Fixed for ever: a roll-up is called by the place where its thing was first named.
_TOPICS = uuid.UUID("2d1b8c4e-6a0f-5b6f-8d57-746f70696373")


def standing(log: Iterable[Logged], as_of: int | None = None) -> dict[str, dict[Span, Logged]]:
    """The sentences that stand at a time, or now, by roll-up: the fold of the patches until then.

    `log`: in the order of the journal. A replaced sentence does not come back.
    """
    found: dict[str, dict[Span, Logged]] = {}
    gone: defaultdict[str, set[Span]] = defaultdict(set)
    for one in log:
        if as_of is not None and one.as_of > as_of:
            break
        of, out = found.setdefault(one.patch.topic, {}), gone[one.patch.topic]
        if one.replaced is not None:
            of.pop(one.replaced, None)
            out.add(one.replaced)
        if one.span not in out:
            of.setdefault(one.span, one)
    return found


def called(log: Iterable[Logged]) -> dict[str, str]:
    """Returns the name of each roll-up, as the latest readable sentence has it; roll-ups without a readable name are
    left out."""
    found: dict[str, tuple[int, int, int, str]] = {}
    for one in log:
        name = None if one.withheld else one.name
        if name:
            found[one.patch.topic] = max(
                found.get(one.patch.topic, (0, 0, 0, "")), (one.patch.at, one.seq, one.place, name)
            )
    return {topic: name for topic, (*_, name) in found.items()}


def sentences(memory_id: str, text: str, *, at: int, agent: str, subject: str) -> list[Uttered]:
    """The sentences of an episode, in their order."""
    return [Uttered(memory_id, start, end, text[start:end], at, agent, subject) for start, end in spans(text)]


def patches(
    namespace: str,
    said: Iterable[Uttered],
    log: Sequence[Logged],
    least: int = LEAST,
    reading: Reading | None = None,
    *,
    inferred: bool = False,
) -> Iterator[Patch]:
    """Yields what is to change, in the order in which it applies, each patch once it is asked for; nothing where all is
    said.

    `said`: sentences of episodes that can be read, each once. `least`: of a thing that fewer speak of none is begun.
    `reading`: what was read of sentences before. `inferred`: whether what contradicts an earlier sentence by the rules
    takes its place.
    """
    reading = reading or Reading()
    now, known = standing(log), called(log)
    topics = {key(name): topic for topic, name in sorted(known.items(), reverse=True)}
    seen: defaultdict[str, set[Span]] = defaultdict(set)
    for one in log:
        seen[one.patch.topic].add(one.span)
    spoken: defaultdict[str, list[tuple[Uttered, Name]]] = defaultdict(list)
    for each in sorted(said, key=lambda one: (one.at, one.memory_id, one.start)):
        for name in reading.names(each):
            spoken[name.key].append((each, name))
    _by_identifier(spoken)
    for called_so in sorted(spoken):
        of, topic = spoken[called_so], topics.get(called_so)
        if topic is None and len(of) < least:
            continue
        topic = topic or _begun(namespace, *of[0])
        there = [Uttered(*s, one.text, one.patch.at, one.agent, one.subject)
                 for s, one in now.get(topic, {}).items() if one.text is not None]  # fmt: skip
        new = [one for one in of if one[0].span not in seen[topic]]
        yield from _revised(topic, new, there, reading, inferred=inferred)


def _by_identifier(spoken: defaultdict[str, list[tuple[Uttered, Name]]]) -> None:
    """Counts what is said of "filter housing H3" among what is said of "H3", where nothing else is called so."""
    heads: defaultdict[str, list[str]] = defaultdict(list)
    for called_so in spoken:
        head, _, last = called_so.rpartition(" ")
        if head and any(map(str.isdigit, last)) and any(map(str.isalpha, last)):
            heads[last].append(called_so)
    for last, of in heads.items():
        if last in spoken and len(of) == 1:
            for each, name in spoken[of[0]]:
                start = name.end - len(each.text[name.start : name.end].split()[-1])
                spoken[last].append((each, Name(last, start, name.end)))
            spoken[last].sort(key=lambda one: (one[0].at, one[0].memory_id, one[0].start))


def _begun(namespace: str, first: Uttered, name: Name) -> str:
    """The id of a roll-up whose thing is named here for the first time."""
    place = (namespace, first.memory_id, first.start + name.start, first.start + name.end)
    return str(uuid.uuid5(_TOPICS, "\0".join(map(str, place))))


class Reading:
    """A cache of the topics and claims of sentences, each read once. A caller that goes through a namespace several
    times keeps one.

    A sentence on which a rule fails speaks of nothing, and stands beside others."""

    def __init__(self, failures: Failures | None = None, turn: Callable[[], None] = lambda: None) -> None:
        """`failures`: takes what a rule fails on. `turn`: is called before a sentence is read; what it raises ends the
        whole."""
        self.failures, self.turn = failures or Failures(), turn
        self._names: dict[str, tuple[Name, ...]] = {}
        self._read: dict[str, _Read] = {}

    def names(self, one: Uttered) -> tuple[Name, ...]:
        """Returns the topics of a sentence; none if it has no content, or is a joke, a draft or the like."""
        found = self._names.get(one.text)
        if found is None:
            self.turn()
            if len(self._names) >= NAMED_MOST:
                self._names.clear()
            found = self.failures.answer("topics", [one.memory_id], (), _spoken_of, one.text)
            self._names[one.text] = found
        return found

    def _of(self, text: str) -> _Read:
        found = self._read.get(text)
        if found is None:
            if len(self._read) >= READ_MOST:
                self._read.clear()
            found = self._read[text] = _Read(text)
        return found

    def op(self, older: Uttered, newer: Uttered, *, inferred: bool = False) -> str:
        """Returns the operation of a later sentence on an earlier one; ADD if both stand. `inferred`: see `patches`."""
        pair = older.memory_id, newer.memory_id
        return self.failures.answer("roll-ups", pair, ADD, self._op, older, newer, inferred)

    def _op(self, older: Uttered, newer: Uttered, inferred: bool) -> str:
        a, b = self._of(older.text), self._of(newer.text)
        found = conflict.between(a.claims, b.claims, same_agent=older.agent == newer.agent)
        if found is not None:
            return SUPERSEDE if inferred and not found.both else ADD
        return REVISE if a.said.agrees(b.said) or a.less_than(b) else ADD


def _spoken_of(text: str) -> tuple[Name, ...]:
    return () if says_nothing(text) or unreal(text) else tuple(names(text))


class _Read:
    """One sentence; each thing about it is found when it is asked for first."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def claims(self) -> conflict.Claims:
        return conflict.read(self._text)

    @cached_property
    def said(self) -> ComparedText:
        return ComparedText(self._text)

    @cached_property
    def _stated(self) -> frozenset[str] | None:
        """The stems of what it states; None where it asks."""
        found = content(self._text)
        return None if found.asked else frozenset(found.stated)

    @cached_property
    def _tokens(self) -> list[str]:
        """Words, numbers and signs as they are written, without the punctuation behind them."""
        return [word.rstrip(_PUNCTUATION) or word for word in canonical(self._text).split()]

    @cached_property
    def _denials(self) -> int:
        words = self._text.casefold().replace("\u2019", "'").split()
        return sum(word in NEGATORS or word.endswith("n't") for word in words)

    def less_than(self, later: _Read) -> bool:
        """Whether the later says all that this one says, word for word, and more; nothing denied that was not."""
        mine, its = self._stated, later._stated
        if not mine or its is None or not mine < its or self._denials != later._denials:
            return False
        rest = iter(later._tokens)
        return all(token in rest for token in self._tokens)


def _revised(
    topic: str,
    new: Sequence[tuple[Uttered, Name]],
    there: list[Uttered],
    reading: Reading,
    *,
    inferred: bool,
) -> Iterable[Patch]:
    """The patches of one roll-up. `new`: the oldest first; `there`: its sentences that can be read, which follow it."""
    there.sort(key=_when)
    for one, name in new:
        reading.turn()
        near = there[-COMPARED:]
        # A later sentence that repeats or contradicts this one is there already: this one never stood.
        if any(reading.op(one, other, inferred=inferred) != ADD for other in near if other.at > one.at):
            continue
        does = [(other, reading.op(other, one, inferred=inferred)) for other in near if other.at <= one.at]
        goes = [(other, op) for other, op in does if op != ADD]
        for other, op in goes:
            del there[there.index(other, bisect_left(there, _when(other), key=_when))]
            yield _patch(topic, op, (one, name), other, reading.failures)
        if not goes:
            yield _patch(topic, ADD, (one, name), None, reading.failures)
        insort(there, one, key=_when)


def _when(one: Uttered) -> tuple[int, str, int]:
    """Returns the sort key of a roll-up's sentences; it is unique."""
    return one.at, one.memory_id, one.start


def _patch(topic: str, op: str, new: tuple[Uttered, Name], goes: Uttered | None, failures: Failures) -> Patch:
    one, name = new
    said_in = failures.answer("sections", [one.memory_id], FACTS, section, one.text)
    patch = Patch(
        topic, op, one.memory_id, one.start, one.end, one.start + name.start, one.start + name.end, said_in, one.at
    )
    if goes is None:
        return patch
    return replace(patch, replaces=goes.memory_id, replaces_start=goes.start, replaces_end=goes.end)
