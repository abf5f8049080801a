"""Puts hits that say nearly the same as others behind all else that was found, so that one fact in five wordings does
not fill the first places.

The question's direction is taken out of both vectors; what two hits then have in common is what they share. Hits that
share much of that, on average, form a group. The first two of a group keep their places; the rest comes behind the
others of the head, in its order, and is named by the first as `alike`. No hit is removed, and the order of hits behind
the head stays the same.

Texts that are built alike and differ in a number, a name, a negation, a sign or code are never nearly the same: "pump
1 runs at 3 bar" and "pump 2 runs at 3 bar" are two facts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from memquorum.core.api.answers import Hit
from memquorum.core.reading.wording import NEGATORS
from memquorum.core.reading.words import folded

HEAD = 10
"""So many of the best hits are looked at."""
KEPT = 2
"""So many of a group keep their places."""
NEAR = 0.35
"""The mean cosine beyond the question from which on a hit belongs to a group."""
_BUILT_ALIKE = 0.6
"""Texts are built alike from this share of the shorter one on: then a single word that differs tells them apart."""
_READ = 2_000
_PART = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+|[^\w\s]")
_DENIALS = frozenset(map(folded, NEGATORS))

T = TypeVar("T")


def demoted(
    hits: Sequence[Hit], vectors: Mapping[str, NDArray[np.float32]], question: NDArray[np.float32]
) -> list[Hit]:
    """The hits, best first, with those of the head that say nearly the same as two before them behind the others.
    `vectors`: of hits, by id; one without is like no other. `question`: its vector."""
    head = [hit for hit in hits[:HEAD]]
    groups = _groups(head, vectors, question)
    late, alike = set[int](), dict[int, tuple[str, ...]]()
    for group in groups:
        late.update(group[KEPT:])
        if len(group) > KEPT:
            alike[group[0]] = tuple(head[at].memory_id for at in group[1:])
    told = [replace(hit, alike=alike.get(at, ())) if alike.get(at) else hit for at, hit in enumerate(head)]
    first = [hit for at, hit in enumerate(told) if at not in late]
    return [*first, *(told[at] for at in sorted(late)), *hits[HEAD:]]


def _groups(
    head: Sequence[Hit], vectors: Mapping[str, NDArray[np.float32]], question: NDArray[np.float32]
) -> list[list[int]]:
    """The places of the head in groups that say nearly the same, each by its first."""
    # A long text says much beside what answers, and is like no other.
    short = {at: hit for at, hit in enumerate(head) if hit.passage is None}
    known = [at for at, hit in short.items() if vectors.get(hit.memory_id, question[:0]).shape == question.shape]
    near = dict(zip(known, _without_question([vectors[head[at].memory_id] for at in known], question), strict=True))
    parts = [_parts(hit.answering) for hit in head]
    groups = list[list[int]]()
    for at in range(len(head)):
        best, most = None, NEAR
        for group in groups if at in near else ():
            if any(other not in near or _told_apart(parts[at], parts[other]) for other in group):
                continue
            shared = float(np.mean([near[at] @ near[other] for other in group]))
            if shared >= most:
                best, most = group, shared
        if best is None:
            groups.append([at])
        else:
            best.append(at)
    return groups


def _without_question(vectors: Sequence[NDArray[np.float32]], question: NDArray[np.float32]) -> NDArray[np.float32]:
    """Takes the question's direction out of vectors, and gives the rest at unit length."""
    if not vectors:
        return np.zeros((0, len(question)), np.float32)
    length = float(np.linalg.norm(question))
    asked = question / length if length else question
    rest = np.stack(vectors)
    rest = rest - np.outer(rest @ asked, asked)
    lengths = np.linalg.norm(rest, axis=1, keepdims=True)
    return np.asarray(rest / np.where(lengths == 0, 1, lengths), np.float32)


def _parts(text: str) -> Counter[str]:
    """The words, numbers and signs of a text; a word that begins small is folded, any other stays as it is written."""
    return Counter(folded(one) if one.islower() else one for one in _PART.findall(text[:_READ]) if one not in ".,;")


def _told_apart(one: Counter[str], other: Counter[str]) -> bool:
    """True if two texts have the same structure and differ in a part that makes them two facts."""
    shared = sum((one & other).values())
    if shared < _BUILT_ALIKE * min(sum(one.values()), sum(other.values())):
        return False
    mine, its = one - other, other - one
    return any(_tells(word) for word in (*mine, *its)) or (sum(mine.values()) == sum(its.values()) == 1)


def _tells(word: str) -> bool:
    return word in _DENIALS or not word.islower() or not word.isalpha()
