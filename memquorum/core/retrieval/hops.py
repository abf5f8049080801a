"""A second step finds what the first hits speak of, where a question needs two memories that share no words with it.

"Which town lies on the river that drives the mill?" is near to "The mill is driven by the River Aare", but not to
"River Aare: Thun lies on it". The second one can be found only after the first has been read. A memory is *of* what
stands at its head: what is before its first colon, as a title or a speaker, or a name of several words that it begins
with. The second step takes memories that are of something that the question or one of the first hits names. If many
memories are of one thing, such as all that a speaker said, that thing is too common to help, and it is not followed
(infra/decisions/0132).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from memquorum.core.reading.content import content
from memquorum.core.retrieval import fusion
from memquorum.core.retrieval.ranking import Scored
from memquorum.core.worth import ln_ppm

KEPT, TAKEN = 2, 3
"""So many of the first hits are read for names and stay first; so many that these lead to follow them."""
NAMES = 12
"""So many names and numbers of the first hits are looked up: what a lookup costs grows with its words."""
OF_ONE = 10
"""So many memories may be of one thing; what more are of is not followed."""
QUESTION = "question"
_LETTERS = 3
# The number of characters of a text that are searched for the thing that it is about.
_HEAD = 240
_LABEL = re.compile(r"([^\s:][^\n:]{0,79}?)[ \t]*(?:\([^()\n]*\))?:\s")
_CAPITAL = r"(?:[A-ZÀ-ÖØ-Þ]|\d)(?:[\w'’.-]*[\w'’])?"
# "Pump 7", "River of Grass": a single word that a sentence begins with is seldom a name.
_BEGINS = re.compile(
    rf"(?:(?:The|A|An)\s+)?(?!(?:The|An?)\s)({_CAPITAL}(?:\s+(?:(?:of|the|de|von|van)\s+)*{_CAPITAL})+)"
)
_NAME = re.compile(_CAPITAL)
_WORD = re.compile(r"[^\W_]+")


class FoundMemory(Struct, frozen=True):
    """A memory that was found. `near`: its cosine to the question."""

    memory_id: str
    text: str
    near: float


def second_query(texts: Iterable[str]) -> str:
    """Returns the words by which the second step queries the store: the first names and numbers of texts, each once."""
    return " ".join([*dict.fromkeys(name for text in texts for name in _NAME.findall(text))][:NAMES])


def head(text: str) -> str:
    """Returns the thing that a text is about: the title or speaker before its first colon, without additions in
    brackets, or else the name of several words that it begins with. Empty if it has neither."""
    beginning = text[: len(text) - len(text.lstrip()) + _HEAD].lstrip()
    found = _LABEL.match(beginning) or _BEGINS.match(beginning)
    return "" if found is None or not content(found[1]).stems else found[1]


def second(question: str, ranked: Sequence[FoundMemory], looked: Sequence[FoundMemory]) -> dict[str, str]:
    """Returns the ids that the second step adds to a ranking, best first, each with the id of the first hit that names
    it, or `QUESTION`.

    `ranked`: what the question found, best first. `looked`: what was found by the words of `asked`, in any order. The
    memories nearest to the question, with most of its words, come first; ties go by id.
    """
    first = ranked[:KEPT]
    there = {one.memory_id: one for one in (*ranked, *looked)}
    for one in first:
        del there[one.memory_id]
    by = {QUESTION: _flat(question)} | {one.memory_id: _flat(one.text) for one in first}
    led = dict[str, str]()
    of = dict[str, list[FoundMemory]]()
    for one in there.values():
        name = _flat(head(one.text))
        if len(name.strip()) <= _LETTERS:
            continue
        through = next((memory_id for memory_id, text in by.items() if name in text), None)
        if through is not None:
            of.setdefault(name, []).append(one)
            led[one.memory_id] = through
    # "Bern" is no other name where "Bern Airport" is named.
    names = [name for name in of if len(of[name]) <= OF_ONE and not any(name != long and name in long for long in of)]
    best = _best(question, [one for name in names for one in of[name]])
    return {memory_id: led[memory_id] for memory_id in best[:TAKEN]}


def followed(question: str, ranked: Sequence[Scored], looked: Sequence[Scored]) -> list[Scored]:
    """A ranking with what the second step adds. An added memory gets the score of the last of the first hits."""
    by_id = {one.candidate.hit.memory_id: one for one in (*looked, *ranked)}
    found = second(question, [_told(one) for one in ranked], [_told(one) for one in looked])
    if not found:
        return list(ranked)
    score = ranked[:KEPT][-1].score if ranked else 0.0
    added = {i: replace(by_id[i], score=score, through=through) for i, through in found.items()}
    ids = in_order([one.candidate.hit.memory_id for one in ranked], found)
    return [added.get(memory_id) or by_id[memory_id] for memory_id in ids]


def in_order(ranked: Sequence[str], found: Mapping[str, str]) -> list[str]:
    """The ids of a ranking and of what the second step found: the first hits, these, and the rest."""
    first = [*ranked[:KEPT]]
    return [*first, *found, *(one for one in ranked[KEPT:] if one not in found)]


def _told(one: Scored) -> FoundMemory:
    hit = one.candidate.hit
    return FoundMemory(hit.memory_id, hit.answering, hit.score)


def _best(question: str, found: Sequence[FoundMemory]) -> list[str]:
    """The ids, by nearness to the question and by how much of it each has, fused by rank."""
    stems = frozenset(content(question).stems)
    has = {one.memory_id: stems.intersection(content(one.text).stems) for one in found}
    holders = Counter(word for words in has.values() for word in words)
    worth = {word: ln_ppm(len(found) + 1) - ln_ppm(count) for word, count in holders.items()}
    near = sorted(found, key=lambda one: (-one.near, one.memory_id))
    said = sorted(found, key=lambda one: (-sum(worth[word] for word in has[one.memory_id]), one.memory_id))
    given = fusion.DEFAULTS
    rankings = [([one.memory_id for one in near], given.near), ([one.memory_id for one in said], given.said)]
    values = fusion.fused(rankings, given.k)
    return sorted(values, key=lambda memory_id: (-values[memory_id], memory_id))


def _flat(text: str) -> str:
    """The words in small letters, each between spaces, without articles."""
    words = (word for word in _WORD.findall(text.casefold()) if word not in ("a", "an", "the"))
    return f" {' '.join(words)} "
