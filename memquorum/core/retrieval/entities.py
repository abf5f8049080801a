"""Finds the names of persons and things in texts, and says how the store looks for memories that have them (SPEC D:
entity linking, entity index).

A name is what `reading.topics` finds in a sentence, where it is written with a capital letter or has a number: "Grace
Hopper", "Graz", "valve 3". The store has it in the words of each text (infra/decisions/0232), so nothing more is kept:
a name goes when its text goes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from numpy.typing import NDArray

from memquorum.core import linking
from memquorum.core.late_numpy import np
from memquorum.core.reading import sentences, topics
from memquorum.core.retrieval.walking import Edge

READ = 4_000
"""So many characters of a text are searched for names, from its beginning."""
OF_ONE = 12
"""So many names of a text are followed, the first ones."""
IN_A_ROUND = 48
"""So many names are looked up at a time."""
LOOKED = 5_000
"""So many texts are looked at for the names of a round, the latest that have one of them."""
SHARED = 50
"""A name that more memories have joins none of them: it says little about any."""


class Entity(Struct, frozen=True):
    """A name as the store looks for it. `words`: what full text is asked for, in this order; empty where its words do
    not tell names apart. `written`: what has to stand in the text, in any case with `any_case`."""

    words: str
    written: str
    any_case: bool


class Holder(Struct, frozen=True):
    """A memory that has a name, with what a walk judges it by."""

    entity: Entity
    memory_id: str
    type: str
    encoder: str = ""
    vector: NDArray[np.float32] | None = None


def entity(name: str) -> Entity:
    """Returns how a name is looked for. A single word with a capital has to be written so: "Rose" is no "rose"."""
    words = name.split()
    told = " ".join(words)
    small = told == told.lower() or len(words) > 1 or any(map(str.isdigit, told))
    return Entity("" if _unspaced(told) else told, told, small)


def named(text: str, links: Iterable[str] = ()) -> list[str]:
    """Returns the names in a text, and those that a publisher linked it to, each once. `links`: as the store keeps
    them."""
    found: dict[str, str] = {}
    for one in (name for told in links if (name := linking.read(told).name)):
        found.setdefault(one.casefold(), one)
    for sentence in sentences.sentences(text[:READ]):
        for place in topics.names(sentence):
            written = sentence[place.start : place.end]
            if any(sign.isupper() or sign.isdigit() for sign in written):
                found.setdefault(written.casefold(), written)
    return [*found.values()][:OF_ONE]


def by_name(places: Sequence[str], told: Mapping[str, tuple[str, Sequence[str]]]) -> dict[Entity, list[str]]:
    """Returns the names in the texts of memories, each with the memories that have it. `places`: best first; `told`:
    the text and the links to names of each that is there."""
    found: dict[Entity, list[str]] = {}
    for place in places:
        for name in named(*told[place]) if place in told else ():
            own = entity(name)
            if own in found or len(found) < IN_A_ROUND:
                found.setdefault(own, []).append(place)
    return found


def edges(by: Mapping[Entity, Sequence[str]], holders: Iterable[Holder]) -> list[Edge]:
    """Returns the relations between memories and others that have the same name. `by`: as `by_name` returns."""
    told = {
        (at, one.memory_id): Edge(at, linking.NAMES, True, one.memory_id, one.type, one.encoder, one.vector)
        for one in holders
        for at in by[one.entity]
        if at != one.memory_id
    }
    return [*told.values()]


def _unspaced(name: str) -> bool:
    """Whether a name is in a script that puts no blanks between words, from which full text makes no words."""
    scripts = (("\u0e00", "\u109f"), ("\u1780", "\u17ff"), ("\u2e80", "\ua4cf"))
    return any(first <= sign <= last for sign in name for first, last in scripts)
