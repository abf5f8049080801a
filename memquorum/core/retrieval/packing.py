"""Packs a ranking into a budget of tokens, best first; each memory that does not fit is reported with the reason.

A memory that says the same as one that is taken already is folded into it. Two say the same where their vectors are as
near as `ALIKE` and `folding.place` is the same for both: similarity alone never folds. One that
is too long for the rest of the budget is passed over; shorter ones after it may still be taken.

If there is a question, only those sentences of a summary and those passages of a long text are taken that answer it
(`pieces`). If a long text does not fit, the passage that answers best is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import chain
from types import MappingProxyType

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from memquorum.core.api.answers import Hit
from memquorum.core.contained import Failures
from memquorum.core.reading.agreement import ComparedText
from memquorum.core.reading.passages import Span
from memquorum.core.reading.tokens import tokens
from memquorum.core.retrieval import folding
from memquorum.core.retrieval.overtaken import joined, placed
from memquorum.core.retrieval.pieces import Piece, pieces
from memquorum.core.retrieval.quotas import Kept, Room
from memquorum.core.retrieval.ranking import Candidate, Scored

# The cosine from which on two vectors may say the same (SPEC B, θ_dedup).
ALIKE = 0.92
# A long text is given whole where it takes at most this part of the budget, by passages where it takes more.
LONG_SHARE = 4
# The most ids that are listed of memories left out for one reason.
TOLD = 5

_NOTHING: Mapping[str, Kept] = MappingProxyType({})

DUPLICATE, MOST, BUDGET = "duplicate", "k_max", "budget"


class Item(Struct, frozen=True):
    """A memory that was taken, its cost, and the ids of those that say the same. `spans`: where its text is some
    sentences of a summary, or some passages of a long text, the characters of the whole that are given, from and to
    before; none where all is."""

    scored: Scored
    tokens: int
    folded: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()


class Left(Struct, frozen=True):
    """The number of memories left out for a reason, and the first few of them, best first."""

    count: int = 0
    memory_ids: tuple[str, ...] = ()


class Packed(Struct, frozen=True):
    """The memories taken, best first; their cost in tokens; and those left out, by reason."""

    items: tuple[Item, ...]
    tokens: int
    left: Mapping[str, Left] = field(default_factory=dict)


def of_text(hit: Hit) -> int:
    """Returns the cost in tokens of a memory's text alone."""
    return tokens(hit.text)


def pack(
    ranked: Sequence[Scored], budget: int, k_max: int, cost: Callable[[Hit], int] = of_text,
    question: str | None = None, *, failures: Failures | None = None, kept: Mapping[str, Kept] = _NOTHING,
    parts: Sequence[str] = (),
) -> Packed:  # fmt: skip
    """The best that fit, at most `k_max` memories. `ranked`: best first. `cost`: of a memory, in tokens. `question`:
    what is asked, for which single sentences of a summary, or passages of a long text, may be taken; None: each memory
    as it was found, or the passage of a long text that was found where the whole does not fit. `failures`:
    takes the memories on which a rule fails: such a one is given as it was found, and says the same as no other.
    `kept`: what some parts have for themselves, where there are such; `parts`: of which part each memory is. A memory
    that does not fit beside what is kept for others comes in after them, where they leave room for it."""
    failures, order = failures or Failures(), [Piece(place) for place in range(len(ranked))]
    if question is not None:
        names = [one.candidate.hit.memory_id for one in ranked]
        order = failures.answer("pieces", names, order, pieces, ranked, question, budget // LONG_SHARE)
    chosen: dict[int, Item] = {}  # by the place in the ranking
    left: dict[str, dict[str, None]] = {DUPLICATE: {}, MOST: {}, BUDGET: {}}
    spent, room, later = 0, Room(budget, k_max, kept), list[Piece]()
    alike = _alike([scored.candidate for scored in ranked], failures)
    ranked = _standing(ranked, alike)
    for piece in chain(order, _after(room, later)):
        place, hit = piece.place, ranked[piece.place].candidate.hit
        part = parts[place] if parts else ""
        before = chosen.get(place)
        # A summary was found by those of its sentences that are near: they say the same, and not all the others.
        asks = before is None and piece.near
        twin = (
            next((other for other in _twins(alike, place, late=bool(later)) if other in chosen), None) if asks else None
        )
        if twin is not None:
            if hit.memory_id not in chosen[twin].folded:
                chosen[twin] = _folded(chosen[twin], hit)
            left[DUPLICATE][hit.memory_id] = None
        elif before is None and room.places(part) <= 0:
            _leave(piece, left[MOST], hit, later if room.wait(part) else None)
        else:
            item, price = _fitting(ranked[place], before, piece, cost, room.tokens(part))
            if price > room.tokens(part):
                _leave(piece, left[BUDGET], hit, later if room.wait(part) else None)
            else:
                chosen[place] = item
                spent += price
                room.take(part, price, before is None)
    if later:
        first = {piece.place: at for at, piece in reversed([*enumerate(order)])}
        chosen = {place: chosen[place] for place in sorted(chosen, key=lambda place: first[place])}
    given = {item.scored.candidate.hit.memory_id for item in chosen.values()}
    ids = {reason: [one for one in named if one not in given] for reason, named in left.items()}
    told = {reason: Left(len(some), tuple(some[:TOLD])) for reason, some in ids.items() if some}
    return Packed(tuple(chosen.values()), spent, told)


def _leave(piece: Piece, left: dict[str, None], hit: Hit, later: list[Piece] | None) -> None:
    """Leaves out a piece of a memory, or looks at it later once more."""
    if later is None:
        left[hit.memory_id] = None
    else:
        later.append(piece)


def _after(room: Room, later: list[Piece]) -> Iterator[Piece]:
    """The pieces that did not fit beside what was kept for other parts, once all others are packed."""
    room.free()
    yield from tuple(later)


def _twins(alike: Sequence[Sequence[int]], place: int, *, late: bool) -> Iterator[int]:
    """The places whose memory says the same: the better ones, and where some pieces come later also the worse ones."""
    yield from alike[place]
    if late:
        yield from (other for other in range(place + 1, len(alike)) if place in alike[other])


def _standing(ranked: Sequence[Scored], alike: Sequence[Sequence[int]]) -> Sequence[Scored]:
    """The ranking, in which the best of those that say the same has what contradicts the others, and what was said
    after all of them. `alike`: for each place the better ones that say the same."""
    sharing: dict[int, list[Candidate]] = {}
    for place, better in enumerate(alike):
        if better:
            sharing.setdefault(better[0], []).append(ranked[place].candidate)
    found = list(ranked)
    for place, others in sharing.items():
        candidate = found[place].candidate
        told = joined([candidate.marks, *(one.marks for one in others)])
        said = max(one.hit.occurred_at for one in (candidate, *others))
        told = replace(told, against=tuple(by for by in told.against if by.at > said))
        found[place] = replace(found[place], candidate=candidate.beside(told))
    return found


def _folded(item: Item, hit: Hit) -> Item:
    """An item into which another hit is folded, with who said that."""
    candidate = item.scored.candidate
    told = replace(candidate.hit, also_by=folding.also_by(candidate.hit, hit))
    scored = replace(item.scored, candidate=replace(candidate, hit=told))
    return replace(item, scored=scored, folded=(*item.folded, hit.memory_id))


def _fitting(
    scored: Scored, before: Item | None, piece: Piece, cost: Callable[[Hit], int], left: int
) -> tuple[Item, int]:
    """Returns a memory with one more piece than before, and the additional tokens. If `left` tokens do not hold a
    long text, the piece is the passage that answers best."""
    item = _with(scored, before, piece, cost)
    price = item.tokens - (before.tokens if before else 0)
    passage = scored.candidate.hit.passage
    if price <= left or piece.span is not None or passage is None:
        return item, price
    part = _with(scored, before, Piece(piece.place, passage), cost)
    return part, part.tokens


def _with(scored: Scored, before: Item | None, piece: Piece, cost: Callable[[Hit], int]) -> Item:
    """A memory with one piece more than it had, its sentences in the order of its text."""
    candidate = scored.candidate
    if piece.span is None:
        whole = candidate.hit
        marked = replace(whole, overtaken=placed(whole.text, candidate.against, excerpt=whole.excerpt))
        return Item(replace(scored, candidate=replace(candidate, hit=marked)), cost(marked))
    spans = tuple(sorted((*(before.spans if before else ()), piece.span)))
    text = "\n".join(candidate.text[start:end] for start, end in spans)
    hit = replace(candidate.hit, text=text, excerpt=text != candidate.text)
    given = {candidate.text.count("\n", 0, start) for start, _ in spans}
    against = (
        i
        for i in hit.conflicts_with
        if i not in candidate.denied_lines or not given.isdisjoint(candidate.denied_lines[i])
    )
    also_by = before.scored.candidate.hit.also_by if before else ()
    marks = placed(text, candidate.against, excerpt=text != candidate.text)
    hit = replace(hit, conflicts_with=tuple(against), also_by=also_by, overtaken=marks)
    part = replace(scored, candidate=replace(candidate, hit=hit))
    return Item(part, cost(hit), before.folded if before else (), spans)


def _alike(candidates: Sequence[Candidate], failures: Failures) -> list[list[int]]:
    """Finds for each place the better places whose memory says the same, best first."""
    found: list[list[int]] = [[] for _ in candidates]
    # To read a text takes much longer than to compare two that were read.
    read = cache(lambda place: ComparedText(candidates[place].hit.text))
    for encoder in {c.encoder for c in candidates}:
        places = [place for place, c in enumerate(candidates) if c.encoder == encoder]
        vectors = np.stack([candidates[place].vector for place in places])
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit = vectors / np.where(lengths == 0, 1, lengths)
        # Only below the diagonal: each pair once, the worse one first.
        for worse, better in np.argwhere(np.tril(unit @ unit.T, -1) >= ALIKE).tolist():
            mine, its = candidates[places[worse]].hit, candidates[places[better]].hit
            pair = mine.memory_id, its.memory_id
            texts = partial(read, places[worse]), partial(read, places[better])
            if failures.answer("agreement", pair, False, _same, mine, its, *texts):
                found[places[worse]].append(places[better])
    return found


def _same(worse: Hit, better: Hit, mine: Callable[[], ComparedText], its: Callable[[], ComparedText]) -> bool:
    """Whether one hit may be folded into the other."""
    return folding.place(worse, mine()) == folding.place(better, its())
