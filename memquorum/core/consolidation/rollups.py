"""Roll-ups: what is said of one thing across sessions, as verbatim sentences of episodes (SPEC C).

A roll-up holds references alone: the place of a sentence in an episode, and where the sentence names the thing. Its
text is read when it is asked for: from the episode, or from a summary that is alive and quotes the sentence. So it is
never a summary of summaries; and what was forgotten, or erased, is in no state of it, nor is its name.

It changes by patches alone, which stand in a log that only grows; its state at a time is the fold of those until then
(`standing`). Which patches come next follows from what is said (`patches`), by the rules by which memories repeat and
contradict each other (`core.text`): asked again of the same, they are none.
"""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from msgspec.structs import replace

from memquorum.core.consolidation.sections import section
from memquorum.core.consolidation.sentences import spans
from memquorum.core.records import Patch
from memquorum.core.records.rollups import ADD, REVISE, SUPERSEDE
from memquorum.core.text import conflict
from memquorum.core.text.agreement import agree
from memquorum.core.text.content import content
from memquorum.core.text.fillers import says_nothing
from memquorum.core.text.topics import Name, key, names
from memquorum.core.text.wording import NEGATORS
from memquorum.ports import Logged, Span, Uttered

LEAST = 3
"""Of a thing that fewer sentences speak of there is no roll-up."""
COMPARED = 32
"""So many of a roll-up's sentences, the latest, are held against a new one."""
MOST = 256
"""So many patches are made at once: what is to change beyond them, the next question answers."""

# Fixed for ever: a roll-up is called by the place where its thing was first named.
_TOPICS = uuid.UUID("2d1b8c4e-6a0f-5b6f-8d57-746f70696373")


def standing(log: Iterable[Logged], as_of: int | None = None) -> dict[str, dict[Span, Logged]]:
    """The sentences that stand at a time, or now, by roll-up: the fold of the patches until then.

    `log`: in the order of the journal. What was replaced once does not come back.
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
    """What each roll-up is called, as the latest sentence that can be read has it; those that nobody can name any more
    are left out."""
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
    namespace: str, said: Iterable[Uttered], log: Sequence[Logged], least: int = LEAST, most: int = MOST
) -> list[Patch]:
    """What is to change, in the order in which it applies, `most` of it at most; nothing where all is said.

    `said`: sentences of episodes that can be read, each once. `least`: of a thing that fewer speak of none is begun.
    """
    return list(islice(_patches(namespace, said, log, least), most))


def _patches(namespace: str, said: Iterable[Uttered], log: Sequence[Logged], least: int) -> Iterator[Patch]:
    now, known = standing(log), called(log)
    topics = {key(name): topic for topic, name in sorted(known.items(), reverse=True)}
    seen: defaultdict[str, set[Span]] = defaultdict(set)
    for one in log:
        seen[one.patch.topic].add(one.span)
    spoken: defaultdict[str, list[tuple[Uttered, Name]]] = defaultdict(list)
    for each in sorted(said, key=lambda one: (one.at, one.memory_id, one.start)):
        if not says_nothing(each.text):
            for name in names(each.text):
                spoken[name.key].append((each, name))
    reading = _Reading()
    for called_so in sorted(spoken):
        of, topic = spoken[called_so], topics.get(called_so)
        if topic is None and len(of) < least:
            continue
        topic = topic or _begun(namespace, *of[0])
        there = [Uttered(*s, one.text, one.patch.at, one.agent, one.subject)
                 for s, one in now.get(topic, {}).items() if one.text is not None]  # fmt: skip
        yield from _revised(topic, [one for one in of if one[0].span not in seen[topic]], there, reading)


def _begun(namespace: str, first: Uttered, name: Name) -> str:
    """The id of a roll-up whose thing is named here for the first time."""
    place = (namespace, first.memory_id, first.start + name.start, first.start + name.end)
    return str(uuid.uuid5(_TOPICS, "\0".join(map(str, place))))


class _Reading:
    """What sentences claim, each read once."""

    def __init__(self) -> None:
        self._claims: dict[str, conflict.Claims] = {}

    def claims(self, text: str) -> conflict.Claims:
        found = self._claims.get(text)
        if found is None:
            found = self._claims[text] = conflict.read(text)
        return found

    def op(self, older: Uttered, newer: Uttered) -> str:
        """What a later sentence does to an earlier one; ADD where both stand."""
        same_agent = older.agent == newer.agent
        found = conflict.between(self.claims(older.text), self.claims(newer.text), same_agent=same_agent)
        if found is not None:
            return ADD if found.both else SUPERSEDE
        return REVISE if agree(older.text, newer.text) or _fuller(older.text, newer.text) else ADD


def _fuller(older: str, newer: str) -> bool:
    """Whether the later says all that the earlier says, and more; nothing denied that was not."""
    a, b = content(older), content(newer)
    if not a.stated or a.asked or b.asked or not set(a.stated) < set(b.stated):
        return False
    return _denials(older) == _denials(newer)


def _denials(text: str) -> int:
    return sum(word in NEGATORS or word.endswith("n't") for word in text.casefold().replace("\u2019", "'").split())


def _revised(
    topic: str, new: Sequence[tuple[Uttered, Name]], there: list[Uttered], reading: _Reading
) -> Iterable[Patch]:
    """The patches of one roll-up. `new`: the oldest first; `there`: its sentences that can be read, which follow it."""
    for one, name in new:
        there.sort(key=lambda other: (other.at, other.memory_id, other.start))
        near = there[-COMPARED:]
        # What was said later is there already, and says it, or says it otherwise: this one never stood.
        if any(reading.op(one, other) != ADD for other in near if other.at > one.at):
            continue
        does = [(other, reading.op(other, one)) for other in near if other.at <= one.at]
        goes = [(other, op) for other, op in does if op != ADD]
        for other, op in goes:
            there.remove(other)
            yield _patch(topic, op, one, name, other)
        if not goes:
            yield _patch(topic, ADD, one, name, None)
        there.append(one)


def _patch(topic: str, op: str, one: Uttered, name: Name, goes: Uttered | None) -> Patch:
    patch = Patch(
        topic, op, one.memory_id, one.start, one.end, one.start + name.start, one.start + name.end, section(one.text),
        one.at,
    )  # fmt: skip
    if goes is None:
        return patch
    return replace(patch, replaces=goes.memory_id, replaces_start=goes.start, replaces_end=goes.end)
