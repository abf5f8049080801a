"""How memories that contradict each other are served: side by side, and marked.

What was said on purpose, by a key or an id, members vote on; what was inferred from words stays so.

The newer one comes first where one agent or source said both, or where the older one is in short-term memory. What was
promoted, and somebody else contradicts, stays first, with what contradicts it directly below it. They all stand where
the best of them stood.

Of a summary one sentence is contradicted, and not all the others: it stands in contradiction where that sentence is
served. Of any other memory the statements that are contradicted are marked, and all of it is served; it stands behind
the newer memory where the question is about one of these statements (`bearing`). Which statements that are the journal
says by their numbers; where it says none, it follows from both texts (`core.denying`).

A newer memory that was forgotten is served no more, and orders nothing. The mark that it left stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, structs
from msgspec.structs import replace

from memquorum.core import denying
from memquorum.core.api.answers import Hit
from memquorum.core.consolidation.rendering import sentences
from memquorum.core.reading.content import content
from memquorum.core.reading.sentences import clauses
from memquorum.core.retrieval import filing
from memquorum.core.retrieval.overtaken import Beside, Otherwise
from memquorum.core.retrieval.query import Filters
from memquorum.core.retrieval.ranking import Candidate
from memquorum.core.tiers import ALIVE, LONG_TERM


class Pair(Struct, frozen=True):
    """Two memories that contradict each other, of which the older one is alive and the newer one was not taken back.
    `own`: one agent, or one source, said both. `stated`: the newer one says on purpose that it takes the other's place;
    else that was inferred from the words. `numbers`: those of the older one's statements that the newer one denies,
    from 1; None where the journal says none. `compared`: a model has found them."""

    newer: str
    older: str
    own: bool
    newer_at: int
    older_at: int
    newer_tier: str
    older_tier: str
    stated: bool = False
    numbers: tuple[int, ...] | None = None
    compared: bool = False

    @property
    def alive(self) -> bool:
        """Whether the newer one is there still; else it was forgotten."""
        return self.newer_tier in ALIVE

    @property
    def first(self) -> str:
        """The memory that is served first."""
        promoted = self.older_tier == LONG_TERM and not self.own
        return self.older if promoted or not self.alive else self.newer


class Contradiction(Pair, frozen=True):
    """The same, read to be served. `denied`: where the older one is a summary, the sentences of it that the newer one
    says otherwise. `statements`: those of any older one, empty where none can be told apart; `others`: the rest of a
    note. `agent`: who said the newer one."""

    denied: frozenset[str] = frozenset()
    agent: str = ""
    statements: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    clause: str = ""
    """The clause of a note of one statement that shares most words with the newer one."""

    def bears_on(self, asked: frozenset[str]) -> bool:
        """True if a denied statement has as many words of a question as each other statement of the note, or the denied
        clause of a single statement more than the others. `asked`: the stems of its words."""
        if self.clause and self.statements:
            rest = _most(asked, (one for one in clauses(self.statements[0]) if one != self.clause))
            return rest == 0 or _most(asked, [self.clause]) > rest
        if not self.others or not self.statements:
            return True
        denied = _most(asked, self.statements)
        return denied > 0 and denied >= _most(asked, self.others)

    @property
    def otherwise(self) -> Otherwise:
        """The mark of the older memory: of a single statement, on the clause that the newer one is about."""
        disputed = not (self.own or self.stated)
        of_clause = self.clause and len(self.statements) == 1 and not self.stated
        told = (self.clause,) if of_clause else self.statements
        return Otherwise(self.newer, self.agent, self.newer_at, disputed, told)


def _most(asked: frozenset[str], parts: Iterable[str]) -> int:
    """The most words of a question that one of the parts of a text has. `asked`: their stems."""
    return max((len(asked.intersection(content(one).stems)) for one in parts), default=0)


def read(
    one: Pair,
    agent: str,
    newer: str | None,
    older: str | None,
    *,
    summary: bool,
) -> Contradiction | None:
    """Adds to a pair the statements of the older text that the newer one denies. `agent`: who said the newer one. A
    text is None where the reader may not see it, and of a newer memory that was forgotten.

    The numbers count that the pair has, and the rules where it has none. All of a summary is denied where no rule tells
    which sentence is: it was named to be superseded. None where a forgotten one was not said to deny all of a summary,
    and nothing tells what of it.
    """
    told = Contradiction(**structs.asdict(one), agent=agent)
    if older is None or (newer is None and one.alive):
        return told
    if summary:
        return _of_summary(told, newer, older)
    said = denying.statements(older)
    found = one.numbers or ()
    if newer is not None and not found:
        found = denying.denied(said, newer, own=one.own) or denying.nearest(said, newer)
    denied = denying.numbered(said, found)
    others = tuple(one for one in said if one not in denied)
    return replace(told, statements=denied, others=others, clause=_clause(said, newer))


def _clause(said: Sequence[str], newer: str | None) -> str:
    """The clause of a note of one statement that a newer text has most words of; empty where none can be told."""
    if newer is None or len(said) != 1:
        return ""
    parts = clauses(said[0])
    near = denying.numbered(parts, denying.nearest(parts, newer)) if len(parts) > 1 else ()
    return near[0] if near else ""


def _of_summary(told: Contradiction, newer: str | None, older: str) -> Contradiction | None:
    lines = tuple(dict.fromkeys(sentences(older)))
    if told.numbers:
        named = denying.numbered(denying.statements(older), told.numbers)
        found = tuple(line for line in lines if not set(denying.statements(line)).isdisjoint(named))
    elif newer is not None:
        found = denying.numbered(lines, denying.denied(lines, newer, own=told.own))
    elif told.stated:
        found = ()
    else:
        return None
    return replace(told, denied=frozenset(found or lines), statements=found)


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


def with_denied_lines(one: Candidate, found: Iterable[Contradiction]) -> Candidate:
    """The candidate; of a summary with the lines that others contradict."""
    own = [(by.newer, by.denied) for by in found if by.older == one.hit.memory_id and by.denied]
    if not own:
        return one
    lines = one.text.split("\n")
    gone = {newer: frozenset(at for at, line in enumerate(lines) if line in said) for newer, said in own}
    return replace(one, denied_lines=gone)


def cut_to_denied(one: Hit, found: Iterable[Contradiction]) -> Hit:
    """Returns a summary cut to its contradicted sentences, for a place before a hit."""
    gone = frozenset[str]().union(*(by.denied for by in found if by.older == one.memory_id))
    text = "\n".join(line for line in one.text.split("\n") if line in gone)
    return replace(one, text=text, excerpt=text != one.text) if text else one


def marks(found: Iterable[Contradiction]) -> dict[str, Beside]:
    """Returns the contradictions of each memory, in the order in which they were noted; newer ones in the order in
    which they were said. A forgotten one only marks what is older.
    """
    beside: dict[str, dict[str, None]] = {}
    against: dict[str, list[Otherwise]] = {}
    overtakes: dict[str, list[str]] = {}
    for one in found:
        against.setdefault(one.older, []).append(one.otherwise)
        beside.setdefault(one.older, {})
        if not one.alive:
            continue
        beside.setdefault(one.newer, {})[one.older] = None
        beside[one.older][one.newer] = None
        if not one.otherwise.disputed:
            overtakes.setdefault(one.newer, []).append(one.older)
    return {
        memory_id: Beside(
            tuple(others),
            tuple(sorted(against.get(memory_id, ()), key=lambda by: (by.at, by.by or ""))),
            tuple(overtakes.get(memory_id, ())),
        )
        for memory_id, others in beside.items()
    }


def stood_for(found: Iterable[Contradiction], by: Mapping[str, str]) -> list[Contradiction]:
    """The contradictions, in which a hit stands for those that are folded into it. `by`: the hit that stands for each
    of them."""
    told = (replace(one, newer=by.get(one.newer, one.newer), older=by.get(one.older, one.older)) for one in found)
    return [one for one in told if one.newer != one.older]


def missing(memory_ids: Iterable[str], found: Iterable[Contradiction]) -> list[str]:
    """Returns the memories that have to stand before some of these, and are not among them."""
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
        and (filters.as_of is None or (hit.first_at or hit.occurred_at) <= filters.as_of)
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
