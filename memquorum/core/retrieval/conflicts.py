"""How memories that contradict each other are served: side by side, and marked.

What was said on purpose, by a key or an id, members vote on; what was inferred from words stays so.

The newer one comes first where one agent or source said both, or where the older one is in short-term memory. What was
promoted, and somebody else contradicts, stays first, with what contradicts it directly below it. They all stand where
the best of them stood.

Of a summary one sentence is contradicted, and not all the others: it stands in contradiction where that sentence is
served. Which one that is follows from both texts (`overtaken.denied`). Of any other memory the statements that are
contradicted are marked, and all of it is served; it stands behind the newer memory where the question is about one of
these statements (`bearing`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, structs
from msgspec.structs import replace

from memquorum.core.api.answers import Hit
from memquorum.core.consolidation.rendering import sentences
from memquorum.core.retrieval import filing, overtaken
from memquorum.core.retrieval.overtaken import Beside, Otherwise
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import Candidate
from memquorum.core.text.content import content
from memquorum.core.tiers import LONG_TERM


class Pair(Struct, frozen=True):
    """Two memories that are alive and contradict each other. `own`: one agent, or one source, said both. `stated`: the
    newer one says on purpose that it takes the other's place; else that was inferred from the words. `numbers`: those
    of the older one's statements that a model found overtaken, from 1; None where none was asked."""

    newer: str
    older: str
    own: bool
    newer_at: int
    older_at: int
    newer_tier: str
    older_tier: str
    stated: bool = False
    numbers: tuple[int, ...] | None = None

    @property
    def first(self) -> str:
        """Which of them is served first."""
        return self.older if self.older_tier == LONG_TERM and not self.own else self.newer


class Contradiction(Pair, frozen=True):
    """The same, read to be served. `denied`: where the older one is a summary, the sentences of it that the newer one
    says otherwise. `statements`: those of any older one, empty where none can be told apart; `others`: the rest of a
    note. `agent`: who said the newer one."""

    denied: frozenset[str] = frozenset()
    agent: str = ""
    statements: tuple[str, ...] = ()
    others: tuple[str, ...] = ()

    def bears_on(self, asked: frozenset[str]) -> bool:
        """True if a denied statement has as many words of a question as each other statement of the note. `asked`: the
        stems of its words."""
        if not self.others or not self.statements:
            return True
        denied, rest = (max(len(asked.intersection(content(one).stems)) for one in some)
                        for some in (self.statements, self.others))  # fmt: skip
        return denied > 0 and denied >= rest

    @property
    def otherwise(self) -> Otherwise:
        """What the older one is marked with."""
        disputed = not (self.own or self.stated)
        return Otherwise(self.newer, self.agent, self.newer_at, disputed, self.statements)


def read(
    one: Pair,
    agent: str,
    newer: str | None,
    older: str | None,
    *,
    summary: bool,
) -> Contradiction:
    """Adds to a pair the statements of the older text that the newer one denies. `agent`: who said the newer one. A
    text is None where the reader may not see it. What a model found counts, and the rules where none was asked. All of
    a summary is denied where no rule tells which sentence is: it was named to be superseded."""
    told = Contradiction(**structs.asdict(one), agent=agent)
    if newer is None or older is None:
        return told
    said = tuple(dict.fromkeys(sentences(older))) if summary else overtaken.statements(older)
    if one.numbers and not summary:
        return _of_note(told, said, [said[number - 1] for number in one.numbers if number <= len(said)])
    found = overtaken.denied(said, newer, own=one.own)
    if summary:
        return replace(told, denied=frozenset(found or said), statements=found)
    return _of_note(told, said, found or overtaken.nearest(said, newer))


def _of_note(told: Contradiction, said: Sequence[str], denied: Sequence[str]) -> Contradiction:
    """A pair whose older memory is no summary, with its statements: those that are denied, and the others."""
    return replace(told, statements=tuple(denied), others=tuple(one for one in said if one not in denied))


def concerning(found: Iterable[Contradiction], served: Mapping[str, str]) -> list[Contradiction]:
    """Those that concern what is served: a summary of which other sentences are served stands in no contradiction.
    `served`: by memory, the text that is served of it."""
    return [
        one
        for one in found
        if not one.denied or one.older not in served or not one.denied.isdisjoint(served[one.older].split("\n"))
    ]


def bearing(found: Iterable[Contradiction], question: str) -> list[Contradiction]:
    """Leaves out the contradictions that decide no order: those of another statement of a note than the question asks
    for. A new alarm code does not come before the note when the question is where to park."""
    asked = frozenset(content(question).stems)
    return [one for one in found if one.bears_on(asked)]


def doubtful(one: Candidate, found: Iterable[Contradiction]) -> Candidate:
    """The candidate; of a summary with the lines that others contradict."""
    own = [(by.newer, by.denied) for by in found if by.older == one.hit.memory_id and by.denied]
    if not own:
        return one
    lines = one.text.split("\n")
    gone = {newer: frozenset(at for at, line in enumerate(lines) if line in said) for newer, said in own}
    return replace(one, denied=gone)


def disputed(one: Hit, found: Iterable[Contradiction]) -> Hit:
    """What comes in because it has to stand first: of a summary, the sentences that are contradicted."""
    gone = frozenset[str]().union(*(by.denied for by in found if by.older == one.memory_id))
    text = "\n".join(line for line in one.text.split("\n") if line in gone)
    return replace(one, text=text, excerpt=text != one.text) if text else one


def marks(found: Iterable[Contradiction]) -> dict[str, Beside]:
    """What contradicts each memory, in the order in which it was noted; newer ones in the order in which they were
    said."""
    beside: dict[str, dict[str, None]] = {}
    against: dict[str, list[Otherwise]] = {}
    overtakes: dict[str, list[str]] = {}
    for one in found:
        beside.setdefault(one.newer, {})[one.older] = None
        beside.setdefault(one.older, {})[one.newer] = None
        against.setdefault(one.older, []).append(one.otherwise)
        if not one.otherwise.disputed:
            overtakes.setdefault(one.newer, []).append(one.older)
    return {
        memory_id: Beside(
            tuple(others),
            tuple(sorted(against.get(memory_id, ()), key=lambda by: (by.at, by.by))),
            tuple(overtakes.get(memory_id, ())),
        )
        for memory_id, others in beside.items()
    }


def missing(memory_ids: Iterable[str], found: Iterable[Contradiction]) -> list[str]:
    """What has to stand before a memory of these, and is not among them."""
    there = set(memory_ids)
    return list(dict.fromkeys(one.first for one in found if one.first not in there))


def inserted(memory_ids: Sequence[str], came: Iterable[str], found: Iterable[Contradiction]) -> list[str]:
    """The memories, and before each what came in because it has to stand before it."""
    order, left = list(memory_ids), set(came)
    for one in found:
        other = one.older if one.first == one.newer else one.newer
        if one.first in left and other in order:
            order.insert(order.index(other), one.first)
            left.discard(one.first)
    return order


def let_in(filters: Filters, hit: Hit) -> bool:
    """Whether a memory that was not searched for passes what the search asks beside gates."""
    return (
        hit.tier in filters.tiers
        and (filters.agents is None or hit.agent in filters.agents)
        and (filters.subjects is None or hit.subject in filters.subjects)
        and (filters.sessions is None or hit.session in filters.sessions)
        and (filters.types is None or hit.type in filters.types)
        and (filters.since is None or hit.occurred_at >= filters.since)
        and (filters.until is None or (hit.first_at or hit.occurred_at) < filters.until)
        and (filters.keys is None or hit.key in filters.keys)
        and not filters.experience  # whether it was admitted nothing says here
        and filing.passes(
            filters.path, filters.where, filed=hit.path, attributes=hit.attributes, older=filters.older_path
        )
    )


def ordered(memory_ids: Sequence[str], found: Sequence[Contradiction]) -> list[str]:
    """The memories, best first, with those that contradict each other together. `found`: may speak of others too."""
    groups = _groups(memory_ids, found)
    order: list[str] = []
    placed: set[str] = set()
    for memory_id in memory_ids:
        if memory_id not in placed:
            group = groups.get(memory_id, [memory_id])
            order += group
            placed.update(group)
    return order


def _groups(memory_ids: Sequence[str], found: Sequence[Contradiction]) -> Mapping[str, list[str]]:
    """Gathers for each memory all that it is bound to by contradictions, in the order in which they are served."""
    there, bound = set(memory_ids), dict[str, set[str]]()
    pairs = [one for one in found if one.newer in there and one.older in there]
    at: dict[str, int] = {}
    for one in pairs:
        at |= {one.newer: one.newer_at, one.older: one.older_at}
        group = bound.get(one.newer, {one.newer}) | bound.get(one.older, {one.older})
        bound |= dict.fromkeys(group, group)
    places = {memory_id: place for place, memory_id in enumerate(memory_ids)}
    return {
        memory_id: _in_order(group, [one for one in pairs if one.newer in group], at, places)
        for memory_id, group in bound.items()
    }


def _in_order(
    group: Iterable[str], pairs: Sequence[Contradiction], at: Mapping[str, int], places: Mapping[str, int]
) -> list[str]:
    """Puts first what nothing has to stand before, of several the latest; and so on with the rest."""
    rest, order = set(group), list[str]()
    while rest:
        behind = {
            one.older if one.first == one.newer else one.newer
            for one in pairs if one.newer in rest and one.older in rest
        }  # fmt: skip
        # Three may stand before each other in a ring, where two agents and a promoted memory meet.
        free = rest - behind or rest
        best = min(free, key=lambda memory_id: (-at[memory_id], places[memory_id]))
        order.append(best)
        rest.remove(best)
    return order
